/* nearest.c - the vectors of a collection that are nearest to others, by the cosine: exact, all are
 * compared.
 *
 * Products of 32-bit floats say first which vectors can be among the nearest; those that can are
 * compared once more in double. A product of several vectors with a block of the collection costs a
 * fraction of what they cost one by one, since the block stays in the cache.
 */
#include "ran/model.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct ran_nearest {
        size_t D, n, v_cap;
        float *v; /* (n, D) of length 1, or zeros */
};

struct ran_nearest *ran_nearest_new(size_t D)
{
        struct ran_nearest *c = ran_new(1, sizeof *c);

        c->D = D;
        return c;
}

void ran_nearest_free(struct ran_nearest *c)
{
        if (c != NULL)
                free(c->v);
        free(c);
}

void ran_nearest_add(struct ran_nearest *c, const float *v)
{
        RAN_ROOM(c->v, c->v_cap, (c->n + 1) * c->D);
        ran_unit(c->v + c->n++ * c->D, v, c->D, 1);
}

/* Whether a is a worse neighbour than b; of equals the later one is. */
static bool is_worse(const struct ran_neighbour *a, const struct ran_neighbour *b)
{
        return a->cosine < b->cosine || (a->cosine == b->cosine && a->number > b->number);
}

static int compare(const void *a, const void *b)
{
        return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
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
        struct ran_neighbour *list; /* (n, k) heaps once there are k */
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

/* Makes vector i a neighbour of q, unless there are k better ones. */
static void consider(struct search *s, size_t q, size_t i)
{
        const struct ran_nearest *c = s->c;
        const double cosine = ran_dot(s->v + q * c->D, c->v + i * c->D, c->D) / s->length[q];
        const struct ran_neighbour x = {i, cosine};
        struct ran_neighbour *heap = s->list + q * s->k;

        if (cosine < s->least || (s->found[q] == s->k && !is_worse(&heap[0], &x)))
                return;
        if (s->found[q] < s->k) {
                heap[s->found[q]++] = x;
                for (size_t at = s->k / 2; s->found[q] == s->k && at-- > 0;)
                        sift(heap, s->k, at);
        } else {
                heap[0] = x;
                sift(heap, s->k, 0);
        }
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

void ran_nearest_find(const struct ran_nearest *c, const float *v, size_t n, size_t k, double least,
                      struct ran_neighbour *list, size_t *found)
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

        s.length = ran_new(n, sizeof *s.length);
        s.limit = ran_new_floats(n);
        s.unit = ran_new_floats(n * c->D);
        s.product = ran_new_floats(n * BLOCK);
        for (size_t q = 0; q < n; q++) {
                s.length[q] = ran_unit(s.unit + q * c->D, v + q * c->D, c->D, 1);
                found[q] = 0;
                set_limit(&s, q);
        }
        for (size_t i = 0; i < c->n; i += BLOCK)
                search_block(&s, i, ran_least(c->n - i, BLOCK));
        for (size_t q = 0; q < n; q++)
                if (found[q] > 0)
                        qsort(list + q * k, found[q], sizeof *list, compare);
        free(s.length);
        free(s.limit);
        free(s.unit);
        free(s.product);
}
