/* layer.h - what the two families of RAN cells share: windows that stay open, attention within a
 * window, and memory review.
 *
 * A Recurrent Attention Network (Li et al., Findings of ACL 2023, arXiv 2306.06843) reads a
 * document window by window. A cell goes from window to window: it attends to the tokens of its
 * window, which attend to it. When all cells are known, every token attends to them: memory review.
 *
 *   paper.h     the cells `plain`, `gated` and `published`, as they are published
 *   prenorm.h   the cells `prenorm`: a residual stream, and the path that is made to be fast
 *
 * They are two parts of the list, ran_part_ran and ran_part_prenorm, for the same encoder.
 */
#ifndef RAN_PART_RAN_LAYER_H
#define RAN_PART_RAN_LAYER_H

#include "nn/part.h"

/* ---- the encoder: its part hooks, and windows that stay open (layer.c) ------------------------
 */

int ran_layer_check(const struct ran_config *c, struct ran_error *err);
extern const char *const ran_layer_fields[];
size_t ran_layer_state_width(const struct ran_config *c);
void ran_layer_probe_shape(const struct ran_config *c, struct ran_probe_shape *s);
void ran_layer_path(const float *x, size_t D, double u, double *scale, double *speed);
/* Arithmetic of the forward pass over L tokens, the first `sources` of them source, of layers whose
 * weights for tokens are so many; without the work done once a window. */
double ran_layer_flops(const struct ran_config *c, double weights, size_t L, size_t sources);

/* A window as the stages see it. */
struct ran_layer_window {
        size_t i;     /* its number */
        size_t b;     /* its document */
        size_t t, n;  /* its first token; its rows */
        size_t first; /* the row of that token: 1, or more if the window was open */
        size_t r;     /* its first row, the cell, counted from r0 */
        size_t state; /* the state that it begins with */
        size_t at;    /* its first row in its document, for the keys of dropout */
};
struct ran_layer_window ran_layer_window(const struct ran_packed *packed, size_t i, size_t r0);

/* The known rows of window i, if it was open: its cell and the tokens that were read before. */
static inline size_t ran_layer_known(const struct ran_packed *packed, size_t i)
{
        size_t b = packed->window_doc[i];

        return i == packed->doc_window[b] && packed->open[b] > 0 ? 1 + packed->open[b] : 0;
}
/* Whether window i stays open for more tokens: the last of a document that is scored and continues.
 */
static inline bool ran_layer_stays_open(const struct ran_workspace *w, size_t i)
{
        const struct ran_packed *packed = w->packed;
        size_t b = packed->window_doc[i];

        return !w->training && packed->recurrent[b] != NULL && i + 1 == packed->doc_window[b + 1] &&
               packed->row[i + 1] - packed->row[i] <= w->c->window;
}
/* Makes room in the documents' recurrent states for the results of ran_encode. */
int ran_layer_reserve(const struct ran_workspace *w, struct ran_error *err);
/* Saves the rows qkv of window i, which stays open, in the recurrent state of its document. */
void ran_layer_keep_window(const struct ran_workspace *w, size_t l, size_t i, const float *qkv);
/* After the last layer: the recurrent states stand after the documents. */
void ran_layer_advance(const struct ran_workspace *w);

/* out (B, D) = the last state of each document among `states` (m + B, D), or 0 if that is NULL. */
void ran_layer_last_states(const struct ran_workspace *w, float *out, const float *states);

/* ---- gated linear units: glu has the value and the gate of a row side by side, rows ld apart ---
 */

/* y (n, D) += value sigmoid(gate). Adjoint: dglu, laid out as glu, from dy. */
void ran_layer_glu(float *y, const float *glu, size_t ld, size_t n, size_t D);
void ran_layer_glu_bwd(float *dglu, const float *dy, const float *glu, size_t ld, size_t n,
                       size_t D);

/* ---- window attention, equation (3) (attention.c) ---------------------------------------------
 */

/* A window's rows, the cell first, for attention over all heads. The cell sees all rows and all
 * rows see the cell; among tokens the mask decides. Source tokens come first, so a row always
 * sees a run of rows from the first on. */
struct ran_attention_heads {
        const float *qkv; /* (n, 3E) */
        size_t n, E, h, d_k;
        int mask;
        size_t sources; /* under the prefix mask: the number of source tokens */
};
/* Of window i. */
struct ran_attention_heads ran_attention_heads_of(const struct ran_workspace *w, size_t i,
                                                  const float *qkv);
