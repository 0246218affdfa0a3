/* Eigenvectors of dense and of sparse symmetric matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/eigen.h"
#include "ran.h"
#include "test.h"

enum { N = 60, K = 6 };

static double uniform(uint64_t i)
{
        return 2 * ran_random_uniform(ran_random_key(3, 100, 0, 0), i) - 1;
}

/* A symmetric matrix (N, N), a few directions of which are large, with zeros; of so many rows. */
struct matrix {
        double dense[N * N];
        size_t first[N + 1];
        uint32_t column[N * N];
        float x[N * N];
        struct ran_sparse sparse;
};

static void make(struct matrix *m, size_t directions)
{
        size_t n = 0;

        memset(m, 0, sizeof *m);
        for (size_t k = 0; k < directions; k++)
                for (size_t i = 0; i < N; i++)
                        for (size_t j = 0; j < N; j++)
                                if (i % 4 != 3 && j % 4 != 3)
                                        m->dense[i * N + j] +=
                                                (k % 2 == 0 ? 1 : -1) * pow(0.6, (double)k) *
                                                uniform(k * N + i) * uniform(k * N + j);
        for (size_t i = 0; i < N; i++) {
                for (size_t j = 0; j < N; j++)
                        if (m->dense[i * N + j] < 0 || m->dense[i * N + j] > 0) {
                                m->column[n] = (uint32_t)j;
                                m->x[n++] = (float)m->dense[i * N + j];
                        }
                m->first[i + 1] = n;
        }
        m->sparse = (struct ran_sparse){N, m->first, m->column, m->x};
}

/* y = A A x */
static void twice(const struct matrix *m, const double *x, double *y)
{
        double once[N];

        for (size_t i = 0; i < N; i++) {
                once[i] = 0;
                for (size_t j = 0; j < N; j++)
                        once[i] += m->dense[i * N + j] * x[j];
        }
        for (size_t i = 0; i < N; i++) {
                y[i] = 0;
                for (size_t j = 0; j < N; j++)
                        y[i] += m->dense[i * N + j] * once[j];
        }
}

static double product(const double *x, const double *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * y[i];
        return sum;
}

TEST(dense_eigenvectors_are_orthonormal_and_turn_into_multiples_of_themselves)
{
        struct matrix m;
        struct ran_error err = {0};
        double a[N * N], value[N], x[N], y[N];

        make(&m, 8);
        for (size_t i = 0; i < N; i++) {
                memset(x, 0, sizeof x);
                x[i] = 1;
                twice(&m, x, a + i * N); /* A A has no negative eigenvalues */
        }
        REQUIRE(CHECK_OK(ran_eigen_dense(a, value, N, &err), err));
        for (size_t i = 0; i < 8; i++) {
                twice(&m, a + i * N, y);
                CHECK(i == 0 || value[i] <= value[i - 1]);
                for (size_t j = 0; j < N; j++)
                        CHECK_NEAR(y[j], value[i] * a[i * N + j], 1e-9 * value[0]);
                for (size_t j = 0; j <= i; j++)
                        CHECK_NEAR(product(a + i * N, a + j * N, N), i == j, 1e-7);
        }
        CHECK_NEAR(value[8] / value[0], 0, 1e-12);
}

TEST(sparse_singular_vectors_are_those_of_the_dense_matrix)
{
        struct matrix m;
        struct ran_error err = {0};
        float *u = ran_alloc_floats(N * K, &err), *again = ran_alloc_floats(N * K, &err);
        double a[N * N], squares[N], value[K], x[N], column[N];

        REQUIRE(u != NULL && again != NULL);
        make(&m, 8);
        for (size_t i = 0; i < N; i++) {
                memset(x, 0, sizeof x);
                x[i] = 1;
                twice(&m, x, a + i * N);
        }
        REQUIRE(CHECK_OK(ran_eigen_dense(a, squares, N, &err), err));
        REQUIRE(CHECK_OK(ran_eigen_sparse(&m.sparse, K, 1, u, value, NULL, NULL, NULL, &err), err));
        for (size_t k = 0; k < K; k++) {
                for (size_t i = 0; i < N; i++)
                        column[i] = (double)u[i * K + k];
                CHECK_NEAR(value[k] / sqrt(squares[k]), 1, 1e-4);
                CHECK_NEAR(fabs(product(column, a + k * N, N)), 1, 1e-3);
                CHECK_NEAR(product(column, column, N), 1, 1e-4);
        }
        struct ran_pool *pool = ran_pool_new(3, &err);
        CHECK_OK(ran_eigen_sparse(&m.sparse, K, 1, again, value, pool, NULL, NULL, &err), err);
        CHECK(memcmp(u, again, N * K * sizeof *u) == 0);
        ran_pool_free(pool);
        free(u);
        free(again);
}

static int stop(void *arg, double share)
{
        double *last = arg;

        CHECK(share > *last && share <= 1);
        *last = share;
        return share > 0.5;
}

TEST(sparse_vectors_beyond_the_rank_are_zeros_and_it_can_be_stopped)
{
        struct matrix m;
        struct ran_error err = {0};
        float *u = ran_alloc_floats(N * K, &err);
        double value[K], last = 0;

        REQUIRE(u != NULL);
        make(&m, 2);
        REQUIRE(CHECK_OK(ran_eigen_sparse(&m.sparse, K, 1, u, value, NULL, NULL, NULL, &err), err));
        CHECK(value[1] > 0.01);
        for (size_t i = 0; i < N; i++)
                for (size_t k = 2; k < K; k++)
                        CHECK(u[i * K + k] >= 0 && u[i * K + k] <= 0);
        CHECK(ran_eigen_sparse(&m.sparse, K, 1, u, value, NULL, stop, &last, &err) == RAN_EINTR);
        /* An empty one has nothing. */
        memset(m.first, 0, sizeof m.first);
        CHECK_OK(ran_eigen_sparse(&m.sparse, K, 1, u, value, NULL, NULL, NULL, &err), err);
        CHECK(value[0] <= 0 && u[0] >= 0 && u[0] <= 0);
        free(u);
}
