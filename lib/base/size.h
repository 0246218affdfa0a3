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

#endif
