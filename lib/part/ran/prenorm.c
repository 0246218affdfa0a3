/* prenorm.c - the rows of a prenorm layer: norms at both ends, projections, window attention. See
 * prenorm.h. */
#include "part/ran/prenorm.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* ---- before the first layer and after the last one ------------------------------------------- */

/* LN of all tokens, document by document. */
struct ends {
        struct ran_workspace *w;
        float *y, *stat;
        const float *x, *weight, *bias;
        float *part; /* of the backward pass: (m, 2, D) */
};

static void norm_window(void *arg, size_t i, float *scratch)
{
        const struct ends *k = arg;
        size_t D = k->w->D, t = k->w->packed->window[i], n = k->w->packed->window[i + 1] - t;

        (void)scratch;
        ran_layer_norm(k->w, k->y + t * D, k->stat + t * 2, k->x + t * D, k->weight, k->bias, n);
}

static void norm_window_bwd(void *arg, size_t i, float *scratch)
{
        const struct ends *k = arg;
        size_t D = k->w->D, t = k->w->packed->window[i], n = k->w->packed->window[i + 1] - t;
        float *part = k->part + i * 6 * D;

        (void)scratch;
        memset(part, 0, 2 * D * sizeof *part);
        ran_layer_norm_bwd(k->w, k->w->dx + t * D, part, part + D, k->w->dx + t * D, k->x + t * D,
                           k->stat + t * 2, k->weight, n);
}

/* Adds the windows' parts to dw and db, in order. */
static void sum_ends(const struct ends *k, float *dw, float *db)
{
        size_t D = k->w->D;

        for (size_t i = 0; i < k->w->packed->m && dw != NULL; i++) {
                ran_simd->add(dw, k->part + i * 6 * D, D);
                ran_simd->add(db, k->part + i * 6 * D + D, D);
        }
}

static struct ends start_of(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const struct ran_join_params *q = p->once;

        return (struct ends){.w = w,
                             .y = own->start,
                             .stat = own->start_stat,
                             .x = w->x[0],
                             .weight = q->start_norm_w,
                             .bias = q->start_norm_b,
                             .part = own->adj.part};
}

static struct ends last_of(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const struct ran_join_params *q = p->once;

        return (struct ends){.w = w,
                             .y = w->x[w->c->layers],
                             .stat = own->last_stat,
                             .x = own->last,
                             .weight = q->last_norm_w,
                             .bias = q->last_norm_b,
                             .part = own->adj.part};
}

void ran_layer_start(struct ran_workspace *w, const struct ran_params *p)
{
        struct ends k = start_of(w, p);

        ran_workers_each(&w->workers, 0, w->packed->m, norm_window, &k);
}

static void last(struct ran_workspace *w, const struct ran_params *p)
{
        struct ends k = last_of(w, p);

        ran_workers_each(&w->workers, 0, w->packed->m, norm_window, &k);
}

void ran_layer_start_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        struct ends k = start_of(w, p);
        struct ran_join_params *dq = dp->once;

        ran_workers_each(&w->workers, 0, w->packed->m, norm_window_bwd, &k);
        sum_ends(&k, dq->start_norm_w, dq->start_norm_b);
}

static void last_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        struct ends k = last_of(w, p);
        struct ran_join_params *dq = dp->once;

        ran_workers_each(&w->workers, 0, w->packed->m, norm_window_bwd, &k);
        sum_ends(&k, dq->last_norm_w, dq->last_norm_b);
}

/* ---- Z and the large product ----------------------------------------------------------------- */

static void normalise(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D;
        float *z = s->act->z + v.r * D;
        bool cell = s->known || i == w->packed->doc_window[v.b];

        (void)scratch;
        ran_simd->norm(z + v.first * D, D, s->act->z_stat + (v.r + v.first) * 2,
                       ran_layer_in(s) + v.t * D, D, s->p->input_norm_w, s->p->input_norm_b,
                       RAN_LN_EPS, v.n - v.first, D);
        if (v.first > 1)
                return; /* an open window: its cell and first tokens are known, and no dropout */
        if (cell)
                memcpy(z, s->cells->G + v.state * D, D * sizeof *z);
        else
                memset(z, 0, D * sizeof *z); /* the scan fills it in */
        ran_window_dropout(s, &v, RAN_DROP_INPUT, cell ? 0 : 1, v.n, z);
}

