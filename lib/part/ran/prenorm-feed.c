/* prenorm-feed.c - a prenorm layer's token rows after the window attention: review of the cells and
 * feed-forward part. See prenorm.h. */
#include "math/gemm.h"
#include "math/simd.h"
#include "part/ran/prenorm.h"
#include "nn/part.h"
#include "ran/model.h"

#include <string.h>

/* The tokens of a window: t, counted in the batch; at, in the slab. */
struct tokens {
        size_t t, at, n;
};

static struct tokens tokens_of(const struct ran_prenorm_pass *s, size_t i)
{
        const size_t *window = s->w->packed->window;

        return (struct tokens){window[i], window[i] - s->t0, window[i + 1] - window[i]};
}

/* Dropout, or its adjoint, on the rows of a window's tokens; x is row 0 of the slab's. */
static void drop(const struct ran_prenorm_pass *s, size_t i, int site, float *x)
{
        const struct ran_workspace *w = s->w;
        struct tokens k = tokens_of(s, i);
        size_t b = w->packed->window_doc[i];

        ran_workspace_dropout(w, b, s->l, site, w->noise.dropout, x + k.at * w->D, k.n * w->D,
                              (k.t - w->packed->doc[b]) * w->D);
}

/* ---- tokens that count ----------------------------------------------------------------------- */

/* The tokens of a slab that go through the products of this file. In the last layer nothing reads
 * those without an output; they are left out in learning, as six of seven tokens of a masked
 * language model are. The others then lie side by side: rows [0, n) of review_z, review_r,
 * feed_z, feed_pre and feed_act, and of adjoints while they go through a product. */
struct chosen {
        const size_t *token; /* (n) counted in the batch, ascending; NULL: all tokens of the slab */
        size_t n;
};

static struct chosen choose(const struct ran_prenorm_pass *s)
{
        const struct ran_packed *packed = s->w->packed;
        const struct chosen all = {NULL, s->tokens};
        static const size_t none[1]; /* which is not all */

        if (!s->w->training || s->w->explains || s->l + 1 < s->w->c->layers ||
            ran_task_of(s->w->c)->output == RAN_OUTPUT_DOCUMENT)
                return all;
        size_t from = ran_count_below(packed->position, packed->positions, s->t0);
        size_t end = ran_count_below(packed->position, packed->positions, s->t0 + s->tokens);
        if (end - from > s->tokens / 4 * 3)
                return all; /* to move rows costs something, too */
        return (struct chosen){end > from ? packed->position + from : none, end - from};
}

/* Moves the rows of x (tokens, D) that are chosen side by side. */
static void gather(const struct ran_prenorm_pass *s, float *x)
{
        const struct chosen k = choose(s);
        size_t D = s->w->D;

        for (size_t i = 0; k.token != NULL && i < k.n; i++)
                memmove(x + i * D, x + (k.token[i] - s->t0) * D, D * sizeof *x);
}

/* Moves them back, the last one first, and clears all others. */
static void scatter(const struct ran_prenorm_pass *s, float *x)
{
        const struct chosen k = choose(s);
        size_t D = s->w->D, end = s->tokens;

        if (k.token == NULL)
                return;
        for (size_t i = k.n; i-- > 0;) {
                size_t at = k.token[i] - s->t0;

                memmove(x + at * D, x + i * D, D * sizeof *x);
                memset(x + (at + 1) * D, 0, (end - at - 1) * D * sizeof *x);
                end = at;
        }
        memset(x, 0, end * D * sizeof *x);
}

/* ---- states of the review -------------------------------------------------------------------- */

void ran_prenorm_states(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_cells *c = s->cells;
        const size_t *sources = s->own->review.sources, B = w->packed->B;
        size_t D = w->D;

        if (!w->c->ran.review)
                return;
        for (size_t b = 0; b < B; b++) {
                size_t n = sources[b + 1] - sources[b];
                float *z = c->source_z + sources[b] * D;

                ran_simd->norm(z, D, c->source_stat + sources[b] * 2,
                               s->cells->y + w->packed->doc[b] * D, D, s->p->review_norm_w,
                               s->p->review_norm_b, RAN_LN_EPS, n, D);
                ran_gemm_linear_kept(w->pool, s->panels, c->source_kv + sources[b] * 2 * D, 2 * D,
                                     z, D, s->p->review_k_w, s->p->review_k_b, n, D, 2 * D);
        }
        ran_review_products(w, s->panels, c->kv, c->N, s->p->review_k_w, s->p->review_k_b);
        ran_review_place(&s->review, c->kv, c->source_kv);
}

