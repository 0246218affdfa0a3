/* paper-backward.c - the cells as they are published, from the adjoints of outputs to those of
 * tokens. See paper.h for the equations.
 *
 * A layer first goes through its review, step by step: from w->dx to dy, with what each window adds
 * to the adjoints of keys and values; from these to dc, of all states. Then through its windows,
 * the last step first: when a step is at work, the adjoint of the cells after it is complete. Each
 * step is computed again by the forward pass; functions add to gradients.
 */
#include "part/ran/paper.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

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

/* Output = LN_rev(sum): dreview_sum. */
static void outputs_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        size_t D = w->D;

        for (const struct ran_paper_window *v = s->own->window; v < s->own->window + s->n; v++) {
                const float *sum = (w->c->ran.review ? a->review_sum : a->y) + v->token * D;

                ran_paper_norm_bwd(w, s->own->adj.dreview_sum + v->token * D, s->dp->review_norm_w,
                                   s->dp->review_norm_b, w->dx + v->t * D, sum,
                                   a->review_stat + v->token * 2, s->p->review_norm_w, v->tokens);
        }
}

/* sum = φ(Linear_o(R)) + GLU_rev(q): dreview_r, and dreview_glu. */
static void sum_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_adjoints *j = &s->own->adj;
        size_t D = w->D, n = s->tokens;

        for (size_t t = 0; t < n; t++) {
                const float *glu = a->review_glu + t * 2 * D;
                float *dglu = j->dreview_glu + t * 2 * D;

                ran_simd->glu_bwd(dglu, dglu + D, j->dreview_sum + t * D, glu, glu + D, D);
        }
        for (const struct ran_paper_window *v = s->own->window; v < s->own->window + s->n; v++)
                ran_paper_dropout(s, v, RAN_DROP_REVIEW, j->dreview_sum + v->token * D, v->tokens,
                                  v->t - w->packed->doc[v->b]);
        phi_bwd(s, j->dreview_o, a->review_o, j->dreview_sum, n * D);
        ran_gemm_linear_bwd(w->pool, j->dreview_r, D, false, s->dp->review_out_w,
                            s->dp->review_out_b, j->dreview_o, D, a->review_r, D,
                            s->p->review_out_w, n, D, D);
}

/* From the adjoints of outputs to dy. */
static void review_bwd(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_adjoints *j = &s->own->adj;
        const struct ran_paper_window *v = s->own->window, *end = v + s->n;
        const bool review = w->c->ran.review != RAN_REVIEW_NONE;
        size_t D = w->D, n = s->tokens;

        ran_paper_review(s);
        if (s->gated || !review)
                outputs_bwd(s);
        if (review && s->gated)
                sum_bwd(s);
        for (v = s->own->window; v < end && review && !s->gated; v++)
                memcpy(j->dreview_r + v->token * D, w->dx + v->t * D,
                       v->tokens * D * sizeof(float));
        for (v = s->own->window; v < end && review; v++) {
                size_t at = v->token * D;

                ran_review_look_bwd(&s->review, v->i, j->dreview_q + at, j->part, a->review_q + at,
                                    j->dreview_r + at, w->workers.scratch);
                ran_review_add(&s->review, v->i, j->part, false);
                ran_review_add(&s->review, v->i, j->part, true);
        }
        if (review && s->gated)
                ran_gemm_linear_bwd(w->pool, j->dreview_q, D, true, s->dp->review_value_w,
                                    s->dp->review_value_b, j->dreview_glu, 2 * D, a->review_q, D,
                                    s->p->review_value_w, n, D, 2 * D);
        if (review) {
                phi_bwd(s, j->dreview_q, a->review_pre, j->dreview_q, n * D);
                ran_gemm_linear_bwd(w->pool, j->dreview_sum, D, false, s->dp->review_q_w,
                                    s->dp->review_q_b, j->dreview_q, D, a->y, D, s->p->review_q_w,
                                    n, D, D);
        }
        for (v = s->own->window; v < end; v++)
                memcpy(s->own->dy + v->t * D, j->dreview_sum + v->token * D,
                       v->tokens * D * sizeof(float));
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
                                            2 * D, s->own->y[s->l] + t, D, s->p->review_k_w,
                                            sources[b + 1] - sources[b], D, 2 * D);
        }
        ran_gemm_linear_bwd(w->pool, j->dc, D, true, s->dp->review_k_w, s->dp->review_k_b, j->dkv,
                            2 * D, c->c, D, s->p->review_k_w, n, D, 2 * D);
}

/* ---- windows: equations (6) to (1) ------------------------------------------------------------
 */

/* Equation (6): from the adjoint of the cell after window j to dp of its row, and to what was
 * before; that of the gate is left for a product of all windows. */
