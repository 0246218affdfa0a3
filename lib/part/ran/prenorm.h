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
 * drown those of the tokens.
 *
 * Only the cell is recurrent. Forward, slab by slab of whole windows from left to right:
 *
 *   project   norms and one large product for all rows whose input is known
 *   scan      the cells, one row a window: their q, k, v, attention, and the gate
 *   finish    attention, output and Y of all token rows, windows in any order
 *
 * then, with all states known, review and feed-forward part, slab by slab. Backward in reverse: the
 * review gives dY and dN; then slab by slab from right to left finish (token rows, any order), scan
 * (cells from right to left) and project (large products). If a slab was not kept, the forward
 * stages run again; with all cells known, cells are rows like any other.
 *
 * A layer keeps what crosses windows: its input, its output before the review, the cells. All else
 * lives in a slab of whole windows: some 2,048 rows in training, 512 in scoring. When scoring, two
 * slabs are used in turns, so that a million tokens need their rows once and two slabs: while one
 * thread scans the cells of a slab, others are at what comes next. When training, each layer keeps
 * its slabs if there is but one, or all of them are small; otherwise the backward pass computes
 * each anew from the layer's input and cells.
 */
#ifndef RAN_PART_RAN_PRENORM_H
#define RAN_PART_RAN_PRENORM_H

#include "nn/rows.h"
#include "nn/workspace.h"
#include "part/ran/layer.h"

/* ---- tensors ----------------------------------------------------------------------------------
 */

/* X(field, name after "ran.{l}.", rows, cols, init, present when); in scope: c, the configuration;
 * D; E = h d_k; F, of the feed-forward part. ran-model(5) lists them, too. Tensors of one matrix
 * product are neighbours, weights and biases each: q, k and v; key and value of the review; value
 * and gate. What a residual stream adds to its tokens is small at first, so that a deep model
 * begins as a shallow one: a quarter. */
#define RAN_PRENORM_PARAMS(X)                                                   \
        X(gpc, "gpc.weight", D, D, GLOROT, true)                                \
        X(gpc_norm_w, "gpc_norm.weight", 0, D, ONE, true)                       \
        X(gpc_norm_b, "gpc_norm.bias", 0, D, NORMAL, true)                      \
        X(input_norm_w, "input_norm.weight", 0, D, ONE, true)                   \
        X(input_norm_b, "input_norm.bias", 0, D, ZERO, true)                    \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)                             \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)                             \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)                             \
        X(q_b, "attn.q.bias", 0, E, ZERO, true)                                 \
        X(k_b, "attn.k.bias", 0, E, ZERO, true)                                 \
        X(v_b, "attn.v.bias", 0, E, ZERO, true)                                 \
        X(out_w, "attn.out.weight", D, E, QUARTER, true)                        \
        X(out_b, "attn.out.bias", 0, D, ZERO, true)                             \
        X(update_norm_w, "update_norm.weight", 0, D, ONE, true)                 \
        X(update_norm_b, "update_norm.bias", 0, D, ZERO, true)                  \
        X(review_q_w, "review.q.weight", D, D, GLOROT, c->ran.review)           \
        X(review_q_b, "review.q.bias", 0, D, ZERO, c->ran.review)               \
        X(review_k_w, "review.k.weight", D, D, GLOROT, c->ran.review)           \
        X(review_v_w, "review.v.weight", D, D, GLOROT, c->ran.review)           \
        X(review_k_b, "review.k.bias", 0, D, ZERO, c->ran.review)               \
        X(review_v_b, "review.v.bias", 0, D, ZERO, c->ran.review)               \
        X(review_out_w, "review.out.weight", D, D, QUARTER, c->ran.review)      \
        X(review_out_b, "review.out.bias", 0, D, ZERO, c->ran.review)           \
        X(review_norm_w, "review_norm.weight", 0, D, ONE, c->ran.review)        \
        X(review_norm_b, "review_norm.bias", 0, D, ZERO, c->ran.review)         \
        X(cell_norm_w, "cell_norm.weight", 0, D, ONE, true)                     \
        X(cell_norm_b, "cell_norm.bias", 0, D, ZERO, true)                      \
        X(cell_out_w, "attn.cell.weight", D, E, GLOROT, true)                   \
        X(cell_out_b, "attn.cell.bias", 0, D, ZERO, true)                       \
        X(cell_gate_w, "update_gate.weight", D, 2 * D, GLOROT, c->ran.residual) \
        X(cell_gate_b, "update_gate.bias", 0, D, ZERO, c->ran.residual)         \
        X(feed_norm_w, "ffn_norm.weight", 0, D, ONE, true)                      \
        X(feed_norm_b, "ffn_norm.bias", 0, D, ZERO, true)                       \
        X(feed_value_w, "ffn.value.weight", F, D, GLOROT, true)                 \
        X(feed_gate_w, "ffn.gate.weight", F, D, GLOROT, true)                   \
        X(feed_value_b, "ffn.value.bias", 0, F, ZERO, true)                     \
        X(feed_gate_b, "ffn.gate.bias", 0, F, ZERO, true)                       \
        X(feed_down_w, "ffn.down.weight", D, F, QUARTER, true)                  \
        X(feed_down_b, "ffn.down.bias", 0, D, ZERO, true)

