/* window.c - the stages of a slab's rows other than scan and review. See layer.h.
 *
 * Rows of a window: its cell, then its tokens. In the forward pass a cell's row is known only for
 * the first window of a document (it is G_0); the scan fills the others in. When the backward pass
 * computes a slab again, all cells are known.
 */
#include "part/ran/layer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

/* The known rows of window i: if it was open, its cell and the tokens that were read before. */
static size_t known_rows(const struct ran_packed *packed, size_t i)
{
        size_t b = packed->window_doc[i];

        return i == packed->doc_window[b] && packed->open[b] > 0 ? 1 + packed->open[b] : 0;
}

static bool is_scattered(const struct ran_packed *packed, size_t from, size_t to)
{
        for (size_t i = from + 1; i < to; i++)
                if (known_rows(packed, i) > 0)
                        return true;
        return false;
}

struct ran_layer_pass ran_layer_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                        struct ran_params *dp, size_t l, size_t slab)
{
        const struct ran_packed *packed = w->packed;
        const struct ran_layer_params *layer = p->layers;
        struct ran_layer_params *dlayer = dp != NULL ? dp->layers : NULL;
        struct ran_layer_memory *own = ran_layer_memory_of(w);
        size_t from = own->first[slab], to = own->first[slab + 1];

        return (struct ran_layer_pass){
                .w = w,
                .own = own,
                .p = &layer[l],
                .dp = dlayer != NULL ? &dlayer[l] : NULL,
                .panels = p->panels,
                .l = l,
                .slab = slab,
                .from = from,
                .to = to,
                .t0 = packed->window[from],
                .r0 = ran_packed_row(packed, from),
                .tokens = packed->window[to] - packed->window[from],
                .rows = ran_packed_row(packed, to) - ran_packed_row(packed, from),
                .skip = known_rows(packed, from),
                .scattered = is_scattered(packed, from, to),
                .act = &own->slab[own->keeps ? l * own->slabs + slab : slab % 2],
                .cells = &own->cells[l],
        };
}

void ran_layer_norm(const struct ran_workspace *w, float *y, float *stat, const float *x,
                    const float *weight, const float *bias, size_t n)
{
        const size_t D = w->D;

        if (ran_layer_is_published(w))
                ran_simd->raw_norm(y, D, stat, x, D, weight, bias, RAN_SN_EPS, n, D);
        else
                ran_simd->norm(y, D, stat, x, D, weight, bias,
                               weight != NULL ? RAN_LN_EPS : RAN_SN_EPS, n, D);
}

void ran_layer_norm_bwd(const struct ran_workspace *w, float *dx, float *dw, float *db,
                        const float *dy, const float *x, const float *stat, const float *weight,
                        size_t n)
{
        const size_t D = w->D;

        (ran_layer_is_published(w) ? ran_simd->raw_norm_bwd : ran_simd->norm_bwd)(
                dx, D, dw, db, dy, D, x, D, stat, weight, n, D);
}

void ran_window_activation(const struct ran_workspace *w, float *y, const float *x, size_t n)
{
        if (ran_layer_is_gated(w))
                ran_simd->silu(y, x, n);
        else if (y != x)
                memcpy(y, x, n * sizeof *y);
}

void ran_window_activation_bwd(const struct ran_workspace *w, float *dx, const float *x,
                               const float *dy, size_t n)
{
        if (ran_layer_is_gated(w))
                ran_simd->silu_bwd(dx, x, dy, n);
        else if (dx != dy)
                memcpy(dx, dy, n * sizeof *dx);
}

struct ran_window_view ran_window_view_of(const struct ran_layer_pass *s, size_t i)
{
        const struct ran_packed *packed = s->w->packed;
        size_t b = packed->window_doc[i];

        return (struct ran_window_view){
                .i = i,
                .b = b,
                .t = packed->window[i],
                .n = ran_packed_row(packed, i + 1) - ran_packed_row(packed, i),
                .first = known_rows(packed, i) > 0 ? known_rows(packed, i) : 1,
                .r = ran_packed_row(packed, i) - s->r0,
                .state = ran_packed_state_before(packed, i),
                .at = ran_packed_row(packed, i) - ran_packed_row(packed, packed->doc_window[b]),
        };
}

