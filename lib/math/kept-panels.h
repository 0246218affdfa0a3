/* kept-panels.h - panels of weights that no longer change: each matrix is brought into panels when
 * it is first multiplied, and stays so.
 *
 * Without them each product makes panels of its own (simd-gemm.c), which takes longer than the
 * product itself where there are few rows, as of a sentence. They need as much memory as the
 * weights.
 */
#ifndef RAN_MATH_KEPT_PANELS_H
#define RAN_MATH_KEPT_PANELS_H

#include "ran/base.h"

struct ran_kept_panels;
/* to (n) = the weights that belong at w, but need not lie there. From any thread. */
typedef void (*ran_read_weights)(void *arg, const float *w, size_t n, float *to);
/* integers: the weights are stored in eight bits, and are multiplied so. read NULL: they lie where
 * they belong. */
struct ran_kept_panels *ran_kept_panels_new(bool integers, ran_read_weights read, void *arg);
void ran_kept_panels_free(struct ran_kept_panels *k);

bool ran_kept_panels_hold_integers(const struct ran_kept_panels *k);

/* Panels of weights w (O,I): one of the two; the other is NULL. */
struct ran_panels {
        const float *floats;  /* for ran_simd->gemm_paneled, */
        const void *integers; /* or for ran_integer->multiply */
};
/* From any thread. The weights must stay as they are and where they are as long as k does. Integers
 * are rows of finite numbers that compact.h does not store as F16, up to RAN_INTEGER_MOST. */
struct ran_panels ran_kept_panels_of(struct ran_kept_panels *k, const float *w, size_t O, size_t I);

#endif
