/* paper-backward.c - the cells as they are published, from the adjoints of outputs to those of
 * tokens. See paper.h for the equations.
 *
 * A layer first goes through its review: from w->dx to dy, with what each window adds to the
 * adjoints of keys and values; from these to dc, of all states. Then through its windows, the last
 * one first: when a window is at work, the adjoint of the cell after it is complete. Each window is
 * computed again by the forward pass; functions add to gradients.
 */
#include "part/ran/paper.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

static void norm_bwd(const struct ran_workspace *w, float *dx, float *dw, float *db,
                     const float *dy, const float *x, const float *stat, const float *weight,
                     size_t n)
{
        const size_t D = w->D;

        (ran_paper_is_published(w->c) ? ran_simd->raw_norm_bwd : ran_simd->norm_bwd)(
                dx, D, dw, db, dy, D, x, D, stat, weight, n, D);
}

/* dx = dy φ'(x), n elements; dx may be dy. */
static void phi_bwd(const struct ran_paper_pass *s, float *dx, const float *x, const float *dy,
                    size_t n)
{
        if (s->gated)
                ran_simd->silu_bwd(dx, x, dy, n);
        else
                memmove(dx, dy, n * sizeof *dx);
}

/* ---- review: equation (9) ---------------------------------------------------------------------
 */

static void review_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const struct ran_paper_adjoints *j = &s->own->adj;
        const size_t D = w->D, n = s->tokens, t = s->v.t;
        const float *y = s->cells->y + t * D, *dx = w->dx + t * D;
        float *dy = s->own->dy + t * D, *d = j->dreview_sum, *dq = j->dreview_q;

        ran_paper_review(s);
        if (!w->c->ran.review) {
                norm_bwd(w, dy, s->dp->review_norm_w, s->dp->review_norm_b, dx, y, a->review_stat,
                         s->p->review_norm_w, n);
                return;
        }
        if (s->gated) { /* LN_rev(φ(Linear_o(R)) + GLU_rev(q)) */
                norm_bwd(w, d, s->dp->review_norm_w, s->dp->review_norm_b, dx, a->review_sum,
                         a->review_stat, s->p->review_norm_w, n);
                ran_layer_glu_bwd(j->dreview_glu, d, a->review_glu, 2 * D, n, D);
                ran_paper_dropout(s, RAN_DROP_REVIEW, d, n, t - w->packed->doc[s->v.b]);
                phi_bwd(s, d, a->review_o, d, n * D);
                ran_gemm_linear_bwd(w->pool, j->dreview_r, D, false, s->dp->review_out_w,
                                    s->dp->review_out_b, d, D, a->review_r, D, s->p->review_out_w,
                                    n, D, D);
        }
        ran_review_look_bwd(&s->review, s->v.i, dq, j->part, a->review_q,
                            s->gated ? j->dreview_r : dx, w->workers.scratch);
        ran_review_add(&s->review, s->v.i, j->part, false);
        ran_review_add(&s->review, s->v.i, j->part, true);
        if (s->gated)
                ran_gemm_linear_bwd(w->pool, dq, D, true, s->dp->review_value_w,
                                    s->dp->review_value_b, j->dreview_glu, 2 * D, a->review_q, D,
                                    s->p->review_value_w, n, D, 2 * D);
        phi_bwd(s, dq, a->review_pre, dq, n * D);
        ran_gemm_linear_bwd(w->pool, dy, D, false, s->dp->review_q_w, s->dp->review_q_b, dq, D, y,
                            D, s->p->review_q_w, n, D, D);
}

/* From the adjoints of keys and values to dc, and dy of the source tokens under review. */
static void states_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_cells *c = s->cells;
        const struct ran_paper_adjoints *j = &s->own->adj;
        const size_t *sources = s->own->review.sources, B = w->packed->B;
        size_t D = w->D, n = w->packed->m + B;

        ran_review_collect(&s->review, j->dkv, j->dsource_kv);
        phi_bwd(s, j->dkv, c->kv_pre, j->dkv, n * 2 * D);
        phi_bwd(s, j->dsource_kv, c->source_kv_pre, j->dsource_kv, sources[B] * 2 * D);
        for (size_t b = 0; b < B; b++) {
                size_t t = w->packed->doc[b] * D;

                if (sources[b] < sources[b + 1])
                        ran_gemm_linear_bwd(w->pool, s->own->dy + t, D, true, s->dp->review_k_w,
                                            s->dp->review_k_b, j->dsource_kv + sources[b] * 2 * D,
                                            2 * D, s->cells->y + t, D, s->p->review_k_w,
                                            sources[b + 1] - sources[b], D, 2 * D);
        }
        ran_gemm_linear_bwd(w->pool, j->dc, D, true, s->dp->review_k_w, s->dp->review_k_b, j->dkv,
                            2 * D, c->c, D, s->p->review_k_w, n, D, 2 * D);
}

