/* The matrix product and the linear layer against plain loops in double, by every engine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "kernels.h"
#include "math/gemm.h"
#include "math/kept-panels.h"
#include "test.h"

typedef void gemm_fn(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                     size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K,
                     bool add);

/* ---- the product ----------------------------------------------------------------------------- */

/* A product and how its operands lie: rows are `gap` further apart than they are long, a matrix
 * that is `turned` is stored by columns. */
struct product {
        size_t M, N, K, gap;
        bool turned_a, turned_b, add, bias;
};

static size_t stored(size_t rows, size_t cols, bool turned, size_t gap)
{
        return turned ? (cols - 1) * (rows + gap) + rows : (rows - 1) * (cols + gap) + cols;
}

/* sum and size (M,N): the product, and what its terms add up to without their signs: errors of
 * rounding are a share of that. */
static void naive(double *sum, double *size, const struct product *p, const float *a, size_t ras,
                  size_t cas, const float *b, size_t rbs, size_t cbs)
{
        for (size_t i = 0; i < p->M; i++)
                for (size_t j = 0; j < p->N; j++) {
                        double s = 0, z = 0;

                        for (size_t k = 0; k < p->K; k++) {
                                double x =
                                        (double)a[i * ras + k * cas] * (double)b[k * rbs + j * cbs];

                                s += x;
                                z += fabs(x);
                        }
                        sum[i * p->N + j] = s;
                        size[i * p->N + j] = z;
                }
}

/* Elements of c that are wrong, those between its rows included. */
static size_t wrong(const struct product *p, const float *c, const float *before, size_t ldc,
                    const float *bias, const double *sum, const double *size)
{
        size_t count = 0;

        for (size_t i = 0; i < p->M; i++) {
                for (size_t j = 0; j < p->N; j++) {
                        size_t at = i * ldc + j;
                        double start = p->add ? (double)before[at] : 0;
                        double added = p->bias ? (double)bias[j] : 0;
                        double off = fabs((double)c[at] - start - added - sum[i * p->N + j]);

                        count += !(off <=
                                   4e-7 * (size[i * p->N + j] + fabs(start) + fabs(added)) + 1e-30);
                }
                for (size_t j = p->N; j < ldc && i + 1 < p->M; j++)
                        count += c[i * ldc + j] != before[i * ldc + j];
        }
        return count;
}

static bool check_product(gemm_fn *gemm, const char *engine, struct dice *dice, struct product p)
{
        size_t ldc = p.N + p.gap;
        struct vector a = vector_random(dice, stored(p.M, p.K, p.turned_a, p.gap), 1);
        struct vector b = vector_random(dice, stored(p.K, p.N, p.turned_b, p.gap), 1);
        struct vector c = vector_random(dice, (p.M - 1) * ldc + p.N, 1), before = vector_copy(&c);
        struct vector bias = vector_random(dice, p.N, 1);
        size_t ras = p.turned_a ? 1 : p.K + p.gap, cas = p.turned_a ? p.M + p.gap : 1;
        size_t rbs = p.turned_b ? 1 : p.N + p.gap, cbs = p.turned_b ? p.K + p.gap : 1;
        double *sum = doubles(2 * p.M * p.N), *size = sum + p.M * p.N;
        char what[128];
        bool ok;

        gemm(c.x, ldc, a.x, ras, cas, b.x, rbs, cbs, p.bias ? bias.x : NULL, p.M, p.N, p.K, p.add);
        naive(sum, size, &p, a.x, ras, cas, b.x, rbs, cbs);
        snprintf(what, sizeof(what), "%s: %zu x %zu x %zu, gap %zu%s%s%s%s", engine, p.M, p.N, p.K,
                 p.gap, p.turned_a ? ", A turned" : "", p.turned_b ? ", B turned" : "",
                 p.add ? ", added" : "", p.bias ? ", bias" : "");
        ok = test_check_size(wrong(&p, c.x, before.x, ldc, bias.x, sum, size), 0, what, __FILE__,
                             __LINE__);
        vector_free(&a);
        vector_free(&b);
        vector_free(&c);
        vector_free(&before);
        vector_free(&bias);
        free(sum);
        return ok;
}

/* All ways to lie and to be added, with a bias and without; false after the first failure, which is
 * enough to see. */
