/* transformer.h - the parts of a Transformer with sparse attention, whose cost is proportional to
 * the number of scores:
 *
 *      x += Linear_out(Attn(LN(x)))                rotary on q and k at absolute positions
 *      x += Linear_down(GELU(Linear_up(LN(x))))    N times, then LN at the end
 *
 * (pre-norm; Mukund and Easwarakumar for the patterns, see sparse.h.) Rows of all documents go
 * through the products together, a slab at a time; attention goes document by document.
 *
 * A document that continues (recurrent-state.h) has the keys and values of its earlier tokens in
 * its recurrent state, as states of width E; its queries are those of the new tokens alone.
 */
#ifndef RAN_MODEL_TRANSFORMER_H
#define RAN_MODEL_TRANSFORMER_H

#include "nn/part.h"
#include "nn/rows.h"
#include "nn/sparse.h"

/* ---- tensors -------------------------------------------------------------------------------- */

/* X(field, name after "transformer.{l}.", rows, cols, init, present when), of a layer; in scope: c,
 * D, E = h d_k, ffn_dim. */
#define RAN_TRANSFORMER_PARAMS(X)                              \
        X(attn_norm_w, "attn_norm.weight", 0, D, ONE, true)    \
        X(attn_norm_b, "attn_norm.bias", 0, D, ZERO, true)     \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)            \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)            \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)            \
        X(q_b, "attn.q.bias", 0, E, ZERO, true)                \
        X(k_b, "attn.k.bias", 0, E, ZERO, true)                \
        X(v_b, "attn.v.bias", 0, E, ZERO, true)                \
        X(out_w, "attn.out.weight", D, E, GLOROT, true)        \
        X(out_b, "attn.out.bias", 0, D, ZERO, true)            \
        X(ffn_norm_w, "ffn_norm.weight", 0, D, ONE, true)      \
        X(ffn_norm_b, "ffn_norm.bias", 0, D, ZERO, true)       \
        X(up_w, "ffn.up.weight", ffn_dim, D, GLOROT, true)     \
        X(up_b, "ffn.up.bias", 0, ffn_dim, ZERO, true)         \
        X(down_w, "ffn.down.weight", D, ffn_dim, GLOROT, true) \
        X(down_b, "ffn.down.bias", 0, D, ZERO, true)

/* The same for tensors outside the layers. */
#define RAN_TRANSFORMER_ONCE(X)                               \
        X(norm_w, "transformer.norm.weight", 0, D, ONE, true) \
        X(norm_b, "transformer.norm.bias", 0, D, ZERO, true)

RAN_FLOATS_STRUCT(ran_transformer_params, RAN_TRANSFORMER_PARAMS);
RAN_FLOATS_STRUCT(ran_transformer_once, RAN_TRANSFORMER_ONCE);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Sizes in the lists: tokens of the largest slab; keys, rows of q, k and v, those of earlier tokens
 * too; kept: L if all is kept, else the tokens of a slab; blocks of a slab. */

/* X(field, floats): activations of a layer. */
#define RAN_TRANSFORMER_ACTS(X)                                         \
        X(z_stat, L * 2)                                                \
        X(qkv, keys * 3 * E) /* after rotary, by heads: see sparse.h */ \
        X(a, keys *E)                                                   \
        X(log_sum, keys *h)                                             \
        X(mid, w->training ? L *D : 0)                                  \
        X(mid_stat, L * 2)                                              \
        X(up, kept *ffn_dim) /* before GELU */
/* Rows of a slab of the current layer. */
#define RAN_TRANSFORMER_ROWS(X)                          \
        X(z, tokens *D)        /* LN(x) */               \
        X(qkv, tokens * 3 * E) /* side by side; or da */ \
        X(gelu, tokens *ffn_dim)                         \
        X(o, tokens *D)
#define RAN_TRANSFORMER_ADJOINTS(X)   \
        X(dqkv, keys * 3 * E)         \
        X(da, keys *E) /* by heads */ \
        X(delta, keys *h)             \
        X(dup, tokens *ffn_dim)       \
        X(dz, tokens *D)              \
        X(d_o, tokens *D)             \
        X(part, blocks * 2 * D)

RAN_FLOATS_STRUCT(ran_transformer_acts, RAN_TRANSFORMER_ACTS);
RAN_FLOATS_STRUCT(ran_transformer_rows, RAN_TRANSFORMER_ROWS);
RAN_FLOATS_STRUCT(ran_transformer_adjoints, RAN_TRANSFORMER_ADJOINTS);

