/* paper-head.c - what heads read of the cells as they are published. See paper.h.
 *
 * A classifier reads, v being the pooled tokens and G the last cell, equations (10) and (11),
 *
 *   plain:      W_gpc G + Linear_pool(v)
 *   gated:      SiLU(Linear_pool(v)) + GLU_gpc(G)
 *   published:  Linear_pool(v) + GLU_gpc(SiLU(Linear_cell(c)))      c: the last G, or the mean or
 *                                                                   maximum of c_1 ... c_m
 *
 * and a language model of published cells LN_lm(SiLU(Linear_lm(output))).
 */
#include "part/ran/paper.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* ---- pooled cells -----------------------------------------------------------------------------
 */

static const struct ran_paper_cells *last_cells(const struct ran_workspace *w)
{
        return &ran_paper_memory_of(w)->cells[w->c->layers - 1];
}

/* The cells after a document's windows: (n, D). */
static const float *cells_of(const struct ran_workspace *w, size_t b, size_t *n)
{
        const size_t *first = w->packed->doc_window + b;

        *n = first[1] - first[0];
        return last_cells(w)->c + (first[0] + b + 1) * w->D;
}

/* The last cell, or the pooled ones. */
void ran_paper_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        size_t D = w->D, n;
        const float *c = cells_of(w, b, &n);
        float *at = ran_paper_memory_of(w)->head.argmax + b * D;
        const int pooling = ran_paper_is_published(w->c) ? w->c->ran.cell_pooling : RAN_POOL_LAST;

        (void)p;
        if (pooling == RAN_POOL_MAX) {
                for (size_t d = 0; d < D; d++) {
                        size_t most = 0;

                        for (size_t i = 1; i < n; i++)
                                most = c[i * D + d] > c[most * D + d] ? i : most;
                        v[d] = c[most * D + d];
                        at[d] = (float)most;
                }
        } else if (pooling == RAN_POOL_MEAN) {
                memset(v, 0, D * sizeof *v);
                for (size_t i = 0; i < n; i++)
                        ran_simd->axpy(v, 1.0f / (float)n, c + i * D, D);
        } else {
                memcpy(v, last_cells(w)->G + (w->packed->doc_window[b + 1] + b) * D, D * sizeof *v);
        }
}

/* dv (B, D) to w->dlast, or to what ran_paper_pooled_bwd needs. */
static void pool_bwd(struct ran_workspace *w, const float *dv)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        size_t floats = w->packed->B * w->D;

        own->dcells = w->c->ran.cell_pooling != RAN_POOL_LAST;
        if (own->dcells) {
                memcpy(own->head.dcells, dv, floats * sizeof *dv);
                memset(w->dlast, 0, floats * sizeof *dv);
        } else {
                memcpy(w->dlast, dv, floats * sizeof *dv);
        }
}

void ran_paper_vector_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv)
{
        (void)p;
        (void)dp;
        memset(w->dx, 0, w->packed->L * w->D * sizeof *w->dx);
        pool_bwd(w, dv);
}

void ran_paper_pooled_bwd(struct ran_workspace *w)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        size_t D = w->D, n;

        own->dcells = false;
        for (size_t b = 0; b < w->packed->B; b++) {
                const float *c = cells_of(w, b, &n), *d = own->head.dcells + b * D,
                            *at = own->head.argmax + b * D;
                float *dc = own->adj.dc + (c - last_cells(w)->c);

                if (w->c->ran.cell_pooling == RAN_POOL_MAX)
                        for (size_t k = 0; k < D; k++)
                                dc[(size_t)at[k] * D + k] += d[k];
                else
                        for (size_t i = 0; i < n; i++)
                                ran_simd->axpy(dc + i * D, 1.0f / (float)n, d, D);
        }
}

/* ---- documents --------------------------------------------------------------------------------
 */

void ran_paper_documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_paper_once *q = p->once;
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_head *h = &own->head;
        const bool published = ran_paper_is_published(w->c);
        float *head = w->head.head;
        size_t D = w->D, B = w->packed->B;

        ran_pooling(&own->pooling, w);
        for (size_t b = 0; b < B; b++)
                ran_paper_vector(w, p, b, h->last + b * D);
        ran_workspace_linear(w, p->panels, h->head_pre, own->pooling.pooled, q->pool_w, q->pool_b,
                             D, D);
        memcpy(head, h->head_pre, B * D * sizeof *head);
        if (!ran_paper_is_gated(w->c)) {
                const size_t rows = ran_workspace_stands_alone(w) ? 1 : B;

                for (size_t b = 0; b < B; b += rows)
                        ran_gemm(head + b * D, D, h->last + b * D, D, 1, q->gpc, 1, D, rows, D, D,
                                 true);
                return;
        }
        if (published) {
                ran_workspace_linear(w, p->panels, h->cell_pre, h->last, q->cell_w, q->cell_b, D,
                                     D);
                ran_simd->silu(h->cell, h->cell_pre, B * D);
        } else {
                ran_simd->silu(head, h->head_pre, B * D);
        }
        ran_workspace_linear(w, p->panels, h->head_glu, published ? h->cell : h->last,
                             q->gpc_value_w, q->gpc_value_b, D, 2 * D);
        for (size_t b = 0; b < B; b++)
                ran_simd->glu_add(head + b * D, h->head_glu + b * 2 * D,
                                  h->head_glu + b * 2 * D + D, D);
}

