/* selection.c - options that select a part of a model's attention. */
#include "cmd/attnmask/attnmask.h"

#include <string.h>

#include "cmd/options/message.h"

/* ---- what was asked ------------------------------------------------------------------------- */

static size_t number(const char *option, const char *text, const char *others)
{
        size_t n;

        if (!ran_parse_size(text, strlen(text), &n))
                cmd_usage("--%s must be a number%s, not '%s'", option, others, text);
        return n;
}

bool attnmask_parse_rows(const char *text, size_t *from, size_t *to)
{
        size_t n = strcspn(text, ":");

        return text[n] != '\0' && ran_parse_size(text, n, from) &&
               ran_parse_size(text + n + 1, strlen(text + n + 1), to) && *from < *to;
}

static void select_layers(struct attnmask_selection *c, const struct attnmask_options *o,
                          bool picture)
{
        size_t N = c->shape.layers;

        c->layer_from = 0;
        c->layer_to = N;
        if (o->layer == NULL && picture && c->shape.table[0].queries != RAN_AXIS_DOCUMENT)
                c->layer_from = N - 1;
        if (o->layer == NULL || strcmp(o->layer, "all") == 0)
                return;
        c->layer_from = number("layer", o->layer, " or all");
        c->layer_to = c->layer_from + 1;
        if (c->layer_from >= N)
                cmd_usage("the model has no layer %zu: it has %zu, and the first is 0",
                          c->layer_from, N);
}

static void select_heads(struct attnmask_selection *c, const struct attnmask_options *o,
                         bool picture)
{
        const char *head = o->head != NULL ? o->head : picture ? "mean" : "all";
        size_t h = c->shape.table[RAN_PROBE_HEADS].heads;
        bool review = c->shape.table[RAN_PROBE_REVIEW].heads > 0;

        c->head_from = 0;
        c->head_to = h;
        if (strcmp(head, "all") == 0) {
                c->review = review && !picture;
        } else if (strcmp(head, "mean") == 0) {
                c->head_from = RAN_PROBE_MEAN;
                c->head_to = 0;
        } else if (strcmp(head, "review") == 0) {
                if (!review)
                        cmd_usage("the model has no review, the attention of tokens to windows");
                c->review = true;
                c->head_to = 0;
        } else {
                c->head_from = number("head", head, ", mean, review or all");
                c->head_to = c->head_from + 1;
                if (c->head_from >= h)
                        cmd_usage("the model has no head %zu: it has %zu, and the first is 0",
                                  c->head_from, h);
        }
}

/* --row I or cell:I, --rows A:B, --in-window N: one of them at most. */
static void select_queries(struct attnmask_selection *c, const struct attnmask_options *o)
{
        const enum ran_axis queries = c->shape.table[RAN_PROBE_HEADS].queries;
        const char *row = o->row, *asked = row != NULL       ? "--row"
                                           : o->rows != NULL ? "--rows"
                                                             : "--in-window";

        if ((row != NULL) + (o->rows != NULL) + (o->in_window != NULL) > 1)
                cmd_usage("--row, --rows and --in-window all select queries: give one");
        if (row == NULL && o->rows == NULL && o->in_window == NULL)
                return;
        if (queries == RAN_AXIS_DOCUMENT && o->rows == NULL)
                cmd_usage("%s: in this model only the document as a whole attends to tokens",
                          asked);
        if (queries != RAN_AXIS_ROWS && (row == NULL ? o->rows == NULL : row[0] == 'c'))
                cmd_usage("%s: the model does not read in windows, and has no cells",
                          row != NULL ? row : asked);
        if (row != NULL) {
                bool cell = strncmp(row, "cell:", 5) == 0;

                c->by = cell ? ATTNMASK_CELL : ATTNMASK_TOKENS;
                c->from = number("row", row + (cell ? 5 : 0), " or cell:I");
                c->to = c->from + 1;
        } else if (o->in_window != NULL) {
                c->by = ATTNMASK_WINDOW;
                c->from = number("in-window", o->in_window, "");
        } else {
                c->by = ATTNMASK_TOKENS;
                if (!attnmask_parse_rows(o->rows, &c->from, &c->to))
                        cmd_usage("--rows must be A:B, with A less than B, not '%s'", o->rows);
        }
}

