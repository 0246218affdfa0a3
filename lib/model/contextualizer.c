/* contextualizer.c - the Contextualizer of Maupomé and Meurs, Information 2022, 13, 290.
 *
 * A document has one context c (D). Each of N steps, with parameters of its own, reads all tokens:
 *
 *   x_i = e_i ⊙ p(i)      p(i)_j = exp(i s_j) / Σ exp(i' s_j), times L with position_scale
 *   α_i = W(U x_i ⊙ V c) + b      z = LN(Σ α_i ⊙ x_i)      c ← c + z
 *
 * The sum depends on the tokens by two sums alone, X = Σ x_i and S = Σ x_i x_i^T, whatever c is:
 *
 *   (Σ α_i ⊙ x_i)_d  =  Σ_r W_dr (V c)_r (U S)_rd + b_d X_d
 *
 * So a document of more tokens than the model is wide is read once, into X and S, which takes L
 * D^2, and then has D rows, those of S: a step costs u D^2, however long it is, and no α is ever
 * made. A shorter one has its tokens for rows and its α, all short ones together: L u D a step is
 * less. With H = rows U^T, both have rows H ⊙ V c, from which the sum is
 *
 *   short: Σ x_i ⊙ (W (H_i ⊙ V c))      long: W_d . (H_d ⊙ V c) for each d
 *
 * Tokens are read in chunks, which have shares; a share is one thread's, and shares are summed in
 * order. Backward, the tokens of a long document are read again: dx_i = (dS + dS^T) x_i + dX.
 */
#include "math/gemm.h"
#include "math/simd.h"
#include "model/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN_EPS 1e-5

enum { CHUNK = 256, SHARE_CHUNKS = 4, MOST_SHARES = 32 };

/* Tokens [from, to) of document b, counted in it. */
struct share {
        size_t b, from, to;
};

/* X(field, floats). Q rows, s of them tokens of short documents, which come first; T tokens of the
 * largest chunk; P shares that are not the first of their document; G shares; K steps that are
 * kept: N, or 1 when scoring; u the rank. */
#define STEPS(X)                                                        \
        X(down, T *D) /* see tabulate() */                              \
        X(up, T *D)                                                     \
        X(scale, 2 * B * D) /* doubles: largest p(i)_j of a document */ \
        X(rows, Q *D)                                                   \
        X(sum, B *D)     /* X */                                        \
        X(part, P *D *D) /* what a share adds to S, and to X */         \
        X(part_sum, P *D)                                               \
        X(first, B *D)     /* the first contexts */                     \
        X(h, K *Q *u)      /* H */                                      \
        X(hv, Q *u)        /* H ⊙ V c */                              \
        X(vc, K *B *u)     /* V c */                                    \
        X(alpha, K *s *D)  /* without b */                              \
        X(before, K *B *D) /* what LN reads */                          \
        X(stat, K *B * 2)
#define ADJOINTS(X)                                                                \
        X(drows, Q *D)                                                             \
        X(dsum, B *D)                                                              \
        X(dhv, Q *u)                                                               \
        X(dalpha, s *D)                                                            \
        X(dvc, B *u)                                                               \
        X(dbefore, B *D)                                                           \
        X(mean, 2 * B * D)      /* doubles: of i under p(.)_j, see mean_place() */ \
        X(dposition, 2 * G * D) /* doubles */

struct ran_steps {
        size_t T, Q, s, P, G;
        size_t *row; /* (B) first row of each document */
        struct share *share;
        size_t row_cap, share_cap;
#define X(field, floats) float *field;
        STEPS(X)
        ADJOINTS(X)
#undef X
};

static size_t length(const struct ran_rows *rows, size_t b)
{
        return rows->doc[b + 1] - rows->doc[b];
}

/* Whether document b has rows of S, rather than its tokens. */
static bool is_long(const struct ran_work *w, size_t b)
{
        return length(w->rows, b) > w->D;
}

static size_t rows_of(const struct ran_work *w, size_t b)
{
        return is_long(w, b) ? w->D : length(w->rows, b);
}

