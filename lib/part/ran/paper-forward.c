/* paper-forward.c - the cells as they are published, from tokens to outputs and to what heads read,
 * window by window. See paper.h for the equations. */
#include "part/ran/paper.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* ---- a layer and a window at work -------------------------------------------------------------
 */

struct ran_paper_pass ran_paper_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                        struct ran_params *dp, size_t l)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_params *layer = p->layers;
        struct ran_paper_params *dlayer = dp != NULL ? dp->layers : NULL;
        const struct ran_paper_cells *cells = (const struct ran_paper_cells *)w->act + l;
        const bool gated = ran_paper_is_gated(w->c);

        return (struct ran_paper_pass){
                .w = w,
                .own = own,
                .p = &layer[l],
                .dp = dlayer != NULL ? &dlayer[l] : NULL,
                .panels = p->panels,
                .l = l,
                .x = l == 0 ? own->start : w->x[l],
                .cells = cells,
                .act = &own->window,
                .review = {w, &own->review, l, cells->key, cells->value, own->adj.dkey,
                           own->adj.dvalue},
                .gated = gated,
                .published = ran_paper_is_published(w->c),
                .projected = 3 * w->E + (gated ? 2 * w->D : 0),
        };
}

void ran_paper_at(struct ran_paper_pass *s, size_t i)
{
        const struct ran_packed *packed = s->w->packed;
        const struct ran_layer_window v = ran_layer_window(packed, i, 0);

        s->v = v;
        s->cell = v.first == 1 || !ran_layer_stays_open(s->w, i) ? 1 : 0;
        s->tokens = v.n - v.first;
        s->rows = s->cell + s->tokens;
        s->begins = s->published && i == packed->doc_window[v.b] &&
                    ran_packed_earlier(packed, v.b) == 0;
}

void ran_paper_dropout(const struct ran_paper_pass *s, int site, float *x, size_t n, size_t at)
{
        const struct ran_workspace *w = s->w;

        ran_workspace_dropout(w, s->v.b, s->l, site, w->noise.dropout, x, n * w->D, at * w->D);
}

/* LN of n rows of D, without weight SN, as this kind of cell divides them; see ran_simd.norm. */
static void norm(const struct ran_workspace *w, float *y, float *stat, const float *x,
                 const float *weight, const float *bias, size_t n)
{
        const size_t D = w->D;

        (ran_paper_is_published(w->c) ? ran_simd->raw_norm : ran_simd->norm)(
                y, D, stat, x, D, weight, bias,
                weight != NULL && !ran_paper_is_published(w->c) ? RAN_LN_EPS : RAN_SN_EPS, n, D);
}

/* y = φ(x), n elements. */
static void phi(const struct ran_paper_pass *s, float *y, const float *x, size_t n)
{
        if (s->gated)
                ran_simd->silu(y, x, n);
        else
                memcpy(y, x, n * sizeof *y);
}

/* y (n, O) = x (n, I) w^T + b */
static void linear(const struct ran_paper_pass *s, float *y, const float *x, const float *w,
                   const float *b, size_t n, size_t I, size_t O)
{
        ran_gemm_linear_kept(s->w->pool, s->panels, y, O, x, I, w, b, n, I, O);
}

/* ---- windows: equations (1) to (6) ------------------------------------------------------------
 */

/* G_0 of all documents. below: the cells of the layer below, or NULL for 0. */
static void first_cells(const struct ran_paper_pass *s, const struct ran_paper_cells *below)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        const struct ran_paper_cells *c = s->cells;
        size_t D = w->D, row = D * sizeof(float);

        ran_layer_last_states(w, c->below, below != NULL ? below->G : NULL);
        if (s->published)
                memset(c->first_pre, 0, packed->B * row);
        else
                ran_workspace_linear(w, s->panels, c->first_pre, c->below, s->p->gpc, NULL, D, D);
        phi(s, c->first, c->first_pre, packed->B * D);
        for (size_t b = 0; b < packed->B; b++) {
                size_t state = (packed->doc_window[b] + b) * D;
                const float *known = NULL;

                norm(w, c->c + state, c->first_stat + b * 2, c->first + b * D, s->p->gpc_norm_w,
                     s->p->gpc_norm_b, 1);
                if (ran_packed_continues(packed, b))
                        known = ran_recurrent_state_cell(packed->recurrent[b], s->l);
                if (known != NULL)
                        memcpy(c->c + state, known, row);
                if (s->published) {
                        const float *first = known != NULL   ? known + D
                                             : below != NULL ? c->below + b * D
                                                             : c->c + state;

                        memcpy(c->G + state, first, row);
                }
        }
}

