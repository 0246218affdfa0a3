/* workspace.h - the scratch of one thread that computes with a model: laid out once for a shape,
 * used again and again, never allocated in a loop.
 *
 * Memory. A layer keeps what crosses windows: its input, its output before the review, the cells.
 * All else lives in a chunk: some 2,048 rows of whole windows. When scoring, two chunks are used in
 * turns, so that a million tokens need their rows once and two chunks: while one thread scans the
 * cells of a chunk, others are at what comes next. When training, each layer keeps its chunks if
 * there is but one, or all of them are small; otherwise the backward pass computes each anew from
 * the layer's input and cells.
 */
#ifndef RAN_MODEL_WORKSPACE_H
#define RAN_MODEL_WORKSPACE_H

#include "base/phase.h"
#include "base/posting.h"
#include "mask/mask.h"
#include "model/probe.h"
#include "model/params.h"
#include "model/packed.h"

#define RAN_LN_EPS 1e-5

/* Letters in sizes: T tokens and R rows of the largest chunk; L, m, B as in struct ran_packed;
 * S = m + B states, K keys of the review; D, E; F = 3E + 2D (gated) or 3E: what one product makes
 * of a normalised row: q, k, v and value and gate of the output GLU. U = 2D if gated, else 0. */

/* X(field, floats): activations of a chunk. */
#define RAN_CHUNK(X)                                                     \
        X(z, R *D)        /* LN_in of cells and tokens, after dropout */ \
        X(z_stat, R * 2)  /* mean and 1/deviation */                     \
        X(pre, R *F)      /* q, k, v, value, gate before phi */          \
        X(qkv, R * 3 * E) /* after phi, q and k rotated */               \
        X(a, R *E)        /* heads side by side */                       \
        X(o, R *D)        /* Linear_out before phi */                    \
        X(p, R *D)        /* what LN_out (gated) or SN (plain) reads */  \
        X(p_stat, R * 2)                                                 \
        X(pn, R *D) /* after LN_out: what SN reads; unused if plain */   \
        X(y_stat, R * 2)                                                 \
        X(review_pre, T *D) /* Linear_q(Y) before phi */                 \
        X(review_q, T *D)                                                \
        X(review_r, T *D)   /* attention over the states */              \
        X(review_o, T *D)   /* Linear_o(R) before phi */                 \
        X(review_glu, T *U) /* value and gate */                         \
        X(review_sum, T *D) /* what LN_rev reads */                      \
        X(review_stat, T * 2)

/* X(field, floats): what a layer knows of its cells. */
#define RAN_CELLS(X)                                                                      \
        X(G, S *D)         /* all states */                                               \
        X(below, B *D)     /* last cells of the layer below: equation (1) */              \
        X(first_pre, B *D) /* W_g times those, before phi and after */                    \
        X(first, B *D)                                                                    \
        X(first_stat, B * 2)                                                              \
        X(update_glu, m *U) /* value and gate of GLU_upd(G_{i-1}) */                      \
        X(update_sum, m *D) /* what LN_upd reads */                                       \
        X(update_stat, m * 2)                                                             \
        X(kv_pre, S * 2 * D) /* key and value of each state for the review, before phi */ \
        X(key, K *D)         /* carried ones among them */                                \
        X(value, K *D)

/* X(field, floats): adjoints, of the layer and chunk at work; only for training. */
#define RAN_ADJOINTS(X)                                                          \
        X(dz, R *D)                                                              \
        X(dpre, R *F)                                                            \
        X(dqkv, R * 3 * E)                                                       \
        X(da, R *E)                                                              \
        X(dp, R *D)                                                              \
        X(d_o, R *D)                                                             \
        X(dreview_q, T *D)                                                       \
        X(dreview_r, T *D)                                                       \
        X(dreview_o, T *D)                                                       \
        X(dreview_glu, T *U)                                                     \
        X(dreview_sum, T *D)                                                     \
        X(dG, S *D) /* of all states of the layer at work */                     \
        X(dkv_pre, S * 2 * D)                                                    \
        X(dkey, K *D)                                                            \
        X(dvalue, K *D)                                                          \
        X(dupdate_glu, S *U) /* row s: of the window that begins with state s */ \
        X(dfirst, B *D)                                                          \
        X(part, m * 6 * D) /* a window's share of norm gradients, summed in order afterwards */

/* X(field, floats): activations of a Transformer layer; K rows of q, k and v: those of carried
 * tokens, too; h heads, f = ffn_dim; `kept` rows: L if all is kept, else those of a chunk. */