static void update_bwd(const struct ran_paper_pass *s, size_t j)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *v = &s->own->window[j];
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_adjoints *adj = &s->own->adj;
        size_t D = w->D, next = (v->state + 1) * D;
        float *d = adj->dsum + j * D;

        if (s->gated)
                memset(adj->dupdate + j * 2 * D, 0, 2 * D * sizeof *d);
        if (ran_paper_begins(s, v)) {
                memcpy(d, adj->dG + next, D * sizeof *d);
        } else {
                const float *u = a->update + j * 2 * D;
                float *du = adj->dupdate + j * 2 * D;

                ran_paper_norm_bwd(w, d, s->dp->update_norm_w, s->dp->update_norm_b, adj->dG + next,
                                   a->sum + j * D, a->sum_stat + j * 2, s->p->update_norm_w, 1);
                if (w->c->ran.residual && s->gated)
                        ran_simd->glu_bwd(du, du + D, d, u, u + D, D);
                else if (w->c->ran.residual)
                        ran_simd->add(adj->dG + v->state * D, d, D);
        }
        if (s->published) /* from the review, and from the next window's GLU */
                ran_simd->add(d, adj->dc + next, D);
        ran_paper_norm_bwd(w, adj->dp + v->r * D, NULL, NULL, d,
                           (s->gated ? a->pn : a->p) + v->r * D, a->y_stat + v->r * 2, NULL, 1);
}

/* Equation (5) and LN_out: from dy and the cells' dp to d_o, and the adjoints of the gates. */
static void finish_bwd(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_adjoints *adj = &s->own->adj;
        const float *pn = s->gated ? a->pn : a->p;
        size_t D = w->D;

        for (const struct ran_paper_window *v = s->own->window; v < s->own->window + s->n; v++)
                ran_paper_norm_bwd(w, adj->dp + (v->r + 1) * D, NULL, NULL, s->own->dy + v->t * D,
                                   pn + (v->r + 1) * D, a->y_stat + (v->r + 1) * 2, NULL,
                                   v->tokens);
        if (s->gated)
                ran_paper_norm_bwd(w, adj->dp, s->dp->output_norm_w, s->dp->output_norm_b, adj->dp,
                                   a->p, a->p_stat, s->p->output_norm_w, s->rows);
        for (size_t r = 0; r < s->rows && s->gated; r++) {
                const float *glu = a->pre + r * s->projected + 3 * w->E;
                float *dglu = adj->dpre + r * s->projected + 3 * w->E;

                ran_simd->glu_bwd(dglu, dglu + D, adj->dp + r * D, glu, glu + D, D);
        }
        for (const struct ran_paper_window *v = s->own->window; v < s->own->window + s->n; v++)
                ran_paper_dropout(s, v, RAN_DROP_ATTENTION, adj->dp + v->r * D, 1 + v->tokens,
                                  v->at);
        phi_bwd(s, adj->d_o, a->o, adj->dp, s->rows * D);
}

/* Equation (3), and φ of q, k and v. */
static void attend_bwd(void *arg, size_t j, float *score)
{
        const struct ran_paper_pass *s = arg;
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *v = &s->own->window[j];
        size_t E = w->E, ld = 3 * E, n = 1 + v->tokens;
        float *dqkv = s->own->adj.dqkv + v->r * ld;
        struct ran_attention_heads x = ran_attention_heads_of(w, v->i, s->act->qkv + v->row * ld);

        ran_attention_bwd(dqkv, s->own->adj.da + v->r * E, &x, 0, n, false, score);
        if (w->c->rotary)
                ran_simd->rotary(dqkv, ld, w->rotary.table, -1.0f, n, 2 * w->h, w->d_k);
        for (size_t r = v->r; r < v->r + n; r++, dqkv += ld)
                phi_bwd(s, s->own->adj.dpre + r * s->projected, s->act->pre + r * s->projected,
                        dqkv, ld);
}

/* LN_in: to the tokens of the layer below, and to G_{i-1}. */
static void read_bwd(const struct ran_paper_pass *s, const struct ran_paper_window *v)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        size_t D = w->D;
        const float *x = s->l == 0 && s->published ? s->own->start : w->x[s->l];
        float *dz = s->own->adj.dz + v->r * D, *dw = s->dp->input_norm_w, *db = s->dp->input_norm_b;

        ran_paper_dropout(s, v, RAN_DROP_INPUT, dz, 1 + v->tokens, v->at);
        ran_paper_norm_bwd(w, w->dx + v->t * D, dw, db, dz + D, x + v->t * D,
                           a->z_stat + (v->r + 1) * 2, s->p->input_norm_w, v->tokens);
        ran_paper_norm_bwd(w, dz, dw, db, dz, s->cells->G + v->state * D, a->z_stat + v->r * 2,
                           s->p->input_norm_w, 1);
        ran_simd->add(s->own->adj.dG + v->state * D, dz, D);
}