void ran_prenorm_states_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_cells *c = s->cells;
        const struct ran_prenorm_adjoints *j = &s->own->adj;
        const size_t *sources = s->own->review.sources, B = w->packed->B;
        size_t D = w->D;

        if (!w->c->ran.review)
                return;
        ran_review_collect(&s->review, j->dkv, j->dsource_kv);
        ran_gemm_linear_bwd(w->pool, j->dsource_z, D, false, s->dp->review_k_w, s->dp->review_k_b,
                            j->dsource_kv, 2 * D, c->source_z, D, s->p->review_k_w, sources[B], D,
                            2 * D);
        for (size_t b = 0; b < B; b++) {
                size_t n = sources[b + 1] - sources[b], t = w->packed->doc[b] * D;
                float *dz = j->dsource_z + sources[b] * D;

                ran_simd->norm_bwd(dz, D, s->dp->review_norm_w, s->dp->review_norm_b, dz, D,
                                   s->cells->y + t, D, c->source_stat + sources[b] * 2,
                                   s->p->review_norm_w, n, D);
                ran_simd->add(s->own->dy + t, dz, n * D);
        }
        ran_gemm_linear_bwd(w->pool, j->dN, D, true, s->dp->review_k_w, s->dp->review_k_b, j->dkv,
                            2 * D, c->N, D, s->p->review_k_w, w->packed->m + B, D, 2 * D);
}

/* ---- review ---------------------------------------------------------------------------------- */

static void look(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        size_t at = tokens_of(s, i).at * s->w->D;

        ran_review_look(&s->review, i, s->act->review_q + at, s->act->review_r + at, scratch);
}

static void probe(void *arg, size_t k, float *scratch)
{
        struct ran_prenorm_pass *s = arg;

        for (size_t i = s->from; i < s->to; i++)
                ran_review_probe(&s->review, &s->w->probes->probe[k], i,
                                 s->act->review_q + tokens_of(s, i).at * s->w->D, scratch);
}

static void review(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_slab *a = s->act;
        size_t D = w->D, n = choose(s).n;
        const struct ran_rows rows = ran_prenorm_rows(w, s->tokens);

        ran_rows_norm(&rows, a->review_z, a->review_stat, s->cells->y + s->t0 * D,
                      s->p->review_norm_w, s->p->review_norm_b);
        gather(s, a->review_z);
        ran_gemm_linear_kept(w->pool, s->panels, a->review_q, D, a->review_z, D, s->p->review_q_w,
                             s->p->review_q_b, n, D, D);
        scatter(s, a->review_q);
        ran_workers_each(&w->workers, s->from, s->to, look, s);
        if (w->probes != NULL)
                ran_workers_each(&w->workers, 0, w->probes->n, probe, s);
        gather(s, a->review_r);
        ran_gemm_linear_kept(w->pool, s->panels, a->sum, D, a->review_r, D, s->p->review_out_w,
                             s->p->review_out_b, n, D, D);
        scatter(s, a->sum);
}

/* ---- feed-forward part ----------------------------------------------------------------------- */

/* M, and LN_ffn of it. */
static void norm_feed(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct tokens k = tokens_of(s, i);
        size_t D = s->w->D;
        float *m = s->act->sum + k.at * D;
        const float *y = s->cells->y + k.t * D;

        (void)scratch;
        if (s->w->c->ran.review) {
                drop(s, i, RAN_DROP_REVIEW, s->act->sum);
                ran_simd->add(m, y, k.n * D);
        } else {
                memcpy(m, y, k.n * D * sizeof *m);
        }
        ran_simd->norm(s->act->feed_z + k.at * D, D, s->act->feed_stat + k.at * 2, m, D,
                       s->p->feed_norm_w, s->p->feed_norm_b, RAN_LN_EPS, k.n, D);
}