/* ---- memory --------------------------------------------------------------------------------- */

static size_t chunk_of(const struct ran_work *w)
{
        return w->chunk_rows < CHUNK ? w->chunk_rows : CHUNK;
}

static int cut_shares(struct ran_work *w, size_t b, struct ran_error *err)
{
        struct ran_steps *k = w->steps;
        size_t n = length(w->rows, b), chunk = chunk_of(w), chunks = (n - 1) / chunk + 1, shares;

        shares = is_long(w, b) ? chunks / SHARE_CHUNKS : 1;
        shares = shares < 1 ? 1 : shares > MOST_SHARES ? MOST_SHARES : shares;
        struct share *share = ran_grow(k->share, &k->share_cap, k->G + shares, sizeof *share, err);
        if (share == NULL)
                return RAN_ENOMEM;
        k->share = share;
        for (size_t i = 0; i < shares; i++) {
                size_t to = (i + 1) * chunks / shares * chunk;

                share[k->G++] = (struct share){b, i * chunks / shares * chunk, to < n ? to : n};
        }
        return RAN_OK;
}

static int prepare(struct ran_work *w, struct ran_error *err)
{
        const struct ran_rows *rows = w->rows;
        struct ran_steps *k = w->steps;

        if (k == NULL)
                k = w->steps = ran_alloc(1, sizeof *k, err);
        if (k == NULL)
                return RAN_ENOMEM;
        size_t *row = ran_grow(k->row, &k->row_cap, rows->B, sizeof *row, err);
        if (row == NULL)
                return RAN_ENOMEM;
        k->row = row;
        k->T = k->Q = k->G = 0;
        for (int turn = 0; turn <= 1; turn++) { /* the short ones first */
                for (size_t b = 0; b < rows->B; b++) {
                        if (is_long(w, b) != turn)
                                continue;
                        row[b] = k->Q;
                        k->Q += rows_of(w, b);
                }
                k->s = turn == 0 ? k->Q : k->s;
        }
        for (size_t b = 0; b < rows->B; b++) {
                size_t n = length(rows, b), chunk = chunk_of(w);

                n = n < chunk ? n : chunk;
                k->T = n > k->T ? n : k->T;
                if (cut_shares(w, b, err) != RAN_OK)
                        return RAN_ENOMEM;
        }
        k->P = k->G - rows->B;
        return RAN_OK;
}

static void release(struct ran_work *w)
{
        if (w->steps == NULL)
                return;
        free(w->steps->row);
        free(w->steps->share);
        free(w->steps);
        w->steps = NULL;
}

static void lay_out(struct ran_work *w, struct ran_cutter *k)
{
        struct ran_steps *out = w->steps;
        const size_t N = w->c->layers, TD = out->T * w->D;
        const double T = (double)out->T, Q = (double)out->Q, s = (double)out->s, P = (double)out->P,
                     G = (double)out->G, B = (double)w->rows->B, D = (double)w->D,
                     K = w->training ? (double)N : 1, u = (double)w->c->rank;

        STEPS(RAN_CUT_FIELD)
        if (w->training) {
                ADJOINTS(RAN_CUT_FIELD)
        }
        for (size_t l = 1; l <= N; l++)
                w->x[l] = ran_cut(k, B * D);
        /* A chunk of tokens and its scale; their adjoints and a few rows. */
        w->lane_floats = w->training ? 2 * TD + 5 * w->D : TD + w->D;
        w->scratch = ran_cut(k, (double)w->lanes * (double)w->lane_floats);
}

/* What a step keeps, if it was computed for each. */
static size_t kept(const struct ran_work *w, size_t l, size_t floats)
{
        return w->training ? l * floats : 0;
}

static const float *context(const struct ran_work *w, size_t l)
{
        return l > 0 ? w->x[l] : w->steps->first;
}

