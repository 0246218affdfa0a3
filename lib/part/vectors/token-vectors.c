/* token-vectors.c - vectors of tokens from the texts that they occur in.
 *
 *      n_ij    how often token j stands at most WINDOW tokens from token i, in the same text
 *      m_ij  = max(0, log(n_ij n / (n_i n_j)))       positive PMI; n_i = Σ_j n_ij, n = Σ_i n_i
 *      x_i   = √σ u_i, of unit length                M = U Σ V^T, its largest singular values
 *
 * (Levy, Goldberg and Dagan 2015). The first directions stay: what all tokens share is the same in
 * all documents, and in texts of two topics the second direction is the topic.
 *
 * Rows of M are counted one after another, from the positions of their token: those near a rare one
 * are sorted, those near a frequent one counted in an array of all tokens. So no table of pairs is
 * needed, and memory holds some rows beside M, which may be in a file. */
#include "part/vectors/token-vectors.h"
#include "base/error.h"
#include "base/posting.h"
#include "base/size.h"
#include "ran/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 5 };
/* Positions of the tokens that a thread counts at once, and threads' shares before the results are
 * put together. */
enum { SHARE = 1 << 14, SHARES = 32 };

/* ---- positions ------------------------------------------------------------------------------- */

/* All texts in one array, with RAN_NO_ID before, between and behind them. */
struct texts {
        uint32_t *ids;
        size_t n, V;
        size_t *first; /* (V + 1) of the positions of each token */
        uint32_t *at;
        double *near; /* (V) n_i */
        double all;   /* n */
        struct ran_spool ids_spool, at_spool;
};

/* So many texts of a set have at most so many positions. */
static size_t count_texts(const struct ran_dataset *d, size_t most)
{
        size_t n = 0;

        while (n < d->B && d->first[n + 1] + n + 1 <= most)
                n++;
        return n;
}

static int add_texts(struct texts *t, const struct ran_dataset *d, size_t n, struct ran_error *err)
{
        size_t at = t->n;

        t->n += d->first[n] + n;
        t->ids = ran_spool_reserve(&t->ids_spool, t->n, sizeof *t->ids, err);
        if (t->ids == NULL)
                return (int)err->code;
        for (size_t b = 0; b < n; b++) {
                const size_t L = d->first[b + 1] - d->first[b];

                if (L > 0)
                        memcpy(t->ids + at, d->ids + d->first[b], L * sizeof *t->ids);
                at += L;
                t->ids[at++] = RAN_NO_ID;
        }
        return RAN_OK;
}

static int gather(struct texts *t, const struct ran_dataset *const *set, size_t sets, size_t most,
                  struct ran_error *err)
{
        t->ids = ran_spool_reserve(&t->ids_spool, 1, sizeof *t->ids, err);
        if (t->ids == NULL)
                return (int)err->code;
        t->ids[t->n++] = RAN_NO_ID;
        for (size_t i = 0; i < sets; i++) {
                const size_t n = count_texts(set[i], most);

                RAN_TRY(add_texts(t, set[i], n, err));
                most -= set[i]->first[n] + n;
        }
        return RAN_OK;
}

/* How many tokens stand near position p. */
static size_t neighbours(const struct texts *t, size_t p)
{
        size_t n = 0;

        for (size_t d = 1; d <= WINDOW && t->ids[p - d] != RAN_NO_ID; d++)
                n++;
        for (size_t d = 1; d <= WINDOW && t->ids[p + d] != RAN_NO_ID; d++)
                n++;
        return n;
}

static int find_positions(struct texts *t, struct ran_error *err)
{
        const size_t V = t->V;

        t->first = ran_alloc(V + 2, sizeof *t->first, err);
        t->near = ran_alloc(V, sizeof *t->near, err);
        if (t->first == NULL || t->near == NULL)
                return RAN_ENOMEM;
        t->at = ran_spool_reserve(&t->at_spool, t->n, sizeof *t->at, err);
        if (t->at == NULL)
                return (int)err->code;
        for (size_t p = 0; p < t->n; p++)
                if (t->ids[p] != RAN_NO_ID) {
                        const size_t n = neighbours(t, p);

                        t->first[t->ids[p] + 2]++;
                        t->near[t->ids[p]] += (double)n;
                        t->all += (double)n;
                }
        for (size_t id = 0; id <= V; id++)
                t->first[id + 1] += t->first[id];
        for (size_t p = 0; p < t->n; p++)
                if (t->ids[p] != RAN_NO_ID)
                        t->at[t->first[t->ids[p] + 1]++] = (uint32_t)p;
        return RAN_OK;
}

/* ---- rows of M ------------------------------------------------------------------------------- */

