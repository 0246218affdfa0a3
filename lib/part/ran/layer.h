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
 * Linear_gate(x)). A `prenorm` cell has equations and stages of its own (prenorm.h), in the same
 * order.
 *
 * Only the cell is recurrent. Forward, slab by slab from left to right:
 *
 *   ran_window_project   LN_in and one large product for all rows whose input is known
 *   ran_scan             the cells, one row a window: their q, k, v, attention, (5) and (6)
 *   ran_window_finish    attention, output and Y of all token rows, windows in any order
 *
 * then, with all states known, ran_review. Backward in reverse: the review gives dY and dG; then
 * slab by slab from right to left ran_window_finish_bwd (token rows, any order), ran_scan_bwd
 * (cells from right to left) and ran_window_project_bwd (large products). If a slab was not kept,
 * the forward stages run again; with all cells known, cells are rows like any other.
 *
 * Weights and gradients are ran_layer_params; functions add to gradients. `slab` is a slab's
 * number.
 *
 * A `published` cell is that of the code which the authors publish with their pretrained weights
 * (published.c). It differs from the gated one in its norms (RAN_KERNEL(raw_norm)) and in what
 * goes from window to window; the stages are the same.
 */
#ifndef RAN_MODEL_LAYER_H
#define RAN_MODEL_LAYER_H

#include "nn/pooling.h"
#include "nn/workspace.h"

#define RAN_SN_EPS 1e-7

/* What a residual stream adds to its tokens is small at first, so that a deep model begins as a
 * shallow one. */
#define RAN_INIT_OUTPUT (prenorm ? RAN_INIT_QUARTER : RAN_INIT_GLOROT)

/* ---- tensors -------------------------------------------------------------------------------- */

/* X(field, name after "ran.{l}.", rows, cols, init, present when) in scope: c, the
 * configuration; D, E = h d_k; F, of the feed-forward part; gated (of published cells, too),
 * prenorm. ran-model(5) lists them, too. Tensors of one matrix product are neighbours, weights and
 * biases each: q, k, v and the output gate; key and value of the review; value and gate of each
 * GLU. */
