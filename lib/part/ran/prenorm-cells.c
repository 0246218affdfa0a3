/* prenorm-cells.c - the cells of a prenorm layer: what goes window by window. See prenorm.h. */
#include "math/gemm.h"
#include "math/simd.h"
#include "part/ran/prenorm.h"
#include "ran/model.h"

#include <string.h>

/* N of a state, from what is carried. */
static void norm_cell(const struct ran_prenorm_pass *s, size_t state)
{
        struct ran_prenorm_cells *c = s->cells;
        size_t D = s->w->D;

        ran_simd->norm(c->N + state * D, D, c->stat + state * 2, c->G + state * D, D,
                       s->p->cell_norm_w, s->p->cell_norm_b, RAN_LN_EPS, 1, D);
}

/* Adds the adjoint of N to that of what is carried. dw, db: gradients of the norm, or NULL. d: D
 * floats of scratch. */
static void norm_cell_bwd(const struct ran_prenorm_pass *s, size_t state, float *dw, float *db,
                          float *d)
{
        const struct ran_prenorm_adjoints *j = &s->own->adj;
        size_t D = s->w->D;

        ran_simd->norm_bwd(d, D, dw, db, j->dN + state * D, D, s->cells->G + state * D, D,
                           s->cells->stat + state * 2, s->p->cell_norm_w, 1, D);
        ran_simd->add(j->dG + state * D, d, D);
}

/* ---- first cells ----------------------------------------------------------------------------- */

void ran_prenorm_first_cells(struct ran_prenorm_pass *s, const struct ran_prenorm_cells *below)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_prenorm_cells *c = s->cells;
        size_t D = w->D;

        ran_layer_last_states(w, c->below, below != NULL ? below->N : NULL);
        ran_workspace_linear(w, s->panels, c->first, c->below, s->p->gpc, NULL, D, D);
        for (size_t b = 0; b < packed->B; b++) {
                size_t state = packed->doc_window[b] + b;
                float *G = c->G + state * D;

                ran_simd->norm(G, D, c->first_stat + b * 2, c->first + b * D, D, s->p->gpc_norm_w,
                               s->p->gpc_norm_b, RAN_LN_EPS, 1, D);
                if (ran_packed_continues(packed, b))
                        memcpy(G, ran_recurrent_state_cell(packed->recurrent[b], s->l),
                               D * sizeof *G);
                norm_cell(s, state);
        }
}

void ran_prenorm_first_cells_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_prenorm_cells *c = s->cells;
        const struct ran_prenorm_adjoints *j = &s->own->adj;
        size_t D = w->D;

        for (size_t b = 0; b < packed->B; b++) {
                size_t state = packed->doc_window[b] + b;
                float *d = j->dG + state * D;

                norm_cell_bwd(s, state, s->dp->cell_norm_w, s->dp->cell_norm_b, j->dfirst + b * D);
                if (ran_packed_continues(packed, b)) /* the recurrent state is a constant */
                        memset(d, 0, D * sizeof *d);
                ran_simd->norm_bwd(j->dfirst + b * D, D, s->dp->gpc_norm_w, s->dp->gpc_norm_b, d, D,
                                   c->first + b * D, D, c->first_stat + b * 2, s->p->gpc_norm_w, 1,
                                   D);
        }
        ran_gemm_linear_bwd(w->pool, w->dlast, D, false, s->dp->gpc, NULL, j->dfirst, D, c->below,
                            D, s->p->gpc, packed->B, D, D);
}

/* ---- forward --------------------------------------------------------------------------------- */

/* fn, which gets s, for each document that has windows in the slab. */
static void each_document(struct ran_prenorm_pass *s,
                          void (*fn)(void *arg, size_t b, float *scratch))
{
        const struct ran_packed *packed = s->w->packed;

        ran_workers_each_on(&s->w->workers, s->w->workers.aside, packed->window_doc[s->from],
                            packed->window_doc[s->to - 1] + 1, fn, s);
}

/* The windows of document b in the slab: the first, and the one after the last. */
static size_t first_window(const struct ran_prenorm_pass *s, size_t b)
{
        return ran_most(s->w->packed->doc_window[b], s->from);
}

