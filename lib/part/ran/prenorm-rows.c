/* prenorm-rows.c - the rows of a prenorm layer: norms at both ends, projections, window attention.
 * See prenorm.h.
 *
 * Rows of a window: its cell, then its tokens. In the forward pass a cell's row is known only for
 * the first window of a document (it is N_0); the scan fills the others in. When the backward pass
 * computes a slab again, all cells are known.
 */
#include "part/ran/prenorm.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* ---- before the first layer and after the last one --------------------------------------------
 */

void ran_prenorm_ends(struct ran_workspace *w, const struct ran_params *p, bool last)
{
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        const struct ran_prenorm_once *q = p->once;
        const struct ran_rows rows = ran_prenorm_rows(w, w->packed->L);

        if (last)
                ran_rows_norm(&rows, w->x[w->c->layers], own->last_stat, own->last, q->last_norm_w,
                              q->last_norm_b);
        else
                ran_rows_norm(&rows, own->start, own->start_stat, w->x[0], q->start_norm_w,
                              q->start_norm_b);
}

/* Window by window. */
struct ends {
        struct ran_workspace *w;
        const float *x, *stat, *weight;
        float *part; /* (m, 4, D), of which each uses two */
};

static void norm_window_bwd(void *arg, size_t i, float *scratch)
{
        const struct ends *k = arg;
        size_t D = k->w->D, t = k->w->packed->window[i], n = k->w->packed->window[i + 1] - t;
        float *part = k->part + i * 4 * D, *dx = k->w->dx + t * D;

        (void)scratch;
        memset(part, 0, 2 * D * sizeof *part);
        ran_simd->norm_bwd(dx, D, part, part + D, dx, D, k->x + t * D, D, k->stat + t * 2,
                           k->weight, n, D);
}

void ran_prenorm_ends_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, bool last)
{
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        const struct ran_prenorm_once *q = p->once, *dq = dp->once;
        struct ends k = {w, last ? own->last : w->x[0], last ? own->last_stat : own->start_stat,
                         last ? q->last_norm_w : q->start_norm_w, own->adj.part};
        float *dw = last ? dq->last_norm_w : dq->start_norm_w,
              *db = last ? dq->last_norm_b : dq->start_norm_b;
        size_t D = w->D;

        ran_workers_each(&w->workers, 0, w->packed->m, norm_window_bwd, &k);
        for (size_t i = 0; i < w->packed->m && dw != NULL; i++) {
                ran_simd->add(dw, k.part + i * 4 * D, D);
                ran_simd->add(db, k.part + (i * 4 + 1) * D, D);
        }
}

/* ---- products of rows that are not known -------------------------------------------------------
 */

/* Copies the rows of a slab that are not known, cols wide, from x to y: to lie side by side, or
 * back to their places. Returns their number. */
static size_t move_fresh(const struct ran_prenorm_pass *s, float *y, const float *x, size_t cols,
                         bool back)
{
        const struct ran_packed *packed = s->w->packed;
        size_t n = 0;

        for (size_t i = s->from; i < s->to; i++) {
                size_t at = packed->row[i] - s->r0 + ran_layer_known(packed, i),
                       rows = packed->row[i + 1] - s->r0 - at;

                memcpy(y + (back ? at : n) * cols, x + (back ? n : at) * cols,
                       rows * cols * sizeof *y);
                n += rows;
        }
        return n;
}

/* y (rows, O) = x (rows, I) w^T + b for all rows of a slab that are not known. */
static void linear(struct ran_prenorm_pass *s, float *y, const float *x, const float *w,
                   const float *b, size_t I, size_t O)
{
        struct ran_pool *pool = s->w->pool;

        if (s->own->fresh == 0) {
                size_t known = ran_layer_known(s->w->packed, s->from);

                ran_gemm_linear_kept(pool, s->panels, y + known * O, O, x + known * I, I, w, b,
                                     s->rows - known, I, O);
                return;
        }
        size_t n = move_fresh(s, s->act->fresh_in, x, I, false);
        ran_gemm_linear_kept(pool, s->panels, s->act->fresh_out, O, s->act->fresh_in, I, w, b, n, I,
                             O);
        move_fresh(s, y, s->act->fresh_out, O, true);
}

/* ---- Z and the large product ------------------------------------------------------------------
 */

static void normalise(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        size_t D = w->D;
        float *z = s->act->z + v.r * D;
        bool cell = s->known || i == w->packed->doc_window[v.b];

        (void)scratch;
        ran_simd->norm(z + v.first * D, D, s->act->z_stat + (v.r + v.first) * 2,
                       ran_prenorm_in(s) + v.t * D, D, s->p->input_norm_w, s->p->input_norm_b,
                       RAN_LN_EPS, v.n - v.first, D);
        if (v.first > 1)
                return; /* an open window: its cell and first tokens are known, and no dropout */
        if (cell)
                memcpy(z, s->cells->N + v.state * D, D * sizeof *z);
        else
                memset(z, 0, D * sizeof *z); /* the scan fills it in */
        ran_prenorm_dropout(s, &v, RAN_DROP_INPUT, cell ? 0 : 1, v.n, z);
}

