/* paper-forward.c - the cells as they are published, from tokens to outputs, window by window. See
 * paper.h for the equations. */
#include "part/ran/paper.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* y (n, O) = x (n, I) w^T + b. Documents have the same outputs alone and with others, bit for bit:
 * so that few rows are not multiplied in another way than many, rows of zeros are added to them.
 * Those that continue, as when text is generated, do not promise that. */
static void product(const struct ran_paper_pass *s, float *y, float *x, const float *w,
                    const float *b, size_t n, size_t I, size_t O)
{
        if (n <= RAN_FEW_ROWS && (s->w->training || s->w->packed->recurrent[0] == NULL)) {
                memset(x + n * I, 0, (RAN_FEW_ROWS + 1 - n) * I * sizeof *x);
                n = RAN_FEW_ROWS + 1;
        }
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

        ran_phase = RAN_PHASE_SCAN;
        for (size_t b = 0; b < packed->B; b++)
                if (below != NULL)
                        memcpy(c->below + b * D, below->G + (packed->doc_window[b + 1] + b) * D,
                               row);
                else
                        memset(c->below + b * D, 0, row);
        if (s->published)
                memset(c->first_pre, 0, packed->B * row);
        else
                ran_workspace_linear(w, s->panels, c->first_pre, c->below, s->p->gpc, NULL, D, D);
        ran_paper_phi(s, c->first, c->first_pre, packed->B * D);
        for (size_t b = 0; b < packed->B; b++) {
                size_t state = (packed->doc_window[b] + b) * D;
                const float *known = NULL;

                ran_paper_norm(w, c->c + state, c->first_stat + b * 2, c->first + b * D,
                               s->p->gpc_norm_w, s->p->gpc_norm_b, 1);
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

/* Z_i = LN_in([G_{i-1}; X_i]) */
static void read_window(const struct ran_paper_pass *s, const struct ran_paper_window *v)
{
        struct ran_workspace *w = s->w;
        size_t D = w->D, r = v->r + v->cell;
        const float *x = s->l == 0 && s->published ? s->own->start : w->x[s->l];
        float *z = s->act->z + v->r * D;

        if (v->cell > 0)
                ran_paper_norm(w, z, s->act->z_stat + v->r * 2, s->cells->G + v->state * D,
                               s->p->input_norm_w, s->p->input_norm_b, 1);
        ran_paper_norm(w, s->act->z + r * D, s->act->z_stat + r * 2, x + v->t * D,
                       s->p->input_norm_w, s->p->input_norm_b, v->tokens);
        ran_paper_dropout(s, v, RAN_DROP_INPUT, z, v->cell + v->tokens, v->at);
}

/* A: q, k and v of the rows, and the attention of those that are not known. */
static void attend(void *arg, size_t j, float *score)
{
        const struct ran_paper_pass *s = arg;
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *v = &s->own->window[j];
        size_t E = w->E, ld = 3 * E, first = v->known > 0 ? v->known : 1, n = first + v->tokens;
        const float *pre = s->act->pre + v->r * s->projected;
        float *qkv = s->act->qkv + v->row * ld, *a = s->act->a + v->r * E;
        struct ran_attention_heads x = ran_attention_heads_of(w, v->i, qkv);

        if (v->known > 0)
                ran_recurrent_state_recall(w->packed->recurrent[v->b], s->l, qkv);
        if (v->cell > 0) { /* position 0: nothing rotates */
                ran_paper_phi(s, qkv, pre, ld);
                pre += s->projected;
        }
        for (size_t r = first; r < n; r++, pre += s->projected)
                ran_paper_phi(s, qkv + r * ld, pre, ld);
        if (w->c->rotary)
                ran_simd->rotary(qkv + first * ld, ld, w->rotary.table + first * 2 * w->d_k, 1.0f,
                                 v->tokens, 2 * w->h, w->d_k);
        if (v->cell > 0)
                ran_attention(a, &x, 0, 1, score);
        ran_attention(a + v->cell * E, &x, first, n, score);
}

/* P_i, and Y_i = SN(P_i[1..]) */
static void finish_window(const struct ran_paper_pass *s, const struct ran_paper_window *v)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        size_t D = w->D, n = v->cell + v->tokens, r = v->r + v->cell;
        float *p = a->p + v->r * D, *pn = s->gated ? a->pn : a->p;

        ran_paper_phi(s, p, a->o + v->r * D, n * D);
        ran_paper_dropout(s, v, RAN_DROP_ATTENTION, p, n, v->at);
        for (size_t i = 0; i < n && s->gated; i++) {
                const float *glu = a->pre + (v->r + i) * s->projected + 3 * w->E;

                ran_simd->glu_add(p + i * D, glu, glu + D, D);
        }
        if (s->gated)
                ran_paper_norm(w, pn + v->r * D, a->p_stat + v->r * 2, p, s->p->output_norm_w,
                               s->p->output_norm_b, n);
        ran_paper_norm(w, s->own->y[s->l] + v->t * D, a->y_stat + r * 2, pn + r * D, NULL, NULL,
                       v->tokens);
}

/* G_i, from G'_i = SN(P_i[0]) and what was before. */
static void update_cell(const struct ran_paper_pass *s, size_t j)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_window *v = &s->own->window[j];
        const struct ran_paper_step *a = s->act;
        size_t D = w->D, row = D * sizeof(float), next = (v->state + 1) * D;
        float *sum = a->sum + j * D, *u = a->update + j * 2 * D;
        const float *pn = (s->gated ? a->pn : a->p) + v->r * D;

        if (ran_layer_stays_open(w, v->i)) { /* its cell comes when it is closed */
                memset(s->cells->c + next, 0, row);
                memset(s->cells->G + next, 0, row);
                return;
        }
        ran_paper_norm(w, sum, a->y_stat + v->r * 2, pn, NULL, NULL, 1);
        if (s->published)
                memcpy(s->cells->c + next, sum, row);
        if (ran_paper_begins(s, v)) {
                memcpy(s->cells->G + next, sum, row);
                return;
        }
        if (w->c->ran.residual && s->gated)
                ran_simd->glu_add(sum, u, u + D, D);
        else if (w->c->ran.residual)
                ran_simd->add(sum, a->before + j * D, D);
        ran_paper_norm(w, s->cells->G + next, a->sum_stat + j * 2, sum, s->p->update_norm_w,
                       s->p->update_norm_b, 1);
}

