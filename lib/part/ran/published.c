/* published.c - the cell of the code that the authors publish with their pretrained weights, where
 * it differs from the gated one. See layer.h.
 *
 * With c_i the cell's row after window i, and G_i what window i + 1 begins with:
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
 * cells->G holds c, and cells->carried G; so do their adjoints dG and dcarried.
 *
 *   a classifier reads    Linear_pool(v) + GLU_gpc(φ(Linear_cell(c)))
 *   a language model      LN_lm(φ(Linear_lm(output)))
 *
 * v: pooled tokens; c: the last G, or the mean or maximum of c_1 ... c_m.
 */
#include "math/gemm.h"
#include "math/simd.h"
#include "part/ran/layer.h"
#include "ran/model.h"

#include <string.h>

/* ---- cells ----------------------------------------------------------------------------------- */

void ran_published_first_cells(struct ran_layer_pass *s, const struct ran_cells *below)
{
        const struct ran_packed *packed = s->w->packed;
        struct ran_cells *c = s->cells;
        size_t D = s->w->D;

        ran_scan_first_cells(s, NULL);
        for (size_t b = 0; b < packed->B; b++) {
                const size_t state = (packed->doc_window[b] + b) * D;
                const float *first = c->G + state;

                if (ran_packed_continues(packed, b))
                        first = ran_recurrent_state_cell(packed->recurrent[b], s->l) + D;
                else if (below != NULL)
                        first = below->carried + (packed->doc_window[b + 1] + b) * D;
                memcpy(c->carried + state, first, D * sizeof *first);
        }
}

/* The adjoint of a first cell that is the last one of the layer below goes to w->dlast; all others
 * go through LN_gpc, whose input is 0: W_g has no part in it. */
void ran_published_first_cells_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        const struct ran_adjoints *j = &s->own->adj;
        bool below = s->l > 0 && w->c->mask == RAN_MASK_NONE;
        size_t D = w->D;

        for (size_t b = 0; b < packed->B; b++) {
                const size_t state = (packed->doc_window[b] + b) * D;
                float *dcarried = j->dcarried + state, *dG = j->dG + state;

                if (below) {
                        memcpy(w->dlast + b * D, dcarried, D * sizeof *dG);
                        memset(dG, 0, D * sizeof *dG);
                } else {
                        ran_simd->add(dG, dcarried, D);
                }
        }
        if (!below)
                ran_scan_first_cells_bwd(s);
}

/* ---- pooled cells ---------------------------------------------------------------------------- */

static struct ran_cells *last_cells(const struct ran_workspace *w)
{
        return &ran_layer_memory_of(w)->cells[w->c->layers - 1];
}

/* The cells after a document's windows: (n, D). */
static const float *cells_of(const struct ran_workspace *w, size_t b, size_t *n)
{
        const size_t *first = w->packed->doc_window + b;

        *n = first[1] - first[0];
        return last_cells(w)->G + (first[0] + b + 1) * w->D;
}

static void pool_max(const struct ran_workspace *w, size_t b, float *v)
{
        size_t D = w->D, n;
        const float *c = cells_of(w, b, &n);
        float *at = ran_layer_memory_of(w)->join.argmax + b * D;

        for (size_t d = 0; d < D; d++) {
                size_t most = 0;

                for (size_t i = 1; i < n; i++)
                        most = c[i * D + d] > c[most * D + d] ? i : most;
                v[d] = c[most * D + d];
                at[d] = (float)most;
        }
}

void ran_published_pool(const struct ran_workspace *w, size_t b, float *v)
{
        size_t D = w->D, n;
        const float *c = cells_of(w, b, &n);

        switch (w->c->ran.cell_pooling) {
        case RAN_POOL_MAX:
                pool_max(w, b, v);
                return;
        case RAN_POOL_MEAN:
                memset(v, 0, D * sizeof *v);
                for (size_t i = 0; i < n; i++)
                        ran_simd->axpy(v, 1.0f / (float)n, c + i * D, D);
                return;
        default:
                memcpy(v, last_cells(w)->carried + (w->packed->doc_window[b + 1] + b) * D,
                       D * sizeof *v);
        }
}

void ran_published_pool_bwd(struct ran_workspace *w, const float *dv)
{
        struct ran_layer_memory *own = ran_layer_memory_of(w);
        size_t floats = w->packed->B * w->D;

        own->dcells = w->c->ran.cell_pooling != RAN_POOL_LAST;
        if (own->dcells) {
                memcpy(own->join.dcells, dv, floats * sizeof *dv);
                memset(w->dlast, 0, floats * sizeof *dv);
        } else {
                memcpy(w->dlast, dv, floats * sizeof *dv);
        }
}

