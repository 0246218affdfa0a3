/* The elementary functions: within the accuracy that their header states, seen from the long double
 * of the C library, and the same bits everywhere. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dice.h"
#include "math/elementary.h"
#include "test.h"

/* ---- accuracy -------------------------------------------------------------------------------- */

struct function {
        const char *name;
        double (*ours)(double x);
        long double (*exact)(long double x);
        int low, high;   /* arguments are 2^low to 2^high */
        double from, to; /* and, evenly, those from here to there */
        double worst;    /* ulp */
        bool positive;
};

static const struct function functions[] = {
        {"exp", ran_exp, expl, -60, 9, -745, 709.78, 1, false},
        {"log", ran_log, logl, -1074, 1024, 0.5, 2, 1, true},
        {"expm1", ran_expm1, expm1l, -1074, 9, -2, 2, 2, false},
        {"log1p", ran_log1p, log1pl, -1074, 1024, -0.999, 2, 1, false},
        {"sin", ran_sin, sinl, -1074, 31, -10, 10, 1, false},
        {"cos", ran_cos, cosl, -1074, 31, -10, 10, 1, false},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, ARGUMENTS = 100000 };

static double argument(const struct function *f, struct dice *d, size_t i)
{
        double x;

        if (i % 2 == 0)
                return dice_real(d, f->from, f->to);
        x = dice_real(d, 1, 2);
        x = ldexp(x, (int)floor(dice_real(d, f->low, f->high)));
        return !f->positive && i % 4 == 1 ? -x : x;
}

/* The distance of two numbers in units in the last place of the second. */
static double ulps(double got, long double want)
{
        int e;

        if (isnan(got) || isnan(want) || isinf(got) || isinf((double)want))
                return (isnan(got) && isnan(want)) || (long double)got == (long double)(double)want
                               ? 0
                               : INFINITY;
        frexp((double)want, &e);
        e = e - DBL_MANT_DIG < -1074 ? -1074 : e - DBL_MANT_DIG;
        return (double)(fabsl((long double)got - want) / ldexpl(1, e));
}

static bool check_at(const struct function *f, double x)
{
        /* Where a long double is no more than a double, the other one may be wrong, too. */
        double most = f->worst + (LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 1);

        return test_check_near(ulps(f->ours(x), f->exact((long double)x)), 0, most, f->name,
                               __FILE__, __LINE__) ||
               (printf("  at %a\n", x), false);
}

TEST(elementary_functions_are_as_accurate_as_they_say)
{
        struct dice dice = {.key = 30};

        for (size_t k = 0; k < FUNCTIONS; k++)
                for (size_t i = 0; i < ARGUMENTS; i++)
                        if (!check_at(&functions[k], argument(&functions[k], &dice, i)))
                                break;
}

/* Where angles are nearest to a multiple of pi/2, most of their digits cancel. */
TEST(elementary_sin_and_cos_are_accurate_near_their_zeros)
{
        struct dice dice = {.key = 31};

        for (size_t i = 0; i < 2 * ARGUMENTS; i++) {
                size_t n = i < ARGUMENTS ? i : dice_size(&dice, 0, 1367130551);
                double x = (double)((long double)n * 1.57079632679489661923L);

                if (x <= 0x1p31 && (!check_at(&functions[4], x) || !check_at(&functions[5], x)))
                        break;
        }
}

