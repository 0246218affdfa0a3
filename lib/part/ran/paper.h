/* paper.h - the cells as they are published: `plain`, `gated` and `published`.
 *
 * The Recurrent Attention Network of Li et al. (layer.h), whose equation numbers stand beside;
 * `gated` is the cell of the code published with it, `plain` the one printed. For windows X_1 ...
 * X_m of a document, 𝒢 the last cell of the layer below (0 for the first layer):
 *
 *   G_0 = LN_gpc(φ(W_g 𝒢))                                        (1)
 *   Z_i = LN_in([G_{i-1}; X_i])
 *   Q, K, V = φ(Linear(Z_i)) in h heads, Q and K rotated by the row in the window
 *   A_j = softmax(Q_j K_j^T / sqrt(d_k) + mask) V_j                (3)
 *   P_i = φ(Linear_out([A_1; ...; A_h]))                           (2)
 *   gated:  P_i = LN_out(P_i + GLU_out(Z_i))
 *   G'_i = SN(P_i[0]),  Y_i = SN(P_i[1..])                         (5)  SN: LN with nothing learned
 *   G_i = LN_upd(G'_i + G_{i-1}),  gated:  LN_upd(G'_i + GLU_upd(G_{i-1}))   (6)
 *   R = softmax(φ(Linear_q(Y)) φ(Linear_k(G))^T / sqrt(D)) φ(Linear_v(G))    (9)
 *   output = R,  gated:  LN_rev(φ(Linear_o(R)) + GLU_rev(φ(Linear_q(Y))))
 *
 * φ is SiLU in a gated cell and the identity in a plain one; GLU(x) = Linear_value(x) sigmoid(
 * Linear_gate(x)).
 *
 * A `published` cell is that of the package which the authors publish with their pretrained
 * weights. It is gated, but, with c_i the cell's row after window i:
 *
 *   X = LN_embed(embedded tokens)                    before the first layer
 *   G_0 = LN_gpc(φ(W_g 0)), above the first layer the last G of the layer below, as it is
 *   c_i = SN(P_i[0])
 *   G_1 = c_1
 *   G_i = LN_upd(c_i + GLU_upd(c_{i-1}))             i > 1; the review's states are c_1 ... c_m
 *
 * Its LN and SN subtract the mean and divide by the root of the mean square, which is not the
 * deviation: (x - mean) / sqrt(mean(x²) + 1e-7). Under a mask the first cell of every layer is that
 * of the first layer, and a state before the first window, as in the other cells.
 *
 * Written as the equations are read, window by window. The backward pass goes from the last window
 * to the first and computes each of them again: a layer keeps its input, its output before the
 * review, and its cells.
 */
#ifndef RAN_PART_RAN_PAPER_H
#define RAN_PART_RAN_PAPER_H

#include "nn/workspace.h"
#include "part/ran/layer.h"

#define RAN_SN_EPS 1e-7

/* ---- tensors ----------------------------------------------------------------------------------
 */

/* X(field, name after "ran.{l}.", rows, cols, init, present when); in scope: c, the configuration;
 * D; E = h d_k; gated (of published cells, too); review. ran-model(5) lists them, too. Tensors of
 * one matrix product are neighbours, weights and biases each: q, k, v and the output gate; key and
 * value of the review; value and gate of each GLU. */
