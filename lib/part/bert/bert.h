/* bert.h - encoders of the BERT family: a Transformer over windows of at most max_length rows, as
 * other people have trained them (BERT, DistilBERT, RoBERTa, XLM-R, MPNet, ModernBERT; lib/hf
 * reads them).
 *
 *      x = LN(row of the token + position)
 *      norm last:   y = LN(x + Out(Attn(x)))     x = LN(y + Down(act(Up(y))))    N times
 *      norm first:  m = x + Out(Attn(LN(x)))     x = m + Down(act(Up(LN(m))))    N times, then LN
 *      gated:       Down(act(Up(y)) ⊙ Gate(y))
 *
 * Attn is softmax(q k^T / sqrt(d_k) + bias of the distance), of all rows of the window or of those
 * at most window / 2 away; rotary on q and k, counted in the window.
 *
 * A document becomes windows of nearly equal size. Each has rows of its own before and after its
 * tokens ([CLS] and [SEP], <s> and </s>): tensors of the model, as they are the same in every
 * window. Windows do not see each other, so that they go through all layers in groups, as large as
 * a slab (nn/workspace.c), and memory beside the outputs does not grow with the document: nor do
 * the outputs, where only vectors of documents are asked for (w->streams). Nothing is padded, but
 * for groups of at most RAN_FEW_ROWS rows: one more, and a row's result does not depend on its
 * group.
 *
 * The vector of a document: the rows of each window are pooled (mean, maximum, first or last row),
 * dense layer, activation and norm follow, and the windows are joined: by their mean, weighted by
 * rows for the pooling mean, or by their maximum for the pooling max; or, with `upper` mean
 * or max, by that of the windows' vectors, with `upper` certain by the one whose label is most
 * certain; where vectors of documents have length 1, those of
 * windows, of `width` numbers, have the length sqrt(width).
 */
#ifndef RAN_MODEL_BERT_H
#define RAN_MODEL_BERT_H

#include "math/simd.h"
#include "nn/rows.h"
#include "nn/workspace.h"
#include "nn/vector-cache.h"

/* ---- tensors --------------------------------------------------------------------------------- */

/* X(field, name after "bert.{l}.", rows, cols, init, present when), of a layer; in scope: c, D,
 * E = h d_k, ffn_dim, l. q, k and v stand side by side, and so do up and gate. */
#define RAN_BERT_PARAMS(X)                                                          \
        X(attn_norm_w, "attn_norm.weight", 0, D, ONE, !c->bert.norm_first || l > 0) \
        X(attn_norm_b, "attn_norm.bias", 0, D, ZERO,                                \
          c->bert.bias && (!c->bert.norm_first || l > 0))                           \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)                                 \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)                                 \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)                                 \
        X(q_b, "attn.q.bias", 0, E, ZERO, c->bert.bias)                             \
        X(k_b, "attn.k.bias", 0, E, ZERO, c->bert.bias)                             \
        X(v_b, "attn.v.bias", 0, E, ZERO, c->bert.bias)                             \
        X(out_w, "attn.out.weight", D, E, GLOROT, true)                             \
        X(out_b, "attn.out.bias", 0, D, ZERO, c->bert.bias)                         \
        X(ffn_norm_w, "ffn_norm.weight", 0, D, ONE, true)                           \
        X(ffn_norm_b, "ffn_norm.bias", 0, D, ZERO, c->bert.bias)                    \
        X(up_w, "ffn.up.weight", ffn_dim, D, GLOROT, true)                          \
        X(gate_w, "ffn.gate.weight", ffn_dim, D, GLOROT, c->bert.gated)             \
        X(up_b, "ffn.up.bias", 0, ffn_dim, ZERO, c->bert.bias)                      \
        X(gate_b, "ffn.gate.bias", 0, ffn_dim, ZERO, c->bert.bias && c->bert.gated) \
        X(down_w, "ffn.down.weight", D, ffn_dim, GLOROT, true)                      \
        X(down_b, "ffn.down.bias", 0, D, ZERO, c->bert.bias)