void ran_paper_windows(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_window *v = s->own->window;
        size_t D = w->D;

        ran_phase = RAN_PHASE_PROJECTIONS;
        for (size_t j = 0; j < s->n; j++)
                read_window(s, &v[j]);
        product(s, a->pre, a->z, s->p->q_w, s->p->q_b, s->rows, D, s->projected);
        ran_phase = RAN_PHASE_ATTENTION;
        ran_workers_each(&w->workers, 0, s->n, attend, s);
        ran_phase = RAN_PHASE_PROJECTIONS;
        product(s, a->o, a->a, s->p->out_w, s->p->out_b, s->rows, w->E, D);
        for (size_t j = 0; j < s->n; j++)
                finish_window(s, &v[j]);
        ran_phase = RAN_PHASE_SCAN;
        for (size_t j = 0; j < s->n; j++)
                memcpy(a->before + j * D, s->cells->c + v[j].state * D, D * sizeof(float));
        if (w->c->ran.residual && s->gated)
                (ran_workspace_stands_alone(w) ? ran_gemm_linear_alone : ran_gemm_linear_kept)(
                        w->pool, s->panels, a->update, 2 * D, a->before, D, s->p->update_value_w,
                        s->p->update_value_b, s->n, D, 2 * D);
        for (size_t j = 0; j < s->n; j++)
                update_cell(s, j);
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

        ran_phase = RAN_PHASE_REVIEW;
        for (size_t b = 0; b < B; b++)
                if (sources[b] < sources[b + 1])
                        ran_gemm_linear(w->pool, c->source_kv_pre + sources[b] * 2 * D, 2 * D,
                                        s->own->y[s->l] + w->packed->doc[b] * D, D,
                                        s->p->review_k_w, s->p->review_k_b,
                                        sources[b + 1] - sources[b], D, 2 * D);
        ran_review_products(w, s->panels, c->kv_pre, c->c, s->p->review_k_w, s->p->review_k_b);
        ran_paper_phi(s, c->source_kv, c->source_kv_pre, sources[B] * 2 * D);
        ran_paper_phi(s, c->kv, c->kv_pre, (w->packed->m + B) * 2 * D);
        ran_review_place(&s->review, c->kv, c->source_kv);
}

static void look(void *arg, size_t j, float *scratch)
{
        const struct ran_paper_pass *s = arg;
        const struct ran_paper_window *v = &s->own->window[j];
        size_t at = v->token * s->w->D;

        ran_review_look(&s->review, v->i, s->act->review_q + at, s->act->review_r + at, scratch);
}

/* R and, in a gated cell, what LN_rev reads. */
static void attend_to_states(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        const struct ran_paper_window *v = s->own->window;
        size_t D = w->D, n = s->tokens;

        product(s, a->review_pre, a->y, s->p->review_q_w, s->p->review_q_b, n, D, D);
        ran_paper_phi(s, a->review_q, a->review_pre, n * D);
        ran_workers_each(&w->workers, 0, s->n, look, s);
        if (!s->gated)
                return;
        product(s, a->review_o, a->review_r, s->p->review_out_w, s->p->review_out_b, n, D, D);
        ran_paper_phi(s, a->review_sum, a->review_o, n * D);
        for (size_t j = 0; j < s->n; j++)
                ran_paper_dropout(s, &v[j], RAN_DROP_REVIEW, a->review_sum + v[j].token * D,
                                  v[j].tokens, v[j].t - w->packed->doc[v[j].b]);
        product(s, a->review_glu, a->review_q, s->p->review_value_w, s->p->review_value_b, n, D,
                2 * D);
        for (size_t t = 0; t < n; t++)
                ran_simd->glu_add(a->review_sum + t * D, a->review_glu + t * 2 * D,
                                  a->review_glu + t * 2 * D + D, D);
}

