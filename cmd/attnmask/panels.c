/* panels.c - numbers of blocks as a picture: the attention that a model paid in a
 * document. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/attnmask.h"
#include "cmd/attnmask/picture.h"
#include "cmd/options/message.h"

/* A side of a panel of pixels is no shorter than this share of the other. */
enum { SLIMMEST = 4 };

static size_t most(size_t a, size_t b)
{
        return a > b ? a : b;
}

/* ---- panels --------------------------------------------------------------------------------- */

/* How often each line of n blocks is drawn beside `other` lines across. */
static size_t repeats(size_t n, size_t other)
{
        return most(1, other / SLIMMEST / n);
}

/* From white, for nothing, by equal ratios to black: weights are the exponentials of scores, and
 * those of most pictures would be either all alike or, but for a few, nothing. What is least is not
 * white. */
static unsigned char shade(const struct attnmask_panels *p, double value)
{
        const double lightest = 0.05;
        double share = 1;

        if (!(value > 0))
                return 0;
        if (value < p->most && p->least < p->most)
                share = lightest + (1 - lightest) * ran_log(fmax(value / p->least, 1)) /
                                           ran_log(p->most / p->least);
        return picture_shade((uint64_t)ceil(share * share * 1e9), 1000000000); /* has a root */
}

void attnmask_scale(struct attnmask_panels *p)
{
        const double furthest = 1e-3;
        size_t n = p->n * p->height * p->width;

        p->most = 0;
        p->least = INFINITY;
        for (size_t i = 0; i < n; i++) {
                p->most = fmax(p->most, p->value[i]);
                p->least = p->value[i] > 0 ? fmin(p->least, p->value[i]) : p->least;
        }
        p->least = fmin(fmax(p->least, p->most * furthest), p->most);
}

int attnmask_draw(const struct attnmask_options *o, const struct attnmask_panels *panels,
                  struct cmd_sink *out, struct ran_error *err)
{
        const size_t h = panels->height, w = panels->width;
        const bool text = o->format == PICTURE_TEXT;
        const size_t down = text ? 1 : repeats(h, w), across = text ? 1 : repeats(w, h);
        struct picture p;
        int code = picture_init(&p, panels->n, w * across, h * down, err);

        if (code != RAN_OK)
                return code;
        p.names = panels->names;
        for (size_t i = 0; i < panels->n; i++)
                for (size_t y = 0; y < p.height; y++)
                        for (size_t x = 0; x < p.width; x++)
                                p.shade[(i * p.height + y) * p.width + x] = shade(
                                        panels, panels->value[(i * h + y / down) * w + x / across]);
        code = picture_write(&p, o->format, attnmask_size(o), out, err);
        picture_release(&p);
        return code;
}

/* ---- the attention of a document ------------------------------------------------------------- */

/* Blocks, so that a panel is no larger than --size. */
static void cut(const struct attnmask_options *o, struct ran_probe *k)
{
        size_t size = attnmask_size(o), queries = k->query_to - k->query_from,
               keys = k->key_to - k->key_from;

        k->across = (keys - 1) / size + 1;
        k->down = (queries - 1) / size + 1;
        if (o->format == PICTURE_TEXT && queries > 1 && k->across > 1)
                k->down = most(k->down, 2 * k->across); /* letters are higher than wide */
}

/* Sums of weights become means of the block. */
static void average(struct ran_probe *k)
{
        size_t h = ran_probe_height(k), w = ran_probe_width(k),
               queries = k->query_to - k->query_from, keys = k->key_to - k->key_from;

        for (size_t y = 0; y < h; y++)
                for (size_t x = 0; x < w; x++) {
                        size_t down = y + 1 < h ? k->down : queries - y * k->down;
                        size_t across = x + 1 < w ? k->across : keys - x * k->across;

                        k->sum[y * w + x] /= (double)down * (double)across;
                }
}

static char *name_of(const struct attnmask_model *a, const struct ran_probe *k, bool steps)
{
        const struct attnmask_selection *c = &a->selection;
        struct ran_buf name = {0};

        if (steps && c->layer_to - c->layer_from > 1)
                ran_buf_printf(&name, "steps %zu to %zu", c->layer_from, c->layer_to - 1);
        else
                ran_buf_printf(&name, "%s %zu", steps ? "step" : "layer", k->layer);
        if (k->table == RAN_PROBE_REVIEW)
                ran_buf_str(&name, ", review");
        else if (!steps && k->head == RAN_PROBE_MEAN)
                ran_buf_printf(&name, ", mean of %zu heads", c->shape.table[0].heads);
        else if (!steps)
                ran_buf_printf(&name, ", head %zu", k->head);
        ran_buf_char(&name, '\0');
        if (name.failed)
                ran_buf_release(&name);
        return name.data;
}

