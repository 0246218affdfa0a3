/* review-source.c - the source tokens as states of the memory review, for the target's tokens.
 *
 * A cell is one vector for a window of the source; a translation wants its words. With
 * review_source a target token's review attends to [Y_s; S], Y_s the source tokens after this
 * layer's window attention (prenorm: LN_rev(Y_s)), with the same key and value projections. Source
 * tokens see the cells alone, as before, so that what they become is known when all of them are
 * read. See review.c for the order of the keys.
 */
#include "math/gemm.h"
#include "math/simd.h"
#include "part/ran/layer.h"
#include "ran/model.h"

/* The source tokens of a document: the first of them in the batch, and their rows in the arrays of
 * reviewed tokens. */
struct source {
        size_t t, row, n, key;
};

static struct source source_of(const struct ran_workspace *w, size_t b)
{
        return (struct source){.t = w->packed->doc[b],
                               .row = ran_layer_memory_of(w)->reviewed[b],
                               .n = ran_review_sources(w, b),
                               .key = ran_review_first_key(w, b)};
}

/* What keys and values are made of: (n, D). */
static const float *rows_of(const struct ran_layer_pass *s, const struct source *k)
{
        size_t D = s->w->D;

        return ran_layer_is_prenorm(s->w) ? s->cells->source_z + k->row * D
                                          : s->own->y[s->l] + k->t * D;
}

void ran_review_source(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_cells *c = s->cells;
        size_t D = w->D;

        for (size_t b = 0; b < w->packed->B; b++) {
                struct source k = source_of(w, b);
                float *kv = c->source_kv + k.row * 2 * D;

                if (k.n == 0)
                        continue;
                if (ran_layer_is_prenorm(w))
                        ran_simd->norm(c->source_z + k.row * D, D, c->source_stat + k.row * 2,
                                       s->own->y[s->l] + k.t * D, D, s->p->review_norm_w,
                                       s->p->review_norm_b, RAN_LN_EPS, k.n, D);
                ran_gemm_linear(w->pool, kv, 2 * D, rows_of(s, &k), D, s->p->review_k_w,
                                s->p->review_k_b, k.n, D, 2 * D);
                for (size_t i = 0; i < k.n; i++, kv += 2 * D) {
                        ran_window_activation(w, c->key + (k.key + i) * D, kv, D);
                        ran_window_activation(w, c->value + (k.key + i) * D, kv + D, D);
                }
        }
}

/* From dkey and dvalue to dkv, the adjoint of both before φ. */
static void activation_bwd(struct ran_layer_pass *s, const struct source *k)
{
        size_t D = s->w->D;
        const struct ran_adjoints *j = &s->own->adj;

        for (size_t i = 0; i < k->n; i++) {
                size_t at = (k->row + i) * 2 * D, key = (k->key + i) * D;

                ran_window_activation_bwd(s->w, j->dsource_kv + at, s->cells->source_kv + at,
                                          j->dkey + key, D);
                ran_window_activation_bwd(s->w, j->dsource_kv + at + D,
                                          s->cells->source_kv + at + D, j->dvalue + key, D);
        }
}

void ran_review_source_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_adjoints *j = &s->own->adj;
        const bool prenorm = ran_layer_is_prenorm(w);
        size_t D = w->D;

        for (size_t b = 0; b < w->packed->B; b++) {
                struct source k = source_of(w, b);
                float *dy = s->own->dy + k.t * D, *dz = prenorm ? j->dsource_z + k.row * D : dy;

                if (k.n == 0)
                        continue;
                activation_bwd(s, &k);
                ran_gemm_linear_bwd(w->pool, dz, D, !prenorm, s->dp->review_k_w, s->dp->review_k_b,
                                    j->dsource_kv + k.row * 2 * D, 2 * D, rows_of(s, &k), D,
                                    s->p->review_k_w, k.n, D, 2 * D);
                if (!prenorm)
                        continue;
                ran_simd->norm_bwd(dz, D, s->dp->review_norm_w, s->dp->review_norm_b, dz, D,
                                   s->own->y[s->l] + k.t * D, D, s->cells->source_stat + k.row * 2,
                                   s->p->review_norm_w, k.n, D);
                ran_simd->add(dy, dz, k.n * D);
        }
}
