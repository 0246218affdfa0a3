/* The kernels of whole rows, norm, softmax and rotary, against plain twins in double, in every
 * width that this processor runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/compact.h"
#include "doubles.h"
#include "kernels.h"
#include "test.h"

/* ---- norm ------------------------------------------------------------------------------------ */

/* Rows of D among rows of ldx, ldy and so on; w, b, dw, db may be left out. */
struct norm_case {
        size_t N, D, ldx, ldy;
        bool learned, in_place;
        bool raw; /* by the root of the mean square */
        double eps;
};

static void norm_row(double *y, double *mean, double *rstd, const float *x, const float *w,
                     const float *b, bool raw, double eps, size_t D)
{
        double var = 0;

        *mean = 0;
        for (size_t i = 0; i < D; i++)
                *mean += (double)x[i] / (double)D;
        for (size_t i = 0; i < D; i++)
                var += pow((double)x[i] - (raw ? 0 : *mean), 2) / (double)D;
        *rstd = 1 / sqrt(var + eps);
        for (size_t i = 0; i < D; i++)
                y[i] = ((double)x[i] - *mean) * *rstd * (w != NULL ? (double)w[i] : 1) +
                       (b != NULL ? (double)b[i] : 0);
}

static void check_norm_of(const struct ran_kernels *k, struct dice *dice, const struct norm_case *c)
{
        size_t N = c->N, D = c->D, ldy = c->in_place ? c->ldx : c->ldy;
        struct vector x = vector_random(dice, (N - 1) * c->ldx + D, 2);
        struct vector y = c->in_place ? vector_copy(&x) : vector_random(dice, (N - 1) * ldy + D, 1);
        struct vector w = vector_random(dice, D, 1), b = vector_random(dice, D, 1);
        struct vector stat = vector_new(2 * N);
        const float *wx = c->learned ? w.x : NULL, *bx = c->learned ? b.x : NULL;
        double *want = doubles(y.n), *stats = doubles(2 * N);

        for (size_t i = 0; i < y.n; i++)
                want[i] = (double)y.x[i];
        for (size_t r = 0; r < N; r++)
                norm_row(want + r * ldy, stats + 2 * r, stats + 2 * r + 1, x.x + r * c->ldx, wx, bx,
                         c->raw, c->eps, D);
        (c->raw ? k->raw_norm : k->norm)(y.x, ldy, stat.x, c->in_place ? y.x : x.x, c->ldx, wx, bx,
                                         c->eps, N, D);
        vector_near(k, "norm", &y, want, 1e-5, 1e-6);
        vector_near(k, "mean and deviation", &stat, stats, 1e-6, 1e-5);
        vector_free(&x);
        vector_free(&y);
        vector_free(&w);
        vector_free(&b);
        vector_free(&stat);
        free(want);
        free(stats);
}

static void check_norms(const struct ran_kernels *k, bool raw)
{
        struct dice dice = {.key = 4};

        for (size_t D = 2; D < KERNEL_SIZES; D++)
                for (size_t way = 0; way < 4; way++) {
                        struct norm_case c = {.N = 1 + D % 4,
                                              .D = D,
                                              .ldx = D + way,
                                              .ldy = D + 2 * way,
                                              .learned = way % 2 == 0,
                                              .in_place = way >= 2,
                                              .raw = raw,
                                              .eps = way < 2 ? 1e-5 : 1e-7};

                        check_norm_of(k, &dice, &c);
                }
}

static void check_norm(const struct ran_kernels *k)
{
        check_norms(k, false);
        check_norms(k, true);
}

TEST(rows_norm_equals_its_twin)
{
        kernels_each(check_norm);
}

static void check_constant_rows(const struct ran_kernels *k)
{
        for (size_t D = 1; D < KERNEL_SIZES; D++) {
                struct vector x = vector_new(D), w = vector_new(D), b = vector_new(D);
                float stat[2];
                double off = 0;

                for (size_t i = 0; i < D; i++) {
                        x.x[i] = -0.3f;
                        w.x[i] = 2;
                        b.x[i] = (float)i;
                }
                k->norm(x.x, D, stat, x.x, D, w.x, b.x, 1e-7, 1, D);
                for (size_t i = 0; i < D; i++)
                        off = fmax(off, fabs((double)x.x[i] - (double)i));
                CHECK(off < 1e-3 && fabsf(stat[0] + 0.3f) < 1e-6f);
                CHECK(fabsf(stat[1] - 3162.27766f) < 1); /* 1 / sqrt(eps) */
                vector_free(&x);
                vector_free(&w);
                vector_free(&b);
        }
}