#define RAN_LAYER_PARAMS(X)                                                                \
        X(gpc, "gpc.weight", D, D, GLOROT, true)                                           \
        X(gpc_norm_w, "gpc_norm.weight", 0, D, ONE, true)                                  \
        X(gpc_norm_b, "gpc_norm.bias", 0, D, NORMAL, true)                                 \
        X(input_norm_w, "input_norm.weight", 0, D, ONE, true)                              \
        X(input_norm_b, "input_norm.bias", 0, D, ZERO, true)                               \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)                                        \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)                                        \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)                                        \
        X(output_value_w, "output_glu.value.weight", D, D, QUARTER, gated)                 \
        X(output_gate_w, "output_glu.gate.weight", D, D, GLOROT, gated)                    \
        X(q_b, "attn.q.bias", 0, E, ZERO, true)                                            \
        X(k_b, "attn.k.bias", 0, E, ZERO, true)                                            \
        X(v_b, "attn.v.bias", 0, E, ZERO, true)                                            \
        X(output_value_b, "output_glu.value.bias", 0, D, ZERO, gated)                      \
        X(output_gate_b, "output_glu.gate.bias", 0, D, ZERO, gated)                        \
        X(out_w, "attn.out.weight", D, E, OUTPUT, true)                                    \
        X(out_b, "attn.out.bias", 0, D, ZERO, true)                                        \
        X(output_norm_w, "output_norm.weight", 0, D, ONE, gated)                           \
        X(output_norm_b, "output_norm.bias", 0, D, ZERO, gated)                            \
        X(update_value_w, "update_glu.value.weight", D, D, GLOROT, gated)                  \
        X(update_gate_w, "update_glu.gate.weight", D, D, GLOROT, gated)                    \
        X(update_value_b, "update_glu.value.bias", 0, D, ZERO, gated)                      \
        X(update_gate_b, "update_glu.gate.bias", 0, D, ZERO, gated)                        \
        X(update_norm_w, "update_norm.weight", 0, D, ONE, true)                            \
        X(update_norm_b, "update_norm.bias", 0, D, ZERO, true)                             \
        X(review_q_w, "review.q.weight", D, D, GLOROT, c->ran.review)                      \
        X(review_q_b, "review.q.bias", 0, D, ZERO, c->ran.review)                          \
        X(review_k_w, "review.k.weight", D, D, GLOROT, c->ran.review)                      \
        X(review_v_w, "review.v.weight", D, D, GLOROT, c->ran.review)                      \
        X(review_k_b, "review.k.bias", 0, D, ZERO, c->ran.review)                          \
        X(review_v_b, "review.v.bias", 0, D, ZERO, c->ran.review)                          \
        X(review_out_w, "review.out.weight", D, D, OUTPUT, !plain && c->ran.review)        \
        X(review_out_b, "review.out.bias", 0, D, ZERO, !plain && c->ran.review)            \
        X(review_value_w, "review_glu.value.weight", D, D, GLOROT, gated && c->ran.review) \
        X(review_gate_w, "review_glu.gate.weight", D, D, GLOROT, gated && c->ran.review)   \
        X(review_value_b, "review_glu.value.bias", 0, D, ZERO, gated && c->ran.review)     \
        X(review_gate_b, "review_glu.gate.bias", 0, D, ZERO, gated && c->ran.review)       \
        X(review_norm_w, "review_norm.weight", 0, D, ONE,                                  \
          prenorm ? c->ran.review : gated || !c->ran.review)                               \
        X(review_norm_b, "review_norm.bias", 0, D, ZERO,                                   \
          prenorm ? c->ran.review : gated || !c->ran.review)                               \
        X(cell_norm_w, "cell_norm.weight", 0, D, ONE, prenorm)                             \
        X(cell_norm_b, "cell_norm.bias", 0, D, ZERO, prenorm)                              \
        X(cell_out_w, "attn.cell.weight", D, E, GLOROT, prenorm)                           \
        X(cell_out_b, "attn.cell.bias", 0, D, ZERO, prenorm)                               \
        X(cell_gate_w, "update_gate.weight", D, 2 * D, GLOROT, prenorm && c->ran.residual) \
        X(cell_gate_b, "update_gate.bias", 0, D, ZERO, prenorm && c->ran.residual)         \
        X(feed_norm_w, "ffn_norm.weight", 0, D, ONE, prenorm)                              \
        X(feed_norm_b, "ffn_norm.bias", 0, D, ZERO, prenorm)                               \
        X(feed_value_w, "ffn.value.weight", F, D, GLOROT, prenorm)                         \
        X(feed_gate_w, "ffn.gate.weight", F, D, GLOROT, prenorm)                           \
        X(feed_value_b, "ffn.value.bias", 0, F, ZERO, prenorm)                             \
        X(feed_gate_b, "ffn.gate.bias", 0, F, ZERO, prenorm)                               \
        X(feed_down_w, "ffn.down.weight", D, F, QUARTER, prenorm)                          \
        X(feed_down_b, "ffn.down.bias", 0, D, ZERO, prenorm)

/* The same for what is there once: a classifier's layers that join pooled tokens and the last
 * cell, norms at both ends, and the layer before the output of a language model. */
#define RAN_JOIN_PARAMS(X)                                                                \
        X(pool_w, "classify.pool.weight", D, D, GLOROT, classify)                         \
        X(pool_b, "classify.pool.bias", 0, D, ZERO, classify)                             \
        X(gpc, "classify.gpc.weight", D, D, GLOROT, classify &&plain)                     \
        X(gpc_value_w, "classify.gpc_glu.value.weight", D, D, GLOROT, classify && !plain) \
        X(gpc_gate_w, "classify.gpc_glu.gate.weight", D, D, GLOROT, classify && !plain)   \
        X(gpc_value_b, "classify.gpc_glu.value.bias", 0, D, ZERO, classify && !plain)     \
        X(gpc_gate_b, "classify.gpc_glu.gate.bias", 0, D, ZERO, classify && !plain)       \
        X(pool_norm_w, "classify.pool_norm.weight", 0, D, ONE, classify &&prenorm)        \
        X(pool_norm_b, "classify.pool_norm.bias", 0, D, ZERO, classify &&prenorm)         \
        X(start_norm_w, "ran.embed_norm.weight", 0, D, ONE, prenorm || published)         \
        X(start_norm_b, "ran.embed_norm.bias", 0, D, ZERO, prenorm || published)          \
        X(last_norm_w, "ran.norm.weight", 0, D, ONE, prenorm)                             \
        X(last_norm_b, "ran.norm.bias", 0, D, ZERO, prenorm)                              \
        X(vector_w, "ran.vector.weight", D, D, ZERO, vector)                              \
        X(cell_w, "classify.cell.weight", D, D, GLOROT, classify &&published)             \
        X(cell_b, "classify.cell.bias", 0, D, ZERO, classify &&published)                 \
        X(fill_w, "lm.dense.weight", D, D, GLOROT, tied &&published)                      \
        X(fill_b, "lm.dense.bias", 0, D, ZERO, tied &&published)                          \
        X(fill_norm_w, "lm.norm.weight", 0, D, ONE, tied &&published)                     \
        X(fill_norm_b, "lm.norm.bias", 0, D, ZERO, tied &&published)