#define RAN_PAPER_PARAMS(X)                                                        \
        X(gpc, "gpc.weight", D, D, GLOROT, true)                                   \
        X(gpc_norm_w, "gpc_norm.weight", 0, D, ONE, true)                          \
        X(gpc_norm_b, "gpc_norm.bias", 0, D, NORMAL, true)                         \
        X(input_norm_w, "input_norm.weight", 0, D, ONE, true)                      \
        X(input_norm_b, "input_norm.bias", 0, D, ZERO, true)                       \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)                                \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)                                \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)                                \
        X(output_value_w, "output_glu.value.weight", D, D, QUARTER, gated)         \
        X(output_gate_w, "output_glu.gate.weight", D, D, GLOROT, gated)            \
        X(q_b, "attn.q.bias", 0, E, ZERO, true)                                    \
        X(k_b, "attn.k.bias", 0, E, ZERO, true)                                    \
        X(v_b, "attn.v.bias", 0, E, ZERO, true)                                    \
        X(output_value_b, "output_glu.value.bias", 0, D, ZERO, gated)              \
        X(output_gate_b, "output_glu.gate.bias", 0, D, ZERO, gated)                \
        X(out_w, "attn.out.weight", D, E, GLOROT, true)                            \
        X(out_b, "attn.out.bias", 0, D, ZERO, true)                                \
        X(output_norm_w, "output_norm.weight", 0, D, ONE, gated)                   \
        X(output_norm_b, "output_norm.bias", 0, D, ZERO, gated)                    \
        X(update_value_w, "update_glu.value.weight", D, D, GLOROT, gated)          \
        X(update_gate_w, "update_glu.gate.weight", D, D, GLOROT, gated)            \
        X(update_value_b, "update_glu.value.bias", 0, D, ZERO, gated)              \
        X(update_gate_b, "update_glu.gate.bias", 0, D, ZERO, gated)                \
        X(update_norm_w, "update_norm.weight", 0, D, ONE, true)                    \
        X(update_norm_b, "update_norm.bias", 0, D, ZERO, true)                     \
        X(review_q_w, "review.q.weight", D, D, GLOROT, review)                     \
        X(review_q_b, "review.q.bias", 0, D, ZERO, review)                         \
        X(review_k_w, "review.k.weight", D, D, GLOROT, review)                     \
        X(review_v_w, "review.v.weight", D, D, GLOROT, review)                     \
        X(review_k_b, "review.k.bias", 0, D, ZERO, review)                         \
        X(review_v_b, "review.v.bias", 0, D, ZERO, review)                         \
        X(review_out_w, "review.out.weight", D, D, GLOROT, gated &&review)         \
        X(review_out_b, "review.out.bias", 0, D, ZERO, gated &&review)             \
        X(review_value_w, "review_glu.value.weight", D, D, GLOROT, gated &&review) \
        X(review_gate_w, "review_glu.gate.weight", D, D, GLOROT, gated &&review)   \
        X(review_value_b, "review_glu.value.bias", 0, D, ZERO, gated &&review)     \
        X(review_gate_b, "review_glu.gate.bias", 0, D, ZERO, gated &&review)       \
        X(review_norm_w, "review_norm.weight", 0, D, ONE, gated || !review)        \
        X(review_norm_b, "review_norm.bias", 0, D, ZERO, gated || !review)

/* The same for what is there once: a classifier's layers that join pooled tokens and the last
 * cell, the norm of the embedding, and the layer before the output of a language model. */
#define RAN_PAPER_ONCE(X)                                                            \
        X(pool_w, "classify.pool.weight", D, D, GLOROT, joins)                       \
        X(pool_b, "classify.pool.bias", 0, D, ZERO, joins)                           \
        X(gpc, "classify.gpc.weight", D, D, GLOROT, joins && !gated)                 \
        X(gpc_value_w, "classify.gpc_glu.value.weight", D, D, GLOROT, joins &&gated) \
        X(gpc_gate_w, "classify.gpc_glu.gate.weight", D, D, GLOROT, joins &&gated)   \
        X(gpc_value_b, "classify.gpc_glu.value.bias", 0, D, ZERO, joins &&gated)     \
        X(gpc_gate_b, "classify.gpc_glu.gate.bias", 0, D, ZERO, joins &&gated)       \
        X(start_norm_w, "ran.embed_norm.weight", 0, D, ONE, published)               \
        X(start_norm_b, "ran.embed_norm.bias", 0, D, ZERO, published)                \
        X(cell_w, "classify.cell.weight", D, D, GLOROT, joins &&published)           \
        X(cell_b, "classify.cell.bias", 0, D, ZERO, joins &&published)               \
        X(fill_w, "lm.dense.weight", D, D, GLOROT, fills)                            \
        X(fill_b, "lm.dense.bias", 0, D, ZERO, fills)                                \
        X(fill_norm_w, "lm.norm.weight", 0, D, ONE, fills)                           \
        X(fill_norm_b, "lm.norm.bias", 0, D, ZERO, fills)

RAN_FLOATS_STRUCT(ran_paper_params, RAN_PAPER_PARAMS);
RAN_FLOATS_STRUCT(ran_paper_once, RAN_PAPER_ONCE);