/* What a person must know to read it. */
static void explain(const struct attnmask_model *a, const struct attnmask_scratch *s,
                    const struct attnmask_panels *p)
{
        const struct ran_probe *k = s->probes;
        const struct ran_probe_table *t = &s->shape.table[k->table];
        const bool text = a->options->format == PICTURE_TEXT, blocks = k->down * k->across > 1;
        static const char *const axes[] = {
                [RAN_AXIS_TOKENS] = "tokens",
                [RAN_AXIS_ROWS] = "tokens, and before the first of each window its cell",
                [RAN_AXIS_STATES] = "the cell before all windows, and after each",
                [RAN_AXIS_DOCUMENT] = "steps",
        };

        for (size_t i = 0; i < p->n; i++)
                if (p->n > 1)
                        cmd_note("panel %zu: %s", i, p->names[i]);
                else
                        cmd_note("%s", p->names[i]);
        cmd_note("lines are who looks (%s), columns who is looked at (%s)", axes[t->queries],
                 t->queries == t->keys ? "the same" : axes[t->keys]);
        cmd_note("%s is a weight of %.2g%s, and %s one of %.2g or less%s%s", text ? "#" : "black",
                 p->most, blocks ? " in the mean of a block" : "", text ? ":" : "the lightest grey",
                 p->least, text ? "; " : "", text ? PICTURE_LEGEND : "");
        if (blocks)
                cmd_note("the document is longer than the picture: a %s is a block of %zu x %zu; "
                         "--rows A:B draws a part of it",
                         text ? "character" : "cell", k->down, k->across);
}

/* The looks of one layer and head after another are panels, or, of a document that looks as a
 * whole, lines of one. */
static int fill(const struct attnmask_model *a, struct attnmask_scratch *s,
                struct attnmask_panels *p, struct ran_error *err)
{
        const bool steps = s->shape.table[s->probes->table].queries == RAN_AXIS_DOCUMENT;
        size_t cells;

        for (size_t i = 0; i < s->n; i++)
                cut(a->options, &s->probes[i]);
        p->n = steps ? 1 : s->n;
        p->width = ran_probe_width(s->probes);
        p->height = steps ? s->n : ran_probe_height(s->probes);
        if (__builtin_mul_overflow(p->n * p->height, p->width, &cells))
                return ran_fail(err, RAN_ENOMEM, "no picture can be that large");
        p->value = ran_grow(s->sum, &s->sum_cap, cells, sizeof *s->sum, err);
        s->sum = p->value != NULL ? p->value : s->sum;
        p->names = ran_alloc(p->n, sizeof *p->names, err);
        if (p->value == NULL || p->names == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < s->n; i++) {
                s->probes[i].sum = s->sum + i * (cells / s->n);
                if (i < p->n)
                        p->names[i] = name_of(a, &s->probes[i], steps);
                if (i < p->n && p->names[i] == NULL)
                        return ran_fail(err, RAN_ENOMEM, "out of memory");
        }
        return RAN_OK;
}

int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               struct cmd_sink *out, struct ran_error *err)
{
        const struct cmd_reading *r = &s->reading;
        struct attnmask_panels p = {0};
        int code = attnmask_probes(&a->selection, &s->shape, true, &s->probes, &s->cap, &s->n, err);

        if (code == RAN_OK)
                code = fill(a, s, &p, err);
        if (code == RAN_OK)
                code = ran_probe(a->model, s->state, &r->tokens, r->sources, s->probes, s->n, err);
        if (code == RAN_OK) {
                for (size_t i = 0; i < s->n; i++)
                        average(&s->probes[i]);
                attnmask_scale(&p);
                code = attnmask_draw(a->options, &p, out, err);
        }
        if (code == RAN_OK)
                explain(a, s, &p);
        for (size_t i = 0; i < p.n && p.names != NULL; i++)
                free(p.names[i]);
        free(p.names);
        return code;
}