static bool check_forms(gemm_fn *gemm, const char *engine, struct dice *dice, size_t M, size_t N,
                        size_t K)
{
        for (unsigned form = 0; form < 16; form++) {
                struct product p = {.M = M,
                                    .N = N,
                                    .K = K,
                                    .gap = dice_size(dice, 0, 3),
                                    .turned_a = form & 1,
                                    .turned_b = form & 2,
                                    .add = form & 4,
                                    .bias = form & 8};

                if (!check_product(gemm, engine, dice, p))
                        return false;
        }
        return true;
}

static void check_small(const struct ran_kernels *k)
{
        struct dice dice = {.key = 1};

        for (size_t n = 1; n <= 70; n++) {
                size_t s[3] = {n, dice_size(&dice, 1, 70), dice_size(&dice, 1, 20)};

                if (!check_forms(k->gemm, k->name, &dice, s[0], s[1], s[2]) ||
                    !check_forms(k->gemm, k->name, &dice, s[2], s[0], s[1]) ||
                    !check_forms(k->gemm, k->name, &dice, s[1], s[2], s[0]))
                        return;
        }
        for (size_t M = 1; M < 7; M++) /* few rows go another way */
                for (size_t n = 1; n < 70; n += 3)
                        if (!check_forms(k->gemm, k->name, &dice, M, n, 70 - n))
                                return;
}

TEST(gemm_of_every_size_up_to_70_equals_a_plain_loop)
{
        kernels_each(check_small);
}

/* So few rows pass the columns together; each has the bits that it has alone. */
static void check_few(const struct ran_kernels *k)
{
        struct dice dice = {.key = 9};

        for (size_t i = 0; i < 200; i++) {
                const size_t M = dice_size(&dice, 2, RAN_FEW_ROWS), N = dice_size(&dice, 1, 40);
                const size_t K = dice_size(&dice, 1, 70), ldc = N + i % 3, lda = K + i % 2;
                struct vector a = vector_random(&dice, M * lda, 1);
                struct vector b = vector_random(&dice, N * K, 1), bias = vector_random(&dice, N, 1);
                struct vector c = vector_random(&dice, M * ldc, 1), want = vector_copy(&c);
                const float *given = dice_coin(&dice) ? bias.x : NULL;
                const bool add = dice_coin(&dice);

                k->gemm(c.x, ldc, a.x, lda, 1, b.x, 1, K, given, M, N, K, add);
                for (size_t m = 0; m < M; m++)
                        k->gemm(want.x + m * ldc, ldc, a.x + m * lda, lda, 1, b.x, 1, K, given, 1,
                                N, K, add);
                if (!CHECK(memcmp(c.x, want.x, c.n * sizeof *c.x) == 0))
                        printf("%s: %zu x %zu x %zu\n", k->name, M, N, K);
                vector_free(&a);
                vector_free(&b);
                vector_free(&bias);
                vector_free(&c);
                vector_free(&want);
        }
}

TEST(gemm_of_few_rows_has_the_bits_of_each_alone)
{
        kernels_each(check_few);
}

static void check_large(const struct ran_kernels *k)
{
        struct dice dice = {.key = 2};

        /* across the borders of every block */
        check_forms(k->gemm, k->name, &dice, 130, 530, 3);
        check_forms(k->gemm, k->name, &dice, 15, 37, 530);
        check_forms(k->gemm, k->name, &dice, 3, 530, 260);
        check_forms(k->gemm, k->name, &dice, 130, 70, 700);
}

TEST(gemm_larger_than_a_block_equals_a_plain_loop)
{
        kernels_each(check_large);
}

/* Nothing to sum up: zeros, or nothing added. */
static void check_empty(const struct ran_kernels *k)
{
        float c[4] = {1, 2, 3, 4}, x[1] = {NAN}, bias[2] = {5, 6};

        k->gemm(c, 2, x, 1, 1, x, 1, 1, NULL, 2, 2, 0, true);
        CHECK(c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4);
        k->gemm(c, 2, x, 1, 1, x, 1, 1, NULL, 2, 2, 0, false);
        CHECK(c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0);
        k->gemm(c, 2, x, 1, 1, x, 1, 1, bias, 2, 2, 0, false);
        CHECK(c[0] == 5 && c[1] == 6 && c[2] == 5 && c[3] == 6);
}