#define RAN_TRANSFORMER_ACTS(X)                                      \
        X(z_stat, L * 2)                                             \
        X(qkv, K * 3 * E) /* after rotary, by heads: see sparse.h */ \
        X(a, K *E)                                                   \
        X(log_sum, K *h)                                             \
        X(mid, w->training ? L *D : 0)                               \
        X(mid_stat, L * 2)                                           \
        X(up, kept *f) /* before GELU */
/* Rows of a chunk, of whatever layer is at work. */
#define RAN_TRANSFORMER_ROWS(X)                     \
        X(z, T *D)        /* LN(x) */               \
        X(qkv, T * 3 * E) /* side by side; or da */ \
        X(bent, T *f)     /* GELU */                \
        X(o, T *D)
#define RAN_TRANSFORMER_ADJOINTS(X) \
        X(dqkv, K * 3 * E)          \
        X(da, K *E) /* by heads */  \
        X(delta, K *h)              \
        X(dup, T *f)                \
        X(dz, T *D)                 \
        X(d_o, T *D)                \
        X(part, parts * 2 * D)

/* X(field, floats): the head; O: its outputs, documents or places; P: documents if it pools, else
 * none. Q rows of A logits are made at a time: O and C, but for language models a block and the
 * width of the first softmax; Z is that of the widest tail (lm.h). Adjoints only for training. */
#define RAN_HEAD(X)                                                                  \
        X(last, P *D)     /* last cells */                                           \
        X(pooled, P *D)   /* v */                                                    \
        X(head_pre, P *D) /* Linear_pool(v) before phi */                            \
        X(head_glu, P *U) /* value and gate of GLU_gpc */                            \
        X(head, O *D)     /* input of the last linear layer */                       \
        X(logits, Q *A)   /* of language models: their adjoints in place */          \
        X(wide, ran_has_linear_model(w->c) ? Q *A : 0) /* what the wide path says */ \
        X(tail, Q *Z)                                  /* scores of a tail */        \
        X(tail_head, Z > 0 ? Q * D : 0)                /* rows of head that look into it */
#define RAN_HEAD_ADJOINTS(X)                     \
        X(dpooled, P *D)                         \
        X(dhead_glu, P *U)                       \
        X(dhead, O *D)                           \
        X(dlogits, ran_is_tied(w->c) ? 0 : O *C) \
        X(dtail_head, Z > 0 ? Q * D : 0)

/* Sizes of a layout, by the letters above. */
struct ran_dims {
        size_t T, R, L, m, B, S, K, C, Y, O, P, Q, A, Z, longest;
};

/* Hands out floats in order, each run at a multiple of 64 bytes. base NULL: only counts. */
struct ran_arena {
        float *base;
        double count;
};
float *ran_arena_take(struct ran_arena *k, double floats);

struct ran_chunk {
#define X(field, floats) float *field;
        RAN_CHUNK(X)
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

struct ran_transformer_acts {
#define X(field, floats) float *field;
        RAN_TRANSFORMER_ACTS(X)
#undef X
};
struct ran_transformer_rows {
#define X(field, floats) float *field;
        RAN_TRANSFORMER_ROWS(X)
#undef X
};
struct ran_transformer_adjoints {
#define X(field, floats) float *field;
        RAN_TRANSFORMER_ADJOINTS(X)
#undef X
};

struct ran_head {
#define X(field, floats) float *field;
        RAN_HEAD(X)
        RAN_HEAD_ADJOINTS(X)
#undef X
        uint32_t *argmax; /* (P, D) token that each pooled value came from */
        /* The wide path, where there is one (linear-model.h): those of document b from
         * doc[b] ran_linear_model_features on, grams[b] of them. */
        struct ran_gram {
                uint32_t bucket, times; /* ascending; how often it is there */
                float x;
        } * gram;
        size_t *grams;                                 /* (B) */
        struct ran_posting *gram_posting, *gram_spare; /* scratch of a document */
};

/* How training differs from scoring. All zero when scoring. */
struct ran_noise {
        uint64_t seed, epoch;
        double dropout, embed_dropout;
};

struct ran_workspace {
        const struct ran_config *c;
        struct ran_pool *pool; /* may help; NULL: none does */
        bool training;         /* adjoints are wanted */
        bool settled; /* of what scoring computes: chance goes by ids, not by epoch and record */
        struct ran_noise noise;
        float linear_weight; /* of what the wide path says: 1; on the way there (explain.c) less; 0:
                             it is not asked */
        size_t D, E, F, U, h, d; /* see above; d = head_dim */
        size_t longest;          /* window that the table serves */
        float *rotary;           /* (longest + 1, 2 d): see ran_simd.rotary */
        size_t chunk_rows;       /* a chunk has no more, unless it is one window; tests lower it */
        size_t keep_floats;      /* activations of several chunks that are kept; tests lower it */
        size_t lanes;            /* threads that may work on windows at once */
        const struct ran_probes *probes; /* attention to be seen when scoring; NULL: nobody looks */