/* ---- positions ------------------------------------------------------------------------------
 *
 * p(i)_j falls by exp(-|s_j|) from token to token, from the last one to the first if s_j > 0, else
 * from the first to the last. With t tokens of L in between it is
 *
 *   exp(-|s_j| t) / Σ exp(-|s_j| t')
 *
 * whose sum is geometric: nothing overflows, and no token has to be read before another. In a chunk
 * it is the product of three factors: that of the chunk's own end, and what tables hold for tokens
 * within chunks, 1 in the one of the other direction. */

/* What is less than 1e-16 of the largest is 0: it is lost in rounding, and processors are slow at
 * products of such numbers. */
#define LEAST_WEIGHT 1e-16
static double some(double weight)
{
        return weight < LEAST_WEIGHT ? 0 : weight;
}

/* Row k of `down` is for the token k of a chunk; the last row of `up` for its last. */
static void tabulate(struct ran_work *w, const float *position)
{
        struct ran_steps *k = w->steps;
        size_t D = w->D, T = k->T;

        for (size_t j = 0; j < D; j++) {
                double s = (double)position[j], value = 1, factor = exp(-fabs(s));

                for (size_t i = 0; i < T; i++, value *= factor) {
                        k->down[i * D + j] = s > 0 ? 1.0f : (float)some(value);
                        k->up[(T - 1 - i) * D + j] = s > 0 ? (float)some(value) : 1.0f;
                }
        }
}

/* Σ exp(-s t) over t < n, s >= 0 */
static double series(double s, double n)
{
        return s > 0 ? expm1(-n * s) / expm1(-s) : n;
}

/* 1/(exp(x) - 1) - 1/x, x >= 0 */
static double bend(double x)
{
        double y = x * x;

        if (x > 0.5)
                return 1 / expm1(x) - 1 / x;
        return -0.5 +
               x * (1.0 / 12 - y * (1.0 / 720 - y * (1.0 / 30240 -
                                                     y * (1.0 / 1209600 - y * (1.0 / 47900160)))));
}

/* Mean of the token's number, from 0, under p(.)_j in n tokens. */
static double mean_place(double s, double n)
{
        double t = bend(fabs(s)) - n * bend(n * fabs(s));

        return s > 0 ? n - 1 - t : t;
}

static void scale_positions(struct ran_work *w, const float *position, size_t b)
{
        double n = (double)length(w->rows, b), whole = w->c->position_scale ? n : 1;
        double *scale = (double *)w->steps->scale + b * w->D;

        for (size_t j = 0; j < w->D; j++)
                scale[j] = whole / series(fabs((double)position[j]), n);
        for (size_t j = 0; j < w->D && w->training; j++)
                ((double *)w->steps->mean)[b * w->D + j] = mean_place((double)position[j], n);
}

/* y = x ⊙ p for the tokens [from, from + n) of document b; anchor: room for D floats. */
static void weigh(const struct ran_work *w, const float *position, size_t b, size_t from, size_t n,
                  float *y, const float *x, float *anchor)
{
        const struct ran_steps *k = w->steps;
        const double *scale = (const double *)k->scale + b * w->D;
        size_t D = w->D, behind = length(w->rows, b) - from - n;

        for (size_t j = 0; j < D; j++) {
                double s = (double)position[j], t = s > 0 ? (double)behind : (double)from;

                anchor[j] = (float)(scale[j] * (t > 0 ? some(exp(-fabs(s) * t)) : 1));
        }
        ran_simd->mul(y, x, k->down, n * D);
        ran_simd->mul(y, y, k->up + (k->T - n) * D, n * D);
        for (size_t i = 0; i < n; i++)
                ran_simd->mul(y + i * D, y + i * D, anchor, D);
}

/* ---- tokens to rows ------------------------------------------------------------------------- */

/* A stage at work, for ran_each. */
struct stage {
        struct ran_work *w;
        const struct ran_params *p;
        struct ran_params *dp;
        size_t l;
};

