/* attention.c - the attention of a model in a document, as JSON: the largest weights, or all. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/attnmask/model.h"

/* The most weights to write for a document. */
enum { MOST_WEIGHTS = 1 << 26 };

/* ---- names ---------------------------------------------------------------------------------- */

static void add_key(struct ran_buf *out, const struct attnmask_model *a,
                    const struct attnmask_scratch *s, enum ran_axis axis, size_t i)
{
        const struct ran_probe_shape *shape = &s->shape;

        if (axis == RAN_AXIS_TOKENS) {
                cmd_reading_add_token(&s->reading, &a->how, i, out);
        } else if (axis == RAN_AXIS_STATES) {
                if (i == 0) {
                        ran_buf_str(out, "\"window\":null");
                        return;
                }
                ran_buf_printf(out, "\"window\":%zu,", i - 1);
                cmd_reading_add_run(&s->reading, (i - 1) * shape->window,
                                    ran_probe_window_end(shape, i - 1), out);
        } else if (ran_probe_is_cell(shape, i, &i)) {
                ran_buf_printf(out, "\"cell\":%zu", i);
        } else {
                cmd_reading_add_token(&s->reading, &a->how, i, out);
                ran_buf_printf(out, ",\"window\":%zu", ran_probe_window(shape, i));
        }
}

static void add_probe_name(struct ran_buf *out, const struct ran_probe *k)
{
        ran_buf_printf(out, "\"layer\":%zu,\"head\":", k->layer);
        if (k->table == RAN_PROBE_REVIEW)
                ran_buf_str(out, "\"review\"");
        else if (k->head == RAN_PROBE_MEAN)
                ran_buf_str(out, "\"mean\"");
        else
                ran_buf_printf(out, "%zu", k->head);
}

/* ---- largest weights ------------------------------------------------------------------------ */

/* The larger first; equals in the order of the keys. */
static int compare(const void *a, const void *b)
{
        const struct attnmask_weight *x = a, *y = b;

        if (x->weight != y->weight)
                return x->weight > y->weight ? -1 : 1;
        return (x->key > y->key) - (x->key < y->key);
}

/* A weight is the mean over the queries. */
static int add_top(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                   const struct ran_probe *k, struct ran_error *err)
{
        size_t n = k->key_to - k->key_from, height = ran_probe_height(k), got = 0;
        double queries = (double)(k->query_to - k->query_from);
        struct attnmask_weight *list = ran_grow(s->ranked, &s->ranked_cap, n, sizeof *list, err);

        if (list == NULL)
                return RAN_ENOMEM;
        s->ranked = list;
        for (size_t j = 0; j < n; j++) {
                double sum = 0;

                for (size_t i = 0; i < height; i++)
                        sum += k->sum[i * n + j];
                if (sum > 0)
                        list[got++] = (struct attnmask_weight){sum / queries, k->key_from + j};
        }
        qsort(list, got, sizeof *list, compare);
        ran_buf_str(out, ",\"top\":[");
        for (size_t i = 0; i < got && i < a->options->top; i++) {
                ran_buf_str(out, i > 0 ? ",{" : "{");
                add_key(out, a, s, s->shape.table[k->table].keys, list[i].key);
                ran_buf_str(out, ",\"weight\":");
                ran_buf_float(out, (float)list[i].weight);
                ran_buf_char(out, '}');
        }
        ran_buf_char(out, ']');
        return RAN_OK;
}

/* ---- the weights themselves ----------------------------------------------------------------- */

static void add_row_name(struct ran_buf *out, const struct attnmask_scratch *s,
                         const struct ran_probe *k, size_t query)
{
        enum ran_axis axis = s->shape.table[k->table].queries;
        bool cell = axis == RAN_AXIS_ROWS && ran_probe_is_cell(&s->shape, query, &query);

        if (axis != RAN_AXIS_DOCUMENT)
                ran_buf_printf(out, cell ? "\"row\":\"cell:%zu\"," : "\"row\":%zu,", query);
}

/* A key that is neither token nor window: a cell, or the state before the first window. */
static bool is_other(const struct attnmask_scratch *s, enum ran_axis axis, size_t key, size_t *at)
{
        *at = key;
        if (axis == RAN_AXIS_ROWS)
                return ran_probe_is_cell(&s->shape, key, at);
        if (axis == RAN_AXIS_STATES)
                *at = key - 1; /* window */
        return axis == RAN_AXIS_STATES && key == 0;
}

/* Both lists have the tokens, or windows, with a weight above 0. */
static void add_row(struct ran_buf *out, const struct attnmask_scratch *s,
                    const struct ran_probe *k, size_t y)
{
        const enum ran_axis axis = s->shape.table[k->table].keys;
        const size_t n = k->key_to - k->key_from;
        const double *w = k->sum + y * n;
        size_t at, end = SIZE_MAX;

        ran_buf_char(out, '{');
        add_row_name(out, s, k, k->query_from + y);
        for (size_t j = 0; j < n; j++)
                if (w[j] > 0 && is_other(s, axis, k->key_from + j, &at)) {
                        ran_buf_str(out, axis == RAN_AXIS_ROWS ? "\"cell\":" : "\"first\":");
                        ran_buf_float(out, (float)w[j]);
                        ran_buf_char(out, ',');
                }
        ran_buf_str(out, axis == RAN_AXIS_STATES ? "\"windows\":[" : "\"keys\":[");
        for (size_t j = 0; j < n; j++) {
                if (!(w[j] > 0) || is_other(s, axis, k->key_from + j, &at))
                        continue;
                if (end == SIZE_MAX)
                        ran_buf_printf(out, "[%zu,", at);
                else if (at != end)
                        ran_buf_printf(out, "%zu],[%zu,", end, at);
                end = at + 1;
        }
        if (end != SIZE_MAX)
                ran_buf_printf(out, "%zu]", end);
        ran_buf_str(out, "],\"weights\":[");
        end = 0;
        for (size_t j = 0; j < n; j++) {
                if (!(w[j] > 0) || is_other(s, axis, k->key_from + j, &at))
                        continue;
                ran_buf_str(out, end++ > 0 ? "," : "");
                ran_buf_float(out, (float)w[j]);
        }
        ran_buf_str(out, "]}");
}

