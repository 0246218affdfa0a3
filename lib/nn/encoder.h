/* encoder.h - from token ids to the input of the heads, and back, along the list of parts. */
#ifndef RAN_NN_ENCODER_H
#define RAN_NN_ENCODER_H

#include "nn/part.h"

/* A recurrent state for one document, with nothing read. */
int ran_encoder_state_init(struct ran_recurrent_state *state, const struct ran_config *c,
                           struct ran_error *err);
/* The number of complete states of a document that are kept after so many tokens. */
size_t ran_encoder_states(const struct ran_config *c, size_t tokens);

/* Fills w->x[0] with the rows of the tokens, and encodes these rows: the two steps of ran_encode,
 * but for dropout. */
void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p);
void ran_encode_rows(struct ran_workspace *w, const struct ran_params *p);
/* Encodes w->packed (after ran_workspace_fit): leaves the output (L, D) in w->x[N]. Ids must be
 * below V. */
void ran_encode(struct ran_workspace *w, const struct ran_params *p);
/* Adjoint, after ran_encode with the same batch. Takes the adjoints of the output in w->dx and
 * of each document's last cell in w->dlast; adds the gradients to dp (absent tensors are
 * skipped); leaves the adjoints of the embedding's rows, token by token, in w->dx. The
 * activations stay: it can run again for other adjoints. */
void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp);

#endif
