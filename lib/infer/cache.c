/* cache.c - words that occurred recently occur again (Grave, Joulin and Usunier, Improving neural
 * language models with a continuous cache, ICLR 2017).
 *
 *   p(w) = (1 - lambda) p_model(w) + lambda p_cache(w)                              [equation 5]
 *   p_cache(w) = sum over i with x_(i+1) = w of exp(theta h_t . h_i) / sum over i   [equation 3]
 *
 * i are the last N positions before t, with h_i / |h_i| in place of h_i: see ran/model.h.
 *
 * Positions are numbered from 0. The ring has N + BLOCK slots; position i is in slot i mod (N +
 * BLOCK). A block of positions is stored before the first of them is scored: the slots it
 * overwrites are out of reach for the whole block.
 *
 *   slots    | 70 71 72 73 | 10 11 12 ... 67 68 69 |         N = 60, BLOCK = 4: positions 70 to 73
 *   seen by 72: 12 to 71     ^^ overwrite 6 to 9             are at work
 *
 * One product gives the similarities of a block with all slots; each row then takes its own. Slots
 * depend on the number of earlier positions alone, so that a document gives the same bits in any
 * batch and for any number of threads.
 */
#include "infer/infer.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };

struct ran_cache {
        struct ran_cache_settings set;
        size_t D, slots;   /* N + BLOCK */
        size_t seen;       /* positions so far */
        float *key;        /* (slots, D) of length 1; allocated as needed */
        uint32_t *next;    /* (slots) */
        float *query;      /* (BLOCK, D) theta times the keys of a block */
        float *similarity; /* (BLOCK, slots in use) */
        double *mass;      /* (V) for logits; all 0 between rows */
        size_t key_cap, next_cap, similarity_cap, mass_cap;
};

/* ---- memory --------------------------------------------------------------------------------- */

struct ran_cache *ran_cache_new(const struct ran_config *config,
                                const struct ran_cache_settings *set, struct ran_error *err)
{
        if (set->positions == 0 || set->positions > SIZE_MAX - BLOCK)
                ran_fail(err, RAN_EINVAL, "a cache of %zu positions", set->positions);
        else if (!(set->weight >= 0 && set->weight < 1))
                ran_fail(err, RAN_EINVAL, "the weight of a cache must be at least 0 and below 1");
        else if (!(set->theta >= 0 && set->theta <= RAN_CACHE_THETA))
                ran_fail(err, RAN_EINVAL, "theta of a cache must be between 0 and %d",
                         RAN_CACHE_THETA);
        else {
                struct ran_cache *c = ran_new(1, sizeof *c);

                c->set = *set;
                c->D = config->dim;
                c->slots = set->positions + BLOCK;
                c->query = ran_new_floats(BLOCK * c->D);
                return c;
        }
        return NULL;
}

void ran_cache_free(struct ran_cache *c)
{
        if (c == NULL)
                return;
        free(c->key);
        free(c->next);
        free(c->query);
        free(c->similarity);
        free(c->mass);
        free(c);
}

void ran_cache_clear(struct ran_cache *c)
{
        c->seen = 0;
}

int ran_cache_reserve(struct ran_cache *c, size_t D, size_t n, size_t V, struct ran_error *err)
{
        const size_t rows = ran_least(n > SIZE_MAX - c->seen ? SIZE_MAX : c->seen + n, c->slots),
                     had = c->mass_cap;
        size_t keys, similarities;

        if (c->D != D)
                return ran_fail(err, RAN_EINVAL, "the cache is for a model of another width");
        if (__builtin_mul_overflow(rows, c->D, &keys) ||
            __builtin_mul_overflow(rows, ran_least(n, BLOCK), &similarities))
                return ran_fail(err, RAN_ENOMEM, "no memory for a cache of %zu positions", rows);
        RAN_TRY(RAN_GROW(c->key, c->key_cap, keys, err));
        RAN_TRY(RAN_GROW(c->next, c->next_cap, rows, err));
        RAN_TRY(RAN_GROW(c->similarity, c->similarity_cap, similarities, err));
        RAN_TRY(RAN_GROW(c->mass, c->mass_cap, V, err));
        memset(c->mass + had, 0, (c->mass_cap - had) * sizeof *c->mass);
        return RAN_OK;
}

/* ---- a block of positions -------------------------------------------------------------------- */

struct block {
        struct ran_cache *c;
        const uint32_t *gold;
        float *nll, *logits;
        size_t V;
        size_t n;               /* positions */
        size_t at[BLOCK];       /* their rows in h, gold, nll and logits */
        size_t position[BLOCK]; /* their numbers */
        size_t width;           /* slots in use */
};