struct ran_layer_params {
#define X(field, name, rows, cols, init, when) float *field;
        RAN_LAYER_PARAMS(X)
#undef X
};
struct ran_join_params {
#define X(field, name, rows, cols, init, when) float *field;
        RAN_JOIN_PARAMS(X)
#undef X
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* A layer keeps what crosses windows: its input, its output before the review, the cells. All else
 * lives in a slab: some 2,048 rows of whole windows. When scoring, two slabs are used in turns, so
 * that a million tokens need their rows once and two slabs: while one thread scans the cells of a
 * slab, others are at what comes next. When training, each layer keeps its slabs if there is but
 * one, or all of them are small; otherwise the backward pass computes each anew from the layer's
 * input and cells. Of more than two that are kept q, k and v after φ, a third of a slab, are made
 * again from what is before φ.
 *
 * Sizes in the lists: tokens and rows of the largest slab; states = m + B; keys of the review;
 * reviewed: source tokens that targets review; projected = 3E + 2D (gated) or 3E, what one product
 * makes of a normalised row: q, k, v and value and gate of the output GLU; glu = 2D if gated, else
 * 0; join_glu = 2D unless plain; paper = 1 unless prenorm, else 0; prenorm = 1 - paper; published:
 * 1 or 0; carries = 1 if prenorm or published, else 0; feed = F if prenorm, else 0; abreast: the
 * most documents of a slab; shared: 1 if slabs share qkv, else 0; fresh: rows of the largest slab
 * if known rows of open windows lie between those that are computed, else 0. */

/* X(field, floats): activations of a slab. */
#define RAN_SLAB(X)                                                                          \
        X(z, rows *D)                         /* LN_in of cells and tokens, after dropout */ \
        X(z_stat, rows * 2)                   /* mean and 1/deviation */                     \
        X(pre, paper *rows *projected)        /* q, k, v, value, gate before φ */           \
        X(qkv, shared > 0 ? 0 : rows * 3 * E) /* after φ, q and k rotated */                \
        X(a, rows *E)                         /* heads side by side */                       \
        X(o, rows *D)                         /* Linear_out before φ */                     \
        X(p, paper *rows *D)                  /* input of LN_out (gated) or SN (plain) */    \
        X(p_stat, paper *rows * 2)                                                           \
        X(pn, paper *rows *D) /* input of SN, after LN_out; unused if plain */               \
        X(y_stat, paper *rows * 2)                                                           \
        X(review_pre, tokens *D) /* Linear_q(Y) before φ; prenorm: LN_rev(Y) */             \
        X(review_q, tokens *D)                                                               \
        X(review_r, tokens *D)        /* attention over the states */                        \
        X(review_o, paper *tokens *D) /* Linear_o(R) before φ */                            \
        X(review_glu, tokens *glu)    /* value and gate */                                   \
        X(review_sum, tokens *D)      /* what LN_rev reads; prenorm: what LN_ffn reads */    \
        X(review_stat, tokens * 2)                                                           \
        X(feed_z, feed > 0 ? tokens * D : 0) /* prenorm: LN_ffn */                           \
        X(feed_stat, feed > 0 ? tokens * 2 : 0)                                              \
        X(feed_pre, tokens * 2 * feed)      /* value and gate */                             \
        X(feed_act, tokens *feed)           /* their product */                              \
        X(fresh_in, fresh *(D > E ? D : E)) /* see ran_window_linear */                      \
        X(fresh_out, fresh *(projected > D ? projected : D))

/* X(field, floats): the cells of a layer; when scoring, all layers have the same memory in turn. */
#define RAN_CELLS(X)                                                                               \
        X(G, states *D)    /* all states */                                                        \
        X(below, B *D)     /* last cells of the layer below: equation (1) */                       \
        X(first_pre, B *D) /* W_g times those, before φ and after */                              \
        X(first, B *D)                                                                             \
        X(first_stat, B * 2)                                                                       \
        X(update_glu, m *glu)      /* value and gate of GLU_upd(G_{i-1}) */                        \
        X(update_sum, paper *m *D) /* what LN_upd reads */                                         \
        X(update_stat, m * 2)                                                                      \
        X(kv_pre, states * 2 * D) /* key and value of each state for the review, before φ */      \
        X(key, keys *D)           /* earlier states included */                                    \
        X(value, keys *D)                                                                          \
        X(source_z, prenorm *reviewed *D) /* prenorm: LN_rev(Y) of the source tokens */            \
        X(source_stat, prenorm *reviewed * 2)                                                      \
        X(source_kv, reviewed * 2 * D) /* their key and value, before φ */                        \
        X(carried, carries *states *D) /* prenorm: the cells before LN_cell; G is what is read. */ \
                                       /* published: what windows begin with; G is c */            \
        X(carried_stat, prenorm *states * 2)                                                       \
        X(heads, prenorm *m *E)        /* A_i[0], side by side */                                  \
        X(gate_in, prenorm *m * 2 * D) /* P_i[0] and LN_cell(G_{i-1}) */                           \
        X(gate, prenorm *m *D)         /* the update gate */

/* X(field, floats): adjoints of the current layer and slab; only for training. */
#define RAN_ADJOINTS(X)                                                                      \
        X(dz, rows *D)                                                                       \
        X(dpre, paper *rows *projected)                                                      \
        X(dqkv, rows * 3 * E)                                                                \
        X(da, rows *E)                                                                       \
        X(dp, paper *rows *D)                                                                \
        X(d_o, rows *D)                                                                      \
        X(dreview_q, tokens *D)                                                              \
        X(dreview_r, tokens *D)                                                              \
        X(dreview_o, tokens *D)                                                              \
        X(dreview_glu, tokens *glu)                                                          \
        X(dreview_sum, tokens *D)                                                            \
        X(dG, states *D) /* of all states of the current layer */                            \
        X(dkv_pre, states * 2 * D)                                                           \
        X(dkey, keys *D)                                                                     \
        X(dvalue, keys *D)                                                                   \
        X(dsource_kv, reviewed * 2 * D)                                                      \
        X(dsource_z, prenorm *reviewed *D)                                                   \
        X(dupdate_glu, states *glu) /* row s: of the window that begins with state s */      \
        X(dfirst, B *D)                                                                      \
        X(dcarried, carries *states *D)                                                      \
        X(dcandidate, prenorm *m *D)                                /* before LN_upd */      \
        X(dgate, prenorm *m *D)                                     /* before the sigmoid */ \
        X(cell_dy, paper *abreast *(projected > D ? projected : D)) /* see ran_scan_bwd */   \
        X(cell_dx, paper *abreast *(E > D ? E : D))                                          \
        X(dfeed, tokens * 2 * feed)                                                          \
        X(dfeed_act, tokens *feed)                                                           \
        X(part, m * 6 * D) /* a window's part of norm gradients, summed in order afterwards */

/* X(field, floats): the classifier's vector; adjoints only for training. argmax: windows. */
#define RAN_JOIN(X)                                                                 \
        X(last, documents *D)            /* last cells, or pooled ones */           \
        X(head_pre, documents *D)        /* Linear_pool(v) before φ */             \
        X(head_glu, documents *join_glu) /* value and gate of GLU_gpc */            \
        X(pool_z, prenorm *documents *D) /* prenorm: LN_pool(v) */                  \
        X(pool_stat, prenorm *documents * 2)                                        \
        X(cell_pre, published *documents *D) /* Linear_cell, before φ and after */ \
        X(cell, published *documents *D)                                            \
        X(argmax, published *B *D)
#define RAN_JOIN_ADJOINTS(X)              \
        X(dhead_glu, documents *join_glu) \
        X(dcells, published *B *D) /* of pooled cells */

/* X(field, floats): the layer of a language model before its output, published; d only for
 * training. positions: those with an output. */
#define RAN_FILL(X)                                    \
        X(in, positions *D)                            \
        X(pre, positions *D) /* before φ and after */ \
        X(act, positions *D)                           \
        X(stat, positions * 2)                         \
        X(d, positions *D)

struct ran_slab {
#define X(field, floats) float *field;
        RAN_SLAB(X)
#undef X
};
struct ran_cells {
#define X(field, floats) float *field;
        RAN_CELLS(X)
#undef X
};
struct ran_adjoints {
#define X(field, floats) float *field;
        RAN_ADJOINTS(X)
#undef X
};
struct ran_fill {
#define X(field, floats) float *field;
        RAN_FILL(X)
#undef X
};
struct ran_join {
#define X(field, floats) float *field;
        RAN_JOIN(X)
        RAN_JOIN_ADJOINTS(X)
#undef X
};

/* Vectors of documents (vector.c); adjoints only for training. */
struct ran_vectors_memory {
        float *rows, *outputs; /* (B, D) means */
        float *sum;            /* (B, D) before it has length 1 */
        float *drows, *doutputs;
};

/* The encoder's own part of a workspace. */
struct ran_layer_memory {
        size_t projected;                           /* see above */
        size_t tokens, rows, states, keys, longest; /* longest: tokens of a window, open ones too */
        size_t most_keys;                           /* of one document */
        size_t *reviewed; /* (B + 1) source tokens under review in the documents before each */
        size_t reviewed_cap;
        size_t fresh;   /* see above */
        size_t *first;  /* (slabs + 1) first window of each slab */
        size_t abreast; /* the most documents of a slab */
        size_t *cell;   /* (abreast) the window of each that ran_scan_bwd is at */
        size_t cell_cap;
        size_t slabs, first_cap, slab_cap;
        bool keeps;
        bool shares;           /* kept slabs take turns at two qkv: those of most are made again */
        size_t in_qkv[2];      /* which of `slab` has each of these */
        struct ran_slab *slab; /* (N, slabs) if all are kept; else two, used in turns */
        struct ran_cells *cells; /* (N) */
        float **y;               /* (N) (L, D): output before the review */
        struct ran_adjoints adj;
        float *dy;                 /* (L, D) */
        float *start, *start_stat; /* LN_embed of the embedded tokens (L, D); of prenorm and
                                      published cells */
        float *last, *last_stat;   /* prenorm: what the last norm reads (L, D) */
        float *score, *dscore; /* (tokens, most_keys): review of one document's tokens in a slab */
        struct ran_mask *seen; /* (B) review of a pattern: its states as a mask; else all unused */
        size_t seen_cap;
        size_t most_seen, group; /* most states of a window; windows of a group, backward */
        float *part;             /* (group, 2, most_seen, D) their parts of dkey and dvalue */
        struct ran_pooling pooling;
        struct ran_join join;
        struct ran_fill fill;
        struct ran_vectors_memory vectors;
        bool dcells; /* join.dcells are adjoints of all cells of the last layer */
};
static inline struct ran_layer_memory *ran_layer_memory_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_RAN];
}

