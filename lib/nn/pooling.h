/* pooling.h - one vector of a document from the outputs of its tokens: the maximum or the mean. */
#ifndef RAN_MODEL_POOLING_H
#define RAN_MODEL_POOLING_H

#include "nn/workspace.h"

struct ran_pooling {
        float *pooled, *dpooled; /* (B, D); the adjoint only for training */
        uint32_t *argmax;        /* (B, D) the token of its document that each maximum came from */
};
void ran_pooling_lay_out(struct ran_pooling *k, const struct ran_workspace *w,
                         struct ran_arena *arena);
/* Fills k->pooled from w->x[N]. */
void ran_pooling(struct ran_pooling *k, const struct ran_workspace *w);
/* Adjoint: from k->dpooled to w->dx, overwritten. */
void ran_pooling_bwd(const struct ran_pooling *k, struct ran_workspace *w);

#endif
