/* lost.h - what a student lost: its vectors of texts beside those of the teacher. */
#ifndef RAN_DISTIL_LOST_H
#define RAN_DISTIL_LOST_H

#include "ran/base.h"

/* Vectors of n texts that were held out. */
struct ran_lost {
        size_t n, F, D;
        float *teacher; /* (n, F) */
        float *target;  /* (n, D) the same, in the D directions that the student has */
        float *student; /* (n, D) */
};
int ran_lost_init(struct ran_lost *k, size_t n, size_t F, size_t D, struct ran_error *err);
void ran_lost_release(struct ran_lost *k);
/* The mean cosine of student and teacher, all F directions counted. */
double ran_lost_cosine(const struct ran_lost *k);
/* Spearman's correlation of the cosines of pairs of texts, drawn by the seed, by the student and by
 * the teacher; *pairs: how many. */
double ran_lost_rank(const struct ran_lost *k, uint64_t seed, size_t *pairs);

#endif
