/* components.c - see components.h: the eigenvectors of
 *
 *      A = 1/n Σ_i (x_i - m)(x_i - m)^T,  m = 1/n Σ_i x_i
 */
#include "distil/components.h"
#include "math/eigen.h"
#include "math/gemm.h"

#include <stdlib.h>

enum { BLOCK = 512 };

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

/* The D eigenvectors of a with the largest eigenvalues. */
static int take_largest(struct ran_components *k, double *a, struct ran_error *err)
{
        double *variance = ran_alloc(k->F, sizeof *variance, err);
        double all = 0, taken = 0;

        if (variance == NULL)
                return RAN_ENOMEM;
        const int rc = ran_eigen(a, variance, k->F, err);
        for (size_t i = 0; i < k->F && rc == RAN_OK; i++) {
                all += variance[i];
                taken += i < k->D ? variance[i] : 0;
        }
        for (size_t i = 0; i < k->D * k->F && rc == RAN_OK; i++)
                k->row[i] = (float)a[i];
        k->explained = all > 0 ? taken / all : 1;
        free(variance);
        return rc;
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