TEST(rows_norm_of_a_constant_row_is_its_shift)
{
        kernels_each(check_constant_rows);
}

/* The adjoint of a row, by the chain rule element by element: dy_j / dx_i = rstd (delta_ij - 1/D -
 * xhat_i xhat_j / D), raw: with x_i rstd in place of xhat_i. */
static void norm_bwd_row(double *dx, const float *dy, const double *xhat, const float *raw,
                         double rstd, const float *w, size_t D)
{
        for (size_t i = 0; i < D; i++) {
                dx[i] = 0;
                for (size_t j = 0; j < D; j++)
                        dx[i] += (double)dy[j] * (w != NULL ? (double)w[j] : 1) * rstd *
                                 ((i == j) -
                                  (1 + (raw != NULL ? (double)raw[i] * rstd : xhat[i]) * xhat[j]) /
                                          (double)D);
        }
}

static void check_norm_bwd_of(const struct ran_kernels *k, struct dice *dice,
                              const struct norm_case *c, bool wanted)
{
        size_t N = c->N, D = c->D, lddx = c->in_place ? c->ldy : c->ldx + 1;
        struct vector x = vector_random(dice, (N - 1) * c->ldx + D, 2), w;
        struct vector dy = vector_random(dice, (N - 1) * c->ldy + D, 1);
        struct vector dx =
                c->in_place ? vector_copy(&dy) : vector_random(dice, (N - 1) * lddx + D, 1);
        struct vector dw = vector_random(dice, D, 1), db = vector_random(dice, D, 1);
        struct vector stat = vector_new(2 * N), xhat = vector_new(D);
        double *want = doubles(dx.n), *dwant = doubles(D), *bwant = doubles(D), *hat = doubles(D);
        const float *wx;

        w = vector_random(dice, D, 1);
        wx = c->learned ? w.x : NULL;
        for (size_t i = 0; i < dx.n; i++)
                want[i] = (double)dx.x[i];
        for (size_t i = 0; i < D; i++) {
                dwant[i] = (double)dw.x[i];
                bwant[i] = (double)db.x[i];
        }
        for (size_t r = 0; r < N; r++) {
                const float *d = dy.x + r * c->ldy;
                double mean, rstd;

                norm_row(hat, &mean, &rstd, x.x + r * c->ldx, NULL, NULL, c->raw, c->eps, D);
                (c->raw ? k->raw_norm : k->norm)(xhat.x, D, stat.x + 2 * r, x.x + r * c->ldx,
                                                 c->ldx, NULL, NULL, c->eps, 1, D);
                norm_bwd_row(want + r * lddx, d, hat, c->raw ? x.x + r * c->ldx : NULL, rstd, wx,
                             D);
                for (size_t i = 0; i < D && wanted; i++) {
                        dwant[i] += (double)d[i] * hat[i];
                        bwant[i] += (double)d[i];
                }
        }
        (c->raw ? k->raw_norm_bwd : k->norm_bwd)(dx.x, lddx, wanted ? dw.x : NULL,
                                                 wanted ? db.x : NULL, c->in_place ? dx.x : dy.x,
                                                 c->ldy, x.x, c->ldx, stat.x, wx, N, D);
        vector_near(k, "norm_bwd, dx", &dx, want, 2e-5, 1e-5);
        vector_near(k, "norm_bwd, dw", &dw, dwant, 1e-5, 1e-5);
        vector_near(k, "norm_bwd, db", &db, bwant, 1e-5, 1e-5);
        vector_free(&x);
        vector_free(&w);
        vector_free(&dy);
        vector_free(&dx);
        vector_free(&dw);
        vector_free(&db);
        vector_free(&stat);
        vector_free(&xhat);
        free(want);
        free(dwant);
        free(bwant);
        free(hat);
}