/* The memory hooks of struct ran_encoder (layer-memory.c). */
int ran_layer_memory_init(struct ran_workspace *w, struct ran_error *err);
void ran_layer_memory_release(struct ran_workspace *w);
int ran_layer_memory_prepare(struct ran_workspace *w, struct ran_error *err);
void ran_layer_memory_lay_out(struct ran_workspace *w, struct ran_arena *k);

/* Whether it makes vectors of documents that it has learned (vector.c). */
bool ran_layer_makes_vectors(const struct ran_config *c);
void ran_vectors_lay_out(struct ran_workspace *w, struct ran_arena *k);
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

/* The inner width F of the feed-forward part of a prenorm cell. */
static inline size_t ran_prenorm_feed(const struct ran_config *c)
{
        return c->dim + c->dim / 2;
}

/* φ and GLUs: those of gated and of published cells. */
static inline bool ran_layer_is_gated(const struct ran_workspace *w)
{
        return w->c->ran.cell == RAN_CELL_GATED || w->c->ran.cell == RAN_CELL_PUBLISHED;
}

static inline bool ran_layer_is_published(const struct ran_workspace *w)
{
        return w->c->ran.cell == RAN_CELL_PUBLISHED;
}

static inline bool ran_layer_is_prenorm(const struct ran_workspace *w)
{
        return w->c->ran.cell == RAN_CELL_PRENORM;
}

