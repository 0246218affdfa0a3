/* attention-picture.c - the attention of a model in a document, as a picture. */
#include <stdlib.h>

#include "cmd/attnmask/model.h"
#include "cmd/attnmask/panels.h"
#include "cmd/attnmask/picture.h"
#include "cmd/attnmask/words.h"
#include "cmd/options/message.h"

/* Sets blocks so that a panel is no larger than --size. */
static void set_blocks(const struct attnmask_options *o, struct ran_probe *k)
{
        size_t size = attnmask_size(o), queries = k->query_to - k->query_from,
               keys = k->key_to - k->key_from;

        k->across = (keys - 1) / size + 1;
        k->down = (queries - 1) / size + 1;
        if (o->format == PICTURE_TEXT && queries > 1 && k->across > 1)
                k->down = k->down > 2 * k->across
                                  ? k->down
                                  : 2 * k->across; /* letters are higher than wide */
}

/* Turns sums of weights into means over the block. */
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

/* How to read it. */
static void explain(const struct attnmask_model *a, const struct attnmask_scratch *s,
                    const struct attnmask_panels *p)
{
        const struct ran_probe *k = s->probes;
        const struct ran_probe_table *t = &s->shape.table[k->table];
        const bool text = a->options->format == PICTURE_TEXT, blocks = k->down * k->across > 1;
        static const char *const axes[] = {
                [RAN_AXIS_TOKENS] = "tokens",
                [RAN_AXIS_ROWS] = "tokens, and before the first of each window its cell",
                [RAN_AXIS_STATES] = "the cell before the first window, and after each",
                [RAN_AXIS_DOCUMENT] = "steps",
        };

        for (size_t i = 0; i < p->n; i++)
                if (p->n > 1)
                        cmd_note("panel %zu: %s", i, p->names[i]);
                else
                        cmd_note("%s", p->names[i]);
        cmd_note("lines are queries (%s), columns keys (%s)", axes[t->queries],
                 t->queries == t->keys ? "the same" : axes[t->keys]);
        cmd_note("%s is a weight of %.2g%s, and %s one of %.2g or less%s%s", text ? "#" : "black",
                 p->most, blocks ? " in the mean of a block" : "", text ? ":" : "the lightest grey",
                 p->least, text ? "; " : "", text ? PICTURE_LEGEND : "");
        if (blocks)
                cmd_note("the document is longer than the picture: a %s is a block of %zu x %zu; "
                         "--rows A:B draws a part of it",
                         text ? "character" : "cell", k->down, k->across);
}

/* The probes of layers and heads are panels or, in steps of the whole document, lines of one. */
static int fill(const struct attnmask_model *a, struct attnmask_scratch *s,
                struct attnmask_panels *p, struct ran_error *err)
{
        const bool steps = s->shape.table[s->probes->table].queries == RAN_AXIS_DOCUMENT;
        size_t cells;

        for (size_t i = 0; i < s->n; i++)
                set_blocks(a->options, &s->probes[i]);
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

/* Writes what stands around the panels. */
static void name_axes(const struct attnmask_scratch *s, struct attnmask_panels *p)
{
        static const char *const names[][2] = {
                [RAN_AXIS_TOKENS] = {"key (token)", "query (token)"},
                [RAN_AXIS_ROWS] = {"key (row: tokens and cells)", "query (row: tokens and cells)"},
                [RAN_AXIS_STATES] = {"key (cell after a window)", "query (cell)"},
                [RAN_AXIS_DOCUMENT] = {"key (token)", "step"},
        };
        const struct ran_probe *k = s->probes;
        const struct ran_probe_table *t = &s->shape.table[k->table];
        bool steps = t->queries == RAN_AXIS_DOCUMENT;

        p->x_name = names[t->keys][0];
        p->y_name = names[t->queries][1];
        p->legend = k->down * k->across > 1 ? "mean attention weight of a block (logarithmic scale)"
                                            : "attention weight (logarithmic scale)";
        p->x_from = k->key_from;
        p->x_to = k->key_to - 1;
        p->y_from = steps ? k->layer : k->query_from;
        p->y_to = steps ? s->probes[s->n - 1].layer : k->query_to - 1;
}

/* The words of both axes, where a cell is not a block of many. */
static int add_words(const struct attnmask_model *a, const struct attnmask_scratch *s,
                     const struct cmd_line *line, struct attnmask_panels *p, struct ran_error *err)
{
        const struct ran_probe *k = s->probes;
        const struct ran_probe_table *t = &s->shape.table[k->table];

        if (k->across == 1 && t->keys != RAN_AXIS_STATES) {
                p->x_words = attnmask_words(
                        a, s, line, t->keys == RAN_AXIS_DOCUMENT ? RAN_AXIS_TOKENS : t->keys,
                        k->key_from, k->key_to, err);
                if (p->x_words == NULL)
                        return (int)err->code;
        }
        if (k->down == 1 && (t->queries == RAN_AXIS_TOKENS || t->queries == RAN_AXIS_ROWS)) {
                p->y_words =
                        attnmask_words(a, s, line, t->queries, k->query_from, k->query_to, err);
                if (p->y_words == NULL)
                        return (int)err->code;
        }
        return RAN_OK;
}

static int draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                const struct cmd_line *line, struct attnmask_panels *p, struct cmd_sink *out,
                struct ran_error *err)
{
        const struct cmd_reading *r = &s->reading;

        RAN_TRY(fill(a, s, p, err));
        RAN_TRY(ran_probe(a->model, s->state, &r->tokens, r->sources, s->probes, s->n, err));
        for (size_t i = 0; i < s->n; i++)
                average(&s->probes[i]);
        attnmask_scale(p);
        name_axes(s, p);
        p->title = attnmask_title("Attention", line, err);
        if (p->title == NULL)
                return RAN_ENOMEM;
        RAN_TRY(add_words(a, s, line, p, err));
        RAN_TRY(attnmask_draw(a->options, p, out, err));
        explain(a, s, p);
        return RAN_OK;
}

int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               const struct cmd_line *line, struct cmd_sink *out,
                               struct ran_error *err)
{
        struct attnmask_panels p = {0};

        RAN_TRY(attnmask_probes(&a->selection, &s->shape, true, &s->probes, &s->cap, &s->n, err));
        int rc = draw(a, s, line, &p, out, err);
        attnmask_panels_release(&p);
        return rc;
}
