/* upper.h - what stands above a pretrained encoder, and makes the vector of a document, or outputs
 * of tokens, of what that left of its windows: a part that is learned with the head, or asks it.
 *
 *   x_r        a row: the encoder's output of a token, or the vector of a window, as a document of
 *              its own would have it (`upper_rows`)
 *   certain    h = x_r of the window whose label is most certain: the largest of its probabilities
 *              or, of several labels, of its logits; the first of equal ones. Nothing is learned
 *   attention  h = Σ_r α_r x_r,   α = softmax of  q · tanh(A x_r + a),   r: windows
 *              q is 0 at first: training begins with the mean
 *   encoder    a RAN, a Contextualizer or a Transformer reads  B x_r + b  in place of an embedding,
 *              and makes h as it does for a document: a RAN's cell goes from window to window, and
 *              its review lets every token see all of them. For taggers its outputs of tokens
 *              stand in place of those of the encoder below
 *
 * The encoder above is a workspace within the workspace: it has windows of its own (`upper_window`)
 * in a batch of its own, and knows nothing of what is below. Its memory is a part of the same
 * arena. What is below may stay as it is: then its rows are computed once (nn/vector-cache.h).
 */
#ifndef RAN_PART_UPPER_H
#define RAN_PART_UPPER_H

#include "nn/workspace.h"

/* X(field, name, rows, cols, init, present when); A is upper_dim, and the width of an encoder
 * within. */
#define RAN_UPPER_PARAMS(X)                                       \
        X(in_w, "upper.in.weight", A, D, GLOROT, enters)          \
        X(in_b, "upper.in.bias", 0, A, ZERO, enters)              \
        X(key_w, "upper.attention.weight", A, D, GLOROT, attends) \
        X(key_b, "upper.attention.bias", 0, A, ZERO, attends)     \
        X(query, "upper.attention.query", 0, A, ZERO, attends)

struct ran_upper_params {
#define X(field, name, rows, cols, init, when) float *field;
        RAN_UPPER_PARAMS(X)
#undef X
};
static inline struct ran_upper_params *ran_upper_of(const struct ran_params *p)
{
        return p->own[RAN_PART_UPPER];
}

/* X(field, floats), of certain windows: R of all documents. */
#define RAN_UPPER_CERTAIN_ROWS(X) X(logits, R *(double)w->size.C)

/* The same of attention: R windows of all documents; A: upper_dim. */
#define RAN_UPPER_ATTENTION_ROWS(X)      \
        X(key, R *A) /* tanh(A x + a) */ \
        X(weight, R) /* α */            \
        X(dkey, training *R *A)          \
        X(dweight, training *R)

struct ran_upper_rows {
#define X(field, floats) float *field;
        RAN_UPPER_ATTENTION_ROWS(X)
        RAN_UPPER_CERTAIN_ROWS(X)
#undef X
};

struct ran_upper_memory {
        struct ran_config c; /* of the encoder within */
        bool inside;         /* there is one; else attention */
        bool windows;        /* rows are vectors of windows */
        struct ran_workspace inner;
        struct ran_packed packed; /* its batch: a token for each row */
        size_t *first;            /* (B+1) first row of each document */
        size_t *chosen;           /* (B) the most certain row */
        size_t first_cap, chosen_cap;
        struct ran_upper_rows rows;
        const float *x; /* (R, D) the rows of the last forward pass */
};

static inline struct ran_upper_memory *ran_upper_memory_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_UPPER];
}

/* attention.c: from own->x to the vectors of documents in w->head.head; adjoint: from w->head.dhead
 * to dx (R, D), which it adds to. */
void ran_upper_attend(struct ran_workspace *w, const struct ran_params *p);
void ran_upper_attend_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dx);

/* certain.c: the same for the most certain window. */
void ran_upper_choose(struct ran_workspace *w, const struct ran_params *p);
void ran_upper_choose_bwd(struct ran_workspace *w, float *dx);

#endif