/* ---- stages --------------------------------------------------------------------------------- */

/* A layer at work. */
struct ran_layer_pass {
        struct ran_workspace *w;
        struct ran_layer_memory *own; /* of w */
        const struct ran_layer_params *p;
        struct ran_layer_params *dp;    /* gradients, or NULL */
        struct ran_kept_panels *panels; /* see struct ran_params */
        size_t l;                       /* which layer */
        size_t slab, from, to;          /* its windows */
        size_t t0, r0;                  /* its first token and row */
        size_t tokens, rows;            /* of the slab */
        size_t skip;                    /* known first rows: of an open window */
        bool scattered;                 /* more known rows follow: of other open windows */
        struct ran_slab *act;
        struct ran_cells *cells;
        bool known; /* all cells are known already: see above */
};

struct ran_layer_pass ran_layer_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                        struct ran_params *dp, size_t l, size_t slab);

/* What windows begin with: the states (m + B, D), and their adjoints. */
static inline float *ran_layer_fed(const struct ran_layer_pass *s)
{
        return ran_layer_is_published(s->w) ? s->cells->carried : s->cells->G;
}
static inline float *ran_layer_dfed(const struct ran_layer_pass *s)
{
        return ran_layer_is_published(s->w) ? s->own->adj.dcarried : s->own->adj.dG;
}