static void rotate(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t known = v.first > 1 ? v.first : 0;

        (void)scratch;
        ran_simd->rotary(s->act->qkv + (v.r + known) * 3 * w->E, 3 * w->E,
                         w->rotary.table + known * 2 * w->d_k, 1.0f, v.n - known, 2 * w->h, w->d_k);
}

static void project(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        size_t ld = 3 * w->E;

        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_window_recall(s);
        ran_workers_each(&w->workers, s->from, s->to, normalise, s);
        ran_window_linear(s, s->act->qkv, s->act->z, s->p->q_w, s->p->q_b, w->D, ld);
        if (w->c->rotary)
                ran_workers_each(&w->workers, s->from, s->to, rotate, s);
}

static void rotate_back(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);

        (void)scratch;
        ran_simd->rotary(s->own->adj.dqkv + v.r * 3 * w->E, 3 * w->E, w->rotary.table, -1.0f, v.n,
                         2 * w->h, w->d_k);
}

/* Token rows only: the scan has done the cells. */
static void normalise_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D, n = v.n - 1;
        float *dz = s->own->adj.dz + v.r * D, *dx = w->dx + v.t * D;

        (void)scratch;
        ran_window_dropout(s, &v, RAN_DROP_INPUT, 1, v.n, dz);
        memcpy(dx, s->own->dy + v.t * D, n * D * sizeof *dx);
        ran_prenorm_norm_bwd(s, i, dx, dz + D, ran_layer_in(s) + v.t * D,
                             s->act->z_stat + (v.r + 1) * 2, s->p->input_norm_w);
}

static void project_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_phase = RAN_PHASE_PROJECTIONS;
        if (w->c->rotary)
                ran_workers_each(&w->workers, s->from, s->to, rotate_back, s);
        ran_window_products_bwd(s);
        ran_workers_each(&w->workers, s->from, s->to, normalise_bwd, s);
        ran_window_sum_parts(s, 0, s->dp->input_norm_w, s->dp->input_norm_b);
}

/* ---- attention and Y ------------------------------------------------------------------------- */

static void add_tokens(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D, n = (v.n - v.first) * D;
        float *o = s->act->o + v.r * D, *y = s->own->y[s->l] + v.t * D;
        const float *x = ran_layer_in(s) + v.t * D;

        (void)scratch;
        ran_window_dropout(s, &v, RAN_DROP_ATTENTION, v.first, v.n, o);
        if (y != x)
                memcpy(y, x, n * sizeof *y);
        ran_simd->add(y, o + v.first * D, n);
}

static void finish(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_window_attend(s);
        ran_workers_each(&w->workers, s->from, s->to, add_tokens, s);
}

/* The cell's row of d_o is cleared for the product; the scan writes it later. */
static void add_tokens_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D;
        float *d_o = s->own->adj.d_o + v.r * D;

        (void)scratch;
        memset(d_o, 0, D * sizeof *d_o);
        memcpy(d_o + D, s->own->dy + v.t * D, (v.n - 1) * D * sizeof *d_o);
        ran_window_dropout(s, &v, RAN_DROP_ATTENTION, 1, v.n, d_o);
}

static void finish_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_workers_each(&w->workers, s->from, s->to, add_tokens_bwd, s);
        ran_window_attend_bwd(s);
}

const struct ran_layer_stages ran_prenorm_stages = {
        .start = ran_layer_start,
        .start_bwd = ran_layer_start_bwd,
        .last = last,
        .last_bwd = last_bwd,
        .first_cells = ran_prenorm_first_cells,
        .first_cells_bwd = ran_prenorm_first_cells_bwd,
        .project = project,
        .project_bwd = project_bwd,
        .scan = ran_prenorm_scan,
        .scan_bwd = ran_prenorm_scan_bwd,
        .scan_weights_bwd = ran_prenorm_scan_weights_bwd,
        .finish = finish,
        .finish_bwd = finish_bwd,
        .review = ran_prenorm_review,
        .review_bwd = ran_prenorm_review_bwd,
};
