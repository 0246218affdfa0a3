/* nearest.c - the vectors of a collection that are nearest to one, by the cosine: exact, all are
 * compared. A hundred thousand vectors of 256 numbers take some hundredths of a second.
 */
#include "ran/model.h"
#include "math/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ran_nearest {
        size_t D, n, cap; /* cap: floats */
        float *v;         /* (n, D) of length 1, or zeros */
};

struct ran_nearest *ran_nearest_new(size_t D, struct ran_error *err)
{
        struct ran_nearest *c = ran_alloc(1, sizeof *c, err);

        if (c != NULL)
                c->D = D;
        return c;
}

void ran_nearest_free(struct ran_nearest *c)
{
        if (c != NULL)
                free(c->v);
        free(c);
}

int ran_nearest_add(struct ran_nearest *c, const float *v, struct ran_error *err)
{
        const double length = sqrt(ran_dot(v, v, c->D));
        size_t all;

        if (__builtin_mul_overflow(c->n + 1, c->D, &all))
                return ran_fail(err, RAN_ENOMEM, "out of memory");
        float *grown = ran_grow(c->v, &c->cap, all, sizeof *grown, err);
        if (grown == NULL)
                return RAN_ENOMEM;
        c->v = grown;
        for (size_t d = 0; d < c->D; d++)
                grown[c->n * c->D + d] = length > 0 ? (float)((double)v[d] / length) : 0;
        c->n++;
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

size_t ran_nearest_find(const struct ran_nearest *c, const float *v, struct ran_neighbour *list,
                        size_t k)
{
        const double length = sqrt(ran_dot(v, v, c->D));
        size_t n = 0;

        for (size_t i = 0; i < c->n && k > 0 && length > 0; i++) {
                const double cosine = ran_dot(v, c->v + i * c->D, c->D) / length;
                const struct ran_neighbour x = {i, cosine};

                if (n < k) {
                        list[n++] = x;
                        for (size_t at = n / 2; n == k && at-- > 0;)
                                sift(list, n, at);
                } else if (is_worse(&list[0], &x)) {
                        list[0] = x;
                        sift(list, n, 0);
                }
        }
        if (n > 0)
                qsort(list, n, sizeof *list, compare);
        return n;
}