/* The tokens that a layer reads: (L, D). */
static inline const float *ran_layer_in(const struct ran_layer_pass *s)
{
        return s->l == 0 && s->own->start != NULL ? s->own->start : s->w->x[s->l];
}

/* A window as the stages see it. */
struct ran_window_view {
        size_t i;     /* its number */
        size_t b;     /* its document */
        size_t t, n;  /* its first token; its rows */
        size_t first; /* the row of that token: 1, or more if the window was open */
        size_t r;     /* its first row in the slab: the cell */
        size_t state; /* the state that it begins with */
        size_t at;    /* its first row in its document, for the keys of dropout */
};
struct ran_window_view ran_window_view_of(const struct ran_layer_pass *s, size_t i);
/* Dropout, or its adjoint, on the rows [from, end) of a window; x is row 0. */
void ran_window_dropout(const struct ran_layer_pass *s, const struct ran_window_view *v, int site,
                        size_t from, size_t end, float *x);

/* Adds the parts of a norm's gradients of the slab's windows to dw and db, in order, and clears
 * them. They are the rows part and part + 1 of a window's six in adj.part. */
void ran_window_sum_parts(struct ran_layer_pass *s, int part, float *dw, float *db);

/* Whether window i stays open for more tokens: the last of a document that is scored and continues.
 */
bool ran_window_stays_open(const struct ran_workspace *w, size_t i);

/* LN of n rows of D, without weight SN, as this kind of cell divides them; see ran_simd.norm. */
void ran_layer_norm(const struct ran_workspace *w, float *y, float *stat, const float *x,
                    const float *weight, const float *bias, size_t n);
void ran_layer_norm_bwd(const struct ran_workspace *w, float *dx, float *dw, float *db,
                        const float *dy, const float *x, const float *stat, const float *weight,
                        size_t n);

void ran_window_project(struct ran_layer_pass *s);
/* The known rows of open windows, from the recurrent states. */
void ran_window_recall(struct ran_layer_pass *s);
/* Before the backward pass of a slab that was kept: its q, k and v, if they are not there. */
void ran_window_restore_qkv(struct ran_layer_pass *s);
/* y (rows, O) = x (rows, I) w^T + b for all rows of a slab that are not known. */
void ran_window_linear(struct ran_layer_pass *s, float *y, const float *x, const float *w,
                       const float *b, size_t I, size_t O);
/* Attention of all rows that are not known, and the output projection: from act->qkv to act->o. */
void ran_window_attend(struct ran_layer_pass *s);
/* From adj.d_o to adj.da and adj.dqkv, of the token rows. */
void ran_window_attend_bwd(struct ran_layer_pass *s);
/* Gradients of both projections; adj.dz from adj.dpre. */
void ran_window_products_bwd(struct ran_layer_pass *s);
void ran_window_finish(struct ran_layer_pass *s);
void ran_window_finish_bwd(struct ran_layer_pass *s);
void ran_window_project_bwd(struct ran_layer_pass *s);

/* fn, which gets s, for each document that has windows in the slab; those windows. */
void ran_scan_each_document(struct ran_layer_pass *s,
                            void (*fn)(void *arg, size_t b, float *scratch));
size_t ran_scan_first_window(const struct ran_layer_pass *s, size_t b);
size_t ran_scan_end_window(const struct ran_layer_pass *s, size_t b);

