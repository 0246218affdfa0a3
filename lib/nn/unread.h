/* unread.h - weights in eight bits that stay in the model file.
 *
 * A layer whose matrices are multiplied as integers needs panels of their codes, not their floats,
 * which would take four times as much memory and half of the time of opening. Panels read such a
 * matrix from the file when it is first multiplied; others call ran_unread_read first. Until then a
 * NaN stands where its floats would begin, so that who forgets it computes NaN, not numbers.
 */
#ifndef RAN_NN_UNREAD_H
#define RAN_NN_UNREAD_H

#include "math/kept-panels.h"
#include "nn/params.h"
#include "tensors/tensors.h"

/* None are read yet. The file stays open as long as they are here. */
struct ran_unread *ran_unread_new(const struct ran_tensors *file);
/* NULL is none, in the next three. */
void ran_unread_free(struct ran_unread *u);
/* Leaves a tensor, which belongs at `at`, in the file. False if it must be read now: it is not in
 * eight bits, or is not multiplied as integers. */
bool ran_unread_leave(struct ran_unread *u, const struct ran_tensor *t, float *at);
/* Reads them all into the block, once. From any thread. */
void ran_unread_read(struct ran_unread *u);

/* Of a struct ran_unread: to (n) = the weights that belong at w; the block stays as it is. From any
 * thread. */
void ran_unread_copy(void *unread, const float *w, size_t n, float *to);

/* Panels of weights that do not change while they are used. Free them with ran_kept_panels_free. */
struct ran_kept_panels *ran_params_panels(const struct ran_params *p);

#endif
