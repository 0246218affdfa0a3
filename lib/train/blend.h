/* blend.h - how much the two paths of a classifier count (model/wide.h).
 *
 *   logits = deep * (those of the encoder) + wide * (those of the wide path)
 *
 * The paths learn apart from each other, and the encoder is soon surer of itself than it is right.
 * What either is worth is asked of documents that it has not learned from: the shares with the
 * least loss there, a problem of two numbers that is convex.
 */
#ifndef RAN_TRAIN_BLEND_H
#define RAN_TRAIN_BLEND_H

#include "ran.h"

struct ran_blend {
        double deep, wide; /* >= 0 */
};

/* Where nobody can be asked: about what small and large collections came out with. */
extern const struct ran_blend ran_blend_unknown;

/* The shares for logits deep, wide (B, C) of the documents of d, the fewer of them the nearer to
 * what is usual. */
int ran_blend_fit(struct ran_blend *blend, struct ran_blend usual, const struct ran_dataset *d,
                  const float *deep, const float *wide, struct ran_error *err);

/* to (n) = the blend of deep and wide; may be either of them. */
void ran_blend_add(float *to, const struct ran_blend *blend, const float *deep, const float *wide,
                   size_t n);

#endif
