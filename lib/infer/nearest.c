/* nearest.c - the vectors of a collection that are nearest to others, by the cosine: exact, all are
 * compared.
 *
 * Products of 32-bit floats say first which vectors can be among the nearest; those that can are
 * compared once more in double. A product of several vectors with a block of the collection costs a
 * fraction of what they cost one by one, since the block stays in the cache.
 */
#include "ran/model.h"
#include "base/error.h"
#include "base/size.h"
#include "base/string-table.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors are kept once, of length 1 or zeros: a text that is there a thousand times is compared
 * once. */
struct ran_nearest {
        size_t D, n;
        float *v;                       /* (vectors, D) */
        struct ran_string_table digest; /* (vectors) of their bits */
        struct same {
                size_t first, last; /* documents with this vector */
        } * same;                   /* (vectors) */
        size_t *next;               /* (n) the next document with the same vector; none */
        size_t v_cap, same_cap, next_cap;
};
static const size_t none = SIZE_MAX;

struct ran_nearest *ran_nearest_new(size_t D)
{
        struct ran_nearest *c = ran_new(1, sizeof *c);

        c->D = D;
        return c;
}

void ran_nearest_free(struct ran_nearest *c)
{
        if (c == NULL)
                return;
        ran_string_table_release(&c->digest);
        free(c->v);
        free(c->same);
        free(c->next);
        free(c);
}