static size_t end_window(const struct ran_prenorm_pass *s, size_t b)
{
        return ran_least(s->w->packed->doc_window[b + 1], s->to);
}

/* q, k and v of a cell, which the large product could not compute: it needs the state before. */
static void project(struct ran_prenorm_pass *s, const struct ran_layer_window *v)
{
        struct ran_workspace *w = s->w;
        size_t D = w->D, ld = 3 * w->E;
        float *z = s->act->z + v->r * D;

        memcpy(z, s->cells->N + v->state * D, D * sizeof *z);
        ran_prenorm_dropout(s, v, RAN_DROP_INPUT, 0, 1, z);
        ran_gemm_linear_kept(NULL, s->panels, s->act->qkv + v->r * ld, ld, z, D, s->p->q_w,
                             s->p->q_b, 1, D, ld); /* position 0: nothing rotates */
}

/* From the cell's attention to the next state. candidate: D floats of scratch. */
static void update(struct ran_prenorm_pass *s, const struct ran_layer_window *v, float *candidate)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_cells *c = s->cells;
        size_t D = w->D;
        float *in = c->gate_in + v->i * 2 * D, *u = c->gate + v->i * D;
        const float *G = c->G + v->state * D;
        float *next = c->G + (v->state + 1) * D;

        memcpy(c->heads + v->i * w->E, s->act->a + v->r * w->E, w->E * sizeof *in);
        ran_gemm_linear_kept(NULL, s->panels, in, D, c->heads + v->i * w->E, w->E, s->p->cell_out_w,
                             s->p->cell_out_b, 1, w->E, D);
        ran_prenorm_dropout(s, v, RAN_DROP_ATTENTION, 0, 1, in);
        ran_simd->norm(candidate, D, c->update_stat + v->i * 2, in, D, s->p->update_norm_w,
                       s->p->update_norm_b, RAN_LN_EPS, 1, D);
        if (w->c->ran.residual) {
                memcpy(in + D, c->N + v->state * D, D * sizeof *in);
                ran_gemm_linear_kept(NULL, s->panels, u, D, in, 2 * D, s->p->cell_gate_w,
                                     s->p->cell_gate_b, 1, 2 * D, D);
                ran_simd->axpy(candidate, -1.0f, G, D);
                memcpy(next, G, D * sizeof *next);
                ran_simd->glu_add(next, candidate, u, D); /* G + (candidate - G) sigmoid(u) */
        } else {
                memcpy(next, candidate, D * sizeof *next);
        }
        norm_cell(s, v->state + 1);
}

static void scan(void *arg, size_t b, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_prenorm_cells *c = s->cells;
        size_t D = s->w->D;

        for (size_t i = first_window(s, b); i < end_window(s, b); i++) {
                struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
                struct ran_attention_heads x = ran_prenorm_heads(s, &v);

                if (i != s->w->packed->doc_window[b])
                        project(s, &v);
                if (ran_layer_stays_open(s->w, i)) { /* its cell comes when it is closed */
                        memset(c->G + (v.state + 1) * D, 0, D * sizeof(float));
                        memset(c->N + (v.state + 1) * D, 0, D * sizeof(float));
                        continue;
                }
                ran_attention(s->act->a + v.r * s->w->E, &x, 0, 1, scratch);
                update(s, &v, scratch);
        }
}