TEST(gemm_of_nothing)
{
        kernels_each(check_empty);
}

/* ---- ran_gemm, by the engine that this process has chosen ------------------------------------ */

static void engine(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                   size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K,
                   bool add)
{
        for (size_t i = 0; i < M && bias != NULL; i++) /* which it leaves to others */
                for (size_t j = 0; j < N; j++)
                        c[i * ldc + j] = bias[j] + (add ? c[i * ldc + j] : 0);
        ran_gemm(c, ldc, a, ras, cas, b, rbs, cbs, M, N, K, add || bias != NULL);
}

TEST(engine_multiplies_what_is_large)
{
        struct dice dice = {.key = 3};

        check_forms(engine, ran_simd->name, &dice, 64, 200, 200);
        check_product(engine, ran_simd->name, &dice, (struct product){257, 130, 64, 0, 0, 1, 0, 1});
        check_product(engine, ran_simd->name, &dice,
                      (struct product){1000, 1, 2100, 3, 0, 0, 1, 0});
        check_product(engine, ran_simd->name, &dice, (struct product){256, 8200, 1, 0, 0, 1, 0, 0});
}

/* A matrix of one column or row, packed: both strides are 1, and either reading must do. */
TEST(engine_multiplies_by_vectors)
{
        struct dice dice = {.key = 4};
        enum { M = 256, N = 8200 };
        struct vector a = vector_random(&dice, M, 1), b = vector_random(&dice, N, 1);
        struct vector c = vector_new((size_t)M * N), d = vector_new(M);
        size_t off = 0;

        ran_gemm(c.x, N, a.x, 1, 1, b.x, 1, 1, M, N, 1, false);
        for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < N; j++)
                        off += c.x[i * N + j] != a.x[i] * b.x[j];
        CHECK_SIZE(off, 0);
        ran_gemm(d.x, 1, c.x, N, 1, b.x, 1, 1, M, 1, N, false);
        for (size_t i = 0; i < M; i++) {
                double sum = 0, size = 0;

                for (size_t j = 0; j < N; j++) {
                        sum += (double)c.x[i * N + j] * (double)b.x[j];
                        size += fabs((double)c.x[i * N + j] * (double)b.x[j]);
                }
                off += !(fabs((double)d.x[i] - sum) <= 1e-5 * size);
        }
        CHECK_SIZE(off, 0);
        vector_free(&a);
        vector_free(&b);
        vector_free(&c);
        vector_free(&d);
}

/* ---- the linear layer ------------------------------------------------------------------------ */

struct layer {
        size_t N, I, O, ldx, ldy;
        bool bias, add;
        struct vector x, w, b, dy; /* inputs */
        struct vector y, dx, dw, db;
};

static struct layer layer_new(struct dice *dice, size_t N, size_t I, size_t O)
{
        struct layer l = {.N = N, .I = I, .O = O, .ldx = I + 2, .ldy = O + 1};

        l.bias = dice_coin(dice);
        l.add = dice_coin(dice);
        l.x = vector_random(dice, N * l.ldx, 1);
        l.w = vector_random(dice, I * O, 1);
        l.b = vector_random(dice, O, 1);
        l.dy = vector_random(dice, N * l.ldy, 1);
        l.y = vector_random(dice, N * l.ldy, 1);
        l.dx = vector_random(dice, N * l.ldx, 1);
        l.dw = vector_random(dice, I * O, 1);
        l.db = vector_random(dice, O, 1);
        return l;
}

static void layer_free(struct layer *l)
{
        struct vector *all[] = {&l->x, &l->w, &l->b, &l->dy, &l->y, &l->dx, &l->dw, &l->db};

        for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
                vector_free(all[i]);
}

static void layer_run(struct layer *l, struct ran_pool *pool)
{
        ran_gemm_linear(pool, l->y.x, l->ldy, l->x.x, l->ldx, l->w.x, l->bias ? l->b.x : NULL, l->N,
                        l->I, l->O);
        ran_gemm_linear_bwd(pool, l->dx.x, l->ldx, l->add, l->dw.x, l->bias ? l->db.x : NULL,
                            l->dy.x, l->ldy, l->x.x, l->ldx, l->w.x, l->N, l->I, l->O);
}