/* ---- memory -----------------------------------------------------------------------------------
 */

/* The lists below count in doubles of this scope (paper.c):
 *
 *   B, D, E
 *   rows, tokens           of the longest window, with its cell and without
 *   states, keys, seen     m + B; rows of the review's keys; of them, by a window
 *   sources                source tokens that targets review
 *   projected, glu         3E + 2D and 2D; if plain 3E and 0
 *   published              1 or 0
 *   documents, positions   with an output
 */

/* X(field, floats): activations of a window. */
#define RAN_PAPER_WINDOW(X)                                                   \
        X(z, rows *D)           /* LN_in of cell and tokens, after dropout */ \
        X(z_stat, rows * 2)     /* mean and 1/deviation */                    \
        X(pre, rows *projected) /* q, k, v, value, gate before φ */          \
        X(qkv, rows * 3 * E)    /* after φ, q and k rotated */               \
        X(a, rows *E)           /* heads side by side */                      \
        X(o, rows *D)           /* Linear_out before φ */                    \
        X(p, rows *D)           /* input of LN_out (gated) or SN (plain) */   \
        X(p_stat, rows * 2)                                                   \
        X(pn, rows *D) /* input of SN, after LN_out; plain: p */              \
        X(y_stat, rows * 2)                                                   \
        X(update, glu) /* value and gate of GLU_upd */                        \
        X(sum, D)      /* what LN_upd reads */                                \
        X(sum_stat, 2)                                                        \
        X(review_pre, tokens *D) /* Linear_q(Y) before φ and after */        \
        X(review_q, tokens *D)                                                \
        X(review_r, tokens *D)     /* R */                                    \
        X(review_o, tokens *D)     /* Linear_o(R) before φ */                \
        X(review_glu, tokens *glu) /* value and gate */                       \
        X(review_sum, tokens *D)   /* what LN_rev reads */                    \
        X(review_stat, tokens * 2)

/* X(field, floats): its adjoints, and those of a layer; only for training. */
#define RAN_PAPER_ADJOINTS(X)                                                   \
        X(dz, rows *D)                                                          \
        X(dpre, rows *projected)                                                \
        X(dqkv, rows * 3 * E)                                                   \
        X(da, rows *E)                                                          \
        X(dp, rows *D)                                                          \
        X(dupdate, glu)                                                         \
        X(dsum, D)                                                              \
        X(dreview_q, tokens *D)                                                 \
        X(dreview_r, tokens *D)                                                 \
        X(dreview_glu, tokens *glu)                                             \
        X(dreview_sum, tokens *D)                                               \
        X(part, 2 * seen * D) /* of dvalue and dkey: see ran_review_look_bwd */ \
        X(dG, states *D)                                                        \
        X(dc, published *states *D)                                             \
        X(dkey, keys *D)                                                        \
        X(dvalue, keys *D)                                                      \
        X(dkv, states * 2 * D)                                                  \
        X(dsource_kv, sources * 2 * D)                                          \
        X(dfirst, B *D)

/* X(field, floats): the cells of a layer; when scoring, all layers have the same memory in turn. c
 * and dc are G and dG, unless cells are published. */
#define RAN_PAPER_CELLS(X)                                                               \
        X(G, states *D)            /* what windows begin with */                         \
        X(c, published *states *D) /* what the review sees */                            \
        X(below, B *D)             /* last cells of the layer below */                   \
        X(first_pre, B *D)         /* W_g times those, before φ and after */            \
        X(first, B *D)                                                                   \
        X(first_stat, B * 2)                                                             \
        X(kv_pre, states * 2 * D) /* key and value of each state, before φ and after */ \
        X(kv, states * 2 * D)                                                            \
        X(source_kv_pre, sources * 2 * D)                                                \
        X(source_kv, sources * 2 * D)                                                    \
        X(key, keys *D) /* in the order of the review */                                 \
        X(value, keys *D)

/* X(field, floats): the classifier's vector; pooled cells; the layer before the output of a
 * language model. */