/* The same for tensors outside the layers. */
#define RAN_BERT_ONCE(X)                                                                          \
        X(prefix, "bert.prefix.weight", c->bert.prefix, D, UNIFORM, c->bert.prefix > 0)           \
        X(suffix, "bert.suffix.weight", c->bert.suffix, D, UNIFORM, c->bert.suffix > 0)           \
        X(position, "bert.position.weight", c->bert.max_length, D, UNIFORM, c->bert.positions)    \
        X(relative, "bert.relative.weight", c->bert.buckets, c->heads, ZERO, c->bert.buckets > 0) \
        X(embed_norm_w, "bert.embed_norm.weight", 0, D, ONE, true)                                \
        X(embed_norm_b, "bert.embed_norm.bias", 0, D, ZERO, c->bert.bias)                         \
        X(norm_w, "bert.norm.weight", 0, D, ONE, c->bert.norm_first)                              \
        X(norm_b, "bert.norm.bias", 0, D, ZERO, c->bert.norm_first && c->bert.bias)               \
        X(dense_w, "bert.dense.weight", c->bert.dense, D, GLOROT, c->bert.dense > 0)              \
        X(dense_b, "bert.dense.bias", 0, c->bert.dense, ZERO, c->bert.dense > 0)                  \
        X(dense_norm_w, "bert.dense_norm.weight", 0, c->bert.dense, ONE,                          \
          c->bert.dense > 0 && c->bert.dense_norm)                                                \
        X(dense_norm_b, "bert.dense_norm.bias", 0, c->bert.dense, ZERO,                           \
          c->bert.dense > 0 && c->bert.dense_norm && c->bert.bias)

RAN_FLOATS_STRUCT(ran_bert_params, RAN_BERT_PARAMS);
RAN_FLOATS_STRUCT(ran_bert_once, RAN_BERT_ONCE);

/* The width of a document's vector, or of what the head reads of a token. */
static inline size_t ran_bert_width(const struct ran_config *c)
{
        return c->bert.dense > 0 ? c->bert.dense : c->dim;
}

