/* eigen.c - see eigen.h.
 *
 * Dense: Jacobi's method in Hestenes' form. Rotations of pairs of rows make the rows of R A
 * orthogonal; then each row is an eigenvector, times its eigenvalue. In double, in a fixed order.
 *
 * Sparse: a random subspace that A turns towards its largest directions (Halko, Martinsson and
 * Tropp 2011).
 *
 *      Y = A Ω;   Q = orthonormal Y, Y = A Q, again and again
 *      Y^T Y = U Σ² U^T        (k + some, square)
 *      vectors = Q U
 *
 * Y = Q R is made orthonormal by the eigenvectors of Y^T Y, too: Q = Y U Σ^-1. That squares the
 * condition of Y, which is small after one product. */
#include "math/eigen.h"
#include "base/error.h"
#include "base/size.h"
#include "math/gemm.h"
#include "math/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- dense ----------------------------------------------------------------------------------- */

enum { SWEEPS = 30 };
/* Two rows count as orthogonal below this cosine. */
static const double orthogonal = 1e-10;

static double dot(const double *x, const double *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * y[i];
        return sum;
}

/* Turns rows x and y so that they become orthogonal; returns whether they were not. */
static bool rotate(double *x, double *y, size_t n)
{
        const double a = dot(x, x, n), b = dot(y, y, n), c = dot(x, y, n);

        if (fabs(c) <= orthogonal * sqrt(a * b))
                return false;
        const double zeta = (b - a) / (2 * c);
        const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
        const double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
        for (size_t i = 0; i < n; i++) {
                const double was = x[i];

                x[i] = cosine * was - sine * y[i];
                y[i] = sine * was + cosine * y[i];
        }
        return true;
}

static void make_orthogonal(double *a, size_t n)
{
        bool again = true;

        for (size_t sweep = 0; sweep < SWEEPS && again; sweep++) {
                again = false;
                for (size_t i = 0; i < n; i++)
                        for (size_t j = i + 1; j < n; j++)
                                again |= rotate(a + i * n, a + j * n, n);
        }
}

struct direction {
        double length;
        size_t at;
};

static int compare(const void *x, const void *y)
{
        const struct direction *a = x, *b = y;

        if (a->length != b->length)
                return a->length < b->length ? 1 : -1;
        return a->at < b->at ? -1 : 1;
}

/* The rows by their lengths, as unit vectors; copy (n, n). */
static void order_rows(double *a, double *value, struct direction *d, double *copy, size_t n)
{
        for (size_t i = 0; i < n; i++)
                d[i] = (struct direction){sqrt(dot(a + i * n, a + i * n, n)), i};
        qsort(d, n, sizeof *d, compare);
        memcpy(copy, a, n * n * sizeof *a);
        for (size_t i = 0; i < n; i++) {
                const double *row = copy + d[i].at * n;

                value[i] = d[i].length;
                for (size_t j = 0; j < n; j++)
                        a[i * n + j] = value[i] > 0 ? row[j] / value[i] : 0;
        }
}

int ran_eigen_dense(double *a, double *value, size_t n, struct ran_error *err)
{
        struct direction *d = ran_alloc(n, sizeof *d, err);
        double *copy = ran_alloc(n * n, sizeof *copy, err);

        if (d != NULL && copy != NULL) {
                make_orthogonal(a, n);
                order_rows(a, value, d, copy, n);
        }
        const bool done = d != NULL && copy != NULL;
        free(d);
        free(copy);
        return done ? RAN_OK : RAN_ENOMEM;
}

/* ---- sparse ---------------------------------------------------------------------------------- */

/* More directions than are wanted, and products with A: those at the end are less exact. Rows of a
 * product at a time, and of a sum of products. */
enum { MORE = 20, PRODUCTS = 5, ROWS = 64, BLOCK = 512 };

struct subspace {
        const struct ran_sparse *a;
        size_t k;       /* directions at work */
        float *q, *y;   /* (n, k) */
        double *square; /* (k, k) */
        double *value;  /* (k) */
        float *turn;    /* (k, k) */
        float *part;    /* (k, k) of the sum */
        struct ran_pool *pool;
};

static void draw(struct subspace *s, uint64_t seed)
{
        const uint64_t key = ran_random_key(seed, RAN_FOR_EIGEN, 0, 0);

        for (size_t i = 0; i < s->a->n * s->k; i++)
                s->q[i] = (float)(2 * ran_random_uniform(key, i) - 1);
}

static void multiply_rows(void *arg, size_t i)
{
        const struct subspace *s = arg;
        const struct ran_sparse *a = s->a;
        const size_t to = ran_least(a->n, (i + 1) * ROWS);

        for (size_t r = i * ROWS; r < to; r++) {
                float *y = s->y + r * s->k;

                memset(y, 0, s->k * sizeof *y);
                ran_simd->sparse_sum(y, a->x + a->first[r], a->column + a->first[r],
                                     a->first[r + 1] - a->first[r], s->q, s->k, s->k);
        }
}