void ran_paper_review(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_paper_step *a = s->act;
        size_t D = w->D;

        ran_phase = RAN_PHASE_REVIEW;
        for (const struct ran_paper_window *v = s->own->window; v < s->own->window + s->n; v++)
                memcpy(a->y + v->token * D, s->own->y[s->l] + v->t * D,
                       v->tokens * D * sizeof(float));
        if (w->c->ran.review)
                attend_to_states(s);
        for (const struct ran_paper_window *v = s->own->window; v < s->own->window + s->n; v++) {
                const float *sum = (w->c->ran.review ? a->review_sum : a->y) + v->token * D;
                float *x = w->x[s->l + 1] + v->t * D;

                if (w->c->ran.review && !s->gated)
                        memcpy(x, a->review_r + v->token * D, v->tokens * D * sizeof *x);
                else
                        ran_paper_norm(w, x, a->review_stat + v->token * 2, sum,
                                       s->p->review_norm_w, s->p->review_norm_b, v->tokens);
        }
}

/* ---- a layer ----------------------------------------------------------------------------------
 */

/* Adds the weights of a step's windows to the attention probes. */
static void probe(const struct ran_paper_pass *s, bool review)
{
        struct ran_workspace *w = s->w;

        for (size_t k = 0; w->probes != NULL && k < w->probes->n; k++)
                for (size_t j = 0; j < s->n; j++) {
                        const struct ran_paper_window *v = &s->own->window[j];
                        struct ran_attention_heads x =
                                ran_attention_heads_of(w, v->i, s->act->qkv + v->row * 3 * w->E);

                        if (review)
                                ran_review_probe(&s->review, &w->probes->probe[k], v->i,
                                                 s->act->review_q + v->token * w->D,
                                                 w->workers.scratch);
                        else
                                ran_attention_probe(&w->probes->probe[k], s->l, v->at, &x,
                                                    w->workers.scratch);
                }
}

/* Saves a layer's cells, keys and values in the recurrent states. */
static void keep_states(const struct ran_paper_pass *s)
{
        const struct ran_packed *packed = s->w->packed;
        size_t D = s->w->D;

        for (size_t b = 0; b < packed->B; b++) {
                if (packed->recurrent[b] == NULL)
                        continue;
                size_t closed = ran_layer_closed(s->w, b),
                       state = (packed->doc_window[b] + b + closed) * D;
                float *cell = ran_recurrent_state_cell(packed->recurrent[b], s->l);

                memcpy(cell, s->cells->c + state, D * sizeof *cell);
                if (s->published)
                        memcpy(cell + D, s->cells->G + state, D * sizeof *cell);
                ran_review_keep(&s->review, b, closed);
        }
}

static void encode_layer(struct ran_paper_pass *s)
{
        struct ran_workspace *w = s->w;

        /* Under a mask the last cell of the layer below has seen tokens that this layer's first
         * cell must not. */
        first_cells(s, s->l > 0 && w->c->mask == RAN_MASK_NONE ? &s->own->cells[s->l - 1] : NULL);
        for (size_t g = 0; g < s->own->groups; g++)
                for (size_t k = 0; ran_paper_step(s, g, k); k++) {
                        ran_paper_windows(s);
                        probe(s, false);
                        for (size_t j = 0; j < s->n; j++) {
                                const struct ran_paper_window *v = &s->own->window[j];

                                if (ran_layer_stays_open(w, v->i))
                                        ran_layer_keep_window(w, s->l, v->i,
                                                              s->act->qkv + v->row * 3 * w->E);
                        }
                }
        if (w->c->ran.review)
                states(s);
        for (size_t g = 0; g < s->own->groups; g++)
                for (size_t k = 0; ran_paper_step(s, g, k); k++) {
                        ran_paper_review(s);
                        if (w->c->ran.review)
                                probe(s, true);
                }
        keep_states(s);
}

void ran_paper_forward(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_once *q = p->once;

        if (ran_paper_is_published(w->c))
                ran_paper_norm(w, own->start, own->start_stat, w->x[0], q->start_norm_w,
                               q->start_norm_b, w->packed->L);
        for (size_t l = 0; l < w->c->layers; l++) {
                struct ran_paper_pass s = ran_paper_pass_of(w, p, NULL, l);

                encode_layer(&s);
        }
        ran_layer_advance(w);
}
