/* components.h - principal components of vectors. */
#ifndef RAN_DISTIL_COMPONENTS_H
#define RAN_DISTIL_COMPONENTS_H

#include "ran/base.h"

struct ran_components {
        size_t F, D;      /* D of F directions */
        float *row;       /* (D, F) orthonormal, that of the largest variance first */
        double *mean;     /* (F) */
        double explained; /* share of the variance in these directions, 0 to 1 */
};
/* Of n vectors; read gives vector i (F). RAN_ENOMEM. */
int ran_components_init(struct ran_components *k, size_t F, size_t D, size_t n,
                        void (*read)(const void *arg, size_t i, float *v), const void *arg,
                        struct ran_error *err);
void ran_components_release(struct ran_components *k);
/* y (n, D) = x row^T, of n vectors x (n, F). */
void ran_components_project(const struct ran_components *k, const float *x, size_t n, float *y);

#endif
