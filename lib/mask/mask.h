/* mask.h - attention patterns as index sets, for what computes with them.
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
 * All masks are one: query i sees key j > i if j < sources. So a query sees keys on its left down
 * to 0 and on its right up to the last source token. Queries on the right of a key see it, up to
 * the last token; queries on its left see it, down to 0, if it is a source token. Hence rows and
 * columns cost the same.
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

/* How far query i sees to the right. */
static inline size_t ran_mask_ahead(const struct ran_mask *m, size_t i)
{
        return i < m->sources ? m->sources - 1 - i : 0;
}

#endif