/* value SiLU(gate) */
static void glu(void *arg, size_t from, size_t n)
{
        const struct ran_prenorm_pass *s = arg;
        const size_t F = ran_prenorm_feed(s->w->c);

        for (size_t t = from; t < from + n; t++) {
                const float *pre = s->act->feed_pre + t * 2 * F;
                float *act = s->act->feed_act + t * F;

                ran_simd->silu(act, pre + F, F);
                ran_simd->mul(act, act, pre, F);
        }
}

static void add_feed(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct tokens k = tokens_of(s, i);
        size_t D = s->w->D;
        float *out = ran_prenorm_out(s);

        (void)scratch;
        drop(s, i, RAN_DROP_FEED, out + s->t0 * D);
        ran_simd->add(out + k.t * D, s->act->sum + k.at * D, k.n * D);
}

void ran_prenorm_review(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_slab *a = s->act;
        size_t D = w->D, F = ran_prenorm_feed(w->c), n = choose(s).n;
        const struct ran_rows rows = ran_prenorm_rows(w, n); /* of those chosen */
        float *out = ran_prenorm_out(s) + s->t0 * D;

        if (w->c->ran.review)
                review(s);
        ran_workers_each(&w->workers, s->from, s->to, norm_feed, s);
        gather(s, a->feed_z);
        ran_gemm_linear_kept(w->pool, s->panels, a->feed_pre, 2 * F, a->feed_z, D,
                             s->p->feed_value_w, s->p->feed_value_b, n, D, 2 * F);
        ran_rows_each(&rows, glu, s);
        ran_gemm_linear_kept(w->pool, s->panels, out, D, a->feed_act, F, s->p->feed_down_w,
                             s->p->feed_down_b, n, F, D);
        scatter(s, out);
        ran_workers_each(&w->workers, s->from, s->to, add_feed, s);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* The adjoint of a residual's other branch: the rows of the sum, after dropout. */
static void drop_feed(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct tokens k = tokens_of(s, i);
        size_t D = s->w->D;

        (void)scratch;
        memcpy(s->own->adj.dadded + k.at * D, s->w->dx + k.t * D, k.n * D * sizeof(float));
        drop(s, i, RAN_DROP_FEED, s->own->adj.dadded);
}

static void glu_bwd(void *arg, size_t from, size_t n)
{
        const struct ran_prenorm_pass *s = arg;
        const size_t F = ran_prenorm_feed(s->w->c);

        for (size_t t = from; t < from + n; t++) {
                const float *value = s->act->feed_pre + t * 2 * F, *gate = value + F;
                float *dvalue = s->own->adj.dfeed + t * 2 * F, *dgate = dvalue + F;
                const float *d = s->own->adj.dfeed_act + t * F;

                ran_simd->silu(dvalue, gate, F);
                ran_simd->mul(dvalue, dvalue, d, F);
                ran_simd->mul(dgate, value, d, F);
                ran_simd->silu_bwd(dgate, gate, dgate, F);
        }
}

/* dM in dy. dadded becomes what the review's output is given. */
static void norm_feed_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct ran_prenorm_adjoints *j = &s->own->adj;
        struct tokens k = tokens_of(s, i);
        size_t D = s->w->D;
        float *dm = s->own->dy + k.t * D;

        (void)scratch;
        memcpy(dm, s->w->dx + k.t * D, k.n * D * sizeof *dm);
        ran_prenorm_norm_bwd(s, i, dm, j->dreview_r + k.at * D, s->act->sum + k.at * D,
                             s->act->feed_stat + k.at * 2, s->p->feed_norm_w);
        memcpy(j->dadded + k.at * D, dm, k.n * D * sizeof *dm);
        if (s->w->c->ran.review)
                drop(s, i, RAN_DROP_REVIEW, j->dadded);
}

