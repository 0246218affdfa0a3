/* Each vector kernel against its plain twin in double, in every width that this processor runs:
 * element by element, sums, and what training needs. test-simd-rows.c has those of whole rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubles.h"
#include "kernels.h"
#include "test.h"

static double sigmoid(double x)
{
        return 1 / (1 + exp(-x));
}

/* ---- one element at a time ------------------------------------------------------------------- */

/* Inputs of an element-wise kernel: a, b and c where it has three. */
struct element {
        double a, b, c;
};
struct elementwise {
        const char *name;
        void (*run)(const struct ran_kernels *k, float *a, const float *b, const float *c, size_t n);
        double (*twin)(struct element e); /* what a becomes */
};

static void run_add(const struct ran_kernels *k, float *a, const float *b, const float *c, size_t n)
{
        (void)c;
        k->add(a, b, n);
}

static double twin_add(struct element e)
{
        return e.a + e.b;
}

static void run_axpy(const struct ran_kernels *k, float *a, const float *b, const float *c, size_t n)
{
        (void)c;
        k->axpy(a, -1.75f, b, n);
}

static double twin_axpy(struct element e)
{
        return e.a - 1.75 * e.b;
}

static void run_mul(const struct ran_kernels *k, float *a, const float *b, const float *c, size_t n)
{
        k->mul(a, b, c, n);
}

static double twin_mul(struct element e)
{
        return e.b * e.c;
}

static void run_mul_in_place(const struct ran_kernels *k, float *a, const float *b, const float *c,
                             size_t n)
{
        (void)c;
        k->mul(a, a, b, n);
}

static double twin_mul_in_place(struct element e)
{
        return e.a * e.b;
}

static void run_mul_add(const struct ran_kernels *k, float *a, const float *b, const float *c,
                        size_t n)
{
        k->mul_add(a, b, c, n);
}

static double twin_mul_add(struct element e)
{
        return e.a + e.b * e.c;
}

static void run_silu(const struct ran_kernels *k, float *a, const float *b, const float *c, size_t n)
{
        (void)c;
        k->silu(a, b, n);
}

static double twin_silu(struct element e)
{
        return e.b * sigmoid(e.b);
}

static void run_silu_in_place(const struct ran_kernels *k, float *a, const float *b, const float *c,
                              size_t n)
{
        (void)b, (void)c;
        k->silu(a, a, n);
}

static double twin_silu_in_place(struct element e)
{
        return e.a * sigmoid(e.a);
}

static double silu_slope(double x)
{
        return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
}

static void run_silu_bwd(const struct ran_kernels *k, float *a, const float *b, const float *c,
                         size_t n)
{
        k->silu_bwd(a, b, c, n);
}

static double twin_silu_bwd(struct element e)
{
        return e.c * silu_slope(e.b);
}

static void run_silu_bwd_in_place(const struct ran_kernels *k, float *a, const float *b,
                                  const float *c, size_t n)
{
        (void)c;
        k->silu_bwd(a, b, a, n);
}

static double twin_silu_bwd_in_place(struct element e)
{
        return e.a * silu_slope(e.b);
}

static double normal_below(double x)
{
        return 0.5 * erfc(-x / sqrt(2));
}

static void run_gelu(const struct ran_kernels *k, float *a, const float *b, const float *c, size_t n)
{
        (void)c;
        k->gelu(a, b, n);
}

static double twin_gelu(struct element e)
{
        return e.b * normal_below(e.b);
}

static void run_gelu_bwd(const struct ran_kernels *k, float *a, const float *b, const float *c,
                         size_t n)
{
        k->gelu_bwd(a, b, c, n);
}

static double twin_gelu_bwd(struct element e)
{
        return e.c * (normal_below(e.b) + e.b * exp(-e.b * e.b / 2) / sqrt(2 * 3.141592653589793));
}

static void run_glu_add(const struct ran_kernels *k, float *a, const float *b, const float *c,
                        size_t n)
{
        k->glu_add(a, b, c, n);
}

static double twin_glu_add(struct element e)
{
        return e.a + e.b * sigmoid(e.c);
}

/* a is dy at first. */
static void run_glu_bwd_value(const struct ran_kernels *k, float *a, const float *b, const float *c,
                              size_t n)
{
        struct vector dy = vector_new(n), dgate = vector_new(n);

        memcpy(dy.x, a, n * sizeof(*a));
        k->glu_bwd(a, dgate.x, dy.x, b, c, n);
        vector_free(&dy);
        vector_free(&dgate);
}

static double twin_glu_bwd_value(struct element e)
{
        return e.a * sigmoid(e.c);
}