/* got: an element that began as `before` and should have become `start` + the sum of n products. */
static bool is_sum(float got, double start, const float *x, size_t xs, const float *y, size_t ys,
                   size_t n)
{
        double sum = start, size = fabs(start);

        for (size_t i = 0; i < n; i++) {
                double t = (double)x[i * xs] * (y != NULL ? (double)y[i * ys] : 1);

                sum += t;
                size += fabs(t);
        }
        return fabs((double)got - sum) <= 1e-6 * size + 1e-30;
}

/* was: the layer before it ran. */
static void layer_check(const struct layer *l, const struct layer *was)
{
        size_t off[4] = {0};

        for (size_t n = 0; n < l->N; n++) {
                for (size_t o = 0; o < l->O; o++)
                        off[0] += !is_sum(l->y.x[n * l->ldy + o], l->bias ? (double)l->b.x[o] : 0,
                                          l->x.x + n * l->ldx, 1, l->w.x + o * l->I, 1, l->I);
                for (size_t i = 0; i < l->I; i++)
                        off[1] += !is_sum(l->dx.x[n * l->ldx + i],
                                          l->add ? (double)was->dx.x[n * l->ldx + i] : 0,
                                          l->dy.x + n * l->ldy, 1, l->w.x + i, l->I, l->O);
        }
        for (size_t o = 0; o < l->O; o++) {
                for (size_t i = 0; i < l->I; i++)
                        off[2] += !is_sum(l->dw.x[o * l->I + i], (double)was->dw.x[o * l->I + i],
                                          l->dy.x + o, l->ldy, l->x.x + i, l->ldx, l->N);
                off[3] += !is_sum(l->db.x[o], (double)was->db.x[o], l->dy.x + o, l->ldy, NULL, 0,
                                  l->bias ? l->N : 0);
        }
        CHECK_SIZE(off[0], 0);
        CHECK_SIZE(off[1], 0);
        CHECK_SIZE(off[2], 0);
        CHECK_SIZE(off[3], 0);
}

static bool layer_equal(const struct layer *a, const struct layer *b)
{
        return memcmp(a->y.x, b->y.x, a->y.n * sizeof(float)) == 0 &&
               memcmp(a->dx.x, b->dx.x, a->dx.n * sizeof(float)) == 0 &&
               memcmp(a->dw.x, b->dw.x, a->dw.n * sizeof(float)) == 0 &&
               memcmp(a->db.x, b->db.x, a->db.n * sizeof(float)) == 0;
}

static void check_layer(size_t N, size_t I, size_t O)
{
        const struct dice start = {.key = N + 1000 * I};
        struct dice dice = start;
        struct layer was = layer_new(&dice, N, I, O), alone;

        dice = start;
        alone = layer_new(&dice, N, I, O);
        layer_run(&alone, NULL);
        layer_check(&alone, &was);
        for (size_t t = 0; t < 3; t++) {
                struct ran_error err = {0};
                struct ran_pool *pool = ran_pool_new((const size_t[]){1, 2, 7}[t], &err);
                struct layer l;

                REQUIRE(pool != NULL);
                dice = start;
                l = layer_new(&dice, N, I, O);
                layer_run(&l, pool);
                CHECK(layer_equal(&l, &alone));
                layer_free(&l);
                ran_pool_free(pool);
        }
        layer_free(&was);
        layer_free(&alone);
}

TEST(engine_linear_layer_and_its_adjoint)
{
        static const size_t sizes[] = {1, 5, 16, 33};

        for (size_t n = 0; n < 4; n++)
                for (size_t i = 0; i < 4; i++)
                        for (size_t o = 0; o < 4; o++)
                                check_layer(sizes[n], sizes[i], sizes[o]);
        check_layer(600, 20, 17);
        check_layer(20, 13, 600);
        check_layer(300, 100, 300);
}

/* Few columns and very many rows: of two parts side by side the first has no column, and each would
 * have added the sums. */
TEST(engine_linear_adjoint_of_a_narrow_layer_adds_its_bias_once)
{
        struct dice dice = {.key = 6};
        enum { N = 1 << 15, I = 17, O = 8 };
        struct layer l = layer_new(&dice, N, I, O);
        struct vector before = vector_copy(&l.db);
        size_t off = 0;

        ran_gemm_linear_bwd(NULL, NULL, 0, false, l.dw.x, l.db.x, l.dy.x, l.ldy, l.x.x, l.ldx, NULL,
                            N, I, O);
        for (size_t o = 0; o < O; o++)
                off += !is_sum(l.db.x[o], (double)before.x[o], l.dy.x + o, l.ldy, NULL, 0, N);
        CHECK_SIZE(off, 0);
        vector_free(&before);
        layer_free(&l);
}

