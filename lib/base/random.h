/* random.h - the counter-based generator, inline so that a loop over positions can be vectorised.
 *
 * A draw is one output of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014): an odd-constant Weyl sequence through a 64-bit finaliser. It has no
 * state: draw number `position` of the sequence that starts at `key`. Part of the model file's
 * reproducibility: a change here changes every trained model. */
#ifndef RAN_BASE_RANDOM_H
#define RAN_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t ran_random_draw_inline(uint64_t key, uint64_t position)
{
        uint64_t z = key + (position + 1) * UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

#endif
