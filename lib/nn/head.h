/* head.h - the heads: from the output of the encoder to logits, and back. */
#ifndef RAN_MODEL_HEAD_H
#define RAN_MODEL_HEAD_H

#include "nn/workspace.h"

/* Gathers the output rows at word positions in w->head.head (positions, D); adjoint: from
 * w->head.dhead to w->dx and w->dlast (overwritten). */
void ran_head_positions(struct ran_workspace *w, const struct ran_params *p);
void ran_head_positions_bwd(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp);

/* The head of the configuration's task, classify or tag: fills w->head, the logits last: (B, C) to
 * classify, (positions, C) to tag. Adjoint: from w->head.dlogits to w->dx and w->dlast
 * (overwritten); adds to dp. */
void ran_head(struct ran_workspace *w, const struct ran_params *p, size_t C);
void ran_head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                  size_t C);

#endif
