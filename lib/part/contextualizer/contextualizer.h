/* contextualizer.h - the Contextualizer of Maupomé and Meurs, Information 2022, 13, 290.
 *
 * A document has one context c (D). Each of N steps, with parameters of its own, reads all tokens:
 *
 *   x_i = e_i ⊙ p(i)      p(i)_j = exp(i s_j) / Σ exp(i' s_j), times L with position_scale
 *   α_i = W(U x_i ⊙ V c) + b      z = LN(Σ α_i ⊙ x_i)      c ← c + z
 *
 * The sum depends on the tokens only by X = Σ x_i and S = Σ x_i x_i^T, which do not depend on c:
 *
 *   (Σ α_i ⊙ x_i)_d  =  Σ_r W_dr (V c)_r (U S)_rd + b_d X_d
 *
 * A long document, with more than D tokens, is read once, into X and S, which costs L D^2. Its rows
 * are then the D rows of S: a step costs u D^2, whatever its length, and never computes α. A short
 * document has its tokens as rows and computes α, together with all short ones: L u D a step is
 * less. With H = rows U^T, both need the rows H ⊙ V c. The sum is
 *
 *   short: Σ x_i ⊙ (W (H_i ⊙ V c))      long: W_d . (H_d ⊙ V c) for each d
 *
 * Tokens are read in blocks. One thread makes each partial sum of some blocks; partial sums are
 * added in order. The backward pass reads the tokens of a long document again: dx_i = (dS + dS^T)
 * x_i + dX.
 */
#ifndef RAN_MODEL_CONTEXTUALIZER_H
#define RAN_MODEL_CONTEXTUALIZER_H

#include "nn/workspace.h"

/* X(field, name after "contextualizer.{k}.", rows, cols, init, present when), of a step; in scope:
 * c, D, rank. */
#define RAN_CONTEXTUALIZER_PARAMS(X)              \
        X(u_w, "u.weight", rank, D, GLOROT, true) \
        X(v_w, "v.weight", rank, D, GLOROT, true) \
        X(w_w, "w.weight", D, rank, GLOROT, true) \
        X(w_b, "w.bias", 0, D, ZERO, true)        \
        X(norm_w, "norm.weight", 0, D, ONE, true) \
        X(norm_b, "norm.bias", 0, D, ZERO, true)

/* The same for tensors outside the steps. */
#define RAN_CONTEXTUALIZER_ONCE(X)                               \
        X(position, "contextualizer.position", 0, D, ZERO, true) \
        X(context, "contextualizer.context", 0, D, NORMAL,       \
          c->contextualizer.context == RAN_CONTEXT_LEARNED)

RAN_FLOATS_STRUCT(ran_contextualizer_params, RAN_CONTEXTUALIZER_PARAMS);
RAN_FLOATS_STRUCT(ran_contextualizer_once, RAN_CONTEXTUALIZER_ONCE);

/* A partial sum: tokens [from, to) of document b, counted in it. */
struct ran_contextualizer_partial {
        size_t b, from, to;
};

/* X(field, floats). Sizes: n_rows, n_short of them tokens of short documents, which come first;
 * n_tokens of the largest block; n_partials partial sums, n_later of them not the first of their
 * document; n_kept steps: N, or 1 when scoring; rank. */
#define RAN_CONTEXTUALIZER_STEPS(X)                                     \
        X(down, n_tokens *D) /* see tabulate() */                       \
        X(up, n_tokens *D)                                              \
        X(scale, 2 * B * D) /* doubles: largest p(i)_j of a document */ \
        X(rows, n_rows *D)                                              \
        X(sum, B *D)           /* X */                                  \
        X(part, n_later *D *D) /* partial sums of S, and of X */        \
        X(part_sum, n_later *D)                                         \
        X(first, B *D)               /* the first contexts */           \
        X(h, n_kept *n_rows *rank)   /* H */                            \
        X(hv, n_rows *rank)          /* H ⊙ V c */                    \
        X(vc, n_kept *B *rank)       /* V c */                          \
        X(alpha, n_kept *n_short *D) /* without b */                    \
        X(before, n_kept *B *D)      /* what LN reads */                \
        X(probe, probed)             /* see fill_probes() */            \
        X(stat, n_kept *B * 2)
#define RAN_CONTEXTUALIZER_ADJOINTS(X)                                                       \
        X(drows, n_rows *D)                                                                  \
        X(dsum, B *D)                                                                        \
        X(dhv, n_rows *rank)                                                                 \
        X(dalpha, n_short *D)                                                                \
        X(dvc, B *rank)                                                                      \
        X(dbefore, B *D)                                                                     \
        X(mean, 2 * B * D)               /* doubles: of i under p(.)_j, see mean_number() */ \
        X(dposition, 2 * n_partials * D) /* doubles */

/* The encoder's own part of a workspace. */
struct ran_contextualizer_steps {
        size_t n_tokens, n_rows, n_short, n_later, n_partials;
        size_t *row; /* (B) first row of each document */
        struct ran_contextualizer_partial *partial;
        size_t row_cap, partial_cap;
        RAN_CONTEXTUALIZER_STEPS(RAN_FLOATS_FIELD)
        RAN_CONTEXTUALIZER_ADJOINTS(RAN_FLOATS_FIELD)
};

static inline size_t ran_contextualizer_length(const struct ran_packed *packed, size_t b)
{
        return packed->doc[b + 1] - packed->doc[b];
}

/* Whether document b is long: its rows are those of S. */
static inline bool ran_contextualizer_is_long(const struct ran_workspace *w, size_t b)
{
        return ran_contextualizer_length(w->packed, b) > w->D;
}

static inline size_t ran_contextualizer_rows_of(const struct ran_workspace *w, size_t b)
{
        return ran_contextualizer_is_long(w, b) ? w->D : ran_contextualizer_length(w->packed, b);
}

static inline struct ran_contextualizer_steps *
ran_contextualizer_steps_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_CONTEXTUALIZER];
}

/* Tokens of a block, which begin at a multiple of it in their document. */
static inline size_t ran_contextualizer_block_of(const struct ran_workspace *w)
{
        return w->slab_rows < 256 ? w->slab_rows : 256;
}

/* A stage at work, for ran_workers_each. */
struct ran_contextualizer_stage {
        struct ran_workspace *w;
        const struct ran_contextualizer_params *p; /* (N) */
        struct ran_contextualizer_params *dp;
        const struct ran_contextualizer_once *once;
        struct ran_contextualizer_once *donce;
        size_t l;
};
static inline struct ran_contextualizer_stage
ran_contextualizer_stage_of(struct ran_workspace *w, const struct ran_params *p)
{
        return (struct ran_contextualizer_stage){.w = w, .p = p->layers, .once = p->once};
}

/* y = x_i of the tokens [from, from + n) of document b, whose embeddings are e; after
 * ran_contextualizer_gather. anchor: room for D floats. */
void ran_contextualizer_weigh(const struct ran_workspace *w, const float *position, size_t b,
                              size_t from, size_t n, float *y, const float *e, float *anchor);

/* Fills rows and sum (tokens.c). */
void ran_contextualizer_gather(struct ran_contextualizer_stage *g);
/* Adjoint: from drows (changed) and dsum to w->dx; adds to the gradient of the weights of
 * positions.
 */
void ran_contextualizer_scatter(struct ran_contextualizer_stage *g);

#endif
