/* scan.c - the cells: the only part of a RAN that goes window by window. See layer.h.
 *
 * Each step is one row, so it costs matrix-vector products over the layer's weights and one query
 * over the keys of a window. Documents are independent of each other. Backward, where the products
 * are largest, those of a slab go abreast: the rows of a step are multiplied together.
 */
#include "part/ran/layer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

static void drop_cell(const struct ran_layer_pass *s, const struct ran_window_view *v, int site,
                      float *x)
{
        ran_window_dropout(s, v, site, 0, 1, x);
}

void ran_scan_each_document(struct ran_layer_pass *s,
                            void (*fn)(void *arg, size_t b, float *scratch))
{
        const struct ran_packed *packed = s->w->packed;

        ran_workers_each_aside(&s->w->workers, packed->window_doc[s->from],
                               packed->window_doc[s->to - 1] + 1, fn, s);
}

size_t ran_scan_first_window(const struct ran_layer_pass *s, size_t b)
{
        size_t i = s->w->packed->doc_window[b];

        return i > s->from ? i : s->from;
}

size_t ran_scan_end_window(const struct ran_layer_pass *s, size_t b)
{
        size_t i = s->w->packed->doc_window[b + 1];

        return i < s->to ? i : s->to;
}

/* ---- forward -------------------------------------------------------------------------------- */

void ran_scan_below(struct ran_layer_pass *s, const struct ran_cells *below, float *y)
{
        const struct ran_packed *packed = s->w->packed;
        struct ran_cells *c = s->cells;
        size_t D = s->w->D;

        for (size_t b = 0; b < packed->B; b++)
                if (below != NULL)
                        memcpy(c->below + b * D, below->G + (packed->doc_window[b + 1] + b) * D,
                               D * sizeof *c->below);
                else
                        memset(c->below + b * D, 0, D * sizeof *c->below);
        ran_workspace_linear(s->w, y, c->below, s->p->gpc, NULL, D, D);
}

void ran_scan_first_cells(struct ran_layer_pass *s, const struct ran_cells *below)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_cells *c = s->cells;
        size_t D = w->D;

        ran_phase = RAN_PHASE_SCAN;
        ran_scan_below(s, below, c->first_pre);
        ran_window_activation(w, c->first, c->first_pre, packed->B * D);
        for (size_t b = 0; b < packed->B; b++) {
                float *G = c->G + (packed->doc_window[b] + b) * D;

                ran_layer_norm(w, G, c->first_stat + b * 2, c->first + b * D, s->p->gpc_norm_w,
                               s->p->gpc_norm_b, 1);
                if (ran_packed_continues(packed, b))
                        memcpy(G, ran_recurrent_state_cell(packed->recurrent[b], s->l),
                               D * sizeof *G);
        }
}

/* Computes q, k, v and gates of a cell, which the large product could not: it needs the state
 * before. */
static void project(struct ran_layer_pass *s, const struct ran_window_view *v)
{
        struct ran_workspace *w = s->w;
        float *z = s->act->z + v->r * w->D, *pre = s->act->pre + v->r * s->own->projected;

        ran_layer_norm(w, z, s->act->z_stat + v->r * 2, ran_layer_fed(s) + v->state * w->D,
                       s->p->input_norm_w, s->p->input_norm_b, 1);
        drop_cell(s, v, RAN_DROP_INPUT, z);
        ran_gemm_linear(NULL, pre, s->own->projected, z, w->D, s->p->q_w, s->p->q_b, 1, w->D,
                        s->own->projected);
        ran_window_activation(w, s->act->qkv + v->r * 3 * w->E, pre,
                              3 * w->E); /* position 0: nothing rotates */
}

