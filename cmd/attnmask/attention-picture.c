/* attention-picture.c - the attention of a model in a document, as a picture. */
#include "cmd/attnmask/attnmask.h"

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
        return picture_string(&name);
}

/* The probes of layers and heads are panels or, in steps of the whole document, lines of one. */
static int make_panels(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct picture *p, struct ran_error *err)
{
        const bool steps = s->shape.table[s->probes->table].queries == RAN_AXIS_DOCUMENT;
        const size_t size = attnmask_size(a->options);

        for (size_t i = 0; i < s->n; i++) { /* so that a panel is no larger than --size */
                struct ran_probe *k = &s->probes[i];

                k->across = (k->key_to - k->key_from - 1) / size + 1;
                k->down = (k->query_to - k->query_from - 1) / size + 1;
        }
        RAN_TRY(picture_init(p, steps ? 1 : s->n, ran_probe_width(s->probes),
                             steps ? s->n : ran_probe_height(s->probes), err));
        const size_t cells = p->panels * p->height * p->width;
        RAN_TRY(RAN_GROW(s->sum, s->sum_cap, cells, err));
        p->names = ran_new(p->panels, sizeof *p->names);
        for (size_t i = 0; i < s->n; i++) {
                s->probes[i].sum = s->sum + i * (cells / s->n);
                if (i < p->panels)
                        p->names[i] = name_of(a, &s->probes[i], steps);
        }
        RAN_TRY(attnmask_probe(a, s, s->probes, s->n, err));
        for (size_t i = 0; i < s->n; i++)
                average(&s->probes[i]);
        return RAN_OK;
}

/* Writes what stands around the panels; words where a cell is not a block of many. */
static int name_axes(const struct attnmask_model *a, const struct attnmask_scratch *s,
                     const struct cmd_line *line, struct picture *p, struct ran_error *err)
{
        static const char *const names[][2] = {
                [RAN_AXIS_TOKENS] = {"key (token)", "query (token)"},
                [RAN_AXIS_ROWS] = {"key (row: tokens and cells)", "query (row: tokens and cells)"},
                [RAN_AXIS_STATES] = {"key (cell after a window)", "query (cell)"},
                [RAN_AXIS_DOCUMENT] = {"key (token)", "step"},
        };
        const struct ran_probe *k = s->probes;
        const struct ran_probe_table *t = &s->shape.table[k->table];
        const bool steps = t->queries == RAN_AXIS_DOCUMENT;

        p->down = k->down;
        p->across = k->across;
        p->x_name = names[t->keys][0];
        p->y_name = names[t->queries][1];
        p->legend = k->down * k->across > 1 ? "mean attention weight of a block (logarithmic scale)"
                                            : "attention weight (logarithmic scale)";
        p->x_from = k->key_from;
        p->x_to = k->key_to - 1;
        p->y_from = steps ? k->layer : k->query_from;
        p->y_to = steps ? s->probes[s->n - 1].layer : k->query_to - 1;
        p->title = attnmask_title("Attention", line);
        const enum ran_axis keys = t->keys == RAN_AXIS_DOCUMENT ? RAN_AXIS_TOKENS : t->keys;
        if (k->across == 1 && keys != RAN_AXIS_STATES)
                RAN_TRY(attnmask_words(&p->x_words, a, s, line, keys, k->key_from, k->key_to, err));
        return k->down == 1 && (t->queries == RAN_AXIS_TOKENS || t->queries == RAN_AXIS_ROWS)
                       ? attnmask_words(&p->y_words, a, s, line, t->queries, k->query_from,
                                        k->query_to, err)
                       : RAN_OK;
}

int attnmask_attention_picture(const struct attnmask_model *a, struct attnmask_scratch *s,
                               const struct cmd_line *line, struct cmd_sink *out,
                               struct ran_error *err)
{
        struct picture p = {0};

        RAN_TRY(attnmask_probes(&a->selection, s, true, err));
        int rc = make_panels(a, s, &p, err);
        if (rc == RAN_OK)
                rc = name_axes(a, s, line, &p, err);
        if (rc == RAN_OK)
                rc = attnmask_draw(a->options, &p, s->sum, out, err);
        picture_release(&p);
        return rc;
}
