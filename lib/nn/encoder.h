/* encoder.h - the encoders: from token ids to the input of the heads, and back.
 *
 * To add an encoder: a line in RAN_ENCODERS (ran/model.h), a file with its struct ran_encoder, and
 * its options in config.c.
 */
#ifndef RAN_MODEL_ENCODER_H
#define RAN_MODEL_ENCODER_H

#include "nn/workspace.h"

/* One kind of encoder. */
struct ran_encoder {
        bool per_token; /* outputs a vector for each token; else one for each document */
        /* Documents that are read together have the same outputs as alone, bit for bit, where rows
         * of products do (math/gemm.h). */
        bool rows_stand_alone;

        /* ---- configuration: a function that is NULL has nothing to say */
        int (*check)(const struct ran_config *c, struct ran_error *err);
        /* Whether a field that only some encoders have matters to this one. */
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
        /* Its part of the arena, including w->x[1] to w->x[N] and the workers' scratch. Called
         * twice, the first time only to count. */
        void (*lay_out)(struct ran_workspace *w, struct ran_arena *k);

        /* ---- computing */
        /* From w->x[0], the embedded tokens, to w->x[N]; and from w->dx and w->dlast back to w->dx.
         * Without per_token, w->x[N] (B, D) are the documents' vectors and w->dlast is their
         * adjoint. */
        void (*forward)(struct ran_workspace *w, const struct ran_params *p);
        void (*backward)(struct ran_workspace *w, const struct ran_params *p,
                         struct ran_params *dp);
        /* Writes a vector for each document, the classifier's input: (B, D) in w->head.head.
         * Adjoint: from w->head.dhead to w->dx and w->dlast, overwritten. */
        void (*documents)(struct ran_workspace *w, const struct ran_params *p);
        void (*documents_bwd)(struct ran_workspace *w, const struct ran_params *p,
                              struct ran_params *dp);
        /* What heads read of word positions, in w->head.head, and its adjoint in w->head.dhead:
         * both in place. NULL: the encoder's outputs as they are. */
        void (*outputs)(struct ran_workspace *w, const struct ran_params *p);
        void (*outputs_bwd)(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp);
        /* A vector of document b made for documents to be compared by, with its width; its adjoint,
         * of all documents, from dv, which it changes, to w->dx. NULL: means of rows and outputs
         * are (document-vector.h). */
        size_t (*vector_width)(const struct ran_config *c);
        void (*vector)(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v);
        void (*vector_bwd)(struct ran_workspace *w, const struct ran_params *p,
                           struct ran_params *dp, float *dv);

        /* ---- the recurrent state */
        size_t (*state_width)(const struct ran_config *c);
        size_t (*state_tokens)(const struct ran_config *c); /* that each state stands for */
        /* How many of so many earlier states are kept, the last ones; NULL: all. */
        size_t (*states_kept)(const struct ran_config *c, size_t states);

        /* ---- attention, attribution, cost */
        /* The attention tables and windows of a document of shape->L tokens. `forward` fills
         * those that w->probes asks for. */
        void (*probe_shape)(const struct ran_config *c, struct ran_probe_shape *shape);
        /* The point u of a path from an empty token to x (D): the row times *scale, whose
         * derivative in u is *speed. The encoder's view of the row should grow evenly along it. */
        void (*path)(const float *x, size_t D, double u, double *scale, double *speed);
        /* Arithmetic of the forward pass over a document of L tokens, the first `sources` of them
         * source. */
        int (*flops)(const struct ran_config *c, size_t L, size_t sources, double *flops,
                     struct ran_error *err);
};

/* ran_encoder_NAME, for each line of RAN_ENCODERS. */
#define RAN_ENCODER_DECLARE(number, name) extern const struct ran_encoder ran_encoder_##name;
RAN_ENCODERS(RAN_ENCODER_DECLARE)

extern const char *const ran_encoder_names[]; /* by number; NULL at the end */
const struct ran_encoder *ran_encoder_of(const struct ran_config *c);

/* A recurrent state for one document, with nothing read. */
int ran_encoder_state_init(struct ran_recurrent_state *state, const struct ran_config *c,
                           struct ran_error *err);
/* The number of complete states of a document that are kept after so many tokens. */
size_t ran_encoder_states(const struct ran_config *c, size_t tokens);

/* Fills w->x[0] with the rows of the tokens: the first part of ran_encode. */
void ran_encode_embed(struct ran_workspace *w, const struct ran_params *p);
/* Encodes w->packed (after ran_workspace_fit): leaves the output (L, D) in w->x[N]. Ids must be
 * below V. */
void ran_encode(struct ran_workspace *w, const struct ran_params *p);
/* Adjoint, after ran_encode with the same batch. Takes the adjoints of the output in w->dx and
 * of each document's last cell in w->dlast; adds the gradients to dp (absent tensors are
 * skipped); leaves the adjoints of the embedding's rows, token by token, in w->dx. The
 * activations stay: it can run again for other adjoints. */
void ran_encode_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp);

#endif