static void run_glu_bwd_gate(const struct ran_kernels *k, float *a, const float *b, const float *c,
                             size_t n)
{
        struct vector dy = vector_new(n), dvalue = vector_new(n);

        memcpy(dy.x, a, n * sizeof(*a));
        k->glu_bwd(dvalue.x, a, dy.x, b, c, n);
        vector_free(&dy);
        vector_free(&dvalue);
}

static double twin_glu_bwd_gate(struct element e)
{
        return e.a * e.b * sigmoid(e.c) * (1 - sigmoid(e.c));
}

static const struct elementwise elementwise[] = {
        {"add", run_add, twin_add},
        {"axpy", run_axpy, twin_axpy},
        {"mul", run_mul, twin_mul},
        {"mul in place", run_mul_in_place, twin_mul_in_place},
        {"mul_add", run_mul_add, twin_mul_add},
        {"silu", run_silu, twin_silu},
        {"silu in place", run_silu_in_place, twin_silu_in_place},
        {"silu_bwd", run_silu_bwd, twin_silu_bwd},
        {"silu_bwd in place", run_silu_bwd_in_place, twin_silu_bwd_in_place},
        {"gelu", run_gelu, twin_gelu},
        {"gelu_bwd", run_gelu_bwd, twin_gelu_bwd},
        {"glu_add", run_glu_add, twin_glu_add},
        {"glu_bwd, dvalue", run_glu_bwd_value, twin_glu_bwd_value},
        {"glu_bwd, dgate", run_glu_bwd_gate, twin_glu_bwd_gate},
};

static void check_elementwise(const struct ran_kernels *k, const struct elementwise *e, size_t n,
                              struct dice *dice)
{
        struct vector a = vector_random(dice, n, 3), b = vector_random(dice, n, 3);
        struct vector c = vector_random(dice, n, 3);
        double *want = doubles(n);

        for (size_t i = 0; i < n; i++)
                want[i] = e->twin((struct element){(double)a.x[i], (double)b.x[i], (double)c.x[i]});
        e->run(k, a.x, b.x, c.x, n);
        vector_near(k, e->name, &a, want, 5e-6, 1e-6);
        vector_free(&a);
        vector_free(&b);
        vector_free(&c);
        free(want);
}

static void check_all_elementwise(const struct ran_kernels *k)
{
        struct dice dice = {.key = 1};

        for (size_t e = 0; e < sizeof(elementwise) / sizeof(*elementwise); e++)
                for (size_t i = 0; i < KERNEL_SIZES; i++)
                        check_elementwise(k, &elementwise[e], kernel_size(i), &dice);
}

TEST(simd_elementwise_kernels_equal_their_twins)
{
        kernels_each(check_all_elementwise);
}

/* ---- exp ------------------------------------------------------------------------------------- */

/* Below -17 the other term of 1 + exp(x) is lost in rounding: softmax(0, x) is exp(x) itself. */
static float exp_of(const struct ran_kernels *k, float x)
{
        float pair[2] = {0, x};

        k->softmax(pair, 1, 2, NULL);
        return pair[1];
}

/* sigmoid(-x) = 1 / (1 + exp(x)), as a gate lets 1 through. */
static float inverse_of(const struct ran_kernels *k, float x)
{
        float dvalue, dgate, one = 1, gate = -x;

        k->glu_bwd(&dvalue, &dgate, &one, &one, &gate, 1);
        return dvalue;
}

static double ulps(double got, double want)
{
        return fabs(got - want) / (double)(nextafterf((float)want, INFINITY) - (float)want);
}

static void check_exp(const struct ran_kernels *k)
{
        double worst = 0, worst_inverse = 0;

        for (double x = -87; x < -18; x += 0.0037) {
                float at = (float)x;

                worst = fmax(worst, ulps((double)exp_of(k, at), exp((double)at)));
                worst_inverse = fmax(worst_inverse,
                                     ulps((double)inverse_of(k, -at), 1 / (1 + exp(-(double)at))));
        }
        CHECK(worst <= 2);
        CHECK(worst_inverse <= 4); /* two more roundings */
}

TEST(simd_exp_is_within_two_units_in_the_last_place)
{
        kernels_each(check_exp);
}