/* Rows [from, to), counted by one thread. */
struct share {
        size_t from, to;
        size_t *end; /* (to - from) where each row ends */
        uint32_t *column, *near, *spare;
        uint64_t *times; /* (V) of tokens near a frequent one; 0 between rows */
        float *x;
        size_t n, column_cap, x_cap;
        int rc;
        struct ran_error err;
};

struct counter {
        const struct texts *t;
        struct share share[SHARES];
        size_t shares;
};

/* Whether more tokens may stand near it than there are different ones. */
static bool is_frequent(const struct texts *t, size_t id)
{
        return t->first[id + 1] - t->first[id] > t->V / (2 * WINDOW);
}

/* Token j, so many times near token id: a number of its row, if its PMI is positive. */
static int add_pair(const struct texts *t, size_t id, uint32_t j, double times, struct share *s)
{
        const double pmi = ran_log(times * t->all / (t->near[id] * t->near[j]));

        if (!(pmi > 0))
                return RAN_OK;
        uint32_t *column = ran_grow(s->column, &s->column_cap, s->n + 1, sizeof *column, &s->err);
        if (column == NULL)
                return RAN_ENOMEM;
        s->column = column;
        float *x = ran_grow(s->x, &s->x_cap, s->n + 1, sizeof *x, &s->err);
        if (x == NULL)
                return RAN_ENOMEM;
        s->x = x;
        s->column[s->n] = j;
        s->x[s->n++] = (float)pmi;
        return RAN_OK;
}

static int count_frequent(const struct texts *t, size_t id, struct share *s)
{
        int rc = RAN_OK;

        for (size_t i = t->first[id]; i < t->first[id + 1]; i++) {
                const uint32_t *p = t->ids + t->at[i];

                for (size_t d = 1; d <= WINDOW && *(p - d) != RAN_NO_ID; d++)
                        s->times[*(p - d)]++;
                for (size_t d = 1; d <= WINDOW && p[d] != RAN_NO_ID; d++)
                        s->times[p[d]]++;
        }
        for (size_t j = 0; j < t->V && rc == RAN_OK; j++) {
                if (s->times[j] > 0)
                        rc = add_pair(t, id, (uint32_t)j, (double)s->times[j], s);
                s->times[j] = 0;
        }
        return rc;
}

/* The tokens near those of row id, sorted; their number. */
static size_t list_near(const struct texts *t, size_t id, struct share *s)
{
        size_t n = 0;

        for (size_t i = t->first[id]; i < t->first[id + 1]; i++) {
                const uint32_t *p = t->ids + t->at[i];

                for (size_t d = 1; d <= WINDOW && *(p - d) != RAN_NO_ID; d++)
                        s->near[n++] = *(p - d);
                for (size_t d = 1; d <= WINDOW && p[d] != RAN_NO_ID; d++)
                        s->near[n++] = p[d];
        }
        ran_posting_sort_ids(s->near, s->spare, n);
        return n;
}

static int count_rare(const struct texts *t, size_t id, struct share *s)
{
        const size_t n = list_near(t, id, s);

        for (size_t i = 0, same; i < n; i += same) {
                const uint32_t j = s->near[i];

                for (same = 1; i + same < n && s->near[i + same] == j;)
                        same++;
                RAN_TRY(add_pair(t, id, j, (double)same, s));
        }
        return RAN_OK;
}

static int count_rows(const struct texts *t, struct share *s)
{
        s->end = ran_alloc(s->to - s->from, sizeof *s->end, &s->err);
        s->near = ran_alloc(t->V, sizeof *s->near, &s->err);
        s->spare = ran_alloc(t->V, sizeof *s->spare, &s->err);
        s->times = ran_alloc(t->V, sizeof *s->times, &s->err);
        if (s->end == NULL || s->near == NULL || s->spare == NULL || s->times == NULL)
                return RAN_ENOMEM;
        for (size_t id = s->from; id < s->to; id++) {
                RAN_TRY(is_frequent(t, id) ? count_frequent(t, id, s) : count_rare(t, id, s));
                s->end[id - s->from] = s->n;
        }
        return RAN_OK;
}

static void count_share(void *arg, size_t i)
{
        struct counter *k = arg;

        k->share[i].rc = count_rows(k->t, &k->share[i]);
}

/* Divides rows from `from` on among shares; returns where they end. */
static size_t divide(struct counter *k, size_t from, size_t V)
{
        for (k->shares = 0; k->shares < SHARES && from < V; k->shares++) {
                struct share *s = &k->share[k->shares];

                *s = (struct share){.from = from};
                do
                        from++;
                while (from < V && k->t->first[from + 1] - k->t->first[s->from] <= SHARE);
                s->to = from;
        }
        return from;
}