/* ---- windows: equations (6) to (1) ------------------------------------------------------------
 */

/* Equation (6): from the adjoint of the cell after the window to dp of its row, and to what was
 * before. */
static void update_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const struct ran_paper_adjoints *j = &s->own->adj;
        const size_t D = w->D, state = s->v.state * D, next = state + D;
        float *d = j->dsum;

        if (s->begins) {
                memcpy(d, j->dG + next, D * sizeof *d);
        } else {
                norm_bwd(w, d, s->dp->update_norm_w, s->dp->update_norm_b, j->dG + next, a->sum,
                         a->sum_stat, s->p->update_norm_w, 1);
                if (w->c->ran.residual && s->gated) {
                        ran_layer_glu_bwd(j->dupdate, d, a->update, 2 * D, 1, D);
                        ran_gemm_linear_bwd(w->pool, j->dc + state, D, true, s->dp->update_value_w,
                                            s->dp->update_value_b, j->dupdate, 2 * D,
                                            s->cells->c + state, D, s->p->update_value_w, 1, D,
                                            2 * D);
                } else if (w->c->ran.residual) {
                        ran_simd->add(j->dG + state, d, D);
                }
        }
        if (s->published) /* from the review, and from the next window's GLU */
                ran_simd->add(d, j->dc + next, D);
        norm_bwd(w, j->dp, NULL, NULL, d, a->pn, a->y_stat, NULL, 1);
}

static void window_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const struct ran_paper_adjoints *j = &s->own->adj;
        const struct ran_layer_window *v = &s->v;
        const struct ran_attention_heads heads = ran_attention_heads_of(w, v->i, a->qkv);
        const size_t D = w->D, E = w->E, ld = 3 * E, rows = s->rows, t = v->t * D;
        float *dw = s->dp->input_norm_w, *db = s->dp->input_norm_b;

        ran_paper_window(s);
        update_bwd(s);
        norm_bwd(w, j->dp + D, NULL, NULL, s->own->dy + t, a->pn + D, a->y_stat + 2, NULL,
                 s->tokens);
        if (s->gated) {
                norm_bwd(w, j->dp, s->dp->output_norm_w, s->dp->output_norm_b, j->dp, a->p,
                         a->p_stat, s->p->output_norm_w, rows);
                ran_layer_glu_bwd(j->dpre + ld, j->dp, a->pre + ld, s->projected, rows, D);
        }
        ran_paper_dropout(s, RAN_DROP_ATTENTION, j->dp, rows, v->at);
        phi_bwd(s, j->dp, a->o, j->dp, rows * D); /* (2) */
        ran_gemm_linear_bwd(w->pool, j->da, E, false, s->dp->out_w, s->dp->out_b, j->dp, D, a->a, E,
                            s->p->out_w, rows, E, D);
        ran_attention_bwd(j->dqkv, j->da, &heads, 0, rows, false, w->workers.scratch);
        if (w->c->rotary)
                ran_simd->rotary(j->dqkv, ld, w->rotary.table, -1.0f, rows, 2 * w->h, w->d_k);
        for (size_t r = 0; r < rows; r++)
                phi_bwd(s, j->dpre + r * s->projected, a->pre + r * s->projected, j->dqkv + r * ld,
                        ld);
        ran_gemm_linear_bwd(w->pool, j->dz, D, false, s->dp->q_w, s->dp->q_b, j->dpre, s->projected,
                            a->z, D, s->p->q_w, rows, D, s->projected);
        ran_paper_dropout(s, RAN_DROP_INPUT, j->dz, rows, v->at);
        norm_bwd(w, w->dx + t, dw, db, j->dz + D, s->x + t, a->z_stat + 2, s->p->input_norm_w,
                 s->tokens);
        norm_bwd(w, j->dz, dw, db, j->dz, s->cells->G + v->state * D, a->z_stat, s->p->input_norm_w,
                 1);
        ran_simd->add(j->dG + v->state * D, j->dz, D);
}

/* Equation (1): to the last cells of the layer below, in w->dlast. Those of a published cell above
 * the first layer are first cells as they are. */
static void first_cells_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        const struct ran_paper_cells *c = s->cells;
        const struct ran_paper_adjoints *j = &s->own->adj;
        const bool below = s->published && s->l > 0 && w->c->mask == RAN_MASK_NONE;
        size_t D = w->D;

        for (size_t b = 0; b < packed->B; b++) {
                size_t state = (packed->doc_window[b] + b) * D;
                float *d = j->dfirst + b * D;

                memcpy(d, j->dG + state, D * sizeof *d);
                if (below) {
                        memcpy(w->dlast + b * D, d, D * sizeof *d);
                        continue;
                }
                if (s->published)
                        ran_simd->add(d, j->dc + state, D);
                if (ran_packed_continues(packed, b)) /* the recurrent state is a constant */
                        memset(d, 0, D * sizeof *d);
                norm_bwd(w, d, s->dp->gpc_norm_w, s->dp->gpc_norm_b, d, c->first + b * D,
                         c->first_stat + b * 2, s->p->gpc_norm_w, 1);
        }
        if (s->published)
                return; /* W_g multiplies 0 */
        phi_bwd(s, j->dfirst, c->first_pre, j->dfirst, packed->B * D);
        ran_gemm_linear_bwd(w->pool, w->dlast, D, false, s->dp->gpc, NULL, j->dfirst, D, c->below,
                            D, s->p->gpc, packed->B, D, D);
}