/* Z_i and its projections, and A. */
static void attend(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const struct ran_layer_window *v = &s->v;
        const size_t D = w->D, ld = 3 * w->E, cell = s->cell;
        const struct ran_attention_heads heads = ran_attention_heads_of(w, v->i, a->qkv);
        float *score = w->workers.scratch, *qkv = a->qkv + v->first * ld;

        if (cell > 0)
                norm(w, a->z, a->z_stat, s->cells->G + v->state * D, s->p->input_norm_w,
                     s->p->input_norm_b, 1);
        norm(w, a->z + cell * D, a->z_stat + cell * 2, s->x + v->t * D, s->p->input_norm_w,
             s->p->input_norm_b, s->tokens);
        ran_paper_dropout(s, RAN_DROP_INPUT, a->z, s->rows, v->at);
        linear(s, a->pre, a->z, s->p->q_w, s->p->q_b, s->rows, D, s->projected);
        if (v->first > 1)
                ran_recurrent_state_recall(w->packed->recurrent[v->b], s->l, a->qkv);
        if (cell > 0) /* position 0: nothing rotates */
                phi(s, a->qkv, a->pre, ld);
        for (size_t t = 0; t < s->tokens; t++)
                phi(s, qkv + t * ld, a->pre + (cell + t) * s->projected, ld);
        if (w->c->rotary)
                ran_simd->rotary(qkv, ld, w->rotary.table + v->first * 2 * w->d_k, 1.0f, s->tokens,
                                 2 * w->h, w->d_k);
        if (cell > 0)
                ran_attention(a->a, &heads, 0, 1, score);
        ran_attention(a->a + cell * w->E, &heads, v->first, v->n, score);
        for (size_t k = 0; w->probes != NULL && k < w->probes->n; k++)
                ran_attention_probe(&w->probes->probe[k], s->l, v->at, &heads, score);
        if (ran_layer_stays_open(w, v->i))
                ran_layer_keep_window(w, s->l, v->i, a->qkv);
}

/* G_i, from G'_i = SN(P_i[0]) and what was before. */
static void update(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const size_t D = w->D, row = D * sizeof(float);
        const float *before = s->cells->c + s->v.state * D;
        float *c = s->cells->c + (s->v.state + 1) * D, *G = s->cells->G + (s->v.state + 1) * D;

        if (ran_layer_stays_open(w, s->v.i)) { /* its cell comes when it is closed */
                memset(c, 0, row);
                memset(G, 0, row);
                return;
        }
        norm(w, a->sum, a->y_stat, a->pn, NULL, NULL, 1);
        memcpy(c, a->sum, row);
        if (s->begins) {
                memcpy(G, c, row);
                return;
        }
        if (w->c->ran.residual && s->gated) {
                linear(s, a->update, before, s->p->update_value_w, s->p->update_value_b, 1, D,
                       2 * D);
                ran_layer_glu(a->sum, a->update, 2 * D, 1, D);
        } else if (w->c->ran.residual) {
                ran_simd->add(a->sum, before, D);
        }
        norm(w, G, a->sum_stat, a->sum, s->p->update_norm_w, s->p->update_norm_b, 1);
}

void ran_paper_window(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const size_t D = w->D, cell = s->cell;

        attend(s);
        linear(s, a->o, a->a, s->p->out_w, s->p->out_b, s->rows, w->E, D);
        phi(s, a->p, a->o, s->rows * D);
        ran_paper_dropout(s, RAN_DROP_ATTENTION, a->p, s->rows, s->v.at);
        if (s->gated) {
                ran_layer_glu(a->p, a->pre + 3 * w->E, s->projected, s->rows, D);
                norm(w, a->pn, a->p_stat, a->p, s->p->output_norm_w, s->p->output_norm_b, s->rows);
        }
        norm(w, s->cells->y + s->v.t * D, a->y_stat + cell * 2, a->pn + cell * D, NULL, NULL,
             s->tokens);
        update(s);
}

/* ---- review: equation (9) ---------------------------------------------------------------------
 */

/* Keys and values of all states, and of the source tokens under review. */
static void states(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_cells *c = s->cells;
        const size_t *sources = s->own->review.sources, B = w->packed->B;
        size_t D = w->D;

        for (size_t b = 0; b < B; b++)
                if (sources[b] < sources[b + 1])
                        linear(s, c->source_kv_pre + sources[b] * 2 * D,
                               s->cells->y + w->packed->doc[b] * D, s->p->review_k_w,
                               s->p->review_k_b, sources[b + 1] - sources[b], D, 2 * D);
        ran_review_products(w, s->panels, c->kv_pre, c->c, s->p->review_k_w, s->p->review_k_b);
        phi(s, c->source_kv, c->source_kv_pre, sources[B] * 2 * D);
        phi(s, c->kv, c->kv_pre, (w->packed->m + B) * 2 * D);
        ran_review_place(&s->review, c->kv, c->source_kv);
}