/* The encoder's own part of a workspace. */
struct ran_transformer_memory {
        size_t tokens, keys; /* see above */
        struct ran_transformer_rows rows;
        struct ran_transformer_adjoints adj;
        struct ran_mask *mask; /* (B, h) */
        size_t *task;          /* (B+1) first task of attention of each document */
        size_t mask_cap, task_cap;
        float *unnormed, *last_stat; /* (L, D), (L, 2): input of the last norm */
        uint32_t *argmax;            /* (B, D) of pooling */
};
/* Whether all activations are kept for the backward pass. Otherwise it computes each layer
 * again, except the outputs of attention, which cost most in a long text. */
static inline bool ran_transformer_keeps(const struct ran_workspace *w)
{
        return w->training && w->size.L <= 2 * w->slab_rows;
}

/* ---- rows (rows.c) -------------------------------------------------------------- */

enum { RAN_TRANSFORMER_BLOCK = 256 }; /* rows in a task of one thread */

/* A layer at work on the tokens [t0, t0 + tokens). */
struct ran_transformer_pass {
        struct ran_workspace *w;
        struct ran_transformer_memory *own; /* of w */
        struct ran_transformer_acts *act;
        const struct ran_transformer_params *p;
        struct ran_transformer_params *dp;
        const struct ran_transformer_once *once;
        size_t l, t0, tokens;
        struct ran_rows of; /* those of the tokens */
        float *up;      /* (tokens, ffn_dim) before GELU: of the layer if kept, else of the slab */
        const float *x; /* (L, D) what the layer reads */
        float *out;     /* (L, D) and leaves */
};
struct ran_transformer_pass ran_transformer_pass_of(struct ran_workspace *w,
                                                    const struct ran_params *p,
                                                    struct ran_params *dp, size_t l, size_t t0);

/* The first row of q, k and v of document b: its earliest token's. A document has one key a
 * window more than earlier states. */
static inline size_t ran_transformer_first_row(const struct ran_packed *packed, size_t b)
{
        return packed->doc[b] + packed->key[b] - (packed->doc_window[b] + b);
}

/* The tokens of a document, earlier ones included. */
static inline size_t ran_transformer_length(const struct ran_packed *packed, size_t b)
{
        return packed->doc[b + 1] - packed->doc[b] + ran_packed_earlier(packed, b);
}

/* The document that i belongs to; first (B+1): where each of B documents begins. */
size_t ran_transformer_document_at(const size_t *first, size_t B, size_t i);

/* The first run of tokens of one document in [t, end): n tokens, numbered from `at` in it. */
struct ran_transformer_span {
        size_t b, t, n, at;
};
struct ran_transformer_span ran_transformer_span_of(const struct ran_packed *packed, size_t t,
                                                    size_t end);

/* The next run of the pass's tokens with adjacent rows, of which `at` is the first; false: there is
 * none. Begin with t = t0, n = 0. */
bool ran_transformer_next_run(const struct ran_transformer_pass *s, struct ran_transformer_span *k);

/* Dropout, or its adjoint, on rows x of the pass's tokens. */
void ran_transformer_drop(const struct ran_transformer_pass *s, int site, float *x);
/* The adjoint of the slab's rows, after dropout: what the residual adds to. */
float *ran_transformer_dropped(struct ran_transformer_pass *s, int site);

/* ---- attention (attention.c) ---------------------------------------------------- */

/* Masks and tasks for w->packed. */
int ran_transformer_attention_prepare(struct ran_workspace *w, struct ran_error *err);
/* Attention of a layer and its residual: from x to mid. again: the heads' outputs are known. */
void ran_transformer_attention(struct ran_workspace *w, const struct ran_params *p, size_t l,
                               bool again);
void ran_transformer_attention_bwd(struct ran_workspace *w, const struct ran_params *p,
                                   struct ran_params *dp, size_t l);
/* Keeps the keys and values of document b's new tokens in its recurrent state. */
void ran_transformer_attention_keep(struct ran_transformer_pass *s, size_t b);

/* ---- feed-forward part (feed.c) ------------------------------------------------- */

void ran_transformer_feed(struct ran_workspace *w, const struct ran_params *p, size_t l);
void ran_transformer_feed_bwd(struct ran_workspace *w, const struct ran_params *p,
                              struct ran_params *dp, size_t l);

/* The attention pattern of a head: its own, or the common one. */
static inline int ran_transformer_pattern(const struct ran_config *c, size_t head)
{
        return c->transformer.attention.item[c->transformer.attention.n > 1 ? head : 0];
}

#endif
