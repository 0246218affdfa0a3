/* eigen.h - eigenvectors of symmetric matrices: of a dense one all, of a sparse one the largest. */
#ifndef RAN_MATH_EIGEN_H
#define RAN_MATH_EIGEN_H

#include "ran/base.h"

/* The eigenvectors of a (n, n), symmetric and without negative eigenvalues: the rows of a become
 * unit vectors, that of the largest eigenvalue first, and value (n) the eigenvalues. A row whose
 * eigenvalue is 0 is 0. RAN_ENOMEM. */
int ran_eigen_dense(double *a, double *value, size_t n, struct ran_error *err);

/* A symmetric matrix (n, n): row i has x[k] in column[k], for k from first[i] to first[i + 1]. */
struct ran_sparse {
        size_t n;
        size_t *first;
        uint32_t *column;
        float *x;
};
/* The k singular vectors of a with the largest singular values, about: vector (n, k), orthonormal
 * columns, and value (k). Columns beyond the rank are 0. The same bits for any pool. RAN_ENOMEM;
 * RAN_EINTR when step, unless it is NULL, returns another value than 0: it is called with the share
 * that is done. */
int ran_eigen_sparse(const struct ran_sparse *a, size_t k, uint64_t seed, float *vector,
                     double *value, struct ran_pool *pool, int (*step)(void *arg, double share),
                     void *arg, struct ran_error *err);

#endif