#define RAN_PAPER_HEAD(X)                                                               \
        X(pooled, documents *D) /* tokens; its adjoint; where each maximum came from */ \
        X(dpooled, documents *D)                                                        \
        X(from, documents *D)                                                           \
        X(last, documents *D)       /* last cells, or pooled ones */                    \
        X(head_pre, documents *D)   /* Linear_pool(v) before φ */                      \
        X(head_glu, documents *glu) /* value and gate of GLU_gpc */                     \
        X(dhead_glu, documents *glu)                                                    \
        X(cell_pre, published *documents *D) /* Linear_cell, before φ and after */     \
        X(cell, published *documents *D)                                                \
        X(argmax, published *B *D) /* windows */                                        \
        X(dcells, published *B *D) /* of pooled cells */                                \
        X(fill_in, positions *D)                                                        \
        X(fill_pre, positions *D) /* before φ and after */                             \
        X(fill_act, positions *D)                                                       \
        X(fill_stat, positions * 2)                                                     \
        X(dfill, positions *D)

RAN_FLOATS_STRUCT(ran_paper_window, RAN_PAPER_WINDOW);
RAN_FLOATS_STRUCT(ran_paper_adjoints, RAN_PAPER_ADJOINTS);
struct ran_paper_cells {
        RAN_PAPER_CELLS(RAN_FLOATS_FIELD)
        float *y; /* (L, D): output before the review */
};
RAN_FLOATS_STRUCT(ran_paper_head, RAN_PAPER_HEAD);

/* The part's memory in a workspace. */
struct ran_paper_memory {
        struct ran_review review;
        struct ran_paper_window window; /* at work */
        struct ran_paper_adjoints adj;
        float *dy;                 /* (L, D) */
        float *start, *start_stat; /* published: LN_embed of the embedded tokens (L, D) */
        struct ran_paper_head head;
        bool dcells; /* head.dcells are adjoints of all cells of the last layer */
};
static inline struct ran_paper_memory *ran_paper_memory_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_RAN];
}

/* φ and GLUs: those of gated and of published cells. */
static inline bool ran_paper_is_gated(const struct ran_config *c)
{
        return c->ran.cell != RAN_CELL_PLAIN;
}
static inline bool ran_paper_is_published(const struct ran_config *c)
{
        return c->ran.cell == RAN_CELL_PUBLISHED;
}

/* ---- a layer and a window at work -------------------------------------------------------------
 */

struct ran_paper_pass {
        struct ran_workspace *w;
        struct ran_paper_memory *own; /* of w */
        const struct ran_paper_params *p;
        struct ran_paper_params *dp;    /* gradients, or NULL */
        struct ran_kept_panels *panels; /* see struct ran_params */
        size_t l;                       /* which layer */
        const float *x;                 /* (L, D) the tokens that it reads */
        const struct ran_paper_cells *cells;
        const struct ran_paper_window *act;
        struct ran_review_pass review;
        bool gated, published;
        size_t projected; /* columns of act->pre */

        struct ran_layer_window v;
        size_t cell; /* 1: its cell is a row to compute, the first one; 0: known, and it stays so */
        size_t tokens, rows; /* to compute: without the cell and with it */
        bool begins;         /* the state after it is c: published, the first one of a document */
};
struct ran_paper_pass ran_paper_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                        struct ran_params *dp, size_t l);
/* Makes window i the one at work. */
void ran_paper_at(struct ran_paper_pass *s, size_t i);

/* Dropout, or its adjoint, on n rows x of the window, from row or token `at` of its document on. */
void ran_paper_dropout(const struct ran_paper_pass *s, int site, float *x, size_t n, size_t at);

/* Forward (paper-forward.c): a window, and then, when all cells are known, its review. */
void ran_paper_window(const struct ran_paper_pass *s);
void ran_paper_review(const struct ran_paper_pass *s);
/* The hooks of struct ran_part. */
void ran_paper_forward(struct ran_workspace *w, const struct ran_params *p);
void ran_paper_documents(struct ran_workspace *w, const struct ran_params *p);
void ran_paper_outputs(struct ran_workspace *w, const struct ran_params *p);
void ran_paper_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v);
/* And backward (paper-backward.c). */
void ran_paper_backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp);
void ran_paper_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp);
void ran_paper_outputs_bwd(struct ran_workspace *w, const struct ran_params *p,
                           struct ran_params *dp);
void ran_paper_vector_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv);

#endif