/* The width of a document's vector for those who ask for it. */
static inline size_t ran_bert_vector_width(const struct ran_config *c)
{
        return c->bert.vector_dim > 0 ? c->bert.vector_dim : ran_bert_width(c);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The tokens [t, t + n) of the packed batch, between prefix and suffix. */
struct ran_bert_window {
        size_t b; /* its document */
        size_t t, n;
        size_t row; /* its first row in its group */
        size_t at;  /* and in its document */
};

/* X(field, floats): activations of a layer, of the rows R of a group. */
#define RAN_BERT_ACTS(X)                                                             \
        X(x, R *D)             /* input */                                           \
        X(z, norm_first *R *D) /* LN(x) */                                           \
        X(z_stat, norm_first *R * 2)                                                 \
        X(qkv, R * 3 * E) /* after rotary */                                         \
        X(a, R *E)                                                                   \
        X(mid, R *D) /* x + Out(a); norm last: in front of the norm */               \
        X(mid_stat, R * 2)                                                           \
        X(y, R *D)              /* its norm */                                       \
        X(up, R *up_ld)         /* in front of the activation; the gate beside it */ \
        X(sum, norm_last *R *D) /* y + Down: in front of the norm */                 \
        X(sum_stat, norm_last *R * 2)
/* Rows of the group that no layer keeps. */
#define RAN_BERT_ROWS(X)                                                   \
        X(e, R *D) /* row + position, in front of the norm */              \
        X(e_stat, R * 2)                                                   \
        X(fed, training *R *ffn_dim) /* act(up) ⊙ gate; else in place */ \
        X(o, R *D)                                                         \
        X(last, R *D) /* output of the last layer, */                      \
        X(h, R *D)    /* and of the encoder */                             \
        X(h_stat, R * 2)
#define RAN_BERT_ADJOINTS(X)    \
        X(dh, R *D)             \
        X(dy, norm_first *R *D) \
        X(dz, R *D)             \
        X(dqkv, R * 3 * E)      \
        X(da, R *E)             \
        X(dup, R *up_ld)        \
        X(dfed, R *ffn_dim)     \
        X(part, blocks * 2 * D)
/* Of `units`: what the dense layer reads and makes, of all windows of the batch or, for heads of
 * words and tokens, word positions. */
#define RAN_BERT_VECTORS(X)                                           \
        X(pooled, units *D)                                           \
        X(dpooled, training *units *D)                                \
        X(pre, units *dense)   /* in front of the activation */       \
        X(acted, units *dense) /* and behind it */                    \
        X(acted_stat, units * 2)                                      \
        X(vector, units *width)                                       \
        X(unit, each *units *width) /* each of one length */          \
        X(dvector, training *units *width)                            \
        X(logits, certain *units *C) /* of windows */                 \
        X(joined, B *width)          /* in front of normalisation, */ \
        X(whole, width)              /* and behind it, of one; or the adjoint */

RAN_FLOATS_STRUCT(ran_bert_acts, RAN_BERT_ACTS);
RAN_FLOATS_STRUCT(ran_bert_rows, RAN_BERT_ROWS);
RAN_FLOATS_STRUCT(ran_bert_adjoints, RAN_BERT_ADJOINTS);
RAN_FLOATS_STRUCT(ran_bert_vectors, RAN_BERT_VECTORS);

/* The encoder's own part of a workspace. */
struct ran_bert_memory {
        struct ran_bert_window *window; /* (M) of all documents */
        size_t *doc;                    /* (B+1) first window of each document */
        size_t *group;                  /* (groups+1) first window of each group */
        size_t M, groups;
        float *outputs;  /* rows (R, D) of the group at hand */
        bool pooled_bwd; /* backward begins with out.dpooled, not with w->dx */
        size_t R;        /* rows of the largest group */
        size_t longest;  /* and of the longest window */
        size_t window_cap, doc_cap, group_cap;
        struct ran_rotary rotary, rotary_local;
        float *bias, *dbias; /* by distance */
        bool has_bias;       /* bias is filled, with weights that stay as they are */
        float *zero, *sink;  /* for norms without a bias: in its place, and its gradient's */
        struct ran_bert_rows rows;
        struct ran_bert_adjoints adj;
        struct ran_bert_vectors out;
        uint32_t *argmax, *join_argmax; /* pooling max: rows of windows (M, D), from pool_skip on;
                                         * windows of documents (B, width) */
        uint32_t *chosen;               /* (B) the most certain window */
};
static inline struct ran_bert_memory *ran_bert_memory_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_BERT];
}

/* Columns of up, the gate beside it, and how far its rows are apart: not a multiple of 2 KB, or
 * the rows of a tile (math/simd-gemm.c) would share a set of the first cache. */
static inline size_t ran_bert_ups(const struct ran_config *c)
{
        return c->bert.gated ? 2 * c->ffn_dim : c->ffn_dim;
}
static inline size_t ran_bert_up_ld(const struct ran_config *c)
{
        return ran_bert_ups(c) + 16;
}

static inline size_t ran_bert_specials(const struct ran_config *c)
{
        return c->bert.prefix + c->bert.suffix;
}

/* A layer of a group at work. */
struct ran_bert_pass {
        struct ran_workspace *w;
        struct ran_bert_memory *own; /* of w */
        struct ran_bert_acts *act;
        const struct ran_bert_params *p;
        const struct ran_bert_params *dp; /* its members NULL: gradients are not wanted */
        const struct ran_bert_once *once, *donce;
        struct ran_kept_panels *panels;
        const struct ran_params *params;
        size_t l, g, R;     /* layer; group and its rows, */
        struct ran_rows of; /* those */
        float *out;         /* (R, D) what the layer leaves */
        bool stays;         /* it is below the tuned layers: nothing drops out */
        bool lowest;        /* of those: nobody wants the adjoint of its input */
};
struct ran_bert_pass ran_bert_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                      struct ran_params *dp, size_t l, size_t g);

