/* encoder.h - from token ids to what the heads read, and back, whichever encoder does it.
 *
 * To add an encoder: its number in ran/model.h, a line in RAN_ENCODERS below, a file with its
 * struct ran_encoder, and its options in config.c.
 */
#ifndef RAN_MODEL_ENCODER_H
#define RAN_MODEL_ENCODER_H

#include "model/workspace.h"

/* What one kind of encoder is and does. */
struct ran_encoder {
        bool per_token; /* has an output for each token; else only one vector a document */

        /* ---- configuration: a function that is NULL has nothing to say */
        int (*check)(const struct ran_config *c, struct ran_error *err);
        /* Whether the value of a field that only some encoders have makes a difference. */
        bool (*uses)(const struct ran_config *c, const char *field);

        /* ---- tensors: structs of pointers, one a layer and one for the rest (once_size 0: none).
         * See tensor-walk.h. */
        size_t layer_size, once_size;
        void (*layer_tensors)(struct ran_tensor_walk *k, void *layer, const struct ran_config *c,
                              size_t l);
        void (*once_tensors)(struct ran_tensor_walk *k, void *once, const struct ran_config *c);

        /* ---- memory */
        size_t own_size; /* of w->own, which is zero at first */
        int (*init)(struct ran_workspace *w, struct ran_error *err);
        void (*release)(struct ran_workspace *w);
        /* Sizes for w->packed, and tables outside the arena that grow with them. */
        int (*prepare)(struct ran_workspace *w, struct ran_error *err);
        /* Its part of the arena, w->x[1] to w->x[N] and the workers' scratch among it. Called
         * twice, the first time only to count. */
        void (*lay_out)(struct ran_workspace *w, struct ran_arena *k);

        /* ---- computing */
        /* From w->x[0], the embedded tokens, to w->x[N]; and from w->dx and w->dlast back to w->dx.
         * Without per_token, w->x[N] (B, D) are the documents' vectors and w->dlast is their
         * adjoint. */
        void (*forward)(struct ran_workspace *w, const struct ran_params *p);
        void (*backward)(struct ran_workspace *w, const struct ran_params *p,
                         struct ran_params *dp);
        /* A vector for each document, the input of the classifier: (B, D) to w->head.head. Adjoint:
         * from w->head.dhead to w->dx and w->dlast, overwritten. */
        void (*documents)(struct ran_workspace *w, const struct ran_params *p);
        void (*documents_bwd)(struct ran_workspace *w, const struct ran_params *p,
                              struct ran_params *dp);

        /* ---- the recurrent state */
        size_t (*state_width)(const struct ran_config *c);
        size_t (*state_tokens)(const struct ran_config *c); /* that each state stands for */

        /* ---- attention, attribution, cost */
        /* Tables of attention, and windows, of a document of shape->L tokens. `forward` fills what
         * w->probes asks of them. */
        void (*probe_shape)(const struct ran_config *c, struct ran_probe_shape *shape);
        /* A path from an empty token to x (D), u of the way: the row times *scale, which grows by
         * *speed as u does. What the encoder reads of the row should grow evenly. */
        void (*path)(const float *x, size_t D, double u, double *scale, double *speed);
        /* Arithmetic of the forward pass over a document of L tokens. */
        int (*flops)(const struct ran_config *c, size_t L, double *flops, struct ran_error *err);
};

/* X(number, name): all of them. Defines RAN_ENCODER_number's table ran_encoder_name. */
#define RAN_ENCODERS(X)                   \
        X(RAN, ran)                       \
        X(CONTEXTUALIZER, contextualizer) \
        X(TRANSFORMER, transformer)       \
        X(NONE, none)
#define RAN_ENCODER_DECLARE(number, name) extern const struct ran_encoder ran_encoder_##name;
RAN_ENCODERS(RAN_ENCODER_DECLARE)

extern const char *const ran_encoder_names[]; /* by number; NULL at the end */
const struct ran_encoder *ran_encoder_of(const struct ran_config *c);

/* A recurrent state for one document, with nothing read. */
int ran_encoder_state_init(struct ran_recurrent_state *state, const struct ran_config *c,
                           struct ran_error *err);
/* Complete states of a document of which so many tokens were read. */
size_t ran_encoder_states(const struct ran_config *c, size_t tokens);

/* Fills w->x[0] with the rows of the tokens: the first part of ran_encode. */
void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p);
/* Encodes w->packed (after ran_workspace_fit): leaves the output (L, D) in w->x[N]. Ids must be
 * below V. */
void ran_encode(struct ran_workspace *w, const struct ran_params *p);
/* Adjoint, after ran_encode with the same rows. Takes the adjoints of the output in w->dx and of
 * each document's last cell in w->dlast; adds to dp, but for tensors that it does not have; leaves
 * those of the embedding's rows, token by token, in w->dx. What ran_encode left stays: it can be
 * done again for other adjoints. */
void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp);

#endif
