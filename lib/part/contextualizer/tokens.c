/* tokens.c - tokens of a Contextualizer weighted by position, and the two sums over
 * the tokens of long documents. See contextualizer.h. */
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "part/contextualizer/contextualizer.h"
#include "ran/model.h"
#include "ran/math.h"

#include <math.h>
#include <string.h>

/* ---- positions ------------------------------------------------------------------------------- */

/* p(i)_j falls by exp(-|s_j|) from token to token, from the last one to the first if s_j > 0, else
 * from the first to the last. With t tokens of L in between it is
 *
 *   exp(-|s_j| t) / Σ exp(-|s_j| t')
 *
 * whose sum is geometric: nothing overflows, and no token has to be read before another. In a block
 * it is the product of three factors: that of the block's own end, and what tables hold for tokens
 * within blocks, 1 in the one of the other direction. */

/* Weights below 1e-16 of the largest are 0: rounding loses them, and processors are slow with
 * subnormal products. */
#define LEAST_WEIGHT 1e-16
static double nonzero_weight(double weight)
{
        return weight < LEAST_WEIGHT ? 0 : weight;
}

/* Row k of `down` belongs to token k of a block; the last row of `up` to the block's last token. */
static void tabulate(struct ran_workspace *w, const float *position)
{
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        size_t D = w->D, T = k->n_tokens;

        for (size_t j = 0; j < D; j++) {
                double s = (double)position[j], value = 1, factor = ran_exp(-fabs(s));

                for (size_t i = 0; i < T; i++) {
                        k->down[i * D + j] = s > 0 ? 1.0f : (float)nonzero_weight(value);
                        k->up[(T - 1 - i) * D + j] = s > 0 ? (float)nonzero_weight(value) : 1.0f;
                        value *= factor;
                }
        }
}

/* 1/(exp(x) - 1) - 1/x, x >= 0 */
static double regular_part(double x)
{
        double y = x * x;

        if (x > 0.5)
                return 1 / ran_expm1(x) - 1 / x;
        return -0.5 +
               x * (1.0 / 12 - y * (1.0 / 720 - y * (1.0 / 30240 -
                                                     y * (1.0 / 1209600 - y * (1.0 / 47900160)))));
}

/* The largest p(.)_j of document b of n tokens, 1 / Σ exp(-s t) over t < n, and in training the
 * mean index of a token, from 0, under p(.)_j. */
static void scale_positions(struct ran_workspace *w, const float *position, size_t b)
{
        const struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        double n = (double)ran_contextualizer_length(w->packed, b),
               whole = w->c->contextualizer.position_scale ? n : 1;
        double *scale = (double *)k->scale + b * w->D;
        double *mean = w->training ? (double *)k->mean + b * w->D : NULL;

        for (size_t j = 0; j < w->D; j++) {
                const double s = fabs((double)position[j]);

                scale[j] = whole / (s > 0 ? ran_expm1(-n * s) / ran_expm1(-s) : n);
                if (mean == NULL)
                        continue;
                const double t = regular_part(s) - n * regular_part(n * s);
                mean[j] = position[j] > 0 ? n - 1 - t : t;
        }
}

void ran_contextualizer_weigh(const struct ran_workspace *w, const float *position, size_t b,
                              size_t from, size_t n, float *y, const float *x, float *anchor)
{
        const struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const double *scale = (const double *)k->scale + b * w->D;
        size_t D = w->D, behind = ran_contextualizer_length(w->packed, b) - from - n;

        for (size_t j = 0; j < D; j++) {
                double s = (double)position[j], t = s > 0 ? (double)behind : (double)from;

                anchor[j] = (float)(scale[j] * (t > 0 ? nonzero_weight(ran_exp(-fabs(s) * t)) : 1));
        }
        ran_simd->mul(y, x, k->down, n * D);
        ran_simd->mul(y, y, k->up + (k->n_tokens - n) * D, n * D);
        for (size_t i = 0; i < n; i++)
                ran_simd->mul(y + i * D, y + i * D, anchor, D);
}

/* ---- tokens to rows ------------------------------------------------------------------------- */

/* Partial sum i of S and X: a document's first one is written in place, the others to memory of
 * their own. */
static float *partial_square(const struct ran_workspace *w, size_t i)
{
        const struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const struct ran_contextualizer_partial *s = &k->partial[i];

        return s->from == 0 ? k->rows + k->row[s->b] * w->D
                            : k->part + (i - s->b - 1) * w->D * w->D;
}

static float *partial_sum(const struct ran_workspace *w, size_t i)
{
        const struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const struct ran_contextualizer_partial *s = &k->partial[i];

        return s->from == 0 ? k->sum + s->b * w->D : k->part_sum + (i - s->b - 1) * w->D;
}