/* Equations (2) to (6) for the cell. g: D floats of scratch. */
static void update(struct ran_layer_pass *s, const struct ran_window_view *v, float *g)
{
        struct ran_workspace *w = s->w;
        struct ran_cells *c = s->cells;
        size_t D = w->D;
        float *p = s->act->p + v->r * D, *pn = p, *o = s->act->o + v->r * D,
              *next = ran_layer_fed(s) + (v->state + 1) * D;
        const float *G = c->G + v->state * D,
                    *glu = s->act->pre + v->r * s->own->projected + 3 * w->E;

        ran_gemm_linear(NULL, o, D, s->act->a + v->r * w->E, w->E, s->p->out_w, s->p->out_b, 1,
                        w->E, D);
        ran_window_activation(w, p, o, D);
        drop_cell(s, v, RAN_DROP_ATTENTION, p);
        if (ran_layer_is_gated(w)) {
                ran_simd->glu_add(p, glu, glu + D, D);
                pn = s->act->pn + v->r * D;
                ran_layer_norm(w, pn, s->act->p_stat + v->r * 2, p, s->p->output_norm_w,
                               s->p->output_norm_b, 1);
        }
        ran_layer_norm(w, g, s->act->y_stat + v->r * 2, pn, NULL, NULL, 1);
        if (ran_layer_is_published(w))
                memcpy(c->G + (v->state + 1) * D, g, D * sizeof *g);
        if (ran_published_is_first(s, v)) {
                memcpy(next, g, D * sizeof *g);
                return;
        }
        if (w->c->ran.residual && ran_layer_is_gated(w)) {
                float *u = c->update_glu + v->i * 2 * D;

                ran_gemm_linear(NULL, u, 2 * D, G, D, s->p->update_value_w, s->p->update_value_b, 1,
                                D, 2 * D);
                ran_simd->glu_add(g, u, u + D, D);
        } else if (w->c->ran.residual) {
                ran_simd->add(g, G, D);
        }
        memcpy(c->update_sum + v->i * D, g, D * sizeof *g);
        ran_layer_norm(w, next, c->update_stat + v->i * 2, g, s->p->update_norm_w,
                       s->p->update_norm_b, 1);
}

static void scan(void *arg, size_t b, float *scratch)
{
        struct ran_layer_pass *s = arg;

        for (size_t i = ran_scan_first_window(s, b); i < ran_scan_end_window(s, b); i++) {
                struct ran_window_view v = ran_window_view_of(s, i);
                struct ran_attention_heads x = ran_attention_heads_of(s, &v);

                if (i != s->w->packed->doc_window[b])
                        project(s, &v);
                if (ran_window_stays_open(s->w, i)) { /* its cell comes when it is closed */
                        memset(s->cells->G + (v.state + 1) * s->w->D, 0, s->w->D * sizeof(float));
                        memset(ran_layer_fed(s) + (v.state + 1) * s->w->D, 0,
                               s->w->D * sizeof(float));
                        continue;
                }
                ran_attention(&x, 0, 1, scratch);
                update(s, &v, scratch);
        }
}

void ran_scan(struct ran_layer_pass *s)
{
        ran_phase = RAN_PHASE_SCAN;
        ran_scan_each_document(s, scan);
}

/* ---- backward ------------------------------------------------------------------------------- */

/* Rows of a window's part in adj.part: gradients of the norms that its cell passes. */
enum { PART_UPDATE = 0, PART_OUTPUT = 2, PART_INPUT = 4 };

/* Equation (6), and published cells' in its place: from the adjoint of what the next window begins
 * with to d, that of G'_i, and the part of dG_{i-1} that bypasses the window. */
static void residual_bwd(struct ran_layer_pass *s, const struct ran_window_view *v, float *d)
{
        struct ran_workspace *w = s->w;
        struct ran_cells *c = s->cells;
        size_t D = w->D;
        float *part = s->own->adj.part + v->i * 6 * D, *dG = s->own->adj.dG + v->state * D;
        const float *dnext = ran_layer_dfed(s) + (v->state + 1) * D;

        if (ran_published_is_first(s, v)) {
                memcpy(d, dnext, D * sizeof *d);
                return;
        }
        ran_layer_norm_bwd(w, d, part + PART_UPDATE * D, part + (PART_UPDATE + 1) * D, dnext,
                           c->update_sum + v->i * D, c->update_stat + v->i * 2, s->p->update_norm_w,
                           1);
        if (w->c->ran.residual && ran_layer_is_gated(w)) {
                const float *u = c->update_glu + v->i * 2 * D;
                float *du = s->own->adj.dupdate_glu + v->state * 2 * D;

                ran_simd->glu_bwd(du, du + D, d, u, u + D, D);
                ran_gemm_linear_bwd(NULL, dG, D, true, NULL, NULL, du, 2 * D, NULL, 0,
                                    s->p->update_value_w, 1, D, 2 * D);
        } else if (w->c->ran.residual) {
                ran_simd->add(dG, d, D);
        }
}

