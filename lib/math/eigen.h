/* eigen.h - eigenvectors of symmetric matrices. */
#ifndef RAN_MATH_EIGEN_H
#define RAN_MATH_EIGEN_H

#include "ran/base.h"

/* The eigenvectors of a (n, n), symmetric and without negative eigenvalues: the rows of a become
 * unit vectors, that of the largest eigenvalue first, and value (n) the eigenvalues. A row whose
 * eigenvalue is 0 is 0. RAN_ENOMEM. */
int ran_eigen(double *a, double *value, size_t n, struct ran_error *err);

#endif