void attnmask_select(struct attnmask_selection *c, const struct attnmask_options *o,
                     const struct ran_config *config, bool picture)
{
        *c = (struct attnmask_selection){0};
        ran_probe_shape(&c->shape, config, 1);
        select_layers(c, o, picture);
        select_heads(c, o, picture);
        select_queries(c, o);
        if (c->by == ATTNMASK_CELL && c->review && c->head_to == 0)
                cmd_usage("cells do not attend to windows: --row cell:%zu is not for the review",
                          c->from);
        c->review = c->review && c->by != ATTNMASK_CELL;
}

/* ---- in a document -------------------------------------------------------------------------- */

/* The part of an axis for the tokens [from, to): the cell of a window belongs to its first token.
 */
static void range_of(const struct ran_probe_shape *shape, enum ran_axis axis, size_t from,
                     size_t to, size_t *first, size_t *end)
{
        size_t i;

        *first = from;
        *end = to;
        if (axis != RAN_AXIS_ROWS)
                return;
        i = ran_probe_window(shape, from);
        *first = from == i * shape->window ? ran_probe_cell(shape, i) : ran_probe_row(shape, from);
        *end = ran_probe_row(shape, to - 1) + 1;
}

static void set_ranges(const struct attnmask_selection *c, const struct ran_probe_shape *shape,
                       struct ran_probe *k, bool zoom)
{
        const struct ran_probe_table *t = &shape->table[k->table];
        bool window = c->by == ATTNMASK_WINDOW, by_token = t->keys != RAN_AXIS_STATES;
        size_t from = window ? c->from * shape->window : c->from,
               to = window ? ran_probe_window_end(shape, c->from) : c->to;

        k->query_to = t->n_queries;
        k->key_to = t->n_keys;
        k->down = k->across = 1;
        if (c->by == ATTNMASK_CELL) {
                k->query_from = ran_probe_cell(shape, c->from);
                k->query_to = k->query_from + 1;
        } else if (t->queries == RAN_AXIS_DOCUMENT && c->by != ATTNMASK_ALL) {
                k->key_from = from;
                k->key_to = to;
        } else if (c->by != ATTNMASK_ALL) {
                range_of(shape, t->queries, from, to, &k->query_from, &k->query_to);
                if (c->by == ATTNMASK_TOKENS && to - from == 1 && t->queries == RAN_AXIS_ROWS)
                        k->query_from = ran_probe_row(shape, from); /* --row I: without its cell */
                if (by_token && (window || zoom))
                        range_of(shape, t->keys, from, to, &k->key_from, &k->key_to);
        }
}

int attnmask_probes(const struct attnmask_selection *c, struct attnmask_scratch *s, bool zoom,
                    struct ran_error *err)
{
        const struct ran_probe_shape *shape = &s->shape;
        const bool mean = c->head_from == RAN_PROBE_MEAN;
        size_t heads = mean ? 1 : c->head_to > c->head_from ? c->head_to - c->head_from : 0;

        if (c->by == ATTNMASK_TOKENS && c->to > shape->L)
                return ran_fail(err, RAN_EINVAL,
                                "there is no token %zu: the document has %zu, and the first is 0",
                                c->to - 1, shape->L);
        if ((c->by == ATTNMASK_WINDOW || c->by == ATTNMASK_CELL) && c->from >= shape->windows)
                return ran_fail(err, RAN_EINVAL,
                                "there is no window %zu: the document has %zu, and the first is 0",
                                c->from, shape->windows);
        s->n = (c->layer_to - c->layer_from) * (heads + c->review);
        RAN_TRY(RAN_GROW(s->probes, s->cap, s->n, err));
        struct ran_probe *k = s->probes;
        for (size_t l = c->layer_from; l < c->layer_to; l++)
                for (size_t j = 0; j < heads + c->review; j++, k++) {
                        *k = (struct ran_probe){.layer = l};
                        k->table = j < heads ? RAN_PROBE_HEADS : RAN_PROBE_REVIEW;
                        k->head = j == heads ? 0 : mean ? RAN_PROBE_MEAN : c->head_from + j;
                        set_ranges(c, shape, k, zoom);
                }
        return RAN_OK;
}
