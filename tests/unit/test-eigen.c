/* Eigenvectors of symmetric matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/eigen.h"
#include "ran.h"
#include "test.h"

enum { N = 60 };

static double uniform(uint64_t i)
{
        return 2 * ran_random_uniform(ran_random_key(3, 100, 0, 0), i) - 1;
}

/* A symmetric matrix, a few directions of which are large, with zeros. */
static void make(double *m, size_t directions)
{
        memset(m, 0, N * N * sizeof *m);
        for (size_t k = 0; k < directions; k++)
                for (size_t i = 0; i < N; i++)
                        for (size_t j = 0; j < N; j++)
                                if (i % 4 != 3 && j % 4 != 3)
                                        m[i * N + j] += (k % 2 == 0 ? 1 : -1) *
                                                        pow(0.6, (double)k) * uniform(k * N + i) *
                                                        uniform(k * N + j);
}

/* y = A A x */
static void twice(const double *m, const double *x, double *y)
{
        double once[N];

        for (size_t i = 0; i < N; i++) {
                once[i] = 0;
                for (size_t j = 0; j < N; j++)
                        once[i] += m[i * N + j] * x[j];
        }
        for (size_t i = 0; i < N; i++) {
                y[i] = 0;
                for (size_t j = 0; j < N; j++)
                        y[i] += m[i * N + j] * once[j];
        }
}

static double product(const double *x, const double *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * y[i];
        return sum;
}

TEST(eigenvectors_are_orthonormal_and_turn_into_multiples_of_themselves)
{
        static double m[N * N];
        struct ran_error err = {0};
        double a[N * N], value[N], x[N], y[N];

        make(m, 8);
        for (size_t i = 0; i < N; i++) {
                memset(x, 0, sizeof x);
                x[i] = 1;
                twice(m, x, a + i * N); /* A A has no negative eigenvalues */
        }
        REQUIRE(CHECK_OK(ran_eigen(a, value, N, &err), err));
        for (size_t i = 0; i < 8; i++) {
                twice(m, a + i * N, y);
                CHECK(i == 0 || value[i] <= value[i - 1]);
                for (size_t j = 0; j < N; j++)
                        CHECK_NEAR(y[j], value[i] * a[i * N + j], 1e-9 * value[0]);
                for (size_t j = 0; j <= i; j++)
                        CHECK_NEAR(product(a + i * N, a + j * N, N), i == j, 1e-7);
        }
        CHECK_NEAR(value[8] / value[0], 0, 1e-12);
}