void ran_published_pooled_bwd(struct ran_workspace *w)
{
        struct ran_layer_memory *own = ran_layer_memory_of(w);
        size_t D = w->D, n;

        own->dcells = false;
        for (size_t b = 0; b < w->packed->B; b++) {
                const float *c = cells_of(w, b, &n), *d = own->join.dcells + b * D,
                            *at = own->join.argmax + b * D;
                float *dc = own->adj.dG + (c - last_cells(w)->G);

                if (w->c->ran.cell_pooling == RAN_POOL_MAX)
                        for (size_t k = 0; k < D; k++)
                                dc[(size_t)at[k] * D + k] += d[k];
                else
                        for (size_t i = 0; i < n; i++)
                                ran_simd->axpy(dc + i * D, 1.0f / (float)n, d, D);
        }
}

/* ---- heads ----------------------------------------------------------------------------------- */

void ran_published_documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_join_params *q = p->once;
        struct ran_layer_memory *own = ran_layer_memory_of(w);
        const struct ran_join *h = &own->join;
        float *head = w->head.head;
        size_t D = w->D, B = w->packed->B;

        ran_pooling(&own->pooling, w);
        for (size_t b = 0; b < B; b++)
                ran_published_pool(w, b, h->last + b * D);
        ran_workspace_linear(w, head, own->pooling.pooled, q->pool_w, q->pool_b, D, D);
        ran_workspace_linear(w, h->cell_pre, h->last, q->cell_w, q->cell_b, D, D);
        ran_simd->silu(h->cell, h->cell_pre, B * D);
        ran_workspace_linear(w, h->head_glu, h->cell, q->gpc_value_w, q->gpc_value_b, D, 2 * D);
        for (size_t b = 0; b < B; b++)
                ran_simd->glu_add(head + b * D, h->head_glu + b * 2 * D,
                                  h->head_glu + b * 2 * D + D, D);
}

void ran_published_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                                 struct ran_params *dp)
{
        const struct ran_join_params *q = p->once;
        struct ran_join_params *dq = dp->once;
        const struct ran_layer_memory *own = ran_layer_memory_of(w);
        const struct ran_join *h = &own->join;
        float *dhead = w->head.dhead, *dcell = w->dlast;
        size_t D = w->D, B = w->packed->B;

        for (size_t b = 0; b < B; b++) {
                const float *glu = h->head_glu + b * 2 * D;
                float *dglu = h->dhead_glu + b * 2 * D;

                ran_simd->glu_bwd(dglu, dglu + D, dhead + b * D, glu, glu + D, D);
        }
        ran_gemm_linear_bwd(w->pool, dcell, D, false, dq->gpc_value_w, dq->gpc_value_b,
                            h->dhead_glu, 2 * D, h->cell, D, q->gpc_value_w, B, D, 2 * D);
        ran_simd->silu_bwd(dcell, h->cell_pre, dcell, B * D);
        ran_gemm_linear_bwd(w->pool, h->cell, D, false, dq->cell_w, dq->cell_b, dcell, D, h->last,
                            D, q->cell_w, B, D, D);
        ran_published_pool_bwd(w, h->cell);
        ran_gemm_linear_bwd(w->pool, own->pooling.dpooled, D, false, dq->pool_w, dq->pool_b, dhead,
                            D, own->pooling.pooled, D, q->pool_w, B, D, D);
        ran_pooling_bwd(&own->pooling, w);
}

void ran_published_outputs(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_join_params *q = p->once;
        const struct ran_fill *k = &ran_layer_memory_of(w)->fill;
        size_t D = w->D, n = w->packed->positions;

        memcpy(k->in, w->head.head, n * D * sizeof(float));
        ran_gemm_linear(w->pool, k->pre, D, k->in, D, q->fill_w, q->fill_b, n, D, D);
        ran_simd->silu(k->act, k->pre, n * D);
        ran_layer_norm(w, w->head.head, k->stat, k->act, q->fill_norm_w, q->fill_norm_b, n);
}

void ran_published_outputs_bwd(struct ran_workspace *w, const struct ran_params *p,
                               struct ran_params *dp)
{
        const struct ran_join_params *q = p->once;
        struct ran_join_params *dq = dp->once;
        const struct ran_fill *k = &ran_layer_memory_of(w)->fill;
        float *d = k->d;
        size_t D = w->D, n = w->packed->positions;

        ran_layer_norm_bwd(w, d, dq->fill_norm_w, dq->fill_norm_b, w->head.dhead, k->act, k->stat,
                           q->fill_norm_w, n);
        ran_simd->silu_bwd(d, k->pre, d, n * D);
        ran_gemm_linear_bwd(w->pool, w->head.dhead, D, false, dq->fill_w, dq->fill_b, d, D, k->in,
                            D, q->fill_w, n, D, D);
}