/* Where share i adds to S and X: the first one of a document in place, the others apart. */
static float *share_square(const struct ran_work *w, size_t i)
{
        const struct ran_steps *k = w->steps;
        const struct share *s = &k->share[i];

        return s->from == 0 ? k->rows + k->row[s->b] * w->D
                            : k->part + (i - s->b - 1) * w->D * w->D;
}

static float *share_sum(const struct ran_work *w, size_t i)
{
        const struct ran_steps *k = w->steps;
        const struct share *s = &k->share[i];

        return s->from == 0 ? k->sum + s->b * w->D : k->part_sum + (i - s->b - 1) * w->D;
}

static void gather(void *arg, size_t i, float *scratch)
{
        const struct stage *g = arg;
        struct ran_work *w = g->w;
        const struct share *s = &w->steps->share[i];
        size_t D = w->D, chunk = chunk_of(w);
        const float *e = w->x[0] + w->rows->doc[s->b] * D;
        float *square = share_square(w, i), *sum = share_sum(w, i), *x = scratch + D;

        memset(sum, 0, D * sizeof *sum);
        for (size_t from = s->from, n; from < s->to; from += n) {
                n = s->to - from < chunk ? s->to - from : chunk;
                if (!is_long(w, s->b))
                        x = square + from * D;
                weigh(w, g->p->encoder.position, s->b, from, n, x, e + from * D, scratch);
                ran_simd->bias_bwd(sum, x, D, n, D);
                if (is_long(w, s->b))
                        ran_gemm(square, D, x, 1, D, x, D, 1, D, D, n, from > s->from);
        }
}

static void gather_rows(struct stage *g)
{
        struct ran_work *w = g->w;
        size_t D = w->D;

        tabulate(w, g->p->encoder.position);
        for (size_t b = 0; b < w->rows->B; b++)
                scale_positions(w, g->p->encoder.position, b);
        ran_each(w, 0, w->steps->G, gather, g);
        for (size_t i = 0; i < w->steps->G; i++) {
                const struct share *s = &w->steps->share[i];

                if (s->from == 0)
                        continue;
                ran_simd->add(w->steps->sum + s->b * D, share_sum(w, i), D);
                if (is_long(w, s->b))
                        ran_simd->add(w->steps->rows + w->steps->row[s->b] * D, share_square(w, i),
                                      D * D);
        }
}

/* ---- the first context ---------------------------------------------------------------------- */

/* Of a document that is scored: a function of its ids, as all of its result. */
static uint64_t key_of_ids(const struct ran_rows *rows, size_t b, uint64_t seed)
{
        uint64_t hash = length(rows, b);

        for (size_t t = rows->doc[b]; t < rows->doc[b + 1]; t++)
                hash = ran_draw(hash, rows->ids[t]);
        return ran_key(seed, RAN_FOR_CONTEXT, UINT64_MAX, hash);
}

static void first_contexts(struct ran_work *w, const struct ran_params *p)
{
        size_t D = w->D;

        for (size_t b = 0; b < w->rows->B; b++) {
                float *c = w->steps->first + b * D;
                uint64_t key;

                switch (w->c->context) {
                case RAN_CONTEXT_LEARNED:
                        memcpy(c, p->encoder.context, D * sizeof *c);
                        break;
                case RAN_CONTEXT_RANDOM:
                        key = w->training ? ran_key(p->seed, RAN_FOR_CONTEXT, w->noise.epoch,
                                                    w->rows->record[b])
                                          : key_of_ids(w->rows, b, p->seed);
                        for (size_t d = 0; d < D; d++)
                                c[d] = (float)(2 * ran_uniform(key, d) - 1);
                        break;
                default:
                        for (size_t d = 0; d < D; d++)
                                c[d] = 1.0f;
                }
        }
}

/* ---- a step --------------------------------------------------------------------------------- */

