/* components.c - see components.h.
 *
 *      A = 1/n Σ_i (x_i - m)(x_i - m)^T,  m = 1/n Σ_i x_i
 *
 * Its eigenvectors come from Jacobi's method in Hestenes' form: rotations of pairs of rows make the
 * rows of R A orthogonal; then each row is an eigenvector, times its eigenvalue. In double, in a
 * fixed order. */
#include "distil/components.h"
#include "math/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, SWEEPS = 30 };
/* Two rows count as orthogonal below this cosine. */
static const double orthogonal = 1e-10;

struct reader {
        void (*read)(const void *arg, size_t i, float *v);
        const void *arg;
        size_t n;
};

static void find_mean(struct ran_components *k, const struct reader *r, float *x)
{
        for (size_t i = 0; i < r->n; i++) {
                r->read(r->arg, i, x);
                for (size_t f = 0; f < k->F; f++)
                        k->mean[f] += (double)x[f];
        }
        for (size_t f = 0; f < k->F && r->n > 0; f++)
                k->mean[f] /= (double)r->n;
}

/* A block of vectors at a time in a product of floats, blocks in double. x (BLOCK, F), product (F,
 * F). */
static void add_covariance(const struct ran_components *k, const struct reader *r, float *x,
                           float *product, double *a)
{
        const size_t F = k->F;

        for (size_t from = 0; from < r->n; from += BLOCK) {
                const size_t n = r->n - from < BLOCK ? r->n - from : BLOCK;

                for (size_t i = 0; i < n; i++) {
                        float *row = x + i * F;

                        r->read(r->arg, from + i, row);
                        for (size_t f = 0; f < F; f++)
                                row[f] = (float)((double)row[f] - k->mean[f]);
                }
                ran_gemm(product, F, x, 1, F, x, F, 1, F, F, n, false);
                for (size_t i = 0; i < F * F; i++)
                        a[i] += (double)product[i] / (double)r->n;
        }
}

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

static void make_orthogonal(double *a, size_t F)
{
        bool again = true;

        for (size_t sweep = 0; sweep < SWEEPS && again; sweep++) {
                again = false;
                for (size_t i = 0; i < F; i++)
                        for (size_t j = i + 1; j < F; j++)
                                again |= rotate(a + i * F, a + j * F, F);
        }
}

struct direction {
        double variance;
        size_t at;
};

static int compare(const void *x, const void *y)
{
        const struct direction *a = x, *b = y;

        if (a->variance != b->variance)
                return a->variance < b->variance ? 1 : -1;
        return a->at < b->at ? -1 : 1;
}

/* The D rows of largest length, made unit vectors. */
static int take_largest(struct ran_components *k, const double *a, struct ran_error *err)
{
        struct direction *d = ran_alloc(k->F, sizeof *d, err);
        double all = 0, taken = 0;

        if (d == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < k->F; i++) {
                d[i] = (struct direction){sqrt(dot(a + i * k->F, a + i * k->F, k->F)), i};
                all += d[i].variance;
        }
        qsort(d, k->F, sizeof *d, compare);
        for (size_t i = 0; i < k->D; i++) {
                taken += d[i].variance;
                for (size_t f = 0; f < k->F && d[i].variance > 0; f++)
                        k->row[i * k->F + f] = (float)(a[d[i].at * k->F + f] / d[i].variance);
        }
        k->explained = all > 0 ? taken / all : 1;
        free(d);
        return RAN_OK;
}

int ran_components_init(struct ran_components *k, size_t F, size_t D, size_t n,
                        void (*read)(const void *arg, size_t i, float *v), const void *arg,
                        struct ran_error *err)
{
        const struct reader r = {read, arg, n};
        size_t square, block, rows;
        int rc = RAN_ENOMEM;

        *k = (struct ran_components){.F = F, .D = D};
        if (__builtin_mul_overflow(F, F, &square) || __builtin_mul_overflow(F, BLOCK, &block) ||
            __builtin_mul_overflow(D, F, &rows))
                return ran_fail(err, RAN_ENOMEM, "no memory for vectors of %zu numbers", F);
        double *a = ran_alloc(square, sizeof *a, err);
        float *x = ran_alloc_floats(block, err), *product = ran_alloc_floats(square, err);
        k->row = ran_alloc_floats(rows, err);
        k->mean = ran_alloc(F, sizeof *k->mean, err);
        if (a != NULL && x != NULL && product != NULL && k->row != NULL && k->mean != NULL) {
                find_mean(k, &r, x);
                add_covariance(k, &r, x, product, a);
                make_orthogonal(a, F);
                rc = take_largest(k, a, err);
        }
        free(a);
        free(x);
        free(product);
        if (rc != RAN_OK)
                ran_components_release(k);
        return rc;
}

void ran_components_release(struct ran_components *k)
{
        free(k->row);
        free(k->mean);
        *k = (struct ran_components){0};
}

void ran_components_project(const struct ran_components *k, const float *x, size_t n, float *y)
{
        ran_gemm(y, k->D, x, k->F, 1, k->row, 1, k->F, n, k->D, k->F, false);
}