/* Equations (6) to (2): from dG of the state after to dp, d_o and the gates of the cell's row, and
 * the part of dG_{i-1} that bypasses the window. d: D floats of scratch. */
static void update_bwd(struct ran_layer_pass *s, const struct ran_window_view *v, float *d)
{
        struct ran_workspace *w = s->w;
        size_t D = w->D;
        float *part = s->own->adj.part + v->i * 6 * D;
        float *dp = s->own->adj.dp + v->r * D,
              *dglu = s->own->adj.dpre + v->r * s->own->projected + 3 * w->E;
        const float *p = s->act->p + v->r * D,
                    *pn = ran_layer_is_gated(w) ? s->act->pn + v->r * D : p;
        const float *glu = s->act->pre + v->r * s->own->projected + 3 * w->E;

        residual_bwd(s, v, d);
        if (ran_layer_is_published(w)) /* from the review, and from the next window's GLU */
                ran_simd->add(d, s->own->adj.dG + (v->state + 1) * D, D);
        ran_layer_norm_bwd(w, dp, NULL, NULL, d, pn, s->act->y_stat + v->r * 2, NULL, 1);
        if (ran_layer_is_gated(w)) {
                ran_layer_norm_bwd(w, dp, part + PART_OUTPUT * D, part + (PART_OUTPUT + 1) * D, dp,
                                   p, s->act->p_stat + v->r * 2, s->p->output_norm_w, 1);
                ran_simd->glu_bwd(dglu, dglu + D, dp, glu, glu + D, D);
        }
        drop_cell(s, v, RAN_DROP_ATTENTION, dp);
        ran_window_activation_bwd(w, s->own->adj.d_o + v->r * D, s->act->o + v->r * D, dp, D);
}

/* A step of the documents of a slab abreast, each at the window own->cell[j]: what they multiply by
 * the same weights lies side by side in cell_dy, and the result in cell_dx. One row at a time would
 * read the weights once for each document. */

static struct ran_window_view view_of(const struct ran_layer_pass *s, size_t j)
{
        return ran_window_view_of(s, s->own->cell[j]);
}

static void step_update_bwd(void *arg, size_t j, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_window_view v = view_of(s, j);
        size_t D = s->w->D;

        update_bwd(s, &v, scratch);
        memcpy(s->own->adj.cell_dy + j * D, s->own->adj.d_o + v.r * D, D * sizeof(float));
}

/* From the heads to the cell's q, k, v and gates before the activation. */
static void step_attention_bwd(void *arg, size_t j, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_window_view v = view_of(s, j);
        struct ran_attention_heads x = ran_attention_heads_of(s, &v);
        const struct ran_adjoints *adj = &s->own->adj;
        size_t E = s->w->E, projected = s->own->projected;
        float *da = adj->da + v.r * E, *dqkv = adj->dqkv + v.r * 3 * E,
              *dpre = adj->dpre + v.r * projected;

        memcpy(da, adj->cell_dx + j * E, E * sizeof *da);
        ran_attention_bwd(dqkv, da, &x, 0, 1, true, scratch);
        ran_window_activation_bwd(s->w, dpre, s->act->pre + v.r * projected, dqkv, 3 * E);
        memcpy(adj->cell_dy + j * projected, dpre, projected * sizeof *dpre);
}

/* To G_{i-1}, through LN_in. */
static void step_input_bwd(void *arg, size_t j, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_window_view v = view_of(s, j);
        size_t D = s->w->D;
        float *part = s->own->adj.part + v.i * 6 * D, *d = s->own->adj.cell_dx + j * D;

        (void)scratch;
        drop_cell(s, &v, RAN_DROP_INPUT, d);
        ran_layer_norm_bwd(s->w, d, part + PART_INPUT * D, part + (PART_INPUT + 1) * D, d,
                           ran_layer_fed(s) + v.state * D, s->act->z_stat + v.r * 2,
                           s->p->input_norm_w, 1);
        ran_simd->add(ran_layer_dfed(s) + v.state * D, d, D);
}

