/* prenorm.h - a RAN layer as a residual stream, with normalisation in front of each part.
 *
 * In a gated layer no token passes as it is: what comes out is a norm of sums of SiLUs, whose
 * positive mean is the same for all tokens of all documents. Of the variance that a token brings,
 * initial weights leave a third after one layer and a twentieth after two, so that several layers
 * learn slowly or not at all. Here each part adds to the tokens and leaves the rest alone. With X
 * the tokens (for the first layer LN of the embedding), N_i what is read of cell G_i:
 *
 *   G_0 = LN_gpc(W_g 𝒢)                            𝒢: the last N_i of the layer below, or 0
 *   N_i = LN_cell(G_i)
 *   Z_i = [N_{i-1}; LN_in(X_i)]
 *   A_i = window attention of Z_i                   no φ: q, k and v are linear
 *   C_i = Linear_cell(A_i[0])
 *   u_i = sigmoid(Linear_update([C_i; N_{i-1}]))    1 with residual false
 *   G_i = (1 - u_i) G_{i-1} + u_i LN_upd(C_i)
 *   Y_i = X_i + Linear_out(A_i[1..])
 *   R = softmax(Linear_q(LN_rev(Y)) Linear_k(N)^T / sqrt(D)) Linear_v(N)
 *   M = Y + Linear_o(R)                             M = Y with review false
 *   output = M + Linear_down(Linear_value(LN_ffn(M)) SiLU(Linear_gate(LN_ffn(M))))
 *
 * and a last norm of the last layer's output. The cell has an output projection of its own: LN_upd
 * divides by the small deviation of an attention over a whole window, and its gradients would
 * drown those of the tokens. As in the other cells only G is recurrent. The
 * stages are those of layer.h, and the states' keys and values and the attention over them are
 * those of review.c. Adjoints: adj.dG is that of N, adj.dcarried that of G.
 */
#ifndef RAN_MODEL_PRENORM_H
#define RAN_MODEL_PRENORM_H

#include "part/ran/layer.h"

/* Cells (prenorm-cells.c). */
void ran_prenorm_first_cells(struct ran_layer_pass *s, const struct ran_cells *below);
void ran_prenorm_first_cells_bwd(struct ran_layer_pass *s);
void ran_prenorm_scan(struct ran_layer_pass *s);
void ran_prenorm_scan_bwd(struct ran_layer_pass *s);
void ran_prenorm_scan_weights_bwd(struct ran_layer_pass *s);

/* Review and feed-forward part (prenorm-feed.c). */
void ran_prenorm_review(struct ran_layer_pass *s);
void ran_prenorm_review_bwd(struct ran_layer_pass *s);

/* The tokens that a layer leaves: (L, D). */
static inline float *ran_prenorm_out(const struct ran_layer_pass *s)
{
        return s->l + 1 == s->w->c->layers ? s->own->last : s->w->x[s->l + 1];
}

/* dx += the adjoint dz (n, D) of LN(x) with `weight`, for the tokens of window i; its part of the
 * gradients of weight and bias goes to adj.part. dz is overwritten. */
void ran_prenorm_norm_bwd(const struct ran_layer_pass *s, size_t i, float *dx, float *dz,
                          const float *x, const float *stat, const float *weight);

#endif