static void norm_review_bwd(void *arg, size_t i, float *scratch)
{
        struct ran_prenorm_pass *s = arg;
        struct tokens k = tokens_of(s, i);
        size_t D = s->w->D;

        (void)scratch;
        ran_prenorm_norm_bwd(s, i, s->own->dy + k.t * D, s->own->adj.dreview_r + k.at * D,
                             s->cells->y + k.t * D, s->act->review_stat + k.at * 2,
                             s->p->review_norm_w);
}

/* Neighbouring windows share states, so each leaves its part of dvalue and dkey in a place of its
 * own. The parts of a group of windows are then added in order: the threads change no bit. */
struct group {
        struct ran_prenorm_pass *s;
        size_t from, to; /* windows */
};

static float *part_of(const struct group *g, size_t i)
{
        const struct ran_prenorm_memory *own = g->s->own;

        return own->group_part + (i - g->from) * 2 * own->review.most_seen * g->s->w->D;
}

static void look_bwd(void *arg, size_t i, float *scratch)
{
        const struct group *g = arg;
        const struct ran_prenorm_pass *s = g->s;
        const struct ran_prenorm_adjoints *j = &s->own->adj;
        size_t at = tokens_of(s, i).at * s->w->D;

        ran_review_look_bwd(&s->review, i, j->dreview_q + at, part_of(g, i), s->act->review_q + at,
                            j->dreview_r + at, scratch);
}

static void add_parts(void *arg, size_t key, float *scratch)
{
        const struct group *g = arg;

        (void)scratch;
        for (size_t i = g->from; i < g->to; i++)
                ran_review_add(&g->s->review, i, part_of(g, i), key > 0);
}

static void review_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_adjoints *j = &s->own->adj;
        struct group g = {.s = s};
        size_t D = w->D, n = choose(s).n;

        gather(s, j->dadded);
        ran_gemm_linear_bwd(w->pool, j->dreview_r, D, false, s->dp->review_out_w,
                            s->dp->review_out_b, j->dadded, D, s->act->review_r, D,
                            s->p->review_out_w, n, D, D);
        scatter(s, j->dreview_r);
        for (g.from = s->from; g.from < s->to; g.from = g.to) {
                g.to = ran_least(s->to, g.from + s->own->group);
                ran_workers_each(&w->workers, g.from, g.to, look_bwd, &g);
                ran_workers_each(&w->workers, 0, 2, add_parts, &g);
        }
        gather(s, j->dreview_q);
        ran_gemm_linear_bwd(w->pool, j->dreview_r, D, false, s->dp->review_q_w, s->dp->review_q_b,
                            j->dreview_q, D, s->act->review_z, D, s->p->review_q_w, n, D, D);
        scatter(s, j->dreview_r);
        ran_workers_each(&w->workers, s->from, s->to, norm_review_bwd, s);
        ran_prenorm_sum_parts(s, 0, s->dp->review_norm_w, s->dp->review_norm_b);
}

void ran_prenorm_review_bwd(struct ran_prenorm_pass *s)
{
        struct ran_workspace *w = s->w;
        struct ran_prenorm_adjoints *j = &s->own->adj;
        size_t D = w->D, F = ran_prenorm_feed(w->c), n = choose(s).n;
        const struct ran_rows rows = ran_prenorm_rows(w, n); /* of those chosen */

        ran_workers_each(&w->workers, s->from, s->to, drop_feed, s);
        gather(s, j->dadded);
        ran_gemm_linear_bwd(w->pool, j->dfeed_act, F, false, s->dp->feed_down_w, s->dp->feed_down_b,
                            j->dadded, D, s->act->feed_act, F, s->p->feed_down_w, n, F, D);
        ran_rows_each(&rows, glu_bwd, s);
        ran_gemm_linear_bwd(w->pool, j->dreview_r, D, false, s->dp->feed_value_w,
                            s->dp->feed_value_b, j->dfeed, 2 * F, s->act->feed_z, D,
                            s->p->feed_value_w, n, D, 2 * F);
        scatter(s, j->dreview_r);
        ran_workers_each(&w->workers, s->from, s->to, norm_feed_bwd, s);
        ran_prenorm_sum_parts(s, 0, s->dp->feed_norm_w, s->dp->feed_norm_b);
        if (w->c->ran.review)
                review_bwd(s);
}