static void windows_bwd(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_adjoints *adj = &s->own->adj;
        const struct ran_paper_window *v = s->own->window;
        size_t D = w->D, E = w->E;

        ran_paper_windows(s);
        ran_phase = RAN_PHASE_SCAN;
        for (size_t j = 0; j < s->n; j++)
                update_bwd(s, j);
        if (w->c->ran.residual && s->gated) {
                ran_gemm_linear_bwd(w->pool, adj->dbefore, D, false, s->dp->update_value_w,
                                    s->dp->update_value_b, adj->dupdate, 2 * D, a->before, D,
                                    s->p->update_value_w, s->n, D, 2 * D);
                for (size_t j = 0; j < s->n; j++)
                        ran_simd->add(adj->dc + v[j].state * D, adj->dbefore + j * D, D);
        }
        ran_phase = RAN_PHASE_PROJECTIONS;
        finish_bwd(s);
        ran_gemm_linear_bwd(w->pool, adj->da, E, false, s->dp->out_w, s->dp->out_b, adj->d_o, D,
                            a->a, E, s->p->out_w, s->rows, E, D);
        ran_phase = RAN_PHASE_ATTENTION;
        ran_workers_each(&w->workers, 0, s->n, attend_bwd, s);
        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_gemm_linear_bwd(w->pool, adj->dz, D, false, s->dp->q_w, s->dp->q_b, adj->dpre,
                            s->projected, a->z, D, s->p->q_w, s->rows, D, s->projected);
        for (size_t j = 0; j < s->n; j++)
                read_bwd(s, &v[j]);
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
                ran_paper_norm_bwd(w, d, s->dp->gpc_norm_w, s->dp->gpc_norm_b, d, c->first + b * D,
                                   c->first_stat + b * 2, s->p->gpc_norm_w, 1);
        }
        if (s->published)
                return; /* W_g multiplies 0 */
        phi_bwd(s, j->dfirst, c->first_pre, j->dfirst, packed->B * D);
        ran_gemm_linear_bwd(w->pool, w->dlast, D, false, s->dp->gpc, NULL, j->dfirst, D, c->below,
                            D, s->p->gpc, packed->B, D, D);
}

/* ---- a layer ----------------------------------------------------------------------------------
 */

static void clear_adjoints(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        const struct ran_paper_adjoints *j = &s->own->adj;
        size_t D = w->D, states = (packed->m + packed->B) * D * sizeof(float),
               keys = s->own->review.keys * D * sizeof(float);

        memset(j->dG, 0, states);
        memset(j->dc, 0, states);
        memset(j->dkey, 0, keys);
        memset(j->dvalue, 0, keys);
        for (size_t b = 0; b < packed->B; b++)
                memcpy(j->dG + (packed->doc_window[b + 1] + b) * D, w->dlast + b * D,
                       D * sizeof(float));
        if (s->own->dcells)
                ran_paper_pooled_bwd(w);
}

static size_t steps(const struct ran_paper_pass *s, size_t group)
{
        const struct ran_packed *packed = s->w->packed;
        size_t n = 0;

        for (size_t b = s->own->group[group]; b < s->own->group[group + 1]; b++)
                if (packed->doc_window[b + 1] - packed->doc_window[b] > n)
                        n = packed->doc_window[b + 1] - packed->doc_window[b];
        return n;
}

static void encode_layer_bwd(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;

        clear_adjoints(s);
        ran_phase = RAN_PHASE_REVIEW;
        for (size_t g = 0; g < s->own->groups; g++)
                for (size_t k = 0; ran_paper_step(s, g, k); k++)
                        review_bwd(s);
        if (w->c->ran.review)
                states_bwd(s);
        for (size_t g = 0; g < s->own->groups; g++)
                for (size_t k = steps(s, g); k-- > 0;) {
                        ran_paper_step(s, g, k);
                        windows_bwd(s);
                }
        ran_phase = RAN_PHASE_SCAN;
        first_cells_bwd(s);
        if (w->c->mask != RAN_MASK_NONE) /* there was no such cell */
                memset(w->dlast, 0, w->packed->B * w->D * sizeof(float));
}

void ran_paper_backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_once *q = p->once;
        const struct ran_paper_once *dq = dp->once;

        for (size_t l = w->c->layers; l-- > 0;) {
                struct ran_paper_pass s = ran_paper_pass_of(w, p, dp, l);

                encode_layer_bwd(&s);
        }
        if (ran_paper_is_published(w->c))
                ran_paper_norm_bwd(w, w->dx, dq->start_norm_w, dq->start_norm_b, w->dx, w->x[0],
                                   own->start_stat, q->start_norm_w, w->packed->L);
}
