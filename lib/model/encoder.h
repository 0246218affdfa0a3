/* encoder.h - from token ids to what the heads read, and back. */
#ifndef RAN_MODEL_ENCODER_H
#define RAN_MODEL_ENCODER_H

#include "model/workspace.h"

/* A kind of encoder: what ran_workspace_fit, ran_encode and ran_encode_bwd do for it. */
struct ran_encoder {
        /* Sizes of w->rows in w->size, and tables that grow with them. */
        int (*prepare)(struct ran_workspace *w, struct ran_error *err);
        /* Its part of the arena, w->x[1] to w->x[N] among it. Called twice, the first time only to
         * count. */
        void (*lay_out)(struct ran_workspace *w, struct ran_arena *k);
        /* From w->x[0], the embedded tokens, to w->x[N]; and from w->dx and w->dlast back to w->dx.
         * The Contextualizer has no rows of tokens: its w->x[N] (B, D) are the contexts, their
         * adjoint is w->dlast. */
        void (*forward)(struct ran_workspace *w, const struct ran_params *p);
        void (*backward)(struct ran_workspace *w, const struct ran_params *p,
                         struct ran_params *dp);
        /* Of memory that it has outside the arena; NULL: none. */
        void (*release)(struct ran_workspace *w);
        /* Tables of attention, and windows, of a document of shape->L tokens; forward fills what
         * w->probes asks for of them, if it is there. */
        void (*shape)(const struct ran_config *c, struct ran_probe_shape *shape);
};
extern const struct ran_encoder ran_encoder_ran, ran_encoder_contextualizer,
        ran_encoder_transformer;
const struct ran_encoder *ran_encoder_of(const struct ran_config *c);

/* Fills w->x[0] with the rows of the tokens: the first part of ran_encode. */
void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p);
/* Encodes w->rows (after ran_workspace_fit): leaves the output (L, D) in w->x[N] and all cells in
 * w->cells. Ids must be below V. */
void ran_encode(struct ran_workspace *w, const struct ran_params *p);
/* Adjoint, after ran_encode with the same rows. Takes the adjoints of the output in w->dx and of
 * each document's last cell in w->dlast; adds to dp, but for tensors that it does not have; leaves
 * those of the embedding's rows, token by token, in w->dx. What ran_encode left stays: it can be
 * done again for other adjoints. */
void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp);

/* Gathers the output rows at places in w->head.head (places, D); adjoint: from w->head.dhead to
 * w->dx and w->dlast (overwritten). */
void ran_head_places(struct ran_workspace *w);
void ran_head_places_bwd(struct ran_workspace *w);

/* The head of the configuration's task, classify or tag: fills w->head, the logits last: (B, C) to
 * classify, (places, C) to tag. Adjoint: from w->head.dlogits to w->dx and w->dlast (overwritten);
 * adds to dp. */
void ran_head(struct ran_workspace *w, const struct ran_params *p, size_t C);
void ran_head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                  size_t C);

#endif