/* y = A q */
static void multiply(struct subspace *s)
{
        ran_parallel(s->pool, (s->a->n + ROWS - 1) / ROWS, multiply_rows, s);
}

/* Eigenvectors of y^T y, whose eigenvalues are the squares of y's singular values: rows of square.
 * A block of rows in a product of floats, blocks in double. */
static int decompose(struct subspace *s, struct ran_error *err)
{
        const size_t k = s->k;

        memset(s->square, 0, k * k * sizeof *s->square);
        for (size_t from = 0; from < s->a->n; from += BLOCK) {
                const float *y = s->y + from * k;

                ran_gemm(s->part, k, y, 1, k, y, k, 1, k, k, ran_least(BLOCK, s->a->n - from),
                         false);
                for (size_t i = 0; i < k * k; i++)
                        s->square[i] += (double)s->part[i];
        }
        return ran_eigen_dense(s->square, s->value, k, err);
}

static void turn_rows(void *arg, size_t i)
{
        const struct subspace *s = arg;
        const size_t k = s->k, from = i * BLOCK;

        ran_gemm(s->q + from * k, k, s->y + from * k, k, 1, s->turn, 1, k,
                 ran_least(BLOCK, s->a->n - from), k, k, false);
}

/* q = y square^T, column i times 1 / σ_i if scaled: then they are orthonormal. What is left of a
 * direction that y does not have is rounding. */
static void turn(struct subspace *s, bool scaled)
{
        const double least = 1e-10 * s->value[0];
        const size_t k = s->k;

        for (size_t i = 0; i < k; i++)
                for (size_t j = 0; j < k; j++)
                        s->turn[i * k + j] =
                                !(s->value[i] > least) ? 0
                                : scaled ? (float)(s->square[i * k + j] / sqrt(s->value[i]))
                                         : (float)s->square[i * k + j];
        ran_parallel(s->pool, (s->a->n + BLOCK - 1) / BLOCK, turn_rows, s);
}

static void swap(struct subspace *s)
{
        float *q = s->q;

        s->q = s->y;
        s->y = q;
}

static int find(struct subspace *s, int (*step)(void *arg, double share), void *arg,
                struct ran_error *err)
{
        for (size_t i = 0; i < PRODUCTS; i++) {
                multiply(s);
                RAN_TRY(decompose(s, err));
                if (step != NULL && step(arg, (double)(i + 1) / PRODUCTS) != 0)
                        return ran_fail(err, RAN_EINTR, "stopped");
                if (i + 1 < PRODUCTS)
                        turn(s, true);
        }
        /* q is orthonormal, y = A q: the singular vectors of A are those of y, turned. */
        swap(s);
        turn(s, false);
        return RAN_OK;
}

static bool reserve(struct subspace *s, struct ran_error *err)
{
        size_t n, square;

        if (__builtin_mul_overflow(s->a->n, s->k, &n) ||
            __builtin_mul_overflow(s->k, s->k, &square)) {
                ran_fail(err, RAN_ENOMEM, "no memory for %zu directions of %zu numbers", s->k,
                         s->a->n);
                return false;
        }
        s->q = ran_alloc_floats(n, err);
        s->y = ran_alloc_floats(n, err);
        s->square = ran_alloc(square, sizeof *s->square, err);
        s->value = ran_alloc(s->k, sizeof *s->value, err);
        s->turn = ran_alloc_floats(square, err);
        s->part = ran_alloc_floats(square, err);
        return s->q != NULL && s->y != NULL && s->square != NULL && s->value != NULL &&
               s->turn != NULL && s->part != NULL;
}

int ran_eigen_sparse(const struct ran_sparse *a, size_t k, uint64_t seed, float *vector,
                     double *value, struct ran_pool *pool, int (*step)(void *arg, double share),
                     void *arg, struct ran_error *err)
{
        struct subspace s = {.a = a, .k = ran_least(a->n, k + MORE), .pool = pool};

        err = ran_error_or_spare(err);
        int rc = RAN_ENOMEM;
        if (reserve(&s, err)) {
                draw(&s, seed);
                rc = find(&s, step, arg, err);
        }
        for (size_t i = 0; i < k && rc == RAN_OK; i++) {
                value[i] = i < s.k ? sqrt(s.value[i]) : 0;
                for (size_t r = 0; r < a->n; r++)
                        vector[r * k + i] = i < s.k ? s.q[r * s.k + i] : 0;
        }
        free(s.q);
        free(s.y);
        free(s.square);
        free(s.value);
        free(s.turn);
        free(s.part);
        return rc;
}