/* H ⊙ V c in the rows of document b. */
static void mix(void *arg, size_t b, float *scratch)
{
        const struct stage *g = arg;
        struct ran_work *w = g->w;
        struct ran_steps *k = w->steps;
        size_t u = w->c->rank, at = k->row[b], n = rows_of(w, b);
        const float *vc = k->vc + kept(w, g->l, w->rows->B * u) + b * u;
        const float *h = k->h + kept(w, g->l, k->Q * u);

        (void)scratch;
        for (size_t i = at; i < at + n; i++)
                ran_simd->mul(k->hv + i * u, h + i * u, vc, u);
}

/* What LN reads. */
static void attend(void *arg, size_t b, float *scratch)
{
        const struct stage *g = arg;
        struct ran_work *w = g->w;
        struct ran_steps *k = w->steps;
        size_t D = w->D, u = w->c->rank, at = k->row[b];
        const struct ran_step_params *p = &g->p->step[g->l];
        const float *alpha = k->alpha + kept(w, g->l, k->s * D);
        float *out = k->before + kept(w, g->l, w->rows->B * D) + b * D;

        (void)scratch;
        ran_simd->mul(out, p->w_b, k->sum + b * D, D);
        if (is_long(w, b))
                for (size_t d = 0; d < D; d++)
                        out[d] += ran_simd->dot(p->w_w + d * u, k->hv + (at + d) * u, u);
        else
                for (size_t i = at; i < at + length(w->rows, b); i++)
                        ran_simd->mul_add(out, alpha + i * D, k->rows + i * D, D);
}

static void drop_update(struct ran_work *w, size_t l, float *z)
{
        for (size_t b = 0; b < w->rows->B; b++)
                ran_drop(w, b, l, RAN_DROP_ATTENTION, w->noise.dropout, z + b * w->D, w->D, 0);
}

static void step(struct stage *g)
{
        struct ran_work *w = g->w;
        struct ran_steps *k = w->steps;
        const struct ran_step_params *p = &g->p->step[g->l];
        size_t D = w->D, u = w->c->rank, B = w->rows->B;
        const float *c = context(w, g->l);
        float *z = w->x[g->l + 1];

        ran_linear(w->pool, k->vc + kept(w, g->l, B * u), u, c, D, p->v_w, NULL, B, D, u);
        ran_linear(w->pool, k->h + kept(w, g->l, k->Q * u), u, k->rows, D, p->u_w, NULL, k->Q, D,
                   u);
        ran_each(w, 0, B, mix, g);
        ran_linear(w->pool, k->alpha + kept(w, g->l, k->s * D), D, k->hv, u, p->w_w, NULL, k->s, u,
                   D);
        ran_each(w, 0, B, attend, g);
        ran_simd->norm(z, D, k->stat + kept(w, g->l, B * 2), k->before + kept(w, g->l, B * D), D,
                       p->norm_w, p->norm_b, LN_EPS, B, D);
        drop_update(w, g->l, z);
        ran_simd->add(z, c, B * D);
}

static void forward(struct ran_work *w, const struct ran_params *p)
{
        struct stage g = {.w = w, .p = p};

        gather_rows(&g);
        first_contexts(w, p);
        for (; g.l < w->c->layers; g.l++)
                step(&g);
}

/* ---- a step, backward ----------------------------------------------------------------------- */

/* From dbefore: to dalpha and the rows of short documents, to dhv of long ones. */
static void attend_bwd(void *arg, size_t b, float *scratch)
{
        const struct stage *g = arg;
        struct ran_work *w = g->w;
        struct ran_steps *k = w->steps;
        size_t D = w->D, u = w->c->rank, at = k->row[b];
        const float *alpha = k->alpha + kept(w, g->l, k->s * D), *dy = k->dbefore + b * D;

        mix(arg, b, scratch);
        ran_simd->mul_add(k->dsum + b * D, dy, g->p->step[g->l].w_b, D);
        if (is_long(w, b)) {
                memset(k->dhv + at * u, 0, D * u * sizeof *k->dhv);
                for (size_t d = 0; d < D; d++)
                        ran_simd->axpy(k->dhv + (at + d) * u, dy[d], g->p->step[g->l].w_w + d * u,
                                       u);
                return;
        }
        for (size_t i = at; i < at + length(w->rows, b); i++) {
                ran_simd->mul(k->dalpha + i * D, dy, k->rows + i * D, D);
                ran_simd->mul_add(k->drows + i * D, dy, alpha + i * D, D);
        }
}