/* The same for what is there once: a classifier's layers that join pooled tokens and the last
 * cell, norms at both ends, and what makes vectors of documents. */
#define RAN_PRENORM_ONCE(X)                                                  \
        X(pool_w, "classify.pool.weight", D, D, GLOROT, joins)               \
        X(pool_b, "classify.pool.bias", 0, D, ZERO, joins)                   \
        X(gpc_value_w, "classify.gpc_glu.value.weight", D, D, GLOROT, joins) \
        X(gpc_gate_w, "classify.gpc_glu.gate.weight", D, D, GLOROT, joins)   \
        X(gpc_value_b, "classify.gpc_glu.value.bias", 0, D, ZERO, joins)     \
        X(gpc_gate_b, "classify.gpc_glu.gate.bias", 0, D, ZERO, joins)       \
        X(pool_norm_w, "classify.pool_norm.weight", 0, D, ONE, joins)        \
        X(pool_norm_b, "classify.pool_norm.bias", 0, D, ZERO, joins)         \
        X(start_norm_w, "ran.embed_norm.weight", 0, D, ONE, true)            \
        X(start_norm_b, "ran.embed_norm.bias", 0, D, ZERO, true)             \
        X(last_norm_w, "ran.norm.weight", 0, D, ONE, true)                   \
        X(last_norm_b, "ran.norm.bias", 0, D, ZERO, true)                    \
        X(vector_w, "ran.vector.weight", D, D, ZERO, ran_prenorm_makes_vectors(c))

RAN_FLOATS_STRUCT(ran_prenorm_params, RAN_PRENORM_PARAMS);
RAN_FLOATS_STRUCT(ran_prenorm_once, RAN_PRENORM_ONCE);

/* ---- memory -----------------------------------------------------------------------------------
 */

/* What the lists below count in. */
struct ran_prenorm_sizes {
        double B, m, D, E, F;
        double tokens, rows; /* of a slab */
        double states, keys; /* m + B; rows of the review's keys */
        double sources;      /* source tokens that targets review */
        double documents;    /* B if a vector of each is made for a head, else 0; */
        double vectors;      /* or as it has learned to make it (vector.c) */
        double fresh;        /* rows of the largest slab if known rows of open windows lie between
                              * those that are computed, else 0 */
};

/* X(field, floats): activations of a slab. */
#define RAN_PRENORM_SLAB(X)                                                                 \
        X(z, n->rows * n->D)          /* the cells' N and LN_in of tokens, after dropout */ \
        X(z_stat, n->rows * 2)        /* mean and 1/deviation */                            \
        X(qkv, n->rows * 3 * n->E)    /* q and k rotated */                                 \
        X(a, n->rows * n->E)          /* heads side by side */                              \
        X(o, n->rows * n->D)          /* Linear_out */                                      \
        X(review_z, n->tokens * n->D) /* LN_rev(Y) */                                       \
        X(review_stat, n->tokens * 2)                                                       \
        X(review_q, n->tokens * n->D)                                                       \
        X(review_r, n->tokens * n->D) /* attention over the states */                       \
        X(sum, n->tokens * n->D)      /* M */                                               \
        X(feed_z, n->tokens * n->D)   /* LN_ffn(M) */                                       \
        X(feed_stat, n->tokens * 2)                                                         \
        X(feed_pre, n->tokens * 2 * n->F)                  /* value and gate */             \
        X(feed_act, n->tokens * n->F)                      /* their product */              \
        X(fresh_in, n->fresh *(n->D > n->E ? n->D : n->E)) /* see linear, prenorm-rows.c */ \
        X(fresh_out, n->fresh *(3 * n->E > n->D ? 3 * n->E : n->D))

/* X(field, floats): the cells of a layer; when scoring, all layers have the same memory in turn. */
#define RAN_PRENORM_CELLS(X)                                             \
        X(G, n->states * n->D)                                           \
        X(N, n->states * n->D)                                           \
        X(stat, n->states * 2)                                           \
        X(below, n->B * n->D) /* last N of the layer below */            \
        X(first, n->B * n->D) /* W_g times those */                      \
        X(first_stat, n->B * 2)                                          \
        X(update_stat, n->m * 2)                                         \
        X(heads, n->m * n->E)       /* A_i[0], side by side */           \
        X(gate_in, n->m * 2 * n->D) /* C_i and N_{i-1} */                \
        X(gate, n->m * n->D)                                             \
        X(kv, n->states * 2 * n->D) /* key and value of each state */    \
        X(key, n->keys * n->D)      /* and in the order of the review */ \
        X(value, n->keys * n->D)                                         \
        X(source_z, n->sources * n->D) /* LN_rev(Y) of source tokens */  \
        X(source_stat, n->sources * 2)                                   \
        X(source_kv, n->sources * 2 * n->D)