static void check_exp_ends(const struct ran_kernels *k)
{
        float x[] = {INFINITY, -INFINITY, 1e30f, -1e30f, 200, -200, 89, -88, 0}, y[9], gate[9];

        for (size_t i = 0; i < 9; i++)
                gate[i] = 0;
        k->silu(y, x, 9);
        CHECK(isinf(y[0]) && y[2] == 1e30f && y[4] == 200 && y[6] == 89 && y[8] == 0);
        CHECK(fabsf(y[5]) < 1e-35f && fabsf(y[7]) < 1e-35f);
        k->glu_add(gate, (const float[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, x, 9);
        CHECK(gate[0] == 1 && gate[2] == 1 && gate[4] == 1 && gate[6] == 1 && gate[8] == 0.5f);
        for (size_t i = 1; i < 8; i += 2)
                CHECK(gate[i] >= 0 && gate[i] < 1e-37f);
        CHECK(exp_of(k, -0.0f) == 0.5f);
        for (size_t i = 1; i < 8; i += 2)
                CHECK(exp_of(k, x[i]) >= 0 && exp_of(k, x[i]) < 2e-38f);
}

TEST(simd_exp_has_no_surprise_at_its_ends)
{
        kernels_each(check_exp_ends);
}

/* Training finds out that it diverged by a loss that is no number. */
static void check_nan(const struct ran_kernels *k)
{
        float x[3] = {1, NAN, 2}, y[3] = {0, 0, 0}, one[3] = {1, 1, 1}, d[3];

        k->glu_add(y, one, x, 3);
        CHECK(isfinite(y[0]) && isnan(y[1]) && isfinite(y[2]));
        k->glu_bwd(y, d, one, one, x, 3);
        CHECK(isnan(y[1]) && isnan(d[1]));
        k->silu(y, x, 3);
        CHECK(isfinite(y[0]) && isnan(y[1]) && isfinite(y[2]));
        k->softmax(x, 1, 3, NULL);
        CHECK(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
}

TEST(simd_what_is_no_number_stays_none)
{
        kernels_each(check_nan);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void check_dot(const struct ran_kernels *k)
{
        struct dice dice = {.key = 2};

        for (size_t s = 0; s < KERNEL_SIZES; s++) {
                size_t n = kernel_size(s);
                struct vector x = vector_random(&dice, n, 1), y = vector_random(&dice, n, 1);
                double want = 0, size = 0;

                for (size_t i = 0; i < n; i++) {
                        want += (double)x.x[i] * (double)y.x[i];
                        size += fabs((double)x.x[i] * (double)y.x[i]);
                }
                CHECK_NEAR((double)k->dot(x.x, y.x, n), want, 1e-6 * size);
                vector_free(&x);
                vector_free(&y);
        }
}

TEST(simd_dot_equals_its_twin)
{
        kernels_each(check_dot);
}

/* N rows of O, ld apart; what lies between the rows must stay. */
static void check_bias_of(const struct ran_kernels *k, struct dice *dice, size_t N, size_t O,
                          size_t ld)
{
        struct vector x = vector_random(dice, (N - 1) * ld + O, 1);
        struct vector b = vector_random(dice, O, 1), db = vector_copy(&b);
        double *want = doubles(x.n), *dwant = doubles(O);

        for (size_t i = 0; i < x.n; i++)
                want[i] = (double)x.x[i] + (i % ld < O ? (double)b.x[i % ld] : 0);
        for (size_t o = 0; o < O; o++) {
                dwant[o] = (double)db.x[o];
                for (size_t r = 0; r < N; r++)
                        dwant[o] += (double)x.x[r * ld + o];
        }
        k->bias_bwd(db.x, x.x, ld, N, O);
        vector_near(k, "bias_bwd", &db, dwant, 1e-6 * (double)(N + 1), 0);
        k->bias(x.x, ld, b.x, N, O);
        vector_near(k, "bias", &x, want, 1e-6, 0);
        vector_free(&x);
        vector_free(&b);
        vector_free(&db);
        free(want);
        free(dwant);
}

static void check_bias(const struct ran_kernels *k)
{
        struct dice dice = {.key = 3};

        for (size_t O = 1; O < KERNEL_SIZES; O++)
                for (size_t N = 1; N < 12; N += 5)
                        check_bias_of(k, &dice, N, O, O + N % 3);
}

TEST(simd_bias_and_its_adjoint_equal_their_twins)
{
        kernels_each(check_bias);
}

/* ---- dropout --------------------------------------------------------------------------------- */

/* Element `at` of a site: 16 bits of a draw that serves four of them. */
static bool drops(uint64_t key, uint64_t at, double p)
{
        return (ran_random_draw(key, at / 4) >> 16 * (at % 4) & 0xffff) <
               (uint64_t)(p * 65536 + 0.5);
}

static void check_dropout(const struct ran_kernels *k)
{
        struct dice dice = {.key = 8};

        for (size_t i = 0; i < KERNEL_SIZES; i++) {
                size_t n = kernel_size(i);
                uint64_t at = dice_size(&dice, 0, 1000);
                double p = dice_real(&dice, 0, 0.99), *want = doubles(n);
                struct vector x = vector_random(&dice, n, 1);

                for (size_t j = 0; j < n; j++)
                        want[j] = drops(i, at + j, p) ? 0 : (double)x.x[j] / (1 - p);
                k->dropout(x.x, n, i, at, p);
                vector_near(k, "dropout", &x, want, 0, 1e-6);
                vector_free(&x);
                free(want);
        }
}

TEST(simd_dropout_equals_its_twin)
{
        kernels_each(check_dropout);
}

/* What an element becomes depends on its position, not on where the call begins or ends. */
static void check_dropout_cuts(const struct ran_kernels *k)
{
        enum { N = 300 };
        struct dice dice = {.key = 9};
        struct vector whole = vector_random(&dice, N, 1);

        for (size_t round = 0; round < 50; round++) {
                struct vector cut = vector_copy(&whole), once = vector_copy(&whole);

                k->dropout(once.x, N, round, 5, 0.4);
                for (size_t i = 0, n; i < N; i += n) {
                        n = dice_size(&dice, 1, round % 2 == 0 ? 9 : 120);
                        n = n < N - i ? n : N - i;
                        k->dropout(cut.x + i, n, round, 5 + i, 0.4);
                }
                CHECK(memcmp(cut.x, once.x, N * sizeof(float)) == 0);
                vector_free(&cut);
                vector_free(&once);
        }
        vector_free(&whole);
}

TEST(simd_dropout_does_not_depend_on_how_a_range_is_cut)
{
        kernels_each(check_dropout_cuts);
}

static void check_dropout_rates(const struct ran_kernels *k)
{
        enum { N = 100000 };
        static const double rates[] = {0, 0.1, 0.5, 0.9};
        struct vector x = vector_new(N);

        for (size_t r = 0; r < 4; r++) {
                double zeros = 0, sum = 0;

                for (size_t i = 0; i < N; i++)
                        x.x[i] = 1;
                k->dropout(x.x, N, 77, 0, rates[r]);
                for (size_t i = 0; i < N; i++) {
                        zeros += x.x[i] == 0;
                        sum += (double)x.x[i];
                }
                /* five deviations */
                CHECK_NEAR(zeros / N, rates[r], 5 * sqrt(rates[r] * (1 - rates[r]) / N));
                CHECK_NEAR(sum / N, 1, 5 * sqrt(rates[r] / (1 - rates[r]) / N));
        }
        vector_free(&x);
}

TEST(simd_dropout_drops_the_share_it_is_told)
{
        kernels_each(check_dropout_rates);
}

/* ---- adam ------------------------------------------------------------------------------------ */

static void check_adam_of(const struct ran_kernels *k, struct dice *dice, size_t n)
{
        struct vector w = vector_random(dice, n, 1), g = vector_random(dice, n, 1);
        struct vector m = vector_new(n), v = vector_new(n);
        double *want = doubles(n), *wm = doubles(n), *wv = doubles(n);

        for (size_t i = 0; i < n; i++) {
                m.x[i] = v.x[i] = 0;
                want[i] = (double)w.x[i];
        }
        for (size_t t = 1; t <= 5; t++) {
                double lr = 0.01 * (double)t, b1 = 0.8, b2 = 0.95, eps = 1e-4, decay = 0.99;
                double rate = lr / (1 - pow(b1, (double)t)), root = 1 / (1 - pow(b2, (double)t));

                dice_floats(dice, g.x, n, 1);
                for (size_t i = 0; i < n; i++) {
                        double d = 0.5 * (double)g.x[i];

                        wm[i] = b1 * wm[i] + (1 - b1) * d;
                        wv[i] = b2 * wv[i] + (1 - b2) * d * d;
                        want[i] = want[i] * decay - rate * wm[i] / (sqrt(wv[i] * root) + eps);
                }
                k->adam(w.x, m.x, v.x, g.x, n, 0.5f, (float)b1, (float)b2, (float)rate, (float)root,
                        (float)eps, (float)decay);
        }
        vector_near(k, "adam, first moment", &m, wm, 1e-6, 1e-5);
        vector_near(k, "adam, second moment", &v, wv, 1e-6, 1e-5);
        vector_near(k, "adam", &w, want, 1e-5, 1e-5);
        vector_free(&w);
        vector_free(&g);
        vector_free(&m);
        vector_free(&v);
        free(want);
        free(wm);
        free(wv);
}

static void check_adam(const struct ran_kernels *k)
{
        struct dice dice = {.key = 10};

        for (size_t i = 0; i < KERNEL_SIZES; i++)
                check_adam_of(k, &dice, kernel_size(i));
}

TEST(simd_adam_equals_its_twin)
{
        kernels_each(check_adam);
}

/* ---- the tables ------------------------------------------------------------------------------ */

static size_t tables;

static void check_table(const struct ran_kernels *k)
{
        CHECK(k->name != NULL);
        tables++;
}

TEST(simd_there_is_always_a_table)
{
        tables = 0;
        kernels_each(check_table);
        CHECK(tables >= 1);
}
