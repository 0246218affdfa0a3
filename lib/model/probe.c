/* probe.c - sums of the attention that was paid, over blocks of queries and keys. See probe.h. */
#include "model/probe.h"
#include "model/encoder.h"
#include "model/model.h"
#include "model/score.h"

#include <string.h>

/* ---- shapes --------------------------------------------------------------------------------- */

void ran_probe_shape(struct ran_probe_shape *shape, const struct ran_config *c, size_t L)
{
        *shape = (struct ran_probe_shape){.L = L, .layers = c->layers, .windows = 1, .window = L};
        ran_encoder_of(c)->shape(c, shape);
}

size_t ran_probe_window(const struct ran_probe_shape *shape, size_t t)
{
        size_t i = t / shape->window;

        return i < shape->windows ? i : shape->windows - 1; /* the last may be longer */
}

size_t ran_probe_window_end(const struct ran_probe_shape *shape, size_t i)
{
        return i + 1 < shape->windows ? (i + 1) * shape->window : shape->L;
}

size_t ran_probe_row(const struct ran_probe_shape *shape, size_t t)
{
        return t + ran_probe_window(shape, t) + 1;
}

size_t ran_probe_cell(const struct ran_probe_shape *shape, size_t i)
{
        return i * shape->window + i;
}

bool ran_probe_is_cell(const struct ran_probe_shape *shape, size_t row, size_t *at)
{
        size_t i = row / (shape->window + 1);

        i = i < shape->windows ? i : shape->windows - 1;
        bool cell = row == ran_probe_cell(shape, i);
        *at = cell ? i : row - i - 1;
        return cell;
}

/* ---- sums ----------------------------------------------------------------------------------- */

float ran_probe_heads(const struct ran_probe *k, size_t h, size_t *from, size_t *to)
{
        bool all = k->head == RAN_PROBE_MEAN;

        *from = all ? 0 : k->head;
        *to = all ? h : k->head + 1;
        return all ? 1.0f / (float)h : 1.0f;
}

/* The part of [first, first + n) that lies in [low, high), counted from first. */
static bool clip(size_t low, size_t high, size_t first, size_t n, size_t *from, size_t *to)
{
        size_t end = first + n < high ? first + n : high;

        *from = low > first ? low - first : 0;
        *to = end > first ? end - first : 0;
        return *from < *to;
}

bool ran_probe_queries(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to)
{
        return clip(k->query_from, k->query_to, first, n, from, to);
}

bool ran_probe_keys(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to)
{
        return clip(k->key_from, k->key_to, first, n, from, to);
}

/* How many blocks n queries or keys make. */
static size_t blocks(size_t n, size_t by)
{
        return n / by + (n % by > 0);
}

size_t ran_probe_height(const struct ran_probe *k)
{
        return blocks(k->query_to - k->query_from, k->down);
}

size_t ran_probe_width(const struct ran_probe *k)
{
        return blocks(k->key_to - k->key_from, k->across);
}

void ran_probe_add(struct ran_probe *k, size_t query, size_t key, const float *weight, size_t n,
                   float share)
{
        double *sum = k->sum + (query - k->query_from) / k->down * ran_probe_width(k);
        size_t from, to, x;

        if (!ran_probe_keys(k, key, n, &from, &to))
                return;
        x = key + from - k->key_from;
        for (size_t end; from < to; from = end, x = (x / k->across + 1) * k->across) {
                size_t room = k->across - x % k->across;
                double block = 0;

                if (k->across == 1) { /* in one go: blocks that small are what long rows have */
                        for (; from < to; from++, x++)
                                sum[x] += (double)(share * weight[from]);
                        return;
                }
                end = to - from < room ? to : from + room;
                for (size_t i = from; i < end; i++)
                        block += (double)(share * weight[i]);
                sum[x / k->across] += block;
        }
}

/* ---- a document ----------------------------------------------------------------------------- */

/* Whether [from, to) are some of the n queries or keys. */
static int check_range(const char *what, size_t from, size_t to, size_t n, struct ran_error *err)
{
        if (from >= to || to > n)
                return ran_fail(err, RAN_EINVAL, "there are no %s %zu to %zu: there are %zu", what,
                                from, to, n);
        return RAN_OK;
}

int ran_probe_check(const struct ran_probe_shape *shape, const struct ran_probe *k,
                    struct ran_error *err)
{
        const struct ran_probe_table *t = &shape->table[k->table == RAN_PROBE_REVIEW];

        if (k->table != RAN_PROBE_HEADS && k->table != RAN_PROBE_REVIEW)
                return ran_fail(err, RAN_EINVAL, "there is no table %d of attention", k->table);
        if (k->table == RAN_PROBE_REVIEW && t->heads == 0)
                return ran_fail(err, RAN_EINVAL, "the model has no review of states to look at");
        if (k->layer >= shape->layers)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no layer %zu: it has %zu, and the first is 0",
                                k->layer, shape->layers);
        if (k->head != RAN_PROBE_MEAN && k->head >= t->heads)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no head %zu: it has %zu, and the first is 0",
                                k->head, t->heads);
        if (k->down == 0 || k->across == 0)
                return ran_fail(err, RAN_EINVAL, "a block of no queries or keys");
        if (check_range("queries", k->query_from, k->query_to, t->n_queries, err) != RAN_OK)
                return RAN_EINVAL;
        return check_range("keys", k->key_from, k->key_to, t->n_keys, err);
}

int ran_probe(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
              size_t sources, struct ran_probe *probe, size_t n, struct ran_error *err)
{
        struct ran_probes probes = {probe, n};
        struct ran_probe_shape shape;

        if (ran_model_check_state(m, s, err) != RAN_OK ||
            ran_model_check_document(m, d, err) != RAN_OK)
                return RAN_EINVAL;
        if (d->L == 0 || sources > d->L)
                return ran_fail(err, RAN_EINVAL, "a document of %zu tokens, of them %zu source",
                                d->L, sources);
        ran_probe_shape(&shape, &m->config, d->L);
        for (size_t i = 0; i < n; i++) {
                if (ran_probe_check(&shape, &probe[i], err) != RAN_OK)
                        return RAN_EINVAL;
                memset(probe[i].sum, 0,
                       ran_probe_height(&probe[i]) * ran_probe_width(&probe[i]) *
                               sizeof *probe[i].sum);
                probe[i].update = probe[i].context = 0;
        }
        return ran_score_probed(s, d, sources, &probes, err);
}