/* FNV-1a over floats, not bytes: a fourth of the time. */
static uint64_t digest(const float *v, size_t D)
{
        uint64_t hash = ran_string_table_seed;

        for (size_t d = 0; d < D; d++) {
                uint32_t bits;

                memcpy(&bits, v + d, sizeof bits);
                hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
        return hash;
}

/* Looks for the vector behind the last one, or makes it the last; its place. */
static uint32_t place(struct ran_nearest *c)
{
        const float *mine = c->v + c->digest.n * c->D;
        const uint64_t key = digest(mine, c->D);
        const size_t last = c->digest.n;
        const uint32_t i = ran_string_table_add(&c->digest, (const char *)&key, sizeof key);

        if (i == last || memcmp(c->v + i * c->D, mine, c->D * sizeof *mine) == 0)
                return i;
        return ran_string_table_skip(&c->digest); /* the digest of another: kept, not found */
}

int ran_nearest_add(struct ran_nearest *c, const float *v, struct ran_error *err)
{
        const size_t vectors = c->digest.n;
        size_t floats;

        err = ran_error_or_spare(err);
        if (__builtin_mul_overflow(vectors + 1, c->D, &floats))
                return ran_fail(err, RAN_ENOMEM, "out of memory for %zu vectors", vectors + 1);
        RAN_ROOM(c->v, c->v_cap, floats);
        RAN_ROOM(c->same, c->same_cap, vectors + 1);
        RAN_ROOM(c->next, c->next_cap, c->n + 1);
        ran_unit(c->v + vectors * c->D, v, c->D, 1);
        const uint32_t i = place(c);
        if (i < vectors)
                c->next[c->same[i].last] = c->n;
        else
                c->same[i].first = c->n;
        c->same[i].last = c->n;
        c->next[c->n++] = none;
        return RAN_OK;
}

/* ---- the k best ------------------------------------------------------------------------------ */

/* Whether a is a worse neighbour than b; of equals the later one is. */
static bool is_worse(const struct ran_neighbour *a, const struct ran_neighbour *b)
{
        return a->cosine < b->cosine || (a->cosine == b->cosine && a->number > b->number);
}

/* A heap with the worst of n on top: moves the one at `at` down to its place. */
static void sift(struct ran_neighbour *heap, size_t n, size_t at)
{
        const struct ran_neighbour x = heap[at];

        for (size_t child; (child = 2 * at + 1) < n; at = child) {
                child += child + 1 < n && is_worse(&heap[child + 1], &heap[child]);
                if (!is_worse(&heap[child], &x))
                        break;
                heap[at] = heap[child];
        }
        heap[at] = x;
}

static int compare(const void *a, const void *b)
{
        return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
}

/* ---- a block of the collection --------------------------------------------------------------- */

enum { BLOCK = 256 };

/* A search for the neighbours of n vectors at once. */
struct search {
        const struct ran_nearest *c;
        const float *v; /* (n, D) */
        size_t n, k;
        double least, slack;        /* slack: the most that a float product is wrong by */
        double *length;             /* (n) of the vectors */
        float *unit, *limit;        /* (n, D) of length 1; (n) float products below it are no use */
        float *product;             /* (BLOCK, n) */
        struct ran_neighbour *list; /* (n, k) heaps */
        size_t *found;              /* (n) */
};

/* The smallest cosine that helps vector q, less what floats may be wrong by. */
static void set_limit(struct search *s, size_t q)
{
        double least = s->least;

        if (s->k > 0 && s->found[q] == s->k && s->list[q * s->k].cosine > least)
                least = s->list[q * s->k].cosine;
        s->limit[q] = s->k > 0 && s->length[q] > 0 ? (float)(least - s->slack) : INFINITY;
}

/* Adds a neighbour of q, unless there are k better ones. */
static bool add(struct search *s, size_t q, struct ran_neighbour x)
{
        struct ran_neighbour *heap = s->list + q * s->k;

        if (s->found[q] == s->k && !is_worse(&heap[0], &x))
                return false;
        if (s->found[q] < s->k) {
                heap[s->found[q]++] = x;
                for (size_t at = s->k / 2; s->found[q] == s->k && at-- > 0;)
                        sift(heap, s->k, at);
        } else {
                heap[0] = x;
                sift(heap, s->k, 0);
        }
        return true;
}

/* Adds the documents with vector i, the first one first. */
static void consider(struct search *s, size_t q, size_t i)
{
        const struct ran_nearest *c = s->c;
        const double cosine = ran_dot(s->v + q * c->D, c->v + i * c->D, c->D) / s->length[q];

        if (cosine < s->least)
                return;
        for (size_t at = c->same[i].first; at != none; at = c->next[at])
                if (!add(s, q, (struct ran_neighbour){at, cosine}))
                        break;
        set_limit(s, q);
}

static bool any_reaches(const float *product, const float *limit, size_t n)
{
        int any = 0;

        for (size_t q = 0; q < n; q++)
                any |= product[q] >= limit[q];
        return any != 0;
}

/* Rows [from, from + rows) of the collection. */
static void search_block(struct search *s, size_t from, size_t rows)
{
        const size_t D = s->c->D, n = s->n;
        const float *block = s->c->v + from * D;

        for (size_t i = 0; n <= RAN_FEW_ROWS && i < rows; i++)
                for (size_t q = 0; q < n; q++)
                        s->product[i * n + q] = ran_simd->dot(s->unit + q * D, block + i * D, D);
        if (n > RAN_FEW_ROWS)
                ran_gemm(s->product, n, block, D, 1, s->unit, 1, D, rows, n, D, false);
        for (size_t i = 0; i < rows; i++) {
                const float *product = s->product + i * n;

                if (!any_reaches(product, s->limit, n))
                        continue;
                for (size_t q = 0; q < n; q++)
                        if (product[q] >= s->limit[q])
                                consider(s, q, from + i);
        }
}

static void search_all(struct search *s)
{
        const size_t D = s->c->D, all = s->c->digest.n;

        for (size_t q = 0; q < s->n; q++) {
                s->length[q] = ran_unit(s->unit + q * D, s->v + q * D, D, 1);
                s->found[q] = 0;
                set_limit(s, q);
        }
        for (size_t i = 0; i < all; i += BLOCK)
                search_block(s, i, ran_least(all - i, BLOCK));
        for (size_t q = 0; q < s->n; q++)
                if (s->found[q] > 0)
                        qsort(s->list + q * s->k, s->found[q], sizeof *s->list, compare);
}

int ran_nearest_find(const struct ran_nearest *c, const float *v, size_t n, size_t k, double least,
                     struct ran_neighbour *list, size_t *found, struct ran_error *err)
{
        /* Each of D products and sums of unit vectors is rounded, and so were the vectors. */
        const double slack = (double)(c->D + 4) * FLT_EPSILON;
        struct search s = {.c = c,
                           .v = v,
                           .n = n,
                           .k = k,
                           .least = least,
                           .slack = slack,
                           .list = list,
                           .found = found};
        size_t floats, products;

        if (__builtin_mul_overflow(n, c->D, &floats) || __builtin_mul_overflow(n, BLOCK, &products))
                return ran_fail(err, RAN_ENOMEM, "out of memory for %zu vectors", n);
        s.length = ran_new(n, sizeof *s.length);
        s.limit = ran_new_floats(n);
        s.unit = ran_new_floats(floats);
        s.product = ran_new_floats(products);
        search_all(&s);
        free(s.length);
        free(s.limit);
        free(s.unit);
        free(s.product);
        return RAN_OK;
}
