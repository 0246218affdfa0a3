/* mask.h - attention patterns as index sets: what computes with them, beyond ran.h.
 *
 * A pattern is a set of distances. Those from 0 to `near` are a run; beyond it stand single ones,
 *
 *      dispersed   far(k) = near + 2 + 3 + ... + (k + 1) = near + k (k + 3) / 2
 *      dilated     far(k) = k (d + 1), near = 0           for k = 1, 2, ...
 *
 * (dilated by d = 0 is a window). So a row of the mask is one run of keys around the query and
 * single keys at known distances, and all of it is arithmetic.
 *
 *      query i     o . . o . o o o o o . o . . o .       dispersed(4), near = 2
 *                  far(2)  far(1)  i   far(1)  far(2)
 *
 * All masks are one: key j > i is seen when j < sources. So a query looks to the left as far as 0
 * and to the right as far as the last source token; a key is looked at from the right as far as the
 * last token, and from the left, as far as 0, if it is a source token. Hence the two questions,
 * what a query sees and who sees a key, cost the same.
 *
 * The single keys of neighbouring queries are neighbours: at one distance they form a diagonal.
 * Work in blocks of queries reads them as runs, too.
 */
#ifndef RAN_MASK_MASK_H
#define RAN_MASK_MASK_H

#include "ran/mask.h"

/* The k-th distance beyond near, k from 1 to m->far. */
static inline size_t ran_mask_far(const struct ran_mask *m, size_t k)
{
        return m->step > 0 ? k * m->step : m->near + k * (k + 3) / 2;
}

/* How many of those distances are at most x. */
size_t ran_mask_far_within(const struct ran_mask *m, size_t x);

/* How far query i looks to the right. */
static inline size_t ran_mask_ahead(const struct ran_mask *m, size_t i)
{
        return i < m->sources ? m->sources - 1 - i : 0;
}

#endif
