/* components.c - principal components: the eigenvectors of
 *
 *      A = 1/n Σ_i (x_i - m)(x_i - m)^T,  m = 1/n Σ_i x_i
 */
#include "distil/parts.h"
#include "math/eigen.h"
#include "math/gemm.h"

#include <stdlib.h>

enum { BLOCK = 512 };

int ran_components_init(struct ran_components *k, size_t F, size_t D, size_t n,
                        void (*read)(const void *arg, size_t i, float *v), const void *arg,
                        struct ran_error *err)
{
        double all = 0, taken = 0;

        *k = (struct ran_components){.F = F, .D = D};
        double *a = ran_new(F * F, sizeof *a), *variance = ran_new(F, sizeof *variance);
        float *x = ran_new_floats(F * BLOCK), *product = ran_new_floats(F * F);
        k->row = ran_new_floats(D * F);
        k->mean = ran_new(F, sizeof *k->mean);
        for (size_t i = 0; i < n; i++) {
                read(arg, i, x);
                for (size_t f = 0; f < F; f++)
                        k->mean[f] += (double)x[f];
        }
        for (size_t f = 0; f < F && n > 0; f++)
                k->mean[f] /= (double)n;
        /* The covariance: a block of vectors in a product of floats, blocks in double. */
        for (size_t from = 0; from < n; from += BLOCK) {
                const size_t m = n - from < BLOCK ? n - from : BLOCK;

                for (size_t i = 0; i < m; i++) {
                        float *row = x + i * F;

                        read(arg, from + i, row);
                        for (size_t f = 0; f < F; f++)
                                row[f] = (float)((double)row[f] - k->mean[f]);
                }
                ran_gemm(product, F, x, 1, F, x, F, 1, F, F, m, false);
                for (size_t i = 0; i < F * F; i++)
                        a[i] += (double)product[i] / (double)n;
        }
        const int rc = ran_eigen(a, variance, F, err);
        for (size_t i = 0; i < F && rc == RAN_OK; i++) {
                all += variance[i];
                taken += i < D ? variance[i] : 0;
        }
        for (size_t i = 0; i < D * F && rc == RAN_OK; i++)
                k->row[i] = (float)a[i];
        k->explained = all > 0 ? taken / all : 1;
        free(a);
        free(variance);
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