/* ---- all layers -------------------------------------------------------------------------------
 */

/* Adds the adjoints of pooled cells to those of all cells of the last layer. */
static void pooled_bwd(struct ran_workspace *w)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const size_t D = w->D;

        own->dcells = false;
        for (size_t b = 0; b < w->packed->B; b++) {
                const size_t first = w->packed->doc_window[b],
                             n = w->packed->doc_window[b + 1] - first;
                const uint32_t *at = (const uint32_t *)own->head.argmax + b * D;
                const float *d = own->head.dcells + b * D;
                float *dc = own->adj.dc + (first + b + 1) * D;

                if (w->c->ran.cell_pooling == RAN_POOL_MAX)
                        for (size_t k = 0; k < D; k++)
                                dc[at[k] * D + k] += d[k];
                else
                        for (size_t i = 0; i < n; i++)
                                ran_simd->axpy(dc + i * D, 1.0f / (float)n, d, D);
        }
}

void ran_paper_backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_once *q = p->once;
        const struct ran_paper_once *dq = dp->once;

        for (size_t l = w->c->layers; l-- > 0;) {
                struct ran_paper_pass s = ran_paper_pass_of(w, p, dp, l);

                ran_layer_clear_adjoints(&s.review, own->adj.dG, own->adj.dc);
                if (own->dcells)
                        pooled_bwd(w);
                for (size_t i = 0; i < w->packed->m; i++) {
                        ran_paper_at(&s, i);
                        review_bwd(&s);
                }
                if (w->c->ran.review)
                        states_bwd(&s);
                for (size_t i = w->packed->m; i-- > 0;) {
                        ran_paper_at(&s, i);
                        window_bwd(&s);
                }
                first_cells_bwd(&s);
                if (w->c->mask != RAN_MASK_NONE) /* there was no such cell */
                        memset(w->dlast, 0, w->packed->B * w->D * sizeof(float));
        }
        if (ran_paper_is_published(w->c))
                norm_bwd(w, w->dx, dq->start_norm_w, dq->start_norm_b, w->dx, w->x[0],
                         own->start_stat, q->start_norm_w, w->packed->L);
}

/* ---- heads ------------------------------------------------------------------------------------
 */

/* dv (B, D) to w->dlast, or to what pooled_bwd needs. */
static void pool_bwd(struct ran_workspace *w, const float *dv)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const size_t bytes = w->packed->B * w->D * sizeof *dv;

        own->dcells = w->c->ran.cell_pooling != RAN_POOL_LAST;
        memcpy(own->dcells ? own->head.dcells : w->dlast, dv, bytes);
        if (own->dcells)
                memset(w->dlast, 0, bytes);
}

void ran_paper_vector_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv)
{
        (void)p;
        (void)dp;
        memset(w->dx, 0, w->packed->L * w->D * sizeof *w->dx);
        pool_bwd(w, dv);
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

        ran_layer_glu_bwd(h->dhead_glu, dhead, h->head_glu, 2 * D, B, D);
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
        const struct ran_paper_head *h = &ran_paper_memory_of(w)->head;
        float *dhead = w->head.dhead;
        size_t D = w->D, B = w->packed->B;

        if (ran_paper_is_gated(w->c))
                gates_bwd(w, p, dp);
        else
                ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc, NULL, dhead, D, h->last,
                                    D, q->gpc, B, D, D);
        ran_gemm_linear_bwd(w->pool, h->dpooled, D, false, dq->pool_w, dq->pool_b, dhead, D,
                            h->pooled, D, q->pool_w, B, D, D);
        ran_pooling_bwd(w, h->dpooled, (const uint32_t *)h->from);
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
        norm_bwd(w, h->dfill, dq->fill_norm_w, dq->fill_norm_b, w->head.dhead, h->fill_act,
                 h->fill_stat, q->fill_norm_w, n);
        ran_simd->silu_bwd(h->dfill, h->fill_pre, h->dfill, n * D);
        ran_gemm_linear_bwd(w->pool, w->head.dhead, D, false, dq->fill_w, dq->fill_b, h->dfill, D,
                            h->fill_in, D, q->fill_w, n, D, D);
}
