/* parts.h - the parts of a distillation: principal components, and vectors of tokens that are
 * fitted.
 */
#ifndef RAN_DISTIL_PARTS_H
#define RAN_DISTIL_PARTS_H

#include "ran/base.h"

/* ---- principal components of vectors (components.c) ------------------------------------------ */

struct ran_components {
        size_t F, D;      /* D of F directions */
        float *row;       /* (D, F) orthonormal, that of the largest variance first */
        double *mean;     /* (F) */
        double explained; /* share of the variance in these directions, 0 to 1 */
};
/* Of n vectors; read gives vector i (F). The sizes F F and F 512 are the caller's to check. */
int ran_components_init(struct ran_components *k, size_t F, size_t D, size_t n,
                        void (*read)(const void *arg, size_t i, float *v), const void *arg,
                        struct ran_error *err);
void ran_components_release(struct ran_components *k);
/* y (n, D) = x row^T, of n vectors x (n, F). */
void ran_components_project(const struct ran_components *k, const float *x, size_t n, float *y);

/* ---- vectors of tokens whose mean is near the vector of a text (static-fit.c) ---------------- */

struct ran_static_fit {
        float *rows; /* (V, D) changed by the fit */
        size_t V, D;
        /* Text i has the tokens ids[first[i]] to ids[first[i + 1]], and a vector of any length. */
        const uint32_t *ids;
        const size_t *first;
        const float *target; /* (texts, D) */
        const size_t *order; /* (n) the texts to learn from */
        size_t n, epochs, batch, seed;
        double learning_rate;
        /* After each step; anything but 0 ends the fit with RAN_EINTR. */
        int (*step)(void *arg, size_t texts_done, double loss);
        void *step_arg;
};
int ran_static_fit(const struct ran_static_fit *f, struct ran_error *err);
/* The loss of a text, 1 - cos(y, t), of vectors y and t (D); t becomes dy, its derivative by y. 1
 * and zeros if one of them has no direction. */
double ran_static_loss(const float *y, float *t, size_t D);
/* v (D): the mean of the rows of n tokens, one or more. */
void ran_static_mean(const float *rows, size_t D, const uint32_t *ids, size_t n, float *v);

#endif
