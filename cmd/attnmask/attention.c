/* attention.c - the attention of a model in a document, as JSON: the largest weights, or all. */
#include "cmd/attnmask/attnmask.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/formats/json.h"

/* The most weights to write for a document. */
enum { MOST_WEIGHTS = 1 << 26 };

/* ---- lists of the largest ------------------------------------------------------------------- */

static int by_magnitude(const void *a, const void *b)
{
        const struct attnmask_ranked *x = a, *y = b;

        if (fabs(x->value) != fabs(y->value))
                return fabs(x->value) > fabs(y->value) ? -1 : 1;
        return (x->at > y->at) - (x->at < y->at);
}

static void add_key(struct ran_buf *out, const struct attnmask_model *a,
                    const struct attnmask_scratch *s, enum ran_axis axis, size_t i)
{
        const struct ran_probe_shape *shape = &s->shape;

        if (axis == RAN_AXIS_STATES && i == 0) {
                ran_buf_str(out, "\"window\":null");
        } else if (axis == RAN_AXIS_STATES) {
                ran_buf_printf(out, "\"window\":%zu,", i - 1);
                cmd_reading_add_run(&s->reading, (i - 1) * shape->window,
                                    ran_probe_window_end(shape, i - 1), out);
        } else if (axis == RAN_AXIS_ROWS && ran_probe_is_cell(shape, i, &i)) {
                json_put_size(out, "cell", i);
        } else {
                cmd_reading_add_token(&s->reading, &a->how, i, out);
                if (axis == RAN_AXIS_ROWS)
                        json_put_size(out, "window", ran_probe_window(shape, i));
        }
}

void attnmask_add_top(struct ran_buf *out, const struct attnmask_model *a,
                      const struct attnmask_scratch *s, enum ran_axis axis, size_t from, size_t n,
                      const char *name)
{
        json_name(out, "top");
        json_begin(out, '[');
        for (size_t i = 0; i < n && i < a->options->top; i++) {
                json_begin(out, '{');
                add_key(out, a, s, axis, from + s->ranked[i].at);
                json_put_float(out, name, (float)s->ranked[i].value);
                json_end(out, '}');
        }
        json_end(out, ']');
}

size_t attnmask_rank(struct attnmask_scratch *s, const double *x, size_t n, double least)
{
        size_t found = 0;

        RAN_ROOM(s->ranked, s->ranked_cap, n);
        for (size_t i = 0; i < n; i++)
                if (fabs(x[i]) >= least)
                        s->ranked[found++] = (struct attnmask_ranked){x[i], i};
        if (found > 1)
                qsort(s->ranked, found, sizeof *s->ranked, by_magnitude);
        return found;
}

/* A weight is the mean over the queries. */
static void add_top(struct ran_buf *out, const struct attnmask_model *a, struct attnmask_scratch *s,
                    const struct ran_probe *k)
{
        const size_t n = k->key_to - k->key_from, height = ran_probe_height(k);
        const double queries = (double)(k->query_to - k->query_from);
        double *mean = ran_new(n, sizeof *mean);

        for (size_t i = 0; i < height; i++)
                for (size_t j = 0; j < n; j++)
                        mean[j] += k->sum[i * n + j];
        for (size_t j = 0; j < n; j++)
                mean[j] /= queries;
        attnmask_add_top(out, a, s, s->shape.table[k->table].keys, k->key_from,
                         attnmask_rank(s, mean, n, DBL_TRUE_MIN), "weight");
        free(mean);
}

/* ---- the weights themselves ----------------------------------------------------------------- */

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
        const enum ran_axis queries = s->shape.table[k->table].queries;
        size_t at, end = SIZE_MAX, query = k->query_from + y;

        json_begin(out, '{');
        if (queries == RAN_AXIS_ROWS && ran_probe_is_cell(&s->shape, query, &query))
                ran_buf_printf(out, "\"row\":\"cell:%zu\"", query);
        else if (queries != RAN_AXIS_DOCUMENT)
                json_put_size(out, "row", query);
        for (size_t j = 0; j < n; j++)
                if (w[j] > 0 && is_other(s, axis, k->key_from + j, &at))
                        json_put_float(out, axis == RAN_AXIS_ROWS ? "cell" : "first", (float)w[j]);
        json_name(out, axis == RAN_AXIS_STATES ? "windows" : "keys");
        json_begin(out, '[');
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

/* ---- a document ----------------------------------------------------------------------------- */

int attnmask_probe(const struct attnmask_model *a, const struct attnmask_scratch *s,
                   struct ran_probe *probes, size_t n, struct ran_error *err)
{
        return ran_probe(a->model, s->state, &s->reading.tokens, s->reading.sources, probes, n,
                         err);
}

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
        RAN_TRY(RAN_GROW(s->sum, s->sum_cap, all, err));
        for (size_t i = 0, at = 0; i < s->n; i++) {
                s->probes[i].sum = s->sum + at;
                at += ran_probe_height(&s->probes[i]) * ran_probe_width(&s->probes[i]);
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
        ran_buf_printf(out, ",\"scores\":%" PRIu64, scores);
        json_put_float(
                out, "share",
                (float)((double)scores / (double)ran_review_scores(&c, r->tokens.L, r->sources)));
}

static void add_probe(struct ran_buf *out, const struct attnmask_model *a,
                      struct attnmask_scratch *s, const struct ran_probe *k)
{
        json_begin(out, '{');
        json_put_size(out, "layer", k->layer);
        if (k->table == RAN_PROBE_REVIEW)
                json_put_text(out, "head", "review");
        else if (k->head == RAN_PROBE_MEAN)
                json_put_text(out, "head", "mean");
        else
                json_put_size(out, "head", k->head);
        if (k->table == RAN_PROBE_REVIEW)
                add_scores(out, a, s);
        if (s->shape.table[k->table].queries == RAN_AXIS_DOCUMENT) {
                json_put_float(out, "update", (float)k->update);
                json_put_float(out, "context", (float)k->context);
        }
        if (a->options->top > 0)
                add_top(out, a, s, k);
        if (a->options->weights) {
                json_name(out, "weights");
                json_begin(out, '[');
                for (size_t y = 0; y < ran_probe_height(k); y++)
                        add_row(out, s, k, y);
                json_end(out, ']');
        }
        json_end(out, '}');
}

int attnmask_attention(const struct attnmask_model *a, struct attnmask_scratch *s,
                       struct ran_buf *out, struct ran_error *err)
{
        const struct cmd_reading *r = &s->reading;

        RAN_TRY(attnmask_probes(&a->selection, s, false, err));
        RAN_TRY(make_room(a, s, err));
        RAN_TRY(attnmask_probe(a, s, s->probes, s->n, err));
        json_begin(out, '{');
        json_put_size(out, "tokens", s->shape.L);
        if (s->shape.table[RAN_PROBE_HEADS].queries == RAN_AXIS_ROWS)
                json_put_size(out, "windows", s->shape.windows);
        if (r->document != NULL)
                cmd_document_truncated(r->document, out);
        if (a->options->row != NULL && a->selection.by == ATTNMASK_TOKENS) {
                json_name(out, "row");
                json_begin(out, '{');
                cmd_reading_add_token(r, &a->how, a->selection.from, out);
                json_end(out, '}');
        }
        json_name(out, "heads");
        json_begin(out, '[');
        for (size_t i = 0; i < s->n; i++)
                add_probe(out, a, s, &s->probes[i]);
        json_end(out, ']');
        json_end(out, '}');
        return RAN_OK;
}
