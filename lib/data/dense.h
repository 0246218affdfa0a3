/* dense.h - the vectors of documents that a frozen encoder makes (part/vectors/document-vector.h),
 * as a linear model has them beside its n-grams.
 *
 * Of n documents, feature f of vector v is
 *
 *      x_f = (v_f - mean_f) / (deviation_f √F),   or alike   (v_f - mean_f) / √Σ deviation_g²
 *
 * The vectors of tokens that stand still are principal components, the large ones first, and means
 * of them: what hardly differs is mostly noise, and stays small. So those features are scaled
 * alike; others are not. Both so that x has length 1 on average. A feature that is the same in all
 * documents is 0. Weights of x become weights of v, as a model has them, when the fit is done: mean
 * and deviation go into weights and bias.
 */
#ifndef RAN_DATA_DENSE_H
#define RAN_DATA_DENSE_H

#include "nn/params.h"
#include "ran/train.h"

/* Vectors of the documents of a data set. Zero-initialise. */
struct ran_dense {
        size_t B, F; /* documents that are read; 0 and 0: none */
        float *v;    /* (B, F) */
        struct ran_spool spool;
};
/* Fills k with the vectors of all documents (infer/dense-read.h). pass is called with the share
 * that is done now and then, may be NULL, and may end it with RAN_EINTR by a value other than 0. */
typedef int ran_dense_reader(struct ran_dense *k, const struct ran_config *c,
                             const struct ran_params *p, size_t C, const struct ran_dataset *d,
                             struct ran_pool *pool,
                             int (*pass)(void *arg, size_t passes, double share), void *arg,
                             struct ran_error *err);
void ran_dense_release(struct ran_dense *k);

/* How features come from vectors: x_f = factor_f (v_f - mean_f). */
struct ran_dense_frame {
        double *mean, *factor; /* (F); factor 0: the feature is constant */
};
/* alike: all features are scaled alike. */
void ran_dense_frame_init(struct ran_dense_frame *t, const struct ran_dense *k,
                          const size_t *document, size_t n, bool alike);
void ran_dense_frame_release(struct ran_dense_frame *t);
/* Weights (F, C) of x to those of v, with the bias (C). */
void ran_dense_fold(const struct ran_dense_frame *t, size_t F, size_t C, const float *of_x,
                    float *of_v, float *bias);

#endif