static void step_bwd(struct ran_layer_pass *s, size_t n)
{
        struct ran_workspace *w = s->w;
        const struct ran_adjoints *adj = &s->own->adj;
        size_t D = w->D, E = w->E, projected = s->own->projected;

        ran_workers_each_aside(&w->workers, 0, n, step_update_bwd, s);
        ran_gemm_linear_bwd(w->pool, adj->cell_dx, E, false, NULL, NULL, adj->cell_dy, D, NULL, 0,
                            s->p->out_w, n, E, D);
        ran_workers_each_aside(&w->workers, 0, n, step_attention_bwd, s);
        ran_gemm_linear_bwd(w->pool, adj->cell_dx, D, false, NULL, NULL, adj->cell_dy, projected,
                            NULL, 0, s->p->q_w, n, D, projected);
        ran_workers_each_aside(&w->workers, 0, n, step_input_bwd, s);
}

/* Right to left: the gradient of a cell needs that of the next; token rows were done before. */
static void step_back(struct ran_layer_pass *s)
{
        const struct ran_packed *packed = s->w->packed;
        size_t *cell = s->own->cell, n = 0;

        for (size_t b = packed->window_doc[s->from]; b <= packed->window_doc[s->to - 1]; b++)
                cell[n++] = ran_scan_end_window(s, b) - 1;
        while (n > 0) {
                size_t left = 0;

                step_bwd(s, n);
                for (size_t j = 0; j < n; j++)
                        if (cell[j] > ran_scan_first_window(s, packed->window_doc[cell[j]]))
                                cell[left++] = cell[j] - 1;
                n = left;
        }
}

void ran_scan_bwd(struct ran_layer_pass *s)
{
        ran_phase = RAN_PHASE_SCAN;
        step_back(s);
        ran_window_sum_parts(s, PART_UPDATE, s->dp->update_norm_w, s->dp->update_norm_b);
        if (ran_layer_is_gated(s->w))
                ran_window_sum_parts(s, PART_OUTPUT, s->dp->output_norm_w, s->dp->output_norm_b);
        ran_window_sum_parts(s, PART_INPUT, s->dp->input_norm_w, s->dp->input_norm_b);
}

void ran_scan_weights_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        size_t D = w->D, states = w->packed->m + w->packed->B;

        ran_phase = RAN_PHASE_SCAN;
        if (w->c->ran.residual && ran_layer_is_gated(w))
                ran_gemm_linear_bwd(w->pool, NULL, 0, false, s->dp->update_value_w,
                                    s->dp->update_value_b, s->own->adj.dupdate_glu, 2 * D,
                                    s->cells->G, D, s->p->update_value_w, states, D, 2 * D);
}

void ran_scan_first_cells_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_cells *c = s->cells;
        size_t D = w->D;

        for (size_t b = 0; b < packed->B; b++)
                if (ran_packed_continues(packed, b)) /* the recurrent state is a constant */
                        memset(s->own->adj.dG + (packed->doc_window[b] + b) * D, 0,
                               D * sizeof(float));
        for (size_t b = 0; b < packed->B; b++)
                ran_layer_norm_bwd(w, s->own->adj.dfirst + b * D, s->dp->gpc_norm_w,
                                   s->dp->gpc_norm_b,
                                   s->own->adj.dG + (packed->doc_window[b] + b) * D,
                                   c->first + b * D, c->first_stat + b * 2, s->p->gpc_norm_w, 1);
        ran_window_activation_bwd(w, s->own->adj.dfirst, c->first_pre, s->own->adj.dfirst,
                                  packed->B * D);
        ran_gemm_linear_bwd(w->pool, w->dlast, D, false, s->dp->gpc, NULL, s->own->adj.dfirst, D,
                            c->below, D, s->p->gpc, packed->B, D, D);
}