/* X(field, floats): adjoints of the current layer and slab; only for training. */
#define RAN_PRENORM_ADJOINTS(X)                                      \
        X(dz, n->rows * n->D)                                        \
        X(dqkv, n->rows * 3 * n->E)                                  \
        X(da, n->rows * n->E)                                        \
        X(d_o, n->rows * n->D)                                       \
        X(dreview_q, n->tokens * n->D)                               \
        X(dreview_r, n->tokens * n->D)                               \
        X(dadded, n->tokens * n->D) /* what a part adds to tokens */ \
        X(dfeed, n->tokens * 2 * n->F)                               \
        X(dfeed_act, n->tokens * n->F)                               \
        X(dG, n->states * n->D) /* of all states of the layer */     \
        X(dN, n->states * n->D)                                      \
        X(dkv, n->states * 2 * n->D)                                 \
        X(dkey, n->keys * n->D)                                      \
        X(dvalue, n->keys * n->D)                                    \
        X(dsource_kv, n->sources * 2 * n->D)                         \
        X(dsource_z, n->sources * n->D)                              \
        X(dfirst, n->B * n->D)                                       \
        X(dcandidate, n->m * n->D) /* before LN_upd */               \
        X(dgate, n->m * n->D)      /* before the sigmoid */          \
        X(part, n->m * 4 * n->D)   /* a window's part of norm gradients, summed in order */

/* X(field, floats): the classifier's vector; or those of vector.c: means; before it has length 1;
 * adjoints of the means. */
#define RAN_PRENORM_JOIN(X)                                                             \
        X(last, n->documents * n->D)   /* last cells */                                 \
        X(pooled, n->documents * n->D) /* tokens v, and where each maximum came from */ \
        X(from, n->documents * n->D)                                                    \
        X(pool_z, n->documents * n->D) /* LN_pool(v) */                                 \
        X(pool_stat, n->documents * 2)                                                  \
        X(head_pre, n->documents * n->D)     /* Linear_pool, before SiLU */             \
        X(head_glu, n->documents * 2 * n->D) /* value and gate of GLU_gpc */            \
        X(dhead_glu, n->documents * 2 * n->D)                                           \
        X(rows, n->vectors * n->D)                                                      \
        X(outputs, n->vectors * n->D)                                                   \
        X(sum, n->vectors * n->D)                                                       \
        X(drows, n->vectors * n->D)                                                     \
        X(doutputs, n->vectors * n->D)

RAN_FLOATS_STRUCT(ran_prenorm_slab, RAN_PRENORM_SLAB);
struct ran_prenorm_cells {
        RAN_PRENORM_CELLS(RAN_FLOATS_FIELD)
        float *y; /* (L, D): output before the review */
};
RAN_FLOATS_STRUCT(ran_prenorm_adjoints, RAN_PRENORM_ADJOINTS);
RAN_FLOATS_STRUCT(ran_prenorm_join, RAN_PRENORM_JOIN);

/* The part's memory in a workspace. */
struct ran_prenorm_memory {
        size_t tokens, rows; /* of the largest slab */
        size_t fresh;        /* see above */
        size_t *first;       /* (slabs + 1) first window of each slab */
        size_t slabs, first_cap, slab_cap;
        bool keeps;
        struct ran_prenorm_slab *slab; /* (N, slabs) if all are kept; else two, used in turns */
        struct ran_prenorm_adjoints adj;
        float *dy;                 /* (L, D) */
        float *start, *start_stat; /* LN_embed of the embedded tokens (L, D) */
        float *last, *last_stat;   /* what the last norm reads (L, D) */
        struct ran_review review;
        size_t group;      /* windows whose parts of dkey and dvalue wait for each other */
        float *group_part; /* (group, 2, most_seen, D) */
        struct ran_prenorm_join join;
};
static inline struct ran_prenorm_memory *ran_prenorm_memory_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_PRENORM];
}

/* The memory hooks of struct ran_part (prenorm-memory.c). */
void ran_prenorm_release(struct ran_workspace *w);
int ran_prenorm_prepare(struct ran_workspace *w, struct ran_error *err);
void ran_prenorm_lay_out(struct ran_workspace *w, struct ran_arena *k);

/* The inner width F of the feed-forward part. */
static inline size_t ran_prenorm_feed(const struct ran_config *c)
{
        return c->dim + c->dim / 2;
}