struct ran_attention_heads ran_attention_heads_of(const struct ran_layer_pass *s,
                                                  const struct ran_window_view *v)
{
        const struct ran_workspace *w = s->w;
        size_t end = w->packed->doc[v->b] + w->packed->sources[v->b], tokens = v->n - 1;

        return (struct ran_attention_heads){
                .qkv = s->act->qkv + v->r * 3 * w->E,
                .a = s->act->a + v->r * w->E,
                .n = v->n,
                .E = w->E,
                .h = w->h,
                .d_k = w->d_k,
                .mask = w->c->mask,
                .sources = end <= v->t           ? 0
                           : end - v->t < tokens ? end - v->t
                                                 : tokens,
        };
}

bool ran_window_stays_open(const struct ran_workspace *w, size_t i)
{
        const struct ran_packed *packed = w->packed;
        size_t b = packed->window_doc[i];

        return !w->training && packed->recurrent[b] != NULL && i + 1 == packed->doc_window[b + 1] &&
               ran_packed_row(packed, i + 1) - ran_packed_row(packed, i) <= w->c->window;
}

void ran_window_dropout(const struct ran_layer_pass *s, const struct ran_window_view *v, int site,
                        size_t from, size_t end, float *x)
{
        const struct ran_workspace *w = s->w;

        ran_workspace_dropout(w, v->b, s->l, site, w->noise.dropout, x + from * w->D,
                              (end - from) * w->D, (v->at + from) * w->D);
}

void ran_window_sum_parts(struct ran_layer_pass *s, int part, float *dw, float *db)
{
        size_t D = s->w->D;

        for (size_t i = s->from; i < s->to; i++) {
                float *sums = s->own->adj.part + (i * 6 + (size_t)part) * D;

                if (dw != NULL) {
                        ran_simd->add(dw, sums, D);
                        ran_simd->add(db, sums + D, D);
                }
                memset(sums, 0, 2 * D * sizeof *sums);
        }
}

/* ---- Z and the large product ---------------------------------------------------------------- */

static void normalise(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D, b = v.b;
        float *z = s->act->z + v.r * D, *stat = s->act->z_stat + v.r * 2;
        bool cell = s->known || i == w->packed->doc_window[b];

        (void)scratch;
        ran_layer_norm(w, z + v.first * D, stat + v.first * 2, ran_layer_in(s) + v.t * D,
                       s->p->input_norm_w, s->p->input_norm_b, v.n - v.first);
        if (v.first > 1)
                return; /* an open window: its cell and first tokens are known, and no dropout */
        if (cell)
                ran_layer_norm(w, z, stat,
                               ran_layer_fed(s) + ran_packed_state_before(w->packed, i) * D,
                               s->p->input_norm_w, s->p->input_norm_b, 1);
        else
                memset(z, 0, D * sizeof *z); /* the scan fills it in */
        ran_window_dropout(s, &v, RAN_DROP_INPUT, cell ? 0 : 1, v.n, z);
}

static void activate(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t E = w->E, known = v.first > 1 ? v.first : 0;
        float *qkv = s->act->qkv + v.r * 3 * E;

        (void)scratch;
        for (size_t r = known; r < v.n; r++)
                ran_window_activation(w, qkv + r * 3 * E,
                                      s->act->pre + (v.r + r) * s->own->projected, 3 * E);
        if (w->c->rotary)
                ran_simd->rotary(qkv + known * 3 * E, 3 * E, w->rotary.table + known * 2 * w->d_k,
                                 1.0f, v.n - known, 2 * w->h, w->d_k);
}

/* Notes whose q, k and v are in the memory that slabs share. Returns whether they were. */
static bool takes_qkv(const struct ran_layer_pass *s)
{
        size_t slab = (size_t)(s->act - s->own->slab), *in = &s->own->in_qkv[slab % 2];
        bool there = *in == slab;

        *in = slab;
        return there;
}

void ran_window_restore_qkv(struct ran_layer_pass *s)
{
        ran_phase = RAN_PHASE_PROJECTIONS;
        if (s->own->shares && !takes_qkv(s))
                ran_workers_each(&s->w->workers, s->from, s->to, activate, s);
}

void ran_window_recall(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;
        size_t projected = s->own->projected;

        if (s->skip == 0 && !s->scattered)
                return;
        for (size_t i = s->from; i < s->to; i++) {
                size_t r = ran_packed_row(w->packed, i) - s->r0;
                const struct ran_recurrent_state *recurrent =
                        w->packed->recurrent[w->packed->window_doc[i]];

                if (known_rows(w->packed, i) == 0)
                        continue;
                ran_recurrent_state_recall(recurrent, s->l, s->act->qkv + r * 3 * w->E);
                memcpy(s->act->pre + r * projected, recurrent->pre + s->l * projected,
                       projected * sizeof(float));
        }
}