/* y (B, D) = W_g times the last cells of the layer below (NULL: 0), which it keeps in
 * s->cells->below. */
void ran_scan_below(struct ran_layer_pass *s, const struct ran_cells *below, float *y);
/* First cells G_0 of all documents, equation (1). The adjoint leaves the adjoints of the last
 * cells below in w->dlast. below: the cells of the layer below, or NULL for 0. */
void ran_scan_first_cells(struct ran_layer_pass *s, const struct ran_cells *below);
void ran_scan_first_cells_bwd(struct ran_layer_pass *s);
void ran_scan(struct ran_layer_pass *s);
void ran_scan_bwd(struct ran_layer_pass *s);
/* Gradients of the update gate, after ran_scan_bwd of the first slab. */
void ran_scan_weights_bwd(struct ran_layer_pass *s);

/* The stages of a kind of cell. NULL: it has none there. */
struct ran_layer_stages {
        /* Before the first layer and after the last one. */
        void (*start)(struct ran_workspace *w, const struct ran_params *p);
        void (*start_bwd)(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp);
        void (*last)(struct ran_workspace *w, const struct ran_params *p);
        void (*last_bwd)(struct ran_workspace *w, const struct ran_params *p,
                         struct ran_params *dp);
        void (*first_cells)(struct ran_layer_pass *s, const struct ran_cells *below);
        void (*first_cells_bwd)(struct ran_layer_pass *s);
        void (*project)(struct ran_layer_pass *s);
        void (*project_bwd)(struct ran_layer_pass *s);
        void (*scan)(struct ran_layer_pass *s);
        void (*scan_bwd)(struct ran_layer_pass *s);
        void (*scan_weights_bwd)(struct ran_layer_pass *s);
        void (*finish)(struct ran_layer_pass *s);
        void (*finish_bwd)(struct ran_layer_pass *s);
        void (*review)(struct ran_layer_pass *s);
        void (*review_bwd)(struct ran_layer_pass *s);
};
extern const struct ran_layer_stages ran_prenorm_stages; /* prenorm.c */
/* LN_embed of all tokens (prenorm.c). */
void ran_layer_start(struct ran_workspace *w, const struct ran_params *p);
void ran_layer_start_bwd(struct ran_workspace *w, const struct ran_params *p,
                         struct ran_params *dp);

/* ---- what published cells have of their own (published.c) ------------------------------------ */

/* Whether a window is the first of its document: its state is c, without residual and norm. */
static inline bool ran_published_is_first(const struct ran_layer_pass *s,
                                          const struct ran_window_view *v)
{
        const struct ran_packed *packed = s->w->packed;

        return ran_layer_is_published(s->w) && v->i == packed->doc_window[v->b] &&
               ran_packed_earlier(packed, v->b) == 0;
}
void ran_published_first_cells(struct ran_layer_pass *s, const struct ran_cells *below);
void ran_published_first_cells_bwd(struct ran_layer_pass *s);
/* The classifier's vector; a document's pooled cells, and their adjoint from dv (B, D). */
void ran_published_documents(struct ran_workspace *w, const struct ran_params *p);
void ran_published_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                                 struct ran_params *dp);
void ran_published_pool(const struct ran_workspace *w, size_t b, float *v);
void ran_published_pool_bwd(struct ran_workspace *w, const float *dv);
/* Adds the adjoints of pooled cells to those of all cells of the last layer. */
void ran_published_pooled_bwd(struct ran_workspace *w);
/* The layer of a language model before its output, in place. */
void ran_published_outputs(struct ran_workspace *w, const struct ran_params *p);
void ran_published_outputs_bwd(struct ran_workspace *w, const struct ran_params *p,
                               struct ran_params *dp);

/* The states' keys and values, after the scan of the last slab; then the tokens of a slab. */
void ran_review_states(struct ran_layer_pass *s);
void ran_review(struct ran_layer_pass *s);
/* Adjoints: of a slab's rows (w->dx to w->dy, adding to dkey and dvalue), then of the states
 * (adding to dG). */
void ran_review_bwd(struct ran_layer_pass *s);
void ran_review_states_bwd(struct ran_layer_pass *s);
/* Keys and values of the source tokens, and their adjoint, which adds to dy
 * (review-source.c). */
void ran_review_source(struct ran_layer_pass *s);
void ran_review_source_bwd(struct ran_layer_pass *s);
/* The attention alone: from review_q to review_r; from dreview_r to dreview_q, adding to dkey and
 * dvalue. */