static void rotate(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        size_t known = v.first > 1 ? v.first : 0;

        (void)scratch;
        ran_simd->rotary(s->act->qkv + (v.r + known) * 3 * w->E, 3 * w->E,
                         w->rotary.table + known * 2 * w->d_k, 1.0f, v.n - known, 2 * w->h, w->d_k);
}

void ran_prenorm_project(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;

        for (size_t i = s->from; i < s->to; i++) /* the known rows of open windows */
                if (ran_layer_known(packed, i) > 0)
                        ran_recurrent_state_recall(packed->recurrent[packed->window_doc[i]], s->l,
                                                   s->act->qkv +
                                                           (packed->row[i] - s->r0) * 3 * w->E);
        ran_workers_each(&w->workers, s->from, s->to, normalise, s);
        linear(s, s->act->qkv, s->act->z, s->p->q_w, s->p->q_b, w->D, 3 * w->E);
        if (w->c->rotary)
                ran_workers_each(&w->workers, s->from, s->to, rotate, s);
}

static void rotate_back(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);

        (void)scratch;
        ran_simd->rotary(s->own->adj.dqkv + v.r * 3 * w->E, 3 * w->E, w->rotary.table, -1.0f, v.n,
                         2 * w->h, w->d_k);
}

/* Token rows only: the scan has done the cells. */
static void normalise_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        size_t D = w->D;
        float *dz = s->own->adj.dz + v.r * D, *dx = w->dx + v.t * D;

        (void)scratch;
        ran_prenorm_dropout(s, &v, RAN_DROP_INPUT, 1, v.n, dz);
        memcpy(dx, s->own->dy + v.t * D, (v.n - 1) * D * sizeof *dx);
        ran_prenorm_norm_bwd(s, i, dx, dz + D, ran_prenorm_in(s) + v.t * D,
                             s->act->z_stat + (v.r + 1) * 2, s->p->input_norm_w);
}

void ran_prenorm_project_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_prenorm_adjoints *j = &s->own->adj;

        if (w->c->rotary)
                ran_workers_each(&w->workers, s->from, s->to, rotate_back, s);
        ran_gemm_linear_bwd(w->pool, j->dz, w->D, false, s->dp->q_w, s->dp->q_b, j->dqkv, 3 * w->E,
                            s->act->z, w->D, s->p->q_w, s->rows, w->D, 3 * w->E);
        ran_gemm_linear_bwd(w->pool, NULL, 0, false, s->dp->out_w, s->dp->out_b, j->d_o, w->D,
                            s->act->a, w->E, s->p->out_w, s->rows, w->E, w->D);
        ran_workers_each(&w->workers, s->from, s->to, normalise_bwd, s);
        ran_prenorm_sum_parts(s, 0, s->dp->input_norm_w, s->dp->input_norm_b);
}

/* ---- attention and Y --------------------------------------------------------------------------
 */

static void attend(void *arg, size_t i, float *score)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        struct ran_attention_heads x = ran_prenorm_heads(s, &v);

        size_t first = s->known ? 0 : v.first;

        ran_attention(s->act->a + (v.r + first) * s->w->E, &x, first, v.n, score);
}

static void add_tokens(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        size_t D = s->w->D, n = (v.n - v.first) * D;
        float *o = s->act->o + v.r * D, *y = s->cells->y + v.t * D;
        const float *x = ran_prenorm_in(s) + v.t * D;

        (void)scratch;
        ran_prenorm_dropout(s, &v, RAN_DROP_ATTENTION, v.first, v.n, o);
        if (y != x)
                memcpy(y, x, n * sizeof *y);
        ran_simd->add(y, o + v.first * D, n);
}

void ran_prenorm_finish(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_workers_each(&w->workers, s->from, s->to, attend, s);
        linear(s, s->act->o, s->act->a, s->p->out_w, s->p->out_b, w->E, w->D);
        ran_workers_each(&w->workers, s->from, s->to, add_tokens, s);
}

/* The cell's row of d_o is cleared for the product; the scan writes it later. */
static void add_tokens_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        size_t D = s->w->D;
        float *d_o = s->own->adj.d_o + v.r * D;

        (void)scratch;
        memset(d_o, 0, D * sizeof *d_o);
        memcpy(d_o + D, s->own->dy + v.t * D, (v.n - 1) * D * sizeof *d_o);
        ran_prenorm_dropout(s, &v, RAN_DROP_ATTENTION, 1, v.n, d_o);
}

static void attend_bwd(void *arg, size_t i, float *score)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
        struct ran_attention_heads x = ran_prenorm_heads(s, &v);
        size_t E = s->w->E;
        float *dqkv = s->own->adj.dqkv + v.r * 3 * E;

        memset(dqkv, 0, E * sizeof *dqkv); /* the cell's q: the scan adds to it */
        ran_attention_bwd(dqkv, s->own->adj.da + (v.r + 1) * E, &x, 1, v.n, false, score);
}

void ran_prenorm_finish_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        const struct ran_prenorm_adjoints *j = &s->own->adj;

        ran_workers_each(&w->workers, s->from, s->to, add_tokens_bwd, s);
        ran_gemm_linear_bwd(w->pool, j->da, w->E, false, NULL, NULL, j->d_o, w->D, NULL, 0,
                            s->p->out_w, s->rows, w->E, w->D);
        ran_workers_each(&w->workers, s->from, s->to, attend_bwd, s);
}