        /* Laid out by ran_workspace_fit for the rows at hand. */
        const struct ran_packed *rows;
        struct ran_dims size;
        size_t *chunk; /* (chunks + 1) first window of each chunk */
        size_t chunks, chunk_cap, acts_cap;
        struct ran_contextualizer_steps *steps; /* a Contextualizer's own, see contextualizer.c */
        float **x, **y; /* (N+1), (N): (L, D) input of each layer and the output; before review */
        struct ran_cells *cells; /* (N) */
        struct ran_chunk *acts;  /* (N, chunks) if all are kept; else two, in turns */
        bool keeps;
        struct ran_adjoints adj;
        float *dx, *dy; /* (L, D) adjoints between layers */
        float *dlast;   /* (B, D) adjoint of each document's last cell */
        /* Transformer */
        struct ran_transformer_acts *transformer_acts; /* (N) */
        struct ran_transformer_rows transformer_rows;
        struct ran_transformer_adjoints transformer_adj;
        struct ran_mask *mask; /* (B, h) */
        size_t *task;          /* (B+1) first task of attention of each document */
        size_t mask_cap, task_cap;
        float *unnormed, *last_stat; /* (L, D), (L, 2): what the last norm reads */
        const struct ran_encoder_params *last_norm;
        struct ran_head head;
        float *score, *dscore; /* (T, Y): review of one document's tokens in a chunk */
        float *scratch;        /* (lanes, lane_floats) */
        float *aside;          /* the same, of those who scan beside others */
        size_t lane_floats;
        float *arena;
        size_t arena_floats;
};

int ran_workspace_init(struct ran_workspace *w, const struct ran_config *c, bool training,
                       struct ran_pool *pool, struct ran_error *err);
void ran_workspace_release(struct ran_workspace *w);
/* Lays the scratch out for these documents; grows it when they need more than any before. C
 * classes. */
int ran_workspace_fit(struct ran_workspace *w, const struct ran_packed *rows, size_t C,
                      struct ran_error *err);
/* Bytes that ran_workspace_fit would lay out for these documents; as a double, because it may be
 * more than memory can address. */
int ran_workspace_bytes(struct ran_workspace *w, const struct ran_packed *rows, size_t C,
                        double *bytes, struct ran_error *err);

/* Makes w->rotary serve positions up to `longest`, where there are any. */
int ran_workspace_rotary(struct ran_workspace *w, size_t longest, struct ran_error *err);

/* Runs fn for i in [from, to), windows or documents, shared out over the lanes; each call has a
 * lane's scratch to itself. Results must not depend on which. */
void ran_workspace_each(struct ran_workspace *w, size_t from, size_t to,
                        void (*fn)(void *arg, size_t i, float *scratch), void *arg);
/* The same with w->aside for scratch: while another thread is in ran_workspace_each. */
void ran_workspace_each_aside(struct ran_workspace *w, size_t from, size_t to,
                              void (*fn)(void *arg, size_t i, float *scratch), void *arg);

/* Dropout sites: one purpose each, so that no two share a random number. */
enum {
        RAN_DROP_EMBED,
        RAN_DROP_HEAD,
        RAN_DROP_INPUT,
        RAN_DROP_ATTENTION,
        RAN_DROP_REVIEW,
        RAN_DROP_FEED,
        RAN_DROP_SITES
};
/* Fields of a list above, in a struct `out`: in scope w, k and the list's letters. */
#define RAN_DIMS                                                                                  \
        const struct ran_dims *x = &w->size;                                                      \
        const double L = (double)x->L, T = (double)x->T, R = (double)x->R, S = (double)x->S,      \
                     K = (double)x->K, B = (double)x->B, C = (double)x->C, m = (double)x->m,      \
                     O = (double)x->O, P = (double)x->P, Q = (double)x->Q, A = (double)x->A,      \
                     Z = (double)x->Z, D = (double)w->D, E = (double)w->E, F = (double)w->F,      \
                     U = (double)w->U;                                                            \
        (void)L, (void)T, (void)R, (void)S, (void)K, (void)B, (void)C, (void)m, (void)O, (void)P, \
                (void)Q, (void)A, (void)Z, (void)D, (void)E, (void)F, (void)U
#define RAN_ARENA_FIELD(field, floats) out->field = ran_arena_take(k, floats);

/* Applies dropout, or its adjoint, to n values of document b that stand at position `at` of a site;
 * does nothing when scoring. */
void ran_workspace_dropout(const struct ran_workspace *w, size_t b, size_t layer, int site,
                           double p, float *x, size_t n, size_t at);

#endif