static void add_weights(struct ran_buf *out, const struct attnmask_scratch *s,
                        const struct ran_probe *k)
{
        ran_buf_str(out, ",\"weights\":[");
        for (size_t y = 0; y < ran_probe_height(k) && !out->failed; y++) {
                ran_buf_str(out, y > 0 ? "," : "");
                add_row(out, s, k, y);
        }
        ran_buf_char(out, ']');
}

/* ---- a document ----------------------------------------------------------------------------- */

/* One block of all queries, unless options ask for their weights. */
static int make_room(const struct attnmask_model *a, struct attnmask_scratch *s,
                     struct ran_error *err)
{
        size_t all = 0;

        for (size_t i = 0; i < s->n; i++) {
                struct ran_probe *k = &s->probes[i];
                size_t cells;

                if (!a->options->weights)
                        k->down = k->query_to - k->query_from;
                if (__builtin_mul_overflow(ran_probe_height(k), ran_probe_width(k), &cells) ||
                    __builtin_add_overflow(all, cells, &all) ||
                    (a->options->weights && all > MOST_WEIGHTS))
                        return ran_fail(err, RAN_EINVAL,
                                        "that would be more than %d weights: select some with "
                                        "--layer, --head and --rows A:B",
                                        MOST_WEIGHTS);
        }
        double *sum = ran_grow(s->sum, &s->sum_cap, all, sizeof *sum, err);
        if (sum == NULL)
                return RAN_ENOMEM;
        s->sum = sum;
        for (size_t i = 0; i < s->n; i++) {
                s->probes[i].sum = sum;
                sum += ran_probe_height(&s->probes[i]) * ran_probe_width(&s->probes[i]);
        }
        return RAN_OK;
}

/* Adds how many scores a review computes that sees a pattern of windows, and their share of the
 * scores of all windows. */
static void add_scores(struct ran_buf *out, const struct attnmask_model *a,
                       const struct attnmask_scratch *s)
{
        struct ran_config c = *ran_model_config(a->model);
        const struct cmd_reading *r = &s->reading;
        uint64_t scores = ran_review_scores(&c, r->tokens.L, r->sources);

        if (c.ran.review == RAN_REVIEW_ALL)
                return;
        c.ran.review = RAN_REVIEW_ALL;
        ran_buf_printf(out, ",\"scores\":%" PRIu64 ",\"share\":", scores);
        ran_buf_float(out, (float)((double)scores /
                                   (double)ran_review_scores(&c, r->tokens.L, r->sources)));
}

static int add_answer(struct ran_buf *out, const struct attnmask_model *a,
                      struct attnmask_scratch *s, const struct ran_probe *k, struct ran_error *err)
{
        ran_buf_char(out, '{');
        add_probe_name(out, k);
        if (k->table == RAN_PROBE_REVIEW)
                add_scores(out, a, s);
        if (s->shape.table[k->table].queries == RAN_AXIS_DOCUMENT) {
                ran_buf_str(out, ",\"update\":");
                ran_buf_float(out, (float)k->update);
                ran_buf_str(out, ",\"context\":");
                ran_buf_float(out, (float)k->context);
        }
        if (a->options->top > 0)
                RAN_TRY(add_top(out, a, s, k, err));
        if (a->options->weights)
                add_weights(out, s, k);
        ran_buf_char(out, '}');
        return RAN_OK;
}

int attnmask_attention(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct ran_buf *out, struct ran_error *err)
{
        const struct cmd_reading *r = &s->reading;

        RAN_TRY(attnmask_probes(&a->selection, &s->shape, false, &s->probes, &s->cap, &s->n, err));
        RAN_TRY(make_room(a, s, err));
        RAN_TRY(ran_probe(a->model, s->state, &r->tokens, r->sources, s->probes, s->n, err));
        ran_buf_printf(out, "{\"tokens\":%zu", s->shape.L);
        if (s->shape.table[RAN_PROBE_HEADS].queries == RAN_AXIS_ROWS)
                ran_buf_printf(out, ",\"windows\":%zu", s->shape.windows);
        if (r->document != NULL)
                cmd_document_truncated(r->document, out);
        if (a->options->row != NULL && a->selection.by == ATTNMASK_TOKENS) {
                ran_buf_str(out, ",\"row\":{");
                cmd_reading_add_token(r, &a->how, a->selection.from, out);
                ran_buf_char(out, '}');
        }
        ran_buf_str(out, ",\"heads\":[");
        for (size_t i = 0; i < s->n; i++) {
                ran_buf_str(out, i > 0 ? "," : "");
                RAN_TRY(add_answer(out, a, s, &s->probes[i], err));
        }
        ran_buf_str(out, "]}");
        return RAN_OK;
}