/* From dhv: to dvc, and to dH in its place. */
static void mix_bwd(void *arg, size_t b, float *scratch)
{
        const struct stage *g = arg;
        struct ran_work *w = g->w;
        struct ran_steps *k = w->steps;
        size_t u = w->c->rank, at = k->row[b], n = rows_of(w, b);
        const float *vc = k->vc + kept(w, g->l, w->rows->B * u) + b * u;
        const float *h = k->h + kept(w, g->l, k->Q * u);
        float *dvc = k->dvc + b * u;

        (void)scratch;
        memset(dvc, 0, u * sizeof *dvc);
        for (size_t i = at; i < at + n; i++) {
                ran_simd->mul_add(dvc, k->dhv + i * u, h + i * u, u);
                ran_simd->mul(k->dhv + i * u, k->dhv + i * u, vc, u);
        }
}

/* The share of document b in the gradients of W and b, which ran_linear_bwd does not know of. */
static void add_weights(struct stage *g, size_t b)
{
        const struct ran_steps *k = g->w->steps;
        size_t D = g->w->D, u = g->w->c->rank, at = k->row[b];
        const float *dy = k->dbefore + b * D;

        ran_simd->mul_add(g->dp->step[g->l].w_b, dy, k->sum + b * D, D);
        for (size_t d = 0; d < D && is_long(g->w, b); d++)
                ran_simd->axpy(g->dp->step[g->l].w_w + d * u, dy[d], k->hv + (at + d) * u, u);
}

/* w->dlast: from the adjoint of the context after the step to that of the one before. */
static void step_bwd(struct stage *g)
{
        struct ran_work *w = g->w;
        struct ran_steps *k = w->steps;
        const struct ran_step_params *p = &g->p->step[g->l];
        struct ran_step_params *dp = &g->dp->step[g->l];
        size_t D = w->D, u = w->c->rank, B = w->rows->B;

        memcpy(k->dbefore, w->dlast, B * D * sizeof *k->dbefore);
        drop_update(w, g->l, k->dbefore);
        ran_simd->norm_bwd(k->dbefore, D, dp->norm_w, dp->norm_b, k->dbefore, D,
                           k->before + kept(w, g->l, B * D), D, k->stat + kept(w, g->l, B * 2),
                           p->norm_w, B, D);
        ran_each(w, 0, B, attend_bwd, g);
        ran_linear_bwd(w->pool, k->dhv, u, false, dp->w_w, NULL, k->dalpha, D, k->hv, u, p->w_w,
                       k->s, u, D);
        for (size_t b = 0; b < B; b++)
                add_weights(g, b);
        ran_each(w, 0, B, mix_bwd, g);
        ran_linear_bwd(w->pool, k->drows, D, true, dp->u_w, NULL, k->dhv, u, k->rows, D, p->u_w,
                       k->Q, D, u);
        ran_linear_bwd(w->pool, w->dlast, D, true, dp->v_w, NULL, k->dvc, u, context(w, g->l), D,
                       p->v_w, B, D, u);
}

/* ---- rows to tokens, backward --------------------------------------------------------------- */

/* dS + dS^T */
static void fold(void *arg, size_t b, float *scratch)
{
        const struct stage *g = arg;
        size_t D = g->w->D;
        float *ds = g->w->steps->drows + g->w->steps->row[b] * D;

        (void)scratch;
        for (size_t d = 0; d < D && is_long(g->w, b); d++)
                for (size_t j = 0; j <= d; j++)
                        ds[d * D + j] = ds[j * D + d] = ds[d * D + j] + ds[j * D + d];
}

/* Sums over the n rows of dx ⊙ x: total, and moment, which has each row times its distance from the
 * first one or, counting down, from the last. */
