/* discriminant.h - vectors of documents to labels: linear discriminant analysis with a shrunk
 * covariance (Friedman 1989).
 *
 *   S_λ = (1 - λ) S + λ tr(S)/F I           S: covariance within the labels, of all of them
 *   w_c = S_λ⁻¹ μ_c                         b_c = ln π_c - w_c·μ_c / 2
 *
 * With several labels a document each label stands against the rest, ¬c, and S is the covariance of
 * all documents:
 *
 *   w_c = S_λ⁻¹ (μ_c - μ_¬c)                b_c = ln (π_c / π_¬c) - w_c·(μ_c + μ_¬c) / 2
 *
 * λ = 1 is the nearest mean, which is best with few documents; the more there are, the smaller λ.
 * It is chosen by the loss of documents that are held out. Unlike an SVM over the same vectors it
 * has a closed form, and needs no more than means and one covariance.
 *
 * Descriptions of labels, or their names, are evidence that fades. With e_c the vector of a label's
 * description, t_c = e_c - mean of e, n_c documents of the label with mean x̄_c, and t̂_c = s t_c,
 * where s is the regression of documents on descriptions (0, if they say nothing):
 *
 *   μ_c = (n_c x̄_c + k t̂_c) / (n_c + k)    k = (variance within labels) / (that of x̄_c around t̂_c)
 *
 * which is the mean's posterior with a normal prior at t̂_c, k estimated as in empirical Bayes.
 * Covariances are then around these μ_c. A label without documents is its description.
 *
 * Where no document has a label, the descriptions give them: each document begins with the label
 * whose t_c has the largest cosine with x, and three times μ, S and the logits w_c·x + b_c are
 * computed, with the probabilities that softmax makes of the last logits for counts (EM). λ is 0.5,
 * 0.95 of few.
 */
#ifndef RAN_LINEAR_DISCRIMINANT_H
#define RAN_LINEAR_DISCRIMINANT_H

#include "data/dense.h"
#include "part/linear/svm.h"

/* Row i is document[i]; x of its vector as in data/dense.h. */
struct ran_discriminant {
        const struct ran_dataset *d;
        const struct ran_dense *dense;
        const struct ran_dense_frame *frame;
        const size_t *document; /* (n) */
        size_t n;
        const double *class_weight; /* (C), or NULL */
        const float *label_vectors; /* (C, F) of descriptions; NULL: there are none */
        struct ran_pool *pool;
};
/* λ for where nothing can be held out. */
extern const double ran_discriminant_shrinkage;

/* *shrinkage, logits (h->n, C) of the rows that were held out, each by the rows of the other folds.
 * Returns the sum of their losses, each at its best scale. With descriptions and few documents λ
 * stays that of few. */
double ran_discriminant_choose(const struct ran_discriminant *k, const struct ran_held_out *h,
                               double *shrinkage, float *logits);
/* weight (F, C) of x and bias (C), of all rows. */
void ran_discriminant_fit(const struct ran_discriminant *k, double shrinkage, float *weight,
                          float *bias);
/* The labels (d->B) of documents that have none, as the descriptions say, in place of those of d;
 * the weights that say so, as above, their λ, and the spread of their logits. */
void ran_discriminant_guess(const struct ran_discriminant *k, uint32_t *label, float *weight,
                            float *bias, double *shrinkage, double *spread);
/* The standard deviation of logits (n, C), each less the mean of its row. */
double ran_discriminant_spread(const float *logits, size_t n, size_t C);

#endif