/* a = softmax(q k^T / sqrt(d_k)) v for the queries [first, end), their heads side by side: a
 * (end - first, E). score holds n x n floats. */
void ran_attention(float *a, const struct ran_attention_heads *x, size_t first, size_t end,
                   float *score);
/* Adjoint, from da (end - first, E): of the q of these queries, and of all k and v; dqkv (n, 3E),
 * or += with add. score holds 2 n x n floats. */
void ran_attention_bwd(float *dqkv, const float *da, const struct ran_attention_heads *x,
                       size_t first, size_t end, bool add, float *score);
/* Adds the weights of a window of layer l to a probe; `at` is its first row in the document. */
void ran_attention_probe(struct ran_probe *k, size_t l, size_t at,
                         const struct ran_attention_heads *x, float *score);

/* ---- memory review (review.c) -----------------------------------------------------------------
 */

/* What a part has of it for the documents at hand. */
struct ran_review {
        size_t *sources; /* (B + 1) source tokens under review in the documents before each */
        size_t sources_cap;
        struct ran_mask *seen; /* (B) which states the tokens of each window see */
        size_t seen_cap;
        size_t keys;      /* rows of key and value */
        size_t most_seen; /* of them, by a window */
        size_t longest;   /* tokens of a window, open ones too */
};
int ran_review_prepare(struct ran_review *own, const struct ran_workspace *w,
                       struct ran_error *err);
void ran_review_release(struct ran_review *own);
size_t ran_review_scratch(const struct ran_review *own, const struct ran_workspace *w); /* floats */

/* The review of a layer. */
struct ran_review_pass {
        const struct ran_workspace *w;
        const struct ran_review *own;
        size_t l;
        float *key, *value;   /* (keys, D) */
        float *dkey, *dvalue; /* their adjoints */
};

/* y (states, 2D) = the products of all states G (states, D) with the weights of key and value. */
void ran_review_products(const struct ran_workspace *w, struct ran_kept_panels *kept, float *y,
                         const float *G, const float *weight, const float *bias);
/* Puts kv, keys and values of all states (states, 2D) and of the source tokens under review
 * (sources, 2D), in their places; and the adjoints from there to dkv. */
void ran_review_place(const struct ran_review_pass *k, float *kv, float *source_kv);
void ran_review_collect(const struct ran_review_pass *k, float *dkv, float *dsource_kv);

/* For the tokens of window i (n, D): r = softmax(q key^T / sqrt(D)) value. */
void ran_review_look(const struct ran_review_pass *k, size_t i, const float *q, float *r,
                     float *scratch);
/* Adjoint: dq, and in part (2, most_seen, D) what the window adds to dvalue and dkey. */
void ran_review_look_bwd(const struct ran_review_pass *k, size_t i, float *dq, float *part,
                         const float *q, const float *dr, float *scratch);
/* Adds that part to dvalue, or with `key` to dkey, but for earlier states: they are constants. */
void ran_review_add(const struct ran_review_pass *k, size_t i, const float *part, bool key);
/* Adds the weights of window i to a probe. */
void ran_review_probe(const struct ran_review_pass *k, struct ran_probe *probe, size_t i,
                      const float *q, float *scratch);

/* The source tokens of document b that its target tokens review. */
static inline size_t ran_review_sources(const struct ran_workspace *w, size_t b)
{
        return w->c->ran.review_source ? w->packed->sources[b] : 0;
}
/* How many of so many earlier states the next chunk may see: the last ones. */
size_t ran_review_kept(const struct ran_config *c, size_t states);
/* Saves the keys and values of document b's first `closed` windows in its recurrent state. */
void ran_review_keep(const struct ran_review_pass *k, size_t b, size_t closed);

/* ---- the states of a layer --------------------------------------------------------------------
 */

/* Saves its cells (states, D), and others (states, D) behind them unless they are NULL, with keys
 * and values in the recurrent states. */
void ran_layer_keep(const struct ran_review_pass *k, const float *cells, const float *others);
/* Clears the adjoints of all states (states, D) and others (states, D) of a layer, and of keys and
 * values; those of the last states are w->dlast. */
void ran_layer_clear_adjoints(const struct ran_review_pass *k, float *states, float *others);

#endif
