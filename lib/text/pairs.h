/* pairs.h - distinct pairs of tokens, numbered in order of insertion: candidates for a merge when a
 * vocabulary is learned, merges when text is encoded. */
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
        unsigned shift; /* 64 - log2 of it */
};

void ran_pairs_release(struct ran_pairs *p);
/* The number of the pair (a, b), or PAIRS_NONE. */
uint32_t ran_pairs_find(const struct ran_pairs *p, uint32_t a, uint32_t b);
/* The same, but adds a missing pair; PAIRS_NONE (RAN_ENOMEM) on failure. */
uint32_t ran_pairs_add(struct ran_pairs *p, uint32_t a, uint32_t b, struct ran_error *err);

#endif
