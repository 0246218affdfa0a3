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
struct ran_kept_panels *ran_kept_panels_new(struct ran_error *err);
void ran_kept_panels_free(struct ran_kept_panels *k);

/* The panels of w (O,I), for ran_simd->gemm_paneled; from any thread. The weights must stay as they
 * are and where they are as long as k does. NULL if memory has run out: w itself will do. */
const float *ran_kept_panels_of(struct ran_kept_panels *k, const float *w, size_t O, size_t I);

/* The floats of all of them. */
size_t ran_kept_panels_floats(const struct ran_kept_panels *k);

#endif
