/* contextualizer.h - the Contextualizer of Maupomé and Meurs, Information 2022, 13, 290.
 *
 * A document has one context c (D). Each of N steps, with parameters of its own, reads all tokens:
 *
 *   x_i = e_i ⊙ p(i)      p(i)_j = exp(i s_j) / Σ exp(i' s_j), times L with position_scale
 *   α_i = W(U x_i ⊙ V c) + b      z = LN(Σ α_i ⊙ x_i)      c ← c + z
 *
 * The sum depends on the tokens by two sums alone, X = Σ x_i and S = Σ x_i x_i^T, whatever c is:
 *
 *   (Σ α_i ⊙ x_i)_d  =  Σ_r W_dr (V c)_r (U S)_rd + b_d X_d
 *
 * So a document of more tokens than the model is wide is read once, into X and S, which takes L
 * D^2, and then has D rows, those of S: a step costs u D^2, however long it is, and no α is ever
 * made. A shorter one has its tokens for rows and its α, all short ones together: L u D a step is
 * less. With H = rows U^T, both have rows H ⊙ V c, from which the sum is
 *
 *   short: Σ x_i ⊙ (W (H_i ⊙ V c))      long: W_d . (H_d ⊙ V c) for each d
 *
 * Tokens are read in blocks, which have shares; a share is one thread's, and shares are summed in
 * order. Backward, the tokens of a long document are read again: dx_i = (dS + dS^T) x_i + dX.
 */
#ifndef RAN_MODEL_CONTEXTUALIZER_H
#define RAN_MODEL_CONTEXTUALIZER_H

#include "model/workspace.h"

/* X(field, name after "contextualizer.{k}.", rows, cols, init, present when), of a step; in scope:
 * c, D, u = rank. */
#define RAN_CONTEXTUALIZER_PARAMS(X)              \
        X(u_w, "u.weight", u, D, GLOROT, true)    \
        X(v_w, "v.weight", u, D, GLOROT, true)    \
        X(w_w, "w.weight", D, u, GLOROT, true)    \
        X(w_b, "w.bias", 0, D, ZERO, true)        \
        X(norm_w, "norm.weight", 0, D, ONE, true) \
        X(norm_b, "norm.bias", 0, D, ZERO, true)

/* The same of what there is once. */
#define RAN_CONTEXTUALIZER_ONCE(X)                               \
        X(position, "contextualizer.position", 0, D, ZERO, true) \
        X(context, "contextualizer.context", 0, D, NORMAL, c->context == RAN_CONTEXT_LEARNED)

struct ran_contextualizer_params {
#define X(field, name, rows, cols, init, when) float *field;
        RAN_CONTEXTUALIZER_PARAMS(X)
#undef X
};
struct ran_contextualizer_once {
#define X(field, name, rows, cols, init, when) float *field;
        RAN_CONTEXTUALIZER_ONCE(X)
#undef X
};

/* Tokens [from, to) of document b, counted in it. */
struct ran_contextualizer_partial {
        size_t b, from, to;
};

/* X(field, floats). Q rows, s of them tokens of short documents, which come first; T tokens of the
 * largest block; P shares that are not the first of their document; G shares; K steps that are
 * kept: N, or 1 when scoring; u the rank. */
#define RAN_CONTEXTUALIZER_STEPS(X)                                      \
        X(down, T *D) /* see tabulate() */                               \
        X(up, T *D)                                                      \
        X(scale, 2 * B * D) /* doubles: largest p(i)_j of a document */  \
        X(rows, Q *D)                                                    \
        X(sum, B *D)     /* X */                                         \
        X(part, P *D *D) /* what a share adds to S, and to X */          \
        X(part_sum, P *D)                                                \
        X(first, B *D)     /* the first contexts */                      \
        X(h, K *Q *u)      /* H */                                       \
        X(hv, Q *u)        /* H ⊙ V c */                               \
        X(vc, K *B *u)     /* V c */                                     \
        X(alpha, K *s *D)  /* without b */                               \
        X(before, K *B *D) /* what LN reads */                           \
        X(probe, probed)   /* for attention probes: see fill_probes() */ \
        X(stat, K *B * 2)
#define RAN_CONTEXTUALIZER_ADJOINTS(X)                                             \
        X(drows, Q *D)                                                             \
        X(dsum, B *D)                                                              \
        X(dhv, Q *u)                                                               \
        X(dalpha, s *D)                                                            \
        X(dvc, B *u)                                                               \
        X(dbefore, B *D)                                                           \
        X(mean, 2 * B * D)      /* doubles: of i under p(.)_j, see mean_place() */ \
        X(dposition, 2 * G * D) /* doubles */

struct ran_contextualizer_steps {
        size_t T, Q, s, P, G;
        size_t *row; /* (B) first row of each document */
        struct ran_contextualizer_partial *share;
        size_t row_cap, share_cap;
#define X(field, floats) float *field;
        RAN_CONTEXTUALIZER_STEPS(X)
        RAN_CONTEXTUALIZER_ADJOINTS(X)
#undef X
};

static inline size_t ran_contextualizer_length(const struct ran_packed *rows, size_t b)
{
        return rows->doc[b + 1] - rows->doc[b];
}

/* Whether document b has rows of S, rather than its tokens. */
static inline bool ran_contextualizer_is_long(const struct ran_workspace *w, size_t b)
{
        return ran_contextualizer_length(w->rows, b) > w->D;
}

static inline size_t ran_contextualizer_rows_of(const struct ran_workspace *w, size_t b)
{
        return ran_contextualizer_is_long(w, b) ? w->D : ran_contextualizer_length(w->rows, b);
}

static inline struct ran_contextualizer_steps *
ran_contextualizer_steps_of(const struct ran_workspace *w)
{
        return w->own;
}

/* Tokens of a block, which begin at a multiple of it in their document. */
static inline size_t ran_contextualizer_block_of(const struct ran_workspace *w)
{
        return w->slab_rows < 256 ? w->slab_rows : 256;
}

/* A stage at work, for ran_workspace_each. */
struct ran_contextualizer_stage {
        struct ran_workspace *w;
        const struct ran_contextualizer_params *p; /* (N) */
        struct ran_contextualizer_params *dp;
        const struct ran_contextualizer_once *once;
        struct ran_contextualizer_once *donce;
        size_t l;
};
static inline struct ran_contextualizer_stage
ran_contextualizer_stage_of(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp)
{
        return (struct ran_contextualizer_stage){
                .w = w,
                .p = p->layers,
                .dp = dp != NULL ? dp->layers : NULL,
                .once = p->once,
                .donce = dp != NULL ? dp->once : NULL,
        };
}

/* y = x_i of the tokens [from, from + n) of document b, of which e are the embedded ones; after
 * ran_contextualizer_gather. anchor: room for D floats. */
void ran_contextualizer_weigh(const struct ran_workspace *w, const float *position, size_t b,
                              size_t from, size_t n, float *y, const float *e, float *anchor);

/* Fills rows and sum (contextualizer-tokens.c). */
void ran_contextualizer_gather(struct ran_contextualizer_stage *g);
/* Adjoint: from drows, which it changes, and dsum to w->dx; adds to that of the weights of
 * positions.
 */
void ran_contextualizer_scatter(struct ran_contextualizer_stage *g);

#endif