TEST(engine_linear_layer_of_many_rows_as_each_alone)
{
        struct dice dice = {.key = 10};

        for (size_t N = 1; N < 12; N++) {
                struct layer l = layer_new(&dice, N, 37, 50);
                struct vector want = vector_copy(&l.y);

                ran_gemm_linear_alone(NULL, NULL, l.y.x, l.ldy, l.x.x, l.ldx, l.w.x, l.b.x, N, l.I,
                                      l.O);
                for (size_t n = 0; n < N; n++)
                        ran_gemm_linear(NULL, want.x + n * l.ldy, l.ldy, l.x.x + n * l.ldx, l.ldx,
                                        l.w.x, l.b.x, 1, l.I, l.O);
                CHECK(memcmp(l.y.x, want.x, want.n * sizeof(float)) == 0);
                vector_free(&want);
                layer_free(&l);
        }
}

/* What is not asked for is not touched. */
TEST(engine_linear_adjoint_in_parts)
{
        struct dice dice = {.key = 5};
        struct layer l = layer_new(&dice, 9, 7, 5);
        struct vector dx = vector_copy(&l.dx), dw = vector_copy(&l.dw), db = vector_copy(&l.db);

        ran_gemm_linear_bwd(NULL, l.dx.x, l.ldx, true, NULL, NULL, l.dy.x, l.ldy, NULL, 0, l.w.x,
                            l.N, l.I, l.O);
        CHECK(memcmp(l.dx.x, dx.x, dx.n * sizeof(float)) != 0);
        memcpy(dx.x, l.dx.x, dx.n * sizeof(float));
        ran_gemm_linear_bwd(NULL, NULL, 0, false, l.dw.x, NULL, l.dy.x, l.ldy, l.x.x, l.ldx, NULL,
                            l.N, l.I, l.O);
        CHECK(memcmp(l.dx.x, dx.x, dx.n * sizeof(float)) == 0);
        CHECK(memcmp(l.dw.x, dw.x, dw.n * sizeof(float)) != 0);
        CHECK(memcmp(l.db.x, db.x, db.n * sizeof(float)) == 0);
        vector_free(&dx);
        vector_free(&dw);
        vector_free(&db);
        layer_free(&l);
}

/* ---- panels that are kept -------------------------------------------------------------------- */

/* C of A's rows, as gemm makes it and in parts of columns from panels; -1: differs, or writes
 * beside. */
static bool check_panels(const struct ran_kernels *k, struct dice *dice, size_t M, size_t N,
                         size_t K)
{
        const size_t lda = K + dice_size(dice, 0, 3), ldc = N + dice_size(dice, 0, 3);
        struct vector a = vector_random(dice, M * lda, 1), w = vector_random(dice, N * K, 1);
        struct vector bias = vector_random(dice, N, 1), c = vector_random(dice, M * ldc, 1);
        struct vector want = vector_copy(&c), panels = vector_new(k->gemm_panels(NULL, w.x, N, K));
        const float *b = dice_coin(dice) ? bias.x : NULL;
        bool ok;

        k->gemm(want.x, ldc, a.x, lda, 1, w.x, 1, K, b, M, N, K, false);
        k->gemm_panels(panels.x, w.x, N, K);
        for (size_t from = 0, n; from < N; from += n) {
                n = RAN_PANEL_COLUMNS * dice_size(dice, 1, 3);
                n = n < N - from ? n : N - from;
                k->gemm_paneled(c.x, ldc, a.x, lda, panels.x, b, M, N, K, from, n);
        }
        ok = memcmp(c.x, want.x, c.n * sizeof(float)) == 0;
        if (!CHECK(ok))
                fprintf(stderr, "%s: %zu x %zu x %zu\n", k->name, M, N, K);
        vector_free(&a);
        vector_free(&w);
        vector_free(&bias);
        vector_free(&c);
        vector_free(&want);
        vector_free(&panels);
        return ok;
}