/* From dhead to the adjoint of the cells that it reads, in w->dlast or to be pooled. */
static void gates_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        const struct ran_paper_once *q = p->once;
        struct ran_paper_once *dq = dp->once;
        const struct ran_paper_head *h = &ran_paper_memory_of(w)->head;
        const bool published = ran_paper_is_published(w->c);
        float *dhead = w->head.dhead, *dcell = w->dlast;
        size_t D = w->D, B = w->packed->B;

        for (size_t b = 0; b < B; b++) {
                const float *glu = h->head_glu + b * 2 * D;
                float *dglu = h->dhead_glu + b * 2 * D;

                ran_simd->glu_bwd(dglu, dglu + D, dhead + b * D, glu, glu + D, D);
        }
        ran_gemm_linear_bwd(w->pool, dcell, D, false, dq->gpc_value_w, dq->gpc_value_b,
                            h->dhead_glu, 2 * D, published ? h->cell : h->last, D, q->gpc_value_w,
                            B, D, 2 * D);
        if (!published) {
                ran_simd->silu_bwd(dhead, h->head_pre, dhead, B * D);
                return;
        }
        ran_simd->silu_bwd(dcell, h->cell_pre, dcell, B * D);
        ran_gemm_linear_bwd(w->pool, h->cell, D, false, dq->cell_w, dq->cell_b, dcell, D, h->last,
                            D, q->cell_w, B, D, D);
        pool_bwd(w, h->cell);
}

void ran_paper_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp)
{
        const struct ran_paper_once *q = p->once;
        struct ran_paper_once *dq = dp->once;
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        float *dhead = w->head.dhead;
        size_t D = w->D, B = w->packed->B;

        if (ran_paper_is_gated(w->c))
                gates_bwd(w, p, dp);
        else
                ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc, NULL, dhead, D,
                                    own->head.last, D, q->gpc, B, D, D);
        ran_gemm_linear_bwd(w->pool, own->pooling.dpooled, D, false, dq->pool_w, dq->pool_b, dhead,
                            D, own->pooling.pooled, D, q->pool_w, B, D, D);
        ran_pooling_bwd(&own->pooling, w);
}

/* ---- the output of a language model -----------------------------------------------------------
 */

void ran_paper_outputs(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_paper_once *q = p->once;
        const struct ran_paper_head *h = &ran_paper_memory_of(w)->head;
        size_t D = w->D, n = w->packed->positions;

        if (!ran_paper_is_published(w->c) || !ran_task_is_tied(w->c))
                return;
        memcpy(h->fill_in, w->head.head, n * D * sizeof(float));
        ran_gemm_linear(w->pool, h->fill_pre, D, h->fill_in, D, q->fill_w, q->fill_b, n, D, D);
        ran_simd->silu(h->fill_act, h->fill_pre, n * D);
        ran_paper_norm(w, w->head.head, h->fill_stat, h->fill_act, q->fill_norm_w, q->fill_norm_b,
                       n);
}

void ran_paper_outputs_bwd(struct ran_workspace *w, const struct ran_params *p,
                           struct ran_params *dp)
{
        const struct ran_paper_once *q = p->once;
        struct ran_paper_once *dq = dp->once;
        const struct ran_paper_head *h = &ran_paper_memory_of(w)->head;
        size_t D = w->D, n = w->packed->positions;

        if (!ran_paper_is_published(w->c) || !ran_task_is_tied(w->c))
                return;
        ran_paper_norm_bwd(w, h->dfill, dq->fill_norm_w, dq->fill_norm_b, w->head.dhead,
                           h->fill_act, h->fill_stat, q->fill_norm_w, n);
        ran_simd->silu_bwd(h->dfill, h->fill_pre, h->dfill, n * D);
        ran_gemm_linear_bwd(w->pool, w->head.dhead, D, false, dq->fill_w, dq->fill_b, h->dfill, D,
                            h->fill_in, D, q->fill_w, n, D, D);
}
