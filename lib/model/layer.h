/* layer.h - the stages of one RAN layer, forward and backward.
 *
 * The Recurrent Attention Network of Li et al., Findings of ACL 2023 (arXiv 2306.06843), whose
 * equation numbers stand beside; `gated` is the cell of the code published with it, `plain` the one
 * printed. For windows X_1 ... X_m of a document, 𝒢 the last cell of the layer below (0 for the
 * first layer):
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
 * Only the cell is recurrent. Forward, chunk by chunk from left to right:
 *
 *   ran_window_project   LN_in and one large product for all rows whose input is known
 *   ran_scan             the cells, one row a window: their q, k, v, attention, (5) and (6)
 *   ran_window_finish    attention, output and Y of all token rows, windows in any order
 *
 * then, all states being known, ran_review. Backward in reverse: the review gives dY and dG; then
 * chunk by chunk from right to left ran_window_finish_bwd (token rows, any order), ran_scan_bwd
 * (cells from right to left) and ran_window_project_bwd (large products). When a chunk was not
 * kept, the forward stages are run again with all cells known, which then are rows like any other.
 *
 * Weights and gradients are ran_layer_params; gradients are added to. `chunk` numbers the chunk.
 */
#ifndef RAN_MODEL_LAYER_H
#define RAN_MODEL_LAYER_H

#include "model/workspace.h"

#define RAN_SN_EPS 1e-7

/* A layer at work. */
struct ran_layer_pass {
        struct ran_workspace *w;
        const struct ran_layer_params *p;
        struct ran_layer_params *dp; /* gradients, or NULL */
        size_t l;                    /* which layer */
        size_t chunk, from, to;      /* its windows */
        size_t t0, r0;               /* its first token and row */
        size_t T, R;                 /* its tokens and rows */
        size_t skip;                 /* its first rows that are known: of an open window */
        struct ran_chunk *act;
        struct ran_cells *cells;
        bool known; /* the cells are all known already: see above */
};

struct ran_layer_pass ran_layer_pass_of(struct ran_workspace *w, const struct ran_layer_params *p,
                                        struct ran_layer_params *dp, size_t l, size_t chunk);

/* A window as the stages see it. */
struct ran_window_view {
        size_t i;     /* its number */
        size_t b;     /* its document */
        size_t t, n;  /* its first token; its rows */
        size_t first; /* the row of that token: 1, or more if the window was open */
        size_t r;     /* its first row in the chunk: the cell */
        size_t state; /* the state that it begins with */
        size_t at;    /* its first row among those of its document: what dropout counts */
};
struct ran_window_view ran_window_view_of(const struct ran_layer_pass *s, size_t i);
/* Dropout, or its adjoint, on the rows [from, end) of a window; x is row 0. */
void ran_window_dropout(const struct ran_layer_pass *s, const struct ran_window_view *v, int site,
                        size_t from, size_t end, float *x);

/* Adds the shares that the chunk's windows have of a norm's gradients to dw and db, in order, and
 * clears them. They lie in rows part and part + 1 of the six that a window has in adj.part. */
void ran_window_sum_parts(struct ran_layer_pass *s, int part, float *dw, float *db);

/* Whether window i is left open for more tokens, when a carried document is scored. */
bool ran_window_stays_open(const struct ran_workspace *w, size_t i);

void ran_window_project(struct ran_layer_pass *s);
void ran_window_finish(struct ran_layer_pass *s);
void ran_window_finish_bwd(struct ran_layer_pass *s);
void ran_window_project_bwd(struct ran_layer_pass *s);

/* First cells G_0 of all documents, equation (1), and the adjoint, which leaves in w->dlast that of
 * the last cells below. below: the cells of the layer below, or NULL for 0. */
void ran_scan_first_cells(struct ran_layer_pass *s, const struct ran_cells *below);
void ran_scan_first_cells_bwd(struct ran_layer_pass *s);
void ran_scan(struct ran_layer_pass *s);
void ran_scan_bwd(struct ran_layer_pass *s);
/* Gradients of the update gate, once the first chunk is through ran_scan_bwd. */
void ran_scan_weights_bwd(struct ran_layer_pass *s);

/* The states' keys and values, once the last chunk is through the scan; then the tokens of a chunk.
 */
void ran_review_states(struct ran_layer_pass *s);
void ran_review(struct ran_layer_pass *s);
/* Adjoints: of a chunk's rows (w->dx to w->dy, adding to dkey and dvalue), then of the states
 * (adding to dG). */
void ran_review_bwd(struct ran_layer_pass *s);
void ran_review_states_bwd(struct ran_layer_pass *s);

/* A window's rows, the cell first, for attention over all heads. The cell sees all rows and all
 * rows see the cell; among tokens the mask decides. As segments never go back to source, what a row
 * sees always is a run of rows from the first on. */
struct ran_attention_heads {
        const float *qkv; /* (n, 3E) */
        float *a;         /* (n, E): heads side by side */
        size_t n, E, h, d;
        int mask;
        size_t sources; /* under the prefix mask: how many of the tokens are source */
};
struct ran_attention_heads ran_attention_heads_of(const struct ran_layer_pass *s,
                                                  const struct ran_window_view *v);
/* a = softmax(q k^T / sqrt(d)) v for the queries [first, end). score holds n x n floats. */
void ran_attention(const struct ran_attention_heads *x, size_t first, size_t end, float *score);
/* score (end - first, n) = softmax(q k^T / sqrt(d)), the weights of head j; what is masked is 0. */
void ran_attention_weights(float *score, const struct ran_attention_heads *x, size_t j,
                           size_t first, size_t end);
/* Adjoint of the queries [first, end): of their q, and of all k and v; dqkv (n, 3E), or += with
 * add. score holds 2 n x n floats. */
void ran_attention_bwd(float *dqkv, const float *da, const struct ran_attention_heads *x,
                       size_t first, size_t end, bool add, float *score);

/* φ: SiLU in a gated cell, the identity in a plain one. */
void ran_window_activation(const struct ran_workspace *w, float *y, const float *x, size_t n);
void ran_window_activation_bwd(const struct ran_workspace *w, float *dx, const float *x,
                               const float *dy, size_t n);

#endif