/* ---- windows and rows (rows.c) --------------------------------------------------------------- */

/* The windows of w->packed and their groups. */
void ran_bert_windows(struct ran_workspace *w);
static inline size_t ran_bert_window_rows(const struct ran_config *c,
                                          const struct ran_bert_window *v)
{
        return v->n + ran_bert_specials(c);
}

enum { RAN_BERT_BLOCK = 128 }; /* rows of a task of one thread */
/* The rows of a group, from w->x[0], and their norm: in the first layer's input. Adjoint: from dh,
 * to w->dx. */
void ran_bert_embed(struct ran_bert_pass *s);
void ran_bert_embed_bwd(struct ran_bert_pass *s);
/* The outputs of a group's rows: in own->outputs, and those of tokens in w->x[N], unless they are
 * of a stream. Adjoint: to dh, from that of the pooled windows, or of w->x[N]. */
void ran_bert_scatter(struct ran_bert_pass *s);
void ran_bert_gather(struct ran_bert_pass *s);

/* Dropout, or its adjoint, on the group's rows. */
void ran_bert_drop(const struct ran_bert_pass *s, int site, float *x);

/* ---- attention (attention.c) ----------------------------------------------------------------- */

size_t ran_bert_attention_scratch(const struct ran_workspace *w); /* floats of a worker */
/* The table of biases by distance (h, 2 max_length - 1), from the buckets; the buckets' gradient
 * from that of the table. A computation that only scores fills it once. */
static inline size_t ran_bert_biases(const struct ran_config *c)
{
        return c->heads * (2 * c->bert.max_length - 1);
}
void ran_bert_bias(const struct ran_workspace *w, const struct ran_params *p);
void ran_bert_bias_bwd(const struct ran_workspace *w, struct ran_params *dp);
/* From act->x to act->y. Adjoint: from that of y, in dh, or norm first in dy, with that of mid in
 * dh, to that of x, in dh. */
void ran_bert_attention(struct ran_bert_pass *s);
void ran_bert_attention_bwd(struct ran_bert_pass *s);

/* ---- feed-forward part (feed.c) -------------------------------------------------------------- */

/* y = act(x), n numbers; adjoint: dx = dy act'(x), dx may be dy. */
void ran_bert_activate(int activation, float *y, const float *x, size_t n);
void ran_bert_activate_bwd(int activation, float *dx, const float *x, const float *dy, size_t n);
/* From act->y to s->out. Adjoint: in dh; norm first: from dh, which stays for the residual, to dy.
 */
void ran_bert_feed(struct ran_bert_pass *s);
void ran_bert_feed_bwd(struct ran_bert_pass *s);

/* ---- vectors of documents (vector.c) --------------------------------------------------------- */

/* Pools the group's windows, whose rows are in own->outputs. Adjoint of window i, to its rows dx.
 */
void ran_bert_pool(const struct ran_bert_pass *s);
void ran_bert_pool_bwd(const struct ran_bert_pass *s, size_t i, float *dx);
/* v of document b: the first vector_dim numbers, or all ran_bert_width. Adjoint, of all documents:
 * from dv (B, ran_bert_vector_width), to out.dpooled, overwritten. */
void ran_bert_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v);
void ran_bert_vectors_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv);
/* The hooks of struct ran_part. */
void ran_bert_documents(struct ran_workspace *w, const struct ran_params *p);
void ran_bert_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                            struct ran_params *dp);
void ran_bert_outputs(struct ran_workspace *w, const struct ran_params *p);
void ran_bert_outputs_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp);

#endif