/* y = a x / |x|; a row of zeros has similarity 0 to all. */
static void scale_to(float *y, const float *x, double a, size_t D)
{
        double length = sqrt(ran_dot(x, x, D));

        for (size_t d = 0; d < D; d++)
                y[d] = length > 0 ? (float)((double)x[d] * a / length) : 0;
}

/* The positions that position r of the block looks back on: `n` similarities in the order of
 * their slots. The first `wrapped` slots are 0, 1, ..., the others `first`, first + 1, ... */
struct lookback {
        float *similarity;
        size_t n, first, wrapped;
};

static struct lookback lookback_of(const struct block *k, size_t r)
{
        const struct ran_cache *c = k->c;
        size_t position = k->position[r], n = ran_least(position, c->set.positions);
        struct lookback v = {c->similarity + r * k->width, n, (position - n) % c->slots, 0};

        if (n > c->slots - v.first) { /* join the two runs */
                v.wrapped = n - (c->slots - v.first);
                memmove(v.similarity + v.wrapped, v.similarity + v.first,
                        (n - v.wrapped) * sizeof *v.similarity);
        } else {
                v.similarity += v.first;
        }
        return v;
}

static uint32_t next_of(const struct ran_cache *c, const struct lookback *v, size_t i)
{
        return c->next[i < v->wrapped ? i : v->first + (i - v->wrapped)];
}

/* log((1 - weight) exp(log_p) + weight q); log_p while the cache is empty. */
static double mix(const struct ran_cache *c, double log_p, double q)
{
        double model = log_p + ran_log1p(-c->set.weight), weighted = c->set.weight * q;

        if (weighted <= 0)
                return model;
        double cache = ran_log(weighted), top = model > cache ? model : cache;
        return top + ran_log1p(ran_exp((model < cache ? model : cache) - top));
}

static void mix_logits(const struct block *k, const struct lookback *v, float *logits)
{
        struct ran_cache *c = k->c;
        double all = ran_log_sum_exp(logits, k->V);

        for (size_t w = 0; w < k->V; w++)
                logits[w] = (float)((double)logits[w] - all);
        if (v->n == 0)
                return;
        for (size_t i = 0; i < v->n; i++)
                c->mass[next_of(c, v, i)] += (double)v->similarity[i];
        for (size_t w = 0; w < k->V; w++) {
                logits[w] = (float)mix(c, (double)logits[w], c->mass[w]);
                c->mass[w] = 0;
        }
}

static void look_back(void *arg, size_t r)
{
        const struct block *k = arg;
        struct ran_cache *c = k->c;
        struct lookback v = lookback_of(k, r);
        uint32_t gold = k->gold[k->at[r]];
        double q = 0;

        if (v.n > 0)
                ran_simd->softmax(v.similarity, 1.0f, v.n, NULL);
        for (size_t i = 0; i < v.n; i++)
                if (next_of(c, &v, i) == gold)
                        q += (double)v.similarity[i];
        if (k->nll != NULL && gold != RAN_NO_ID && v.n > 0)
                k->nll[k->at[r]] = (float)-mix(c, -(double)k->nll[k->at[r]], q);
        if (k->logits != NULL)
                mix_logits(k, &v, k->logits + k->at[r] * k->V);
}

/* A position without a next token is scored, but not remembered. */
static void remember(struct block *k, const float *h)
{
        struct ran_cache *c = k->c;

        for (size_t r = 0; r < k->n; r++) {
                const float *x = h + k->at[r] * c->D;
                size_t slot = c->seen % c->slots;

                scale_to(c->query + r * c->D, x, c->set.theta, c->D);
                k->position[r] = c->seen;
                if (k->gold[k->at[r]] == RAN_NO_ID)
                        continue;
                scale_to(c->key + slot * c->D, x, 1, c->D);
                c->next[slot] = k->gold[k->at[r]];
                c->seen++;
        }
        k->width = ran_least(c->seen, c->slots);
}

void ran_cache_mix(struct ran_cache *c, struct ran_pool *pool, const float *h, const uint32_t *gold,
                   size_t n, float *nll, float *logits, size_t V)
{
        struct block k = {.c = c, .gold = gold, .nll = nll, .logits = logits, .V = V};

        for (size_t i = 0; i < n; i++) {
                if (gold[i] != RAN_NO_ID || logits != NULL)
                        k.at[k.n++] = i;
                if (k.n < BLOCK && (k.n == 0 || i + 1 < n))
                        continue;
                remember(&k, h);
                ran_gemm_linear(pool, c->similarity, k.width, c->query, c->D, c->key, NULL, k.n,
                                c->D, k.width);
                /* mass is for one row at a time */
                ran_parallel(logits == NULL ? pool : NULL, k.n, look_back, &k);
                k.n = 0;
        }
}