static void check_norms_bwd(const struct ran_kernels *k, bool raw)
{
        struct dice dice = {.key = 5};

        for (size_t D = 3; D < KERNEL_SIZES; D++)
                for (size_t way = 0; way < 4; way++) {
                        struct norm_case c = {.N = 1 + D % 4,
                                              .D = D,
                                              .ldx = D + way,
                                              .ldy = D + 2 * way,
                                              .learned = way % 2 == 0,
                                              .in_place = way >= 2,
                                              .raw = raw,
                                              .eps = 1e-5};

                        check_norm_bwd_of(k, &dice, &c, way != 2 && c.learned);
                }
}

static void check_norm_bwd(const struct ran_kernels *k)
{
        check_norms_bwd(k, false);
        check_norms_bwd(k, true);
}

TEST(rows_norm_bwd_equals_its_twin)
{
        kernels_each(check_norm_bwd);
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* Few values, so that a maximum is there more than once; and some that are no numbers. */
static void check_max_rows(const struct ran_kernels *k)
{
        struct dice dice = {.key = 12};

        for (size_t size = 0; size < KERNEL_SIZES; size++) {
                const size_t D = kernel_size(size);
                const size_t N = dice_size(&dice, 1, 9), ld = D + D % 3;
                struct vector x = vector_new(N * ld), top = vector_new(D), at = vector_new(D);
                uint32_t *row = (uint32_t *)at.x;

                for (size_t i = 0; i < x.n; i++)
                        x.x[i] = dice_size(&dice, 0, 19) == 0 ? NAN
                                                              : (float)dice_size(&dice, 0, 4) - 2;
                k->max_rows(top.x, row, x.x, ld, N, D);
                for (size_t d = 0; d < D; d++) {
                        size_t most = 0;

                        for (size_t r = 1; r < N; r++)
                                most = x.x[r * ld + d] > x.x[most * ld + d] ? r : most;
                        CHECK_SIZE(row[d], most);
                        CHECK(memcmp(&top.x[d], &x.x[most * ld + d], sizeof *top.x) == 0);
                }
                vector_free(&x);
                vector_free(&top);
                vector_free(&at);
        }
}

TEST(rows_max_equals_its_twin)
{
        kernels_each(check_max_rows);
}

/* Returns the logarithm of the sum. */
static double softmax_twin(double *p, const float *x, double scale, size_t n)
{
        double top = (double)x[0], sum = 0;

        for (size_t i = 0; i < n; i++)
                top = fmax(top, (double)x[i]);
        for (size_t i = 0; i < n; i++)
                sum += p[i] = exp(scale * ((double)x[i] - top));
        for (size_t i = 0; i < n; i++)
                p[i] /= sum;
        return scale * top + log(sum);
}

static void check_softmax_of(const struct ran_kernels *k, struct dice *dice, size_t n, double size,
                             double scale)
{
        struct vector x = vector_random(dice, n, size), dp = vector_random(dice, n, 1);
        double *p = doubles(n), *want = doubles(n), mean = 0, log_sum;
        double want_log = softmax_twin(p, x.x, (double)(float)scale, n);

        k->softmax(x.x, (float)scale, n, &log_sum);
        CHECK_NEAR(log_sum, want_log, 1e-6 * fabs(want_log) + 1e-6);
        vector_near(k, "softmax", &x, p, 1e-7, 2e-6);
        for (size_t i = 0; i < n; i++)
                mean += p[i] * (double)dp.x[i];
        for (size_t i = 0; i < n; i++)
                want[i] = scale * p[i] * ((double)dp.x[i] - mean);
        k->softmax_bwd(dp.x, x.x, (float)scale, n);
        vector_near(k, "softmax_bwd", &dp, want, 1e-6, 1e-5);
        vector_free(&x);
        vector_free(&dp);
        free(p);
        free(want);
}

static void check_softmax(const struct ran_kernels *k)
{
        struct dice dice = {.key = 6};

        for (size_t i = 0; i < KERNEL_SIZES; i++) {
                check_softmax_of(k, &dice, kernel_size(i), 2, 1);
                check_softmax_of(k, &dice, kernel_size(i), 2, 0.125);
                check_softmax_of(k, &dice, kernel_size(i), 1e4, 0.3);
        }
}

TEST(rows_softmax_and_its_adjoint_equal_their_twins)
{
        kernels_each(check_softmax);
}

/* One score stands out: it gets all, the others nothing. Returns what went elsewhere. */
static double stray(const struct ran_kernels *k, float size, size_t n)
{
        struct vector x = vector_new(n);
        double sum;

        for (size_t i = 0; i < n; i++)
                x.x[i] = i % 2 == 0 ? -size : 0.9f * size;
        x.x[n / 2] = size;
        k->softmax(x.x, 0.3f, n, NULL);
        sum = fabs((double)x.x[n / 2] - 1);
        for (size_t i = 0; i < n; i++)
                sum += i != n / 2 ? fabs((double)x.x[i]) : 0;
        vector_free(&x);
        return sum;
}

static void check_huge_scores(const struct ran_kernels *k)
{
        static const float sizes[] = {1e6f, 3.3e9f, 1e20f, 3e38f};

        for (size_t s = 0; s < 4; s++) {
                double most = 0;

                for (size_t n = 2; n < KERNEL_SIZES; n++) {
                        double sum = stray(k, sizes[s], n);

                        most = sum <= most ? most : sum; /* a NaN counts */
                }
                CHECK_NEAR(most, 0, 1e-35);
        }
}

TEST(rows_softmax_bears_huge_scores)
{
        kernels_each(check_huge_scores);
}

/* ---- rows that belong together --------------------------------------------------------------- */

static double sign(double x)
{
        return (x > 0) - (x < 0);
}

/* similarity, and weighted_difference, for N rows of d, some of which are equal. */
static void check_similarity_of(const struct ran_kernels *k, struct dice *dice, int how, size_t N,
                                size_t d)
{
        size_t ldx = d + N % 3, ldy = d + N % 5;
        struct vector x = vector_random(dice, (N - 1) * ldx + d, 1);
        struct vector y = vector_random(dice, (N - 1) * ldy + d, 1);
        struct vector p = vector_random(dice, N, 1), similarity = vector_new(N);
        struct vector to = vector_random(dice, (N - 1) * ldy + d, 1);
        double *want = doubles(N), *pulled = doubles(to.n);

        for (size_t i = 0; i < N; i += 3)
                memcpy(y.x + i * ldy, x.x + i * ldx, d * sizeof *y.x);
        for (size_t i = 0; i < to.n; i++)
                pulled[i] = (double)to.x[i];
        for (size_t i = 0; i < N * d; i++) {
                double a = (double)x.x[i / d * ldx + i % d], b = (double)y.x[i / d * ldy + i % d];
                double off = a - b;

                want[i / d] += how == RAN_ROWS_DOT       ? a * b
                               : how == RAN_ROWS_SQUARED ? off * off
                                                         : fabs(off);
                pulled[i / d * ldy + i % d] +=
                        (double)p.x[i / d] * (how == RAN_ROWS_SQUARED ? off : sign(off));
        }
        k->similarity(how, similarity.x, x.x, ldx, y.x, ldy, N, d);
        vector_near(k, "similarity", &similarity, want, 1e-5, 1e-5);
        if (how != RAN_ROWS_DOT) {
                k->weighted_difference(how, to.x, ldy, p.x, x.x, ldx, y.x, ldy, N, d);
                vector_near(k, "weighted_difference", &to, pulled, 1e-6, 1e-6);
        }
        vector_free(&x);
        vector_free(&y);
        vector_free(&p);
        vector_free(&similarity);
        vector_free(&to);
        free(want);
        free(pulled);
}

static void check_weighted_sum_of(const struct ran_kernels *k, struct dice *dice, size_t lines,
                                  size_t N, size_t d)
{
        size_t ldx = d + N % 3, ldy = d + N % 5, ldp = N + lines % 2;
        struct vector x = vector_random(dice, (lines + N - 2) * ldx + d, 1);
        struct vector p = vector_random(dice, (lines - 1) * ldp + N, 1);
        struct vector y = vector_random(dice, (N - 1) * ldy + d, 1);
        double *want = doubles(y.n);
        const float *row[8];

        for (size_t i = 0; i < y.n; i++)
                want[i] = (double)y.x[i];
        for (size_t l = 0; l < lines; l++) {
                row[l] = x.x + (lines - 1 - l) * ldx;
                for (size_t i = 0; i < N * d; i++)
                        want[i / d * ldy + i % d] +=
                                (double)p.x[l * ldp + i / d] * (double)row[l][i / d * ldx + i % d];
        }
        k->weighted_sum(y.x, ldy, p.x, ldp, row, ldx, lines, N, d);
        vector_near(k, "weighted_sum", &y, want, 1e-5, 1e-6);
        vector_free(&x);
        vector_free(&p);
        vector_free(&y);
        free(want);
}

static void check_similarity(const struct ran_kernels *k)
{
        struct dice dice = {.key = 8};

        for (int how = 0; how < 3; how++) {
                for (size_t N = 1; N < 40; N++)
                        check_similarity_of(k, &dice, how, N, 1 + N % 7);
                for (size_t d = 1; d < KERNEL_SIZES; d++)
                        check_similarity_of(k, &dice, how, 5 + d % 30, d);
        }
        for (size_t d = 1; d < 3 * KERNEL_SIZES; d++)
                check_weighted_sum_of(k, &dice, 1 + d % 8, 1 + d % 9, d);
}

TEST(similarity_and_weighted_sum_equal_their_twins)
{
        kernels_each(check_similarity);
}

/* Three lines, one after another, make a softmax of three numbers of each element. */
static void check_online_softmax_of(const struct ran_kernels *k, struct dice *dice, size_t n,
                                    double size)
{
        const float scale = 0.3f;
        struct vector x[3], top = vector_new(n), sum = vector_new(n), dp, log_sum, delta;
        double *want = doubles(n), *sums = doubles(n), *grad = doubles(n);

        for (size_t i = 0; i < n; i++) {
                top.x[i] = -INFINITY;
                sum.x[i] = 0;
        }
        for (size_t l = 0; l < 3; l++) {
                x[l] = vector_random(dice, n, size);
                k->online_max(top.x, x[l].x, n);
        }
        for (size_t i = 0; i < n; i++)
                want[i] = fmax(fmax((double)x[0].x[i], (double)x[1].x[i]), (double)x[2].x[i]);
        vector_near(k, "online_max", &top, want, 0, 0);
        for (size_t l = 0; l < 3; l++) {
                for (size_t i = 0; i < n; i++) {
                        want[i] = exp(fmax(((double)x[l].x[i] - (double)top.x[i]) * (double)scale,
                                           -87.3));
                        sums[i] += want[i];
                }
                k->online_exp(x[l].x, sum.x, top.x, scale, n);
                vector_near(k, "online_exp", &x[l], want, 0, 2e-6 * (1 + size));
        }
        vector_near(k, "online_exp, its sum", &sum, sums, 0, 2e-6 * (1 + size));
        dp = vector_random(dice, n, 1);
        log_sum = vector_random(dice, n, 1);
        delta = vector_random(dice, n, 1);
        for (size_t i = 0; i < n; i++) {
                want[i] = exp((double)scale * (double)x[0].x[i] - (double)log_sum.x[i]);
                grad[i] = want[i] * ((double)dp.x[i] - (double)delta.x[i]);
        }
        k->online_softmax_bwd(x[0].x, dp.x, log_sum.x, delta.x, scale, n);
        vector_near(k, "online_softmax_bwd, p", &x[0], want, 0, 1e-5);
        vector_near(k, "online_softmax_bwd", &dp, grad, 1e-6, 1e-5);
        for (size_t l = 0; l < 3; l++)
                vector_free(&x[l]);
        vector_free(&top);
        vector_free(&sum);
        vector_free(&dp);
        vector_free(&log_sum);
        vector_free(&delta);
        free(want);
        free(sums);
        free(grad);
}

static void check_online_softmax(const struct ran_kernels *k)
{
        struct dice dice = {.key = 9};

        for (size_t i = 0; i < KERNEL_SIZES; i++) {
                check_online_softmax_of(k, &dice, kernel_size(i), 1);
                check_online_softmax_of(k, &dice, kernel_size(i), 100);
        }
}

TEST(online_softmax_and_its_adjoint_equal_their_twins)
{
        kernels_each(check_online_softmax);
}

/* ---- rotary ---------------------------------------------------------------------------------- */

static void check_rotary_of(const struct ran_kernels *k, struct dice *dice, size_t N, size_t h,
                            size_t d)
{
        size_t ld = h * d + 3;
        struct vector x = vector_random(dice, (N - 1) * ld + h * d, 1), start = vector_copy(&x);
        struct vector table = vector_new(N * 2 * d);
        double *want = doubles(x.n), *back = doubles(x.n);

        for (size_t i = 0; i < x.n; i++)
                back[i] = want[i] = (double)x.x[i];
        for (size_t r = 0; r < N; r++)
                for (size_t i = 0; i < d; i++) {
                        double angle = 0.7 * (double)r + 0.3 * (double)(i / 2);
                        float *row = table.x + r * 2 * d;

                        row[i] = (float)cos(angle);
                        row[d + i] = (float)(i % 2 == 0 ? -sin(angle) : sin(angle));
                        for (size_t j = 0; j < h; j++) {
                                const float *pair = start.x + r * ld + j * d + i / 2 * 2;

                                want[r * ld + j * d + i] =
                                        i % 2 == 0 ? (double)pair[0] * cos(angle) -
                                                             (double)pair[1] * sin(angle)
                                                   : (double)pair[0] * sin(angle) +
                                                             (double)pair[1] * cos(angle);
                        }
                }
        k->rotary(x.x, ld, table.x, 1, N, h, d);
        vector_near(k, "rotary", &x, want, 1e-6, 0);
        k->rotary(x.x, ld, table.x, -1, N, h, d);
        vector_near(k, "rotary there and back", &x, back, 2e-6, 0);
        vector_free(&x);
        vector_free(&start);
        vector_free(&table);
        free(want);
        free(back);
}

static void check_rotary(const struct ran_kernels *k)
{
        struct dice dice = {.key = 7};

        for (size_t d = 2; d < KERNEL_SIZES; d += 2)
                for (size_t h = 1; h < 4; h++)
                        check_rotary_of(k, &dice, 1 + d % 5, h, d);
}

TEST(rows_rotary_turns_pairs_and_turns_them_back)
{
        kernels_each(check_rotary);
}

/* ---- sparse rows ------------------------------------------------------------------------------
 */

enum { SPARSE_ROWS = 40, SPARSE = 17 };

static void check_sparse(const struct ran_kernels *k, size_t n)
{
        struct dice dice = {.key = 12};
        const size_t ld = n + 3;
        struct vector x = vector_random(&dice, SPARSE, 1), y = vector_random(&dice, n, 1);
        struct vector w = vector_random(&dice, SPARSE_ROWS * ld, 1), a = vector_random(&dice, n, 1);
        struct vector s = vector_random(&dice, SPARSE_ROWS * ld, 1);
        double *want = doubles(n), *moved = doubles(w.n);
        uint32_t row[SPARSE];

        for (size_t i = 0; i < SPARSE; i++)
                row[i] = (uint32_t)((i * 7 + 3) % SPARSE_ROWS); /* distinct */
        for (size_t i = 0; i < n; i++) {
                want[i] = (double)y.x[i];
                a.x[i] = i % 40 < 33 ? 0 : a.x[i]; /* whole vectors of zeros are left out */
        }
        for (size_t i = 0; i < SPARSE; i++)
                for (size_t j = 0; j < n; j++)
                        want[j] += (double)x.x[i] * (double)w.x[row[i] * ld + j];
        k->sparse_sum(y.x, x.x, row, SPARSE, w.x, ld, n);
        vector_near(k, "sparse_sum", &y, want, 2e-5, 1e-5);
        for (int scaled = 0; scaled < 2; scaled++) {
                for (size_t i = 0; i < w.n; i++)
                        moved[i] = (double)w.x[i];
                for (size_t i = 0; i < SPARSE; i++)
                        for (size_t j = 0; j < n; j++)
                                moved[row[i] * ld + j] +=
                                        (double)x.x[i] *
                                        (scaled ? (double)s.x[row[i] * ld + j] : 1) *
                                        (double)a.x[j];
                k->sparse_add(w.x, scaled ? s.x : NULL, ld, x.x, row, SPARSE, a.x, n);
                vector_near(k, "sparse_add", &w, moved, 1e-5, 1e-5);
        }
        vector_free(&x);
        vector_free(&y);
        vector_free(&w);
        vector_free(&a);
        vector_free(&s);
        free(want);
        free(moved);
}

static void check_sparse_sizes(const struct ran_kernels *k)
{
        for (size_t i = 0; i < KERNEL_SIZES; i++)
                check_sparse(k, kernel_size(i));
        for (size_t n = 90; n <= 130; n++)
                check_sparse(k, n);
}

TEST(simd_sparse_rows_equal_their_twin)
{
        kernels_each(check_sparse_sizes);
}

/* Rows in fewer bits, which end where they may no longer be read. */
static void check_compact(const struct ran_kernels *k, size_t n)
{
        struct dice dice = {.key = 14};
        const size_t ld = n + 3, end = (SPARSE_ROWS - 1) * ld + n;
        struct vector x = vector_random(&dice, SPARSE, 1), y = vector_random(&dice, n, 1);
        struct vector scale = vector_random(&dice, SPARSE_ROWS, 0.1f), out = vector_new(n);
        uint16_t *f16 = malloc(end * sizeof *f16);
        int8_t *i8 = malloc(end);
        double *halves = doubles(n), *codes = doubles(n);
        uint32_t row[SPARSE];

        for (size_t i = 0; i < end; i++) {
                f16[i] = (uint16_t)dice_size(&dice, 0, 0xffff);
                f16[i] &= (f16[i] & 0x7c00) > 0x4000 ? 0x43ff : 0xffff; /* below 4 */
                i8[i] = (int8_t)((int)dice_size(&dice, 0, 254) - 127);
        }
        for (size_t i = 0; i < SPARSE; i++)
                row[i] = (uint32_t)(SPARSE_ROWS - 1 - 2 * i);
        for (size_t j = 0; j < n; j++)
                halves[j] = codes[j] = (double)y.x[j];
        for (size_t i = 0; i < SPARSE; i++)
                for (size_t j = 0; j < n; j++) {
                        size_t at = row[i] * ld + j;

                        halves[j] += (double)x.x[i] * (double)ran_float_of_half(f16[at]);
                        codes[j] += (double)x.x[i] * (double)scale.x[row[i]] * (double)i8[at];
                }
        memcpy(out.x, y.x, n * sizeof *y.x);
        k->sparse_sum_f16(out.x, x.x, row, SPARSE, f16, ld, end, n);
        vector_near(k, "sparse_sum_f16", &out, halves, 5e-5, 2e-5);
        memcpy(out.x, y.x, n * sizeof *y.x);
        k->sparse_sum_i8(out.x, x.x, row, SPARSE, i8, scale.x, ld, end, n);
        vector_near(k, "sparse_sum_i8", &out, codes, 1e-4, 2e-5);
        vector_free(&x);
        vector_free(&y);
        vector_free(&scale);
        vector_free(&out);
        free(f16);
        free(i8);
        free(halves);
        free(codes);
}

static void check_compact_sizes(const struct ran_kernels *k)
{
        for (size_t i = 0; i < KERNEL_SIZES; i++)
                check_compact(k, kernel_size(i));
        for (size_t n = 1; n <= 130; n++)
                check_compact(k, n);
}

TEST(simd_compact_rows_equal_their_twin)
{
        kernels_each(check_compact_sizes);
}

/* Classes are shared out to threads: a column's sum is the same beside others and alone. */
static void check_sparse_columns(const struct ran_kernels *k)
{
        struct dice dice = {.key = 13};
        enum { N = 50 };
        struct vector x = vector_random(&dice, SPARSE, 1), w = vector_random(&dice, N * N, 1);
        struct vector all = vector_new(N), one = vector_new(N);
        uint32_t row[SPARSE];

        for (size_t i = 0; i < SPARSE; i++)
                row[i] = (uint32_t)(2 * i);
        k->sparse_sum(all.x, x.x, row, SPARSE, w.x, N, N);
        for (size_t j = 0; j < N; j++)
                k->sparse_sum(one.x + j, x.x, row, SPARSE, w.x + j, N, 1);
        CHECK(memcmp(all.x, one.x, N * sizeof *one.x) == 0);
        vector_free(&x);
        vector_free(&w);
        vector_free(&all);
        vector_free(&one);
}

TEST(simd_sparse_sums_do_not_depend_on_their_neighbours)
{
        kernels_each(check_sparse_columns);
}
