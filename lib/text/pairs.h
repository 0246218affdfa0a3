/* pairs.h - different pairs of pieces, numbered in the order in which they came: those that could
 * be joined when a vocabulary is learned, and those that are joined when text becomes pieces. */
#ifndef RAN_TEXT_PAIRS_H
#define RAN_TEXT_PAIRS_H

#include "ran/text.h"

#define PAIRS_NONE UINT32_MAX

struct ran_pairs {
        struct piece_pair {
                uint32_t a, b;
        } * at;
        size_t n, cap;
        uint32_t *slot; /* open addressing; PAIRS_NONE where free */
        size_t slots;   /* a power of two */
        unsigned shift; /* 64 less its logarithm */
};

void ran_pairs_release(struct ran_pairs *p);
/* The number of the pair of a and b; PAIRS_NONE when there is none. */
uint32_t ran_pairs_find(const struct ran_pairs *p, uint32_t a, uint32_t b);
/* The same, but the pair gets the next number when there is none; PAIRS_NONE without memory. */
uint32_t ran_pairs_add(struct ran_pairs *p, uint32_t a, uint32_t b, struct ran_error *err);

#endif