static int take_share(struct ran_token_pairs *p, const struct share *s, struct ran_error *err)
{
        const size_t n = p->pmi.first[s->from];

        if (s->rc != RAN_OK)
                *err = s->err;
        RAN_TRY(s->rc);
        p->pmi.column = ran_spool_reserve(&p->column, n + s->n, sizeof *p->pmi.column, err);
        if (p->pmi.column == NULL)
                return (int)err->code;
        p->pmi.x = ran_spool_reserve(&p->x, n + s->n, sizeof *p->pmi.x, err);
        if (p->pmi.x == NULL)
                return (int)err->code;
        if (s->n > 0) {
                memcpy(p->pmi.column + n, s->column, s->n * sizeof *s->column);
                memcpy(p->pmi.x + n, s->x, s->n * sizeof *s->x);
        }
        for (size_t id = s->from; id < s->to; id++)
                p->pmi.first[id + 1] = n + s->end[id - s->from];
        return RAN_OK;
}

static void release_share(struct share *s)
{
        free(s->end);
        free(s->near);
        free(s->spare);
        free(s->times);
        free(s->column);
        free(s->x);
}

static int count_all(struct ran_token_pairs *p, const struct texts *t, size_t V,
                     struct ran_pool *pool, struct ran_error *err)
{
        struct counter *k = ran_alloc(1, sizeof *k, err);
        size_t from = 0;
        int rc = RAN_OK;

        if (k == NULL)
                return RAN_ENOMEM;
        k->t = t;
        while (from < V && rc == RAN_OK) {
                from = divide(k, from, V);
                ran_parallel(pool, k->shares, count_share, k);
                for (size_t i = 0; i < k->shares; i++) {
                        if (rc == RAN_OK)
                                rc = take_share(p, &k->share[i], err);
                        release_share(&k->share[i]);
                }
        }
        free(k);
        return rc;
}

static int count(struct ran_token_pairs *p, struct texts *t, size_t V, struct ran_pool *pool,
                 struct ran_error *err)
{
        RAN_TRY(find_positions(t, err));
        p->count = ran_alloc(V, sizeof *p->count, err);
        p->pmi.first = ran_alloc(V + 1, sizeof *p->pmi.first, err);
        if (p->count == NULL || p->pmi.first == NULL)
                return RAN_ENOMEM;
        for (size_t id = 0; id < V; id++)
                p->count[id] = t->first[id + 1] - t->first[id];
        return count_all(p, t, V, pool, err);
}

int ran_token_pairs_count(struct ran_token_pairs *p, const struct ran_dataset *const *set,
                          size_t sets, size_t V, size_t most, struct ran_pool *pool,
                          struct ran_error *err)
{
        const size_t keep = sets > 0 ? set[0]->keep : 0;
        struct texts t = {.V = V, .ids_spool.keep = keep, .at_spool.keep = keep};

        err = ran_error_or_spare(err);
        *p = (struct ran_token_pairs){.pmi.n = V, .column.keep = keep, .x.keep = keep};
        int rc = gather(&t, set, sets, most, err);
        if (rc == RAN_OK)
                rc = count(p, &t, V, pool, err);
        ran_spool_release(&t.ids_spool);
        ran_spool_release(&t.at_spool);
        free(t.first);
        free(t.near);
        if (rc != RAN_OK)
                ran_token_pairs_release(p);
        return rc;
}

void ran_token_pairs_release(struct ran_token_pairs *p)
{
        free(p->pmi.first);
        free(p->count);
        ran_spool_release(&p->column);
        ran_spool_release(&p->x);
        *p = (struct ran_token_pairs){0};
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* row (D) of u becomes √σ u, of unit length. */
static void make_row(float *row, const double *value, size_t D)
{
        double squares = 0;

        for (size_t d = 0; d < D; d++) {
                row[d] = (float)((double)row[d] * sqrt(value[d]));
                squares += (double)row[d] * (double)row[d];
        }
        for (size_t d = 0; d < D && squares > 0; d++)
                row[d] = (float)((double)row[d] / sqrt(squares));
}

int ran_token_vectors(const struct ran_token_pairs *p, float *rows, uint64_t seed,
                      struct ran_pool *pool, int (*step)(void *arg, double share), void *arg,
                      struct ran_error *err)
{
        const size_t D = RAN_TOKEN_VECTOR;
        double value[RAN_TOKEN_VECTOR];

        RAN_TRY(ran_eigen_sparse(&p->pmi, D, seed, rows, value, pool, step, arg, err));
        for (size_t id = 0; id < p->pmi.n; id++)
                make_row(rows + id * D, value, D);
        return RAN_OK;
}