/* Copies the rows of a slab that are not known, cols wide, from x to y: to lie side by side, or
 * back to their places. Returns their number. */
static size_t move_fresh(const struct ran_layer_pass *s, float *y, const float *x, size_t cols,
                         bool back)
{
        const struct ran_packed *packed = s->w->packed;
        size_t n = 0;

        for (size_t i = s->from; i < s->to; i++) {
                size_t known = known_rows(packed, i),
                       at = ran_packed_row(packed, i) - s->r0 + known,
                       rows = ran_packed_row(packed, i + 1) - s->r0 - at;

                memcpy(y + (back ? at : n) * cols, x + (back ? n : at) * cols,
                       rows * cols * sizeof *y);
                n += rows;
        }
        return n;
}

void ran_window_linear(struct ran_layer_pass *s, float *y, const float *x, const float *w,
                       const float *b, size_t I, size_t O)
{
        struct ran_pool *pool = s->w->pool;

        if (!s->scattered) {
                ran_gemm_linear_kept(pool, s->panels, y + s->skip * O, O, x + s->skip * I, I, w, b,
                                     s->rows - s->skip, I, O);
                return;
        }
        size_t n = move_fresh(s, s->act->fresh_in, x, I, false);
        ran_gemm_linear_kept(pool, s->panels, s->act->fresh_out, O, s->act->fresh_in, I, w, b, n, I,
                             O);
        move_fresh(s, y, s->act->fresh_out, O, true);
}

void ran_window_project(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_window_recall(s);
        ran_workers_each(&w->workers, s->from, s->to, normalise, s);
        ran_window_linear(s, s->act->pre, s->act->z, s->p->q_w, s->p->q_b, w->D, s->own->projected);
        ran_workers_each(&w->workers, s->from, s->to, activate, s);
        if (s->own->shares)
                takes_qkv(s);
}

static void deactivate(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t E = w->E;
        float *dqkv = s->own->adj.dqkv + v.r * 3 * E;

        (void)scratch;
        if (w->c->rotary)
                ran_simd->rotary(dqkv, 3 * E, w->rotary.table, -1.0f, v.n, 2 * w->h, w->d_k);
        for (size_t r = 0; r < v.n; r++)
                ran_window_activation_bwd(w, s->own->adj.dpre + (v.r + r) * s->own->projected,
                                          s->act->pre + (v.r + r) * s->own->projected,
                                          dqkv + r * 3 * E, 3 * E);
}

/* Token rows only: the scan has done the cells. */
static void normalise_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D;
        float *dz = s->own->adj.dz + v.r * D, *part = s->own->adj.part + i * 6 * D;

        (void)scratch;
        ran_window_dropout(s, &v, RAN_DROP_INPUT, 1, v.n, dz);
        ran_layer_norm_bwd(w, w->dx + v.t * D, part, part + D, dz + D, ran_layer_in(s) + v.t * D,
                           s->act->z_stat + (v.r + 1) * 2, s->p->input_norm_w, v.n - 1);
}

void ran_window_products_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_gemm_linear_bwd(w->pool, s->own->adj.dz, w->D, false, s->dp->q_w, s->dp->q_b,
                            s->own->adj.dpre, s->own->projected, s->act->z, w->D, s->p->q_w,
                            s->rows, w->D, s->own->projected);
        ran_gemm_linear_bwd(w->pool, NULL, 0, false, s->dp->out_w, s->dp->out_b, s->own->adj.d_o,
                            w->D, s->act->a, w->E, s->p->out_w, s->rows, w->E, w->D);
}

void ran_window_project_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_workers_each(&w->workers, s->from, s->to, deactivate, s);
        ran_window_products_bwd(s);
        ran_workers_each(&w->workers, s->from, s->to, normalise_bwd, s);
        ran_window_sum_parts(s, 0, s->dp->input_norm_w, s->dp->input_norm_b);
}

/* ---- attention, output, Y ------------------------------------------------------------------- */

static void attend(void *arg, size_t i, float *score)
{
        struct ran_layer_pass *s = arg;
        struct ran_window_view v = ran_window_view_of(s, i);
        struct ran_attention_heads x = ran_attention_heads_of(s, &v);

        ran_attention(&x, s->known ? 0 : v.first, v.n, score);
}

void ran_window_attend(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_phase = RAN_PHASE_ATTENTION;
        ran_workers_each(&w->workers, s->from, s->to, attend, s);
        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_window_linear(s, s->act->o, s->act->a, s->p->out_w, s->p->out_b, w->E, w->D);
}

