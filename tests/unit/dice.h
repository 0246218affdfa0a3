/* dice.h - random numbers for tests: the same in every run. */
#ifndef RAN_TESTS_UNIT_DICE_H
#define RAN_TESTS_UNIT_DICE_H

#include "ran.h"

/* Set key; at counts the throws. */
struct dice {
        uint64_t key, at;
};

/* Between low and high. */
static inline double dice_real(struct dice *d, double low, double high)
{
        return low + (high - low) * ran_random_uniform(d->key, d->at++);
}

/* From low to high, both included. */
static inline size_t dice_size(struct dice *d, size_t low, size_t high)
{
        return low + (size_t)(ran_random_draw(d->key, d->at++) % ((uint64_t)high - low + 1));
}

static inline bool dice_coin(struct dice *d)
{
        return dice_size(d, 0, 1) == 1;
}

/* Of variance 1 and nearly normal: a sum of four. */
static inline double dice_bell(struct dice *d)
{
        double sum = 0;

        for (int i = 0; i < 4; i++)
                sum += dice_real(d, -1, 1);
        return sum * 0.8660254037844386;
}

static inline void dice_floats(struct dice *d, float *x, size_t n, double scale)
{
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(scale * dice_bell(d));
}

#endif
