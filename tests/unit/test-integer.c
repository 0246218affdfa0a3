/* Products of rows in eight bits: each kind of kernels against what integer.h says, bit for bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "math/gemm.h"
#include "math/integer.h"
#include "math/kept-panels.h"
#include "test.h"

/* ---- the naive twin -------------------------------------------------------------------------- */

struct row {
        float scale, inverse;
};

static int32_t code_of(float x, float inverse)
{
        return (int32_t)nearbyintf(x * inverse);
}

/* outlier: how many times its root mean square the limit may be; 0: no matter. */
static struct row row_of(const float *x, size_t n, float outlier)
{
        float limit = 0;
        int32_t squares = 0;

        for (size_t i = 0; i < n; i++) {
                if (!isfinite(x[i]))
                        return (struct row){NAN, NAN};
                limit = fmaxf(limit, fabsf(x[i]));
        }
        if (limit < RAN_INTEGER_LEAST)
                return (struct row){0};
        for (size_t i = 0; i < n; i++)
                squares += code_of(x[i], 127 / limit) * code_of(x[i], 127 / limit);
        if (outlier > 0)
                limit = fminf(limit, outlier * sqrtf((float)squares / (float)n) * (limit / 127));
        return (struct row){limit / 127, 127 / limit};
}

/* What the kernels compute, as integer.h says it, from the weights themselves. */
static void naive(float *y, size_t ldy, const float *a, size_t lda, const float *w,
                  const float *bias, size_t M, size_t N, size_t K)
{
        for (size_t m = 0; m < M; m++)
                for (size_t n = 0; n < N; n++) {
                        const struct row p = row_of(a + m * lda, K, RAN_INTEGER_OUTLIER);
                        const struct row q = row_of(w + n * K, K, 0);
                        int32_t sum = 0, rest = 0;

                        for (size_t k = 0; k < K && !isnan(p.scale); k++) {
                                const int32_t c = code_of(a[m * lda + k], p.inverse);
                                const int32_t held = c > 127 ? 127 : c < -127 ? -127 : c;

                                sum += held * code_of(w[n * K + k], q.inverse);
                                rest += (c - held) * code_of(w[n * K + k], q.inverse);
                        }
                        float *to = y + m * ldy + n;
                        *to = (float)sum * (q.scale * p.scale) + (bias != NULL ? bias[n] : 0);
                        *to += (float)rest * (q.scale * p.scale);
                }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* NaN is equal to NaN: its sign is the processor's. */
static bool same(const struct vector *a, const struct vector *b)
{
        for (size_t i = 0; i < a->n; i++)
                if (memcmp(a->x + i, b->x + i, sizeof(float)) != 0 &&
                    !(isnan(a->x[i]) && isnan(b->x[i])))
                        return false;
        return true;
}

/* Rows that a model may have, if rarely: zeros, nearly so, huge, and no numbers at all. */
static void make_odd(struct dice *dice, struct vector *x, size_t rows, size_t ld, size_t n)
{
        for (size_t i = 0; i < rows; i++) {
                const uint64_t kind = dice_size(dice, 0, 15);
                float *row = x->x + i * ld;

                for (size_t k = 0; k < n && kind < 3; k++)
                        row[k] *= kind == 0 ? 0.0f : kind == 1 ? 1e-36f : 1e37f;
                if (kind > 12) /* outliers */
                        for (size_t k = 12; k < kind; k++)
                                row[dice_size(dice, 0, n - 1)] = (float)dice_size(dice, 5, 900);
                if (kind == 3)
                        row[dice_size(dice, 0, n - 1)] = NAN;
                if (kind == 4)
                        row[dice_size(dice, 0, n - 1)] = -INFINITY;
        }
}

static bool check(const struct ran_integer *kernels, struct dice *dice, size_t M, size_t N,
                  size_t K)
{
        const size_t lda = K + dice_size(dice, 0, 3), ldy = N + dice_size(dice, 0, 3);
        const size_t from = dice_size(dice, 0, (N - 1) / RAN_PANEL_COLUMNS) * RAN_PANEL_COLUMNS;
        const size_t cols = dice_size(dice, 1, N - from);
        const bool biased = dice_size(dice, 0, 1) == 0;
        struct vector a = vector_random(dice, (M - 1) * lda + K, 1);
        struct vector w = vector_random(dice, N * K, 1), bias = vector_random(dice, N, 1);
        struct vector y = vector_random(dice, (M - 1) * ldy + N, 1), want = vector_copy(&y);
        void *panels = aligned_alloc(64, (kernels->panels(NULL, w.x, N, K) + 63) / 64 * 64);
        char what[128];

        if (!CHECK(panels != NULL))
                abort();
        make_odd(dice, &a, M, lda, K);
        kernels->panels(panels, w.x, N, K);
        naive(want.x + from, ldy, a.x, lda, w.x + from * K, biased ? bias.x + from : NULL, M, cols,
              K);
        kernels->multiply(y.x, ldy, a.x, lda, panels, biased ? bias.x : NULL, M, N, K, from, cols);
        snprintf(what, sizeof what, "%s: %zu x %zu x %zu, columns %zu to %zu", kernels->name, M, N,
                 K, from, from + cols);
        const bool ok = test_check_size(same(&y, &want), true, what, __FILE__, __LINE__);
        free(panels);
        vector_free(&a);
        vector_free(&w);
        vector_free(&bias);
        vector_free(&y);
        vector_free(&want);
        return ok;
}

TEST(integer_kernels_are_exact)
{
        struct dice dice = {.key = 52};

        for (size_t i = 0; ran_integer_all[i] != NULL; i++) {
                const struct ran_integer *kernels = ran_integer_all[i];

                for (size_t M = 1; M < 34; M++)
                        if (!check(kernels, &dice, M, dice_size(&dice, 1, 100),
                                   dice_size(&dice, 1, 70)))
                                return;
                for (size_t turn = 0; turn < 60; turn++)
                        if (!check(kernels, &dice, dice_size(&dice, 1, 40),
                                   dice_size(&dice, 1, 140), dice_size(&dice, 1, 300)))
                                return;
                check(kernels, &dice, 500, 40, 256); /* several passes */
                check(kernels, &dice, 50, 3, RAN_INTEGER_MOST);
        }
}

/* Whole numbers up to 127 are their own codes: the product is that of school. */
TEST(integer_product_of_whole_numbers_is_theirs)
{
        enum { M = 9, N = 70, K = 4099 };
        struct dice dice = {.key = 53};
        struct vector a = vector_new((size_t)M * K), w = vector_new((size_t)N * K);
        struct vector y = vector_new((size_t)M * N);

        for (size_t i = 0; i < a.n; i++)
                a.x[i] = i % K == 7 ? 127 : (float)dice_size(&dice, 0, 254) - 127;
        for (size_t i = 0; i < w.n; i++)
                w.x[i] = i % K == 9 ? -127 : (float)dice_size(&dice, 0, 254) - 127;
        naive(y.x, N, a.x, K, w.x, NULL, M, N, K);
        for (size_t m = 0; m < M; m++)
                for (size_t n = 0; n < N; n++) {
                        double sum = 0;

                        for (size_t k = 0; k < K; k++)
                                sum += (double)a.x[m * K + k] * (double)w.x[n * K + k];
                        CHECK((double)y.x[m * N + n] == (double)(float)sum);
                }
        vector_free(&a);
        vector_free(&w);
        vector_free(&y);
}

/* ---- the linear layer ------------------------------------------------------------------------ */

/* Each row is what it is alone, with and without threads. */
TEST(integer_linear_layer_does_not_depend_on_the_other_rows)
{
        enum { N = 301, I = 100, O = 400 };
        struct ran_error err = {0};
        struct dice dice = {.key = 54};
        struct ran_kept_panels *kept = ran_kept_panels_new(true, NULL, NULL);
        struct ran_pool *pool = ran_pool_new(3, &err);
        struct vector w = vector_random(&dice, (size_t)O * I, 1), b = vector_random(&dice, O, 1);
        struct vector x = vector_random(&dice, (size_t)N * I, 1), y = vector_new((size_t)N * O);
        struct vector want = vector_new((size_t)N * O);

        REQUIRE(kept != NULL && pool != NULL);
        naive(want.x, O, x.x, I, w.x, b.x, N, O, I);
        for (size_t turn = 0; turn < 2; turn++) {
                ran_gemm_linear_kept(turn == 0 ? NULL : pool, kept, y.x, O, x.x, I, w.x, b.x, N, I,
                                     O);
                CHECK(same(&y, &want));
                memset(y.x, 0, y.n * sizeof *y.x);
        }
        for (size_t n = 0; n < N; n += 3)
                ran_gemm_linear_kept(pool, kept, y.x + n * O, O, x.x + n * I, I, w.x, b.x,
                                     n + 3 < N ? 3 : N - n, I, O);
        CHECK(same(&y, &want));
        ran_gemm_linear_kept(pool, kept, y.x, O, x.x, I, w.x, b.x, 0, I, O); /* divided by 0 */
        CHECK(same(&y, &want));
        ran_kept_panels_free(kept);
        ran_pool_free(pool);
        vector_free(&w);
        vector_free(&b);
        vector_free(&x);
        vector_free(&y);
        vector_free(&want);
}

/* What a file cannot store in eight bits stays as it is: rows of four numbers or fewer, or
 * with one that is not finite. */
TEST(integer_linear_layer_leaves_other_weights_alone)
{
        struct dice dice = {.key = 55};
        struct ran_kept_panels *kept = ran_kept_panels_new(true, NULL, NULL);
        struct vector w = vector_random(&dice, 40 * 20, 1), x = vector_random(&dice, 9 * 20, 1);
        struct vector y = vector_new(9 * 40), want = vector_new(9 * 40);

        REQUIRE(kept != NULL);
        CHECK(ran_kept_panels_of(kept, w.x, 40, 20).integers != NULL);
        CHECK(ran_kept_panels_of(kept, w.x, 200, 4).floats != NULL);
        w.x[799] = INFINITY;
        CHECK(ran_kept_panels_of(kept, w.x + 20, 39, 20).floats != NULL);
        ran_gemm_linear(NULL, want.x, 39, x.x, 20, w.x + 20, NULL, 9, 20, 39);
        ran_gemm_linear_kept(NULL, kept, y.x, 39, x.x, 20, w.x + 20, NULL, 9, 20, 39);
        CHECK(same(&y, &want));
        ran_kept_panels_free(kept);
        vector_free(&w);
        vector_free(&x);
        vector_free(&y);
        vector_free(&want);
}