static void finish(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D, projected = s->own->projected, first = s->known ? 0 : v.first;
        float *p = s->act->p + v.r * D, *pn = p, *stat = s->act->y_stat + v.r * 2;

        ran_window_activation(w, p + first * D, s->act->o + (v.r + first) * D, (v.n - first) * D);
        ran_window_dropout(s, &v, RAN_DROP_ATTENTION, first, v.n, p);
        if (ran_layer_is_gated(w)) {
                for (size_t r = first; r < v.n; r++) {
                        const float *glu = s->act->pre + (v.r + r) * projected + 3 * w->E;

                        ran_simd->glu_add(p + r * D, glu, glu + D, D);
                }
                pn = s->act->pn + v.r * D;
                ran_layer_norm(w, pn + first * D, s->act->p_stat + (v.r + first) * 2, p + first * D,
                               s->p->output_norm_w, s->p->output_norm_b, v.n - first);
        }
        if (s->known) /* for its mean and deviation: the state itself is known */
                ran_layer_norm(w, scratch, stat, pn, NULL, NULL, 1);
        ran_layer_norm(w, s->own->y[s->l] + v.t * D, stat + v.first * 2, pn + v.first * D, NULL,
                       NULL, v.n - v.first);
}

void ran_window_finish(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_window_attend(s);
        ran_workers_each(&w->workers, s->from, s->to, finish, s);
}

/* Token rows; the cell's rows of d_o are cleared for the product, the scan writes them later. */
static void finish_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        size_t D = w->D, projected = s->own->projected, r1 = v.r + 1, n = v.n - 1;
        float *dp = s->own->adj.dp + r1 * D, *d_o = s->own->adj.d_o + r1 * D,
              *part = s->own->adj.part + i * 6 * D;
        const float *p = s->act->p + r1 * D, *pn = ran_layer_is_gated(w) ? s->act->pn + r1 * D : p;

        (void)scratch;
        ran_layer_norm_bwd(w, dp, NULL, NULL, s->own->dy + v.t * D, pn, s->act->y_stat + r1 * 2,
                           NULL, n);
        if (ran_layer_is_gated(w)) {
                ran_layer_norm_bwd(w, dp, part, part + D, dp, p, s->act->p_stat + r1 * 2,
                                   s->p->output_norm_w, n);
                for (size_t r = 0; r < n; r++) {
                        const float *glu = s->act->pre + (r1 + r) * projected + 3 * w->E;
                        float *dglu = s->own->adj.dpre + (r1 + r) * projected + 3 * w->E;

                        ran_simd->glu_bwd(dglu, dglu + D, dp + r * D, glu, glu + D, D);
                }
        }
        ran_window_dropout(s, &v, RAN_DROP_ATTENTION, 1, v.n, dp - D);
        ran_window_activation_bwd(w, d_o, s->act->o + r1 * D, dp, n * D);
        memset(d_o - D, 0, D * sizeof *d_o);
}

static void attend_bwd(void *arg, size_t i, float *score)
{
        struct ran_layer_pass *s = arg;
        struct ran_workspace *w = s->w;
        struct ran_window_view v = ran_window_view_of(s, i);
        struct ran_attention_heads x = ran_attention_heads_of(s, &v);
        float *dqkv = s->own->adj.dqkv + v.r * 3 * w->E;

        memset(dqkv, 0, w->E * sizeof *dqkv); /* the cell's q: the scan adds to it */
        ran_attention_bwd(dqkv, s->own->adj.da + v.r * w->E, &x, 1, v.n, false, score);
}

void ran_window_attend_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_gemm_linear_bwd(w->pool, s->own->adj.da, w->E, false, NULL, NULL, s->own->adj.d_o, w->D,
                            NULL, 0, s->p->out_w, s->rows, w->E, w->D);
        ran_phase = RAN_PHASE_ATTENTION;
        ran_workers_each(&w->workers, s->from, s->to, attend_bwd, s);
}

void ran_window_finish_bwd(struct ran_layer_pass *s)
{
        struct ran_workspace *w = s->w;

        ran_phase = RAN_PHASE_PROJECTIONS;
        ran_workers_each(&w->workers, s->from, s->to, finish_bwd, s);
        if (ran_layer_is_gated(w))
                ran_window_sum_parts(s, 0, s->dp->output_norm_w, s->dp->output_norm_b);
        ran_window_attend_bwd(s);
}