static void check_paneled(const struct ran_kernels *k)
{
        struct dice dice = {.key = 7};

        for (size_t i = 0; i < 60; i++)
                if (!check_panels(k, &dice, dice_size(&dice, RAN_FEW_ROWS + 1, 300),
                                  dice_size(&dice, 1, 140), dice_size(&dice, 1, 70)))
                        return;
        check_panels(k, &dice, 250, 70, 321); /* in two slices */
        check_panels(k, &dice, 9, 530, 1536);
}

TEST(gemm_of_kept_panels_has_the_bits_of_gemm)
{
        kernels_each(check_paneled);
}

static void check_kept(size_t N, size_t I, size_t O, struct ran_kept_panels *kept,
                       const struct vector *w, struct ran_pool *pool)
{
        struct dice dice = {.key = N};
        struct vector x = vector_random(&dice, N * (I + 1), 1), b = vector_random(&dice, O, 1);
        struct vector y = vector_new(N * (O + 2)), want = vector_copy(&y);

        ran_gemm_linear(NULL, want.x, O + 2, x.x, I + 1, w->x, b.x, N, I, O);
        ran_gemm_linear_kept(pool, kept, y.x, O + 2, x.x, I + 1, w->x, b.x, N, I, O);
        CHECK(memcmp(y.x, want.x, y.n * sizeof(float)) == 0);
        vector_free(&x);
        vector_free(&b);
        vector_free(&y);
        vector_free(&want);
}

/* Few rows, which need no panels; many; and the same weights as two matrices. */
TEST(engine_linear_layer_of_kept_weights_has_the_bits_of_others)
{
        struct ran_error err = {0};
        struct dice dice = {.key = 8};
        struct ran_kept_panels *kept = ran_kept_panels_new(false, NULL, NULL);
        struct ran_pool *pool = ran_pool_new(3, &err);
        struct vector w = vector_random(&dice, 400 * 300, 1);

        REQUIRE(kept != NULL && pool != NULL);
        for (size_t turn = 0; turn < 2; turn++) {
                check_kept(3, 300, 400, kept, &w, NULL);
                check_kept(5, 300, 400, kept, &w, NULL);
                check_kept(600, 300, 400, kept, &w, turn == 0 ? pool : NULL);
                check_kept(700, 100, 400, kept, &w, pool);
                check_kept(700, 300, 40, kept, &w, pool);
        }
        const float *panels = ran_kept_panels_of(kept, w.x, 400, 300).floats;
        CHECK(panels == ran_kept_panels_of(kept, w.x, 400, 300).floats);
        CHECK(panels != ran_kept_panels_of(kept, w.x, 400, 100).floats);
        ran_kept_panels_free(kept);
        ran_kept_panels_free(NULL);
        ran_pool_free(pool);
        vector_free(&w);
}

/* ---- the choice of instructions -------------------------------------------------------------- */

TEST(isa_is_what_the_environment_asks_for)
{
        const char *want = getenv("RAN_ISA"), *known = NULL, *refused = ran_isa_refused(&known);

        REQUIRE(known != NULL);
        CHECK(kernels_know(ran_simd->name) && kernels_know("base"));
        if (want == NULL || *want == '\0') {
                CHECK_STR(refused, NULL);
                CHECK(strncmp(known, ran_simd->name, strlen(ran_simd->name)) == 0); /* the best */
        } else if (kernels_know(want)) {
                CHECK_STR(refused, NULL);
                CHECK_STR(ran_simd->name, want);
        } else {
                CHECK_STR(refused, want);
        }
}

TEST(choice_of_instructions_is_free_and_its_results_are_right)
{
        if (getenv("RAN_ISA") != NULL) /* chosen already: by the tests of the caller, or by hand */
                return;
        kernels_check_with("isa_", "", NULL);
        kernels_check_with("isa_", "z80", NULL);
        kernels_check_with("isa_", "avx", NULL);
        for (size_t i = 0; i < 4; i++) {
                static const char *const names[] = {"portable", "base", "avx2", "avx512"};
                const char *cores[] = {NULL, kernels_know("avx2") ? "Sandybridge" : NULL, "Haswell",
                                       "SkylakeX"};

                if (!kernels_know(names[i]))
                        continue;
                kernels_check_with("isa_", names[i], cores[i]);
                kernels_check_with("engine_", names[i], cores[i]);
        }
}