TEST(elementary_functions_know_the_edges)
{
        CHECK(ran_exp(0) == 1 && ran_exp(-INFINITY) == 0 && ran_exp(INFINITY) == INFINITY);
        CHECK(ran_exp(710) == INFINITY && ran_exp(-746) == 0 && ran_exp(-745) == 0x1p-1074);
        CHECK(ran_expm1(-INFINITY) == -1 && ran_expm1(INFINITY) == INFINITY && ran_expm1(0) == 0);
        CHECK(ran_log(1) == 0 && ran_log(0) == -INFINITY && ran_log(INFINITY) == INFINITY);
        CHECK(ran_log1p(0) == 0 && ran_log1p(-1) == -INFINITY && ran_log1p(INFINITY) == INFINITY);
        CHECK(isnan(ran_log(-1)) && isnan(ran_log(NAN)) && isnan(ran_log1p(-1.5)));
        CHECK(isnan(ran_exp(NAN)) && isnan(ran_expm1(NAN)) && isnan(ran_log1p(NAN)));
        CHECK(ran_sin(0) == 0 && ran_cos(0) == 1 && isnan(ran_sin(NAN)) &&
              isnan(ran_cos(INFINITY)));
        CHECK(isnan(ran_sin(0x1.8p31)) && isnan(ran_cos(-0x1.8p31)));
}

TEST(elementary_log_sum_exp_does_not_overflow)
{
        const float x[] = {1000.0f, 1000.0f, -INFINITY, -1000.0f}, nan[] = {0.0f, NAN};

        CHECK_NEAR(ran_log_sum_exp(x, 4), 1000 + log(2), 1e-12);
        CHECK(ran_log_sum_exp(x, 1) == 1000);
        CHECK(isnan(ran_log_sum_exp(nan, 2)));
}

/* The adjoint against differences of y . dy, in the direction of each number of x. */
TEST(elementary_unit_vectors_have_a_length_and_an_adjoint)
{
        const float x[] = {3, -4, 12, 0}, dy[] = {0.5f, 2, -1, 0.25f}, none[4] = {0};
        float y[4], adjoint[4], near[4], moved[4];

        CHECK(ran_unit(y, x, 4, 26) == 13);
        CHECK(y[0] == 6 && y[1] == -8 && y[2] == 24 && y[3] == 0);
        memcpy(adjoint, dy, sizeof dy);
        ran_unit_bwd(adjoint, x, 4, 26);
        for (size_t i = 0; i < 4; i++) {
                double rise = 0;

                for (int side = -1; side <= 1; side += 2) {
                        memcpy(moved, x, sizeof x);
                        moved[i] += (float)side * 0x1p-7f;
                        ran_unit(near, moved, 4, 26);
                        rise += side * ran_dot(near, dy, 4);
                }
                CHECK_NEAR((double)adjoint[i], rise / 0x1p-6, 1e-3);
        }
        CHECK(ran_unit(y, none, 4, 26) == 0 && y[0] == 0 && y[3] == 0);
        memcpy(adjoint, dy, sizeof dy);
        ran_unit_bwd(adjoint, none, 4, 26);
        CHECK(adjoint[0] == 0 && adjoint[3] == 0);
}

/* ---- the same bits --------------------------------------------------------------------------- */

/* A processor or a compiler that computes anything else than IEEE 754 says would be found here. */
TEST(elementary_functions_give_known_bits)
{
        static const char *const want[FUNCTIONS] = {"4b12d5936603cc9b", "b30d22c9994d2082",
                                                    "67939969578bb16b", "efa2374112252a6e",
                                                    "d246b768dcbfc617", "55d511346ac1c67d"};

        for (size_t k = 0; k < FUNCTIONS; k++) {
                struct dice dice = {.key = 32};
                struct ran_sha256 sha;
                char hex[65];

                ran_sha256_init(&sha);
                for (size_t i = 0; i < ARGUMENTS; i++) {
                        double y = functions[k].ours(argument(&functions[k], &dice, i));
                        unsigned char bytes[sizeof y]; /* least significant first */
                        uint64_t bits;

                        memcpy(&bits, &y, sizeof y);
                        if (isnan(y)) /* any NaN: which one is the processor's choice */
                                bits = 0;
                        for (size_t b = 0; b < sizeof y; b++)
                                bytes[b] = (unsigned char)(bits >> 8 * b);
                        ran_sha256_add(&sha, bytes, sizeof bytes);
                }
                ran_sha256_hex(&sha, hex);
                hex[16] = '\0';
                CHECK_STR(hex, want[k]);
        }
}