static void moments(float *total, float *moment, const float *dx, const float *x, size_t n,
                    size_t D, bool down)
{
        memset(total, 0, D * sizeof *total);
        memset(moment, 0, D * sizeof *moment);
        for (size_t i = n; i-- > 0;) { /* Σ i g_i = g_1 + ... + g_n  +  g_2 + ... + g_n  + ... */
                size_t at = (down ? n - 1 - i : i) * D;

                ran_simd->mul_add(total, dx + at, x + at, D);
                if (i > 0)
                        ran_simd->add(moment, total, D);
        }
}

/* What n tokens from number `from` on give to the gradient of s: dx ⊙ x times the distance from the
 * mean. It is counted from the end of the chunk where p is largest: seen from the other one, what
 * matters is a small difference of large floats. room: 4 D floats. */
static void spread(const struct ran_work *w, const float *position, size_t b, size_t from, size_t n,
                   double *ds, const float *dx, const float *x, float *room)
{
        size_t D = w->D;
        const double *mean = (const double *)w->steps->mean + b * D;
        const float *rising = room, *falling = room + 2 * D;

        moments(room, room + D, dx, x, n, D, true);
        moments(room + 2 * D, room + 3 * D, dx, x, n, D, false);
        for (size_t j = 0; j < D; j++)
                ds[j] += position[j] > 0 ? ((double)(from + n - 1) - mean[j]) * (double)rising[j] -
                                                   (double)rising[D + j]
                                         : ((double)from - mean[j]) * (double)falling[j] +
                                                   (double)falling[D + j];
}

static void scatter(void *arg, size_t i, float *scratch)
{
        const struct stage *g = arg;
        struct ran_work *w = g->w;
        const struct ran_steps *k = w->steps;
        const struct share *s = &k->share[i];
        const float *position = g->p->encoder.position;
        size_t D = w->D, chunk = chunk_of(w), at = k->row[s->b] * D;
        const float *e = w->x[0] + w->rows->doc[s->b] * D;
        float *de = w->dx + w->rows->doc[s->b] * D;
        float *room = scratch + D, *x = room + 4 * D, *dx = x + k->T * D;
        double *ds = (double *)k->dposition + i * D;

        memset(ds, 0, D * sizeof *ds);
        for (size_t from = s->from, n; from < s->to; from += n) {
                n = s->to - from < chunk ? s->to - from : chunk;
                if (is_long(w, s->b)) {
                        weigh(w, position, s->b, from, n, x, e + from * D, scratch);
                        ran_gemm(dx, D, x, D, 1, k->drows + at, D, 1, n, D, D, false);
                } else {
                        x = k->rows + at + from * D;
                        dx = k->drows + at + from * D;
                }
                ran_simd->bias(dx, D, k->dsum + s->b * D, n, D);
                spread(w, position, s->b, from, n, ds, dx, x, room);
                weigh(w, position, s->b, from, n, de + from * D, dx, scratch);
        }
}

static void backward(struct ran_work *w, const struct ran_params *p, struct ran_params *dp)
{
        struct ran_steps *k = w->steps;
        struct stage g = {.w = w, .p = p, .dp = dp};
        size_t D = w->D;

        memset(k->drows, 0, k->Q * D * sizeof *k->drows);
        memset(k->dsum, 0, w->rows->B * D * sizeof *k->dsum);
        for (g.l = w->c->layers; g.l-- > 0;)
                step_bwd(&g);
        if (dp->encoder.context != NULL)
                ran_simd->bias_bwd(dp->encoder.context, w->dlast, D, w->rows->B, D);
        ran_each(w, 0, w->rows->B, fold, &g);
        ran_each(w, 0, k->G, scatter, &g);
        for (size_t j = 0; j < D; j++) {
                double sum = 0;

                for (size_t i = 0; i < k->G; i++)
                        sum += ((const double *)k->dposition)[i * D + j];
                dp->encoder.position[j] += (float)sum;
        }
}

const struct ran_encoder ran_contextualizer = {prepare, lay_out, forward, backward, release};