void ran_paper_review(const struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *a = s->act;
        const size_t D = w->D, n = s->tokens, t = s->v.t;
        const float *y = s->cells->y + t * D;
        float *x = w->x[s->l + 1] + t * D, *scratch = w->workers.scratch;

        if (!w->c->ran.review) {
                norm(w, x, a->review_stat, y, s->p->review_norm_w, s->p->review_norm_b, n);
                return;
        }
        linear(s, a->review_pre, y, s->p->review_q_w, s->p->review_q_b, n, D, D);
        phi(s, a->review_q, a->review_pre, n * D);
        for (size_t k = 0; w->probes != NULL && k < w->probes->n; k++)
                ran_review_probe(&s->review, &w->probes->probe[k], s->v.i, a->review_q, scratch);
        ran_review_look(&s->review, s->v.i, a->review_q, s->gated ? a->review_r : x, scratch);
        if (!s->gated)
                return;
        linear(s, a->review_o, a->review_r, s->p->review_out_w, s->p->review_out_b, n, D, D);
        phi(s, a->review_sum, a->review_o, n * D);
        ran_paper_dropout(s, RAN_DROP_REVIEW, a->review_sum, n, t - w->packed->doc[s->v.b]);
        linear(s, a->review_glu, a->review_q, s->p->review_value_w, s->p->review_value_b, n, D,
               2 * D);
        ran_layer_glu(a->review_sum, a->review_glu, 2 * D, n, D);
        norm(w, x, a->review_stat, a->review_sum, s->p->review_norm_w, s->p->review_norm_b, n);
}

/* ---- all layers -------------------------------------------------------------------------------
 */

void ran_paper_forward(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_once *q = p->once;

        if (ran_paper_is_published(w->c))
                norm(w, own->start, own->start_stat, w->x[0], q->start_norm_w, q->start_norm_b,
                     w->packed->L);
        for (size_t l = 0; l < w->c->layers; l++) {
                struct ran_paper_pass s = ran_paper_pass_of(w, p, NULL, l);

                /* Under a mask the last cell of the layer below has seen tokens that this layer's
                 * first cell must not. */
                first_cells(&s, l > 0 && w->c->mask == RAN_MASK_NONE ? s.cells - 1 : NULL);
                for (size_t i = 0; i < w->packed->m; i++) {
                        ran_paper_at(&s, i);
                        ran_paper_window(&s);
                }
                if (w->c->ran.review)
                        states(&s);
                for (size_t i = 0; i < w->packed->m; i++) {
                        ran_paper_at(&s, i);
                        ran_paper_review(&s);
                }
                ran_layer_keep(&s.review, s.cells->c, s.published ? s.cells->G : NULL);
        }
        ran_layer_advance(w);
}

/* ---- heads ------------------------------------------------------------------------------------
 */

/* A classifier reads, v being the pooled tokens and G the last cell, equations (10) and (11),
 *
 *   plain:      W_gpc G + Linear_pool(v)
 *   gated:      SiLU(Linear_pool(v)) + GLU_gpc(G)
 *   published:  Linear_pool(v) + GLU_gpc(SiLU(Linear_cell(c)))      c: the last G, or the mean or
 *                                                                   maximum of c_1 ... c_m
 *
 * and a language model of published cells LN_lm(SiLU(Linear_lm(output))). */

/* The last cell, or the pooled ones. */
void ran_paper_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_cells *all = w->act, *cells = &all[w->c->layers - 1];
        const size_t D = w->D, first = w->packed->doc_window[b] + b,
                     n = w->packed->doc_window[b + 1] + b - first;
        const float *c = cells->c + (first + 1) * D;
        const int pooling = ran_paper_is_published(w->c) ? w->c->ran.cell_pooling : RAN_POOL_LAST;

        (void)p;
        if (pooling == RAN_POOL_MAX) {
                ran_simd->max_rows(v, (uint32_t *)own->head.argmax + b * D, c, D, n, D);
        } else if (pooling == RAN_POOL_MEAN) {
                memset(v, 0, D * sizeof *v);
                for (size_t i = 0; i < n; i++)
                        ran_simd->axpy(v, 1.0f / (float)n, c + i * D, D);
        } else {
                memcpy(v, cells->G + (first + n) * D, D * sizeof *v);
        }
}

void ran_paper_documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_paper_once *q = p->once;
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_head *h = &own->head;
        const bool published = ran_paper_is_published(w->c);
        float *head = w->head.head;
        size_t D = w->D, B = w->packed->B;

        ran_pooling(w, h->pooled, (uint32_t *)h->from);
        for (size_t b = 0; b < B; b++)
                ran_paper_vector(w, p, b, h->last + b * D);
        ran_workspace_linear(w, p->panels, h->head_pre, h->pooled, q->pool_w, q->pool_b, D, D);
        memcpy(head, h->head_pre, B * D * sizeof *head);
        if (!ran_paper_is_gated(w->c)) {
                ran_gemm(head, D, h->last, D, 1, q->gpc, 1, D, B, D, D, true);
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
        ran_layer_glu(head, h->head_glu, 2 * D, B, D);
}

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
        norm(w, w->head.head, h->fill_stat, h->fill_act, q->fill_norm_w, q->fill_norm_b, n);
}