void ran_prenorm_scan(struct ran_prenorm_pass *s)
{
        each_document(s, scan);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Rows of a window's part in adj.part: gradients of the norms that its cell passes. */
enum { PART_UPDATE = 0, PART_CELL = 2 };

/* From the state after a window to dcandidate, the gate and the state before. d: 3 D
 * floats of scratch. */
static void update_bwd(struct ran_prenorm_pass *s, const struct ran_layer_window *v, float *d)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_cells *c = s->cells;
        const struct ran_prenorm_adjoints *j = &s->own->adj;
        size_t D = w->D;
        float *part = j->part + v->i * 4 * D, *dnext = j->dG + (v->state + 1) * D;
        float *dG = j->dG + v->state * D, *du = j->dgate + v->i * D,
              *d_in = j->dcandidate + v->i * D, *din = d + D;
        const float *G = c->G + v->state * D, *u = c->gate + v->i * D,
                    *in = c->gate_in + v->i * 2 * D;

        norm_cell_bwd(s, v->state + 1, part + PART_CELL * D, part + (PART_CELL + 1) * D, d);
        memset(din, 0, 2 * D * sizeof *din);
        if (w->c->ran.residual) {
                ran_simd->norm(d, D, din, in, D, s->p->update_norm_w, s->p->update_norm_b,
                               RAN_LN_EPS, 1, D);
                ran_simd->axpy(d, -1.0f, G, D); /* candidate - G */
                ran_simd->glu_bwd(d, du, dnext, d, u, D);
                ran_simd->add(dG, dnext, D);
                ran_simd->axpy(dG, -1.0f, d, D);
                ran_gemm_linear_bwd(NULL, din, 2 * D, false, NULL, NULL, du, D, NULL, 0,
                                    s->p->cell_gate_w, 1, 2 * D, D);
                ran_simd->add(j->dN + v->state * D, din + D, D);
        } else {
                memcpy(d, dnext, D * sizeof *d);
        }
        ran_simd->norm_bwd(d_in, D, part + PART_UPDATE * D, part + (PART_UPDATE + 1) * D, d, D, in,
                           D, c->update_stat + v->i * 2, s->p->update_norm_w, 1, D);
        ran_simd->add(d_in, din, D);
        ran_prenorm_dropout(s, v, RAN_DROP_ATTENTION, 0, 1, d_in);
}

/* From the cell's q, k and v to N_{i-1}. d: D floats of scratch. */
static void project_bwd(struct ran_prenorm_pass *s, const struct ran_layer_window *v, float *d)
{
        struct ran_workspace *w = s->w;

        ran_gemm_linear_bwd(NULL, d, w->D, false, NULL, NULL, s->own->adj.dqkv + v->r * 3 * w->E,
                            3 * w->E, NULL, 0, s->p->q_w, 1, w->D, 3 * w->E);
        ran_prenorm_dropout(s, v, RAN_DROP_INPUT, 0, 1, d);
        ran_simd->add(s->own->adj.dN + v->state * w->D, d, w->D);
}

/* Right to left: the gradient of a cell needs that of the next; token rows were done before. */
static void scan_bwd(void *arg, size_t b, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_workspace *w = s->w;

        for (size_t i = end_window(s, b); i-- > first_window(s, b);) {
                struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
                struct ran_attention_heads x = ran_prenorm_heads(s, &v);
                float *da = s->own->adj.da + v.r * w->E;

                update_bwd(s, &v, scratch);
                ran_gemm_linear_bwd(NULL, da, w->E, false, NULL, NULL,
                                    s->own->adj.dcandidate + v.i * w->D, w->D, NULL, 0,
                                    s->p->cell_out_w, 1, w->E, w->D);
                ran_attention_bwd(s->own->adj.dqkv + v.r * 3 * w->E, da, &x, 0, 1, true, scratch);
                project_bwd(s, &v, scratch);
        }
}

void ran_prenorm_scan_bwd(struct ran_prenorm_pass *s)
{
        each_document(s, scan_bwd);
        ran_prenorm_sum_parts(s, PART_UPDATE, s->dp->update_norm_w, s->dp->update_norm_b);
        ran_prenorm_sum_parts(s, PART_CELL, s->dp->cell_norm_w, s->dp->cell_norm_b);
}

void ran_prenorm_scan_weights_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        size_t D = w->D;

        ran_gemm_linear_bwd(w->pool, NULL, 0, false, s->dp->cell_out_w, s->dp->cell_out_b,
                            s->own->adj.dcandidate, D, s->cells->heads, w->E, s->p->cell_out_w,
                            w->packed->m, w->E, D);
        if (w->c->ran.residual)
                ran_gemm_linear_bwd(w->pool, NULL, 0, false, s->dp->cell_gate_w, s->dp->cell_gate_b,
                                    s->own->adj.dgate, D, s->cells->gate_in, 2 * D,
                                    s->p->cell_gate_w, w->packed->m, 2 * D, D);
}