void ran_review_attend(struct ran_layer_pass *s);
void ran_review_attend_bwd(struct ran_layer_pass *s);

/* ---- the review of a pattern (review-pattern.c) --------------------------------------------- */

enum { RAN_REVIEW_GROUP = 64 }; /* windows whose parts of dkey and dvalue wait for each other */

/* Whether the review sees a pattern of windows, rather than all or none. */
static inline bool ran_review_is_sparse(const struct ran_config *c)
{
        return c->ran.review > RAN_REVIEW_ALL;
}
/* Whether earlier states are copied in front of a document's own; else they are read in the
 * recurrent state, because few are seen and none is moved. */
static inline bool ran_review_copies_earlier(const struct ran_config *c)
{
        return c->ran.review != RAN_REVIEW_DISPERSED;
}
/* The source tokens of document b that its target tokens review. Their keys and values stand
 * before those of all states. */
static inline size_t ran_review_sources(const struct ran_workspace *w, size_t b)
{
        return w->c->ran.review_source ? w->packed->sources[b] : 0;
}
/* The first key of document b. */
static inline size_t ran_review_first_key(const struct ran_workspace *w, size_t b)
{
        return w->packed->key[b] + ran_layer_memory_of(w)->reviewed[b];
}
/* The row of the key and value of document b's first own state, G_0 or the cell that it continues
 * from. */
static inline size_t ran_review_key(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;

        return ran_review_copies_earlier(w->c)
                       ? ran_review_first_key(w, b) + ran_review_sources(w, b) +
                                 ran_packed_earlier(packed, b)
                       : packed->doc_window[b] + b;
}
/* The states of a document as a mask whose query i is the tokens of its window i; `earlier` are
 * counted with both. pure: first windows that hold the source only. Keys are the earlier states,
 * then G_0 ... G_m, without a mask G_1 ... G_m. */
int ran_review_mask(struct ran_mask *m, const struct ran_config *c, size_t windows, size_t earlier,
                    size_t pure, struct ran_error *err);
/* Of w->packed, divided into slabs: the masks, and their sizes. */
int ran_review_prepare(struct ran_workspace *w, struct ran_error *err);
size_t ran_review_scratch(const struct ran_workspace *w); /* floats of a worker */
/* As ran_review_attend. */
void ran_review_pattern(struct ran_layer_pass *s);
void ran_review_pattern_bwd(struct ran_layer_pass *s);
/* How many of so many earlier states the next chunk may see: the last ones. */
size_t ran_review_kept(const struct ran_config *c, size_t states);
/* Saves the keys and values of document b's first `closed` windows in its recurrent state. */
void ran_review_keep(const struct ran_layer_pass *s, size_t b, size_t closed);

/* A window's rows, the cell first, for attention over all heads. The cell sees all rows and all
 * rows see the cell; among tokens the mask decides. Source tokens come first, so a row always
 * sees a run of rows from the first on. */
struct ran_attention_heads {
        const float *qkv; /* (n, 3E) */
        float *a;         /* (n, E): heads side by side */
        size_t n, E, h, d_k;
        int mask;
        size_t sources; /* under the prefix mask: the number of source tokens */
};
struct ran_attention_heads ran_attention_heads_of(const struct ran_layer_pass *s,
                                                  const struct ran_window_view *v);
/* a = softmax(q k^T / sqrt(d_k)) v for the queries [first, end). score holds n x n floats. */
void ran_attention(const struct ran_attention_heads *x, size_t first, size_t end, float *score);
/* score (end - first, n) = softmax(q k^T / sqrt(d_k)), the weights of head j; 0 where masked. */
void ran_attention_weights(float *score, const struct ran_attention_heads *x, size_t j,
                           size_t first, size_t end);
/* Adjoint of the queries [first, end): of their q, and of all k and v; dqkv (n, 3E), or += with
 * add. score holds 2 n x n floats. */
void ran_attention_bwd(float *dqkv, const float *da, const struct ran_attention_heads *x,
                       size_t first, size_t end, bool add, float *score);

/* φ: SiLU in a gated or published cell, the identity in a plain one. */
void ran_window_activation(const struct ran_workspace *w, float *y, const float *x, size_t n);
void ran_window_activation_bwd(const struct ran_workspace *w, float *dx, const float *x,
                               const float *dy, size_t n);

#endif