static void gather(void *arg, size_t i, float *scratch)
{
        const struct ran_contextualizer_stage *g = arg;
        struct ran_workspace *w = g->w;
        const struct ran_contextualizer_partial *s = &ran_contextualizer_steps_of(w)->partial[i];
        size_t D = w->D, block = ran_contextualizer_block_of(w);
        const float *e = w->x[0] + w->packed->doc[s->b] * D;
        float *square = partial_square(w, i), *sum = partial_sum(w, i), *total = scratch + D,
              *x = total + D;

        memset(sum, 0, D * sizeof *sum);
        for (size_t from = s->from, n; from < s->to; from += n) {
                n = s->to - from < block ? s->to - from : block;
                if (!ran_contextualizer_is_long(w, s->b))
                        x = square + from * D;
                ran_contextualizer_weigh(w, g->once->position, s->b, from, n, x, e + from * D,
                                         scratch);
                memset(total, 0, D * sizeof *total); /* of the block first, for accuracy */
                ran_simd->bias_bwd(total, x, D, n, D);
                ran_simd->add(sum, total, D);
                if (ran_contextualizer_is_long(w, s->b))
                        ran_gemm(square, D, x, 1, D, x, D, 1, D, D, n, from > s->from);
        }
}

void ran_contextualizer_gather(struct ran_contextualizer_stage *g)
{
        struct ran_workspace *w = g->w;
        const struct ran_contextualizer_steps *k = ran_contextualizer_steps_of(w);
        size_t D = w->D;

        tabulate(w, g->once->position);
        for (size_t b = 0; b < w->packed->B; b++)
                scale_positions(w, g->once->position, b);
        ran_workers_each(&w->workers, 0, k->n_partials, gather, g);
        for (size_t i = 0; i < k->n_partials; i++) {
                const struct ran_contextualizer_partial *s = &k->partial[i];

                if (s->from == 0) /* a short document has only these */
                        continue;
                ran_simd->add(k->sum + s->b * D, partial_sum(w, i), D);
                ran_simd->add(k->rows + k->row[s->b] * D, partial_square(w, i), D * D);
        }
}

/* ---- rows to tokens, backward --------------------------------------------------------------- */

/* dS + dS^T */
static void fold(void *arg, size_t b, float *scratch)
{
        const struct ran_contextualizer_stage *g = arg;
        size_t D = g->w->D;
        const struct ran_contextualizer_steps *k = ran_contextualizer_steps_of(g->w);
        float *ds = k->drows + k->row[b] * D;

        (void)scratch;
        for (size_t d = 0; d < D && ran_contextualizer_is_long(g->w, b); d++)
                for (size_t j = 0; j <= d; j++)
                        ds[d * D + j] = ds[j * D + d] = ds[d * D + j] + ds[j * D + d];
}

/* Sums over the n rows of dx ⊙ x: total, and moment, which weights each row by its distance from
 * the first one (or from the last one, counting down). */
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

/* The gradient of s from n tokens, the first of them number `from`: dx ⊙ x times the distance
 * from the mean. Distances count from the end of the block where p is largest: from the other
 * end, the result would be a small difference of large floats. room: 4 D floats. */
static void spread(const struct ran_workspace *w, const float *position, size_t b, size_t from,
                   size_t n, double *ds, const float *dx, const float *x, float *room)
{
        size_t D = w->D;
        const double *mean = (const double *)ran_contextualizer_steps_of(w)->mean + b * D;
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
        const struct ran_contextualizer_stage *g = arg;
        struct ran_workspace *w = g->w;
        const struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const struct ran_contextualizer_partial *s = &k->partial[i];
        const float *position = g->once->position;
        size_t D = w->D, block = ran_contextualizer_block_of(w), at = k->row[s->b] * D;
        const float *e = w->x[0] + w->packed->doc[s->b] * D;
        float *de = w->dx + w->packed->doc[s->b] * D;
        float *room = scratch + D, *x = room + 4 * D, *dx = x + k->n_tokens * D;
        double *ds = (double *)k->dposition + i * D;

        memset(ds, 0, D * sizeof *ds);
        for (size_t from = s->from, n; from < s->to; from += n) {
                n = s->to - from < block ? s->to - from : block;
                if (ran_contextualizer_is_long(w, s->b)) {
                        ran_contextualizer_weigh(w, position, s->b, from, n, x, e + from * D,
                                                 scratch);
                        ran_gemm(dx, D, x, D, 1, k->drows + at, D, 1, n, D, D, false);
                } else {
                        x = k->rows + at + from * D;
                        dx = k->drows + at + from * D;
                }
                ran_simd->bias(dx, D, k->dsum + s->b * D, n, D);
                spread(w, position, s->b, from, n, ds, dx, x, room);
                ran_contextualizer_weigh(w, position, s->b, from, n, de + from * D, dx, scratch);
        }
}

void ran_contextualizer_scatter(struct ran_contextualizer_stage *g)
{
        struct ran_workspace *w = g->w;
        const struct ran_contextualizer_steps *k = ran_contextualizer_steps_of(w);
        const double *ds = (const double *)k->dposition;

        ran_workers_each(&w->workers, 0, w->packed->B, fold, g);
        ran_workers_each(&w->workers, 0, k->n_partials, scatter, g);
        for (size_t j = 0; j < w->D && g->donce->position != NULL; j++) {
                double sum = 0;

                for (size_t i = 0; i < k->n_partials; i++)
                        sum += ds[i * w->D + j];
                g->donce->position[j] += (float)sum;
        }
}
