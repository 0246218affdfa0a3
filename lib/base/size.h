/* size.h - sizes. */
#ifndef RAN_BASE_SIZE_H
#define RAN_BASE_SIZE_H

#include <stddef.h>

static inline size_t ran_least(size_t a, size_t b)
{
        return a < b ? a : b;
}

static inline size_t ran_most(size_t a, size_t b)
{
        return a > b ? a : b;
}

/* How many of n ascending numbers are below `bound`. */
static inline size_t ran_count_below(const size_t *x, size_t n, size_t bound)
{
        size_t from = 0;

        while (from < n) {
                const size_t middle = from + (n - from) / 2;

                if (x[middle] < bound)
                        from = middle + 1;
                else
                        n = middle;
        }
        return from;
}

#endif