/* ---- vectors of documents that it has learned to make (vector.c) ------------------------------
 */

bool ran_prenorm_makes_vectors(const struct ran_config *c);
/* Before the first layer: means of the rows; after the adjoints of all layers: to those rows. */
void ran_vectors_take_rows(struct ran_workspace *w);
void ran_vectors_take_rows_bwd(struct ran_workspace *w);
/* v (D) of document b; from the adjoints dv (B, D), which it changes, to w->dx and w->dlast, and
 * what goes to the rows. */
void ran_vectors_make(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v);
void ran_vectors_make_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv);
/* See vector_parts in nn/part.h. */
void ran_vectors_parts(struct ran_workspace *w, const struct ran_params *p, const float *g,
                       double *value);

/* ---- a layer at work --------------------------------------------------------------------------
 */

struct ran_prenorm_pass {
        struct ran_workspace *w;
        struct ran_prenorm_memory *own; /* of w */
        const struct ran_prenorm_params *p;
        struct ran_prenorm_params *dp;  /* gradients, or NULL */
        struct ran_kept_panels *panels; /* see struct ran_params */
        size_t l;                       /* which layer */
        size_t from, to;                /* windows of its slab */
        size_t t0, r0;                  /* its first token and row */
        size_t tokens, rows;            /* of the slab */
        struct ran_prenorm_slab *act;
        struct ran_prenorm_cells *cells;
        struct ran_review_pass review;
        bool known; /* all cells are known already: the backward pass computes a slab again */
};

/* Rows of tokens that do not depend on windows. */
static inline struct ran_rows ran_prenorm_rows(const struct ran_workspace *w, size_t n)
{
        return (struct ran_rows){
                .pool = w->pool, .n = n, .block = 256, .D = w->D, .eps = RAN_LN_EPS};
}
/* Dropout, or its adjoint, on the rows [from, end) of a window; x is row 0. */
void ran_prenorm_dropout(const struct ran_prenorm_pass *s, const struct ran_layer_window *v,
                         int site, size_t from, size_t end, float *x);
struct ran_attention_heads ran_prenorm_heads(const struct ran_prenorm_pass *s,
                                             const struct ran_layer_window *v);

/* Adds the parts of a norm's gradients of the slab's windows to dw and db, in order, and clears
 * them. They are the rows part and part + 1 of a window's four in adj.part. */
void ran_prenorm_sum_parts(const struct ran_prenorm_pass *s, int part, float *dw, float *db);
/* dx += the adjoint dz (n, D) of LN(x) with `weight`, for the tokens of window i; its part of the
 * gradients of weight and bias goes to adj.part. dz is overwritten. */
void ran_prenorm_norm_bwd(const struct ran_prenorm_pass *s, size_t i, float *dx, float *dz,
                          const float *x, const float *stat, const float *weight);

/* Rows (prenorm-rows.c): the norms at both ends, projections, attention and Y. */
void ran_prenorm_ends(struct ran_workspace *w, const struct ran_params *p, bool last);
void ran_prenorm_ends_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, bool last);
void ran_prenorm_project(struct ran_prenorm_pass *s);
void ran_prenorm_project_bwd(struct ran_prenorm_pass *s);
void ran_prenorm_finish(struct ran_prenorm_pass *s);
void ran_prenorm_finish_bwd(struct ran_prenorm_pass *s);

/* Cells (prenorm-cells.c). below: the cells of the layer below, or NULL for 0; the adjoint leaves
 * that of the last cells below in w->dlast. */
void ran_prenorm_first_cells(struct ran_prenorm_pass *s, const struct ran_prenorm_cells *below);
void ran_prenorm_first_cells_bwd(struct ran_prenorm_pass *s);
void ran_prenorm_scan(struct ran_prenorm_pass *s);
void ran_prenorm_scan_bwd(struct ran_prenorm_pass *s);
/* Gradients of the weights, after the scan of the first slab. */
void ran_prenorm_scan_weights_bwd(struct ran_prenorm_pass *s);

/* Review and feed-forward part (prenorm-feed.c): keys and values of the states, once all are known;
 * the tokens of a slab. */
void ran_prenorm_states(struct ran_prenorm_pass *s);
void ran_prenorm_states_bwd(struct ran_prenorm_pass *s);
void ran_prenorm_review(struct ran_prenorm_pass *s);
void ran_prenorm_review_bwd(struct ran_prenorm_pass *s);

/* The tokens that a layer reads and leaves: (L, D). */
static inline const float *ran_prenorm_in(const struct ran_prenorm_pass *s)
{
        return s->l == 0 ? s->own->start : s->w->x[s->l];
}
static inline float *ran_prenorm_out(const struct ran_prenorm_pass *s)
{
        return s->l + 1 == s->w->c->layers ? s->own->last : s->w->x[s->l + 1];
}

#endif
