/* svm.h - training of the linear model of a classifier: a linear SVM for each class.
 *
 * Of each class c, against all others, that is the support vector machine with a squared loss
 *
 *   min over u, b   1/2 (|u|² + b²) + Σ_d cost_d max(0, 1 - y_d (b + Σ_g u_g r_gc x_dg))²
 *
 * with x_dg as linear-model.h has them, y_d = ±1, and r_gc the more, the better a feature tells the
 * class from others by itself: r_gc² = |ln (p_gc / q_gc)|, where p is its share in the documents of
 * the class and q in all others (Wang and Manning 2012 have the ratio itself; its root was better
 * on each of five collections), scaled so that documents have the length 1 in the mean; or 1 of
 * all. Cross-validation chooses between the two, and the cost (cross-validate.h).
 * wide.weight[g, c] = r_gc u_g. A document with soft targets counts for both sides, with those
 * probabilities as weights.
 *
 * Solved by coordinate descent in the dual (Hsieh et al. 2008), to a tolerance. Classes are
 * independent, so threads share them. Stochastic gradients, as for the encoder, end 1 to 4 points
 * lower in the same time.
 */
#ifndef RAN_TRAIN_SVM_H
#define RAN_TRAIN_SVM_H

#include "ran/train.h"

/* What is to be learned, and from which documents of d: document (n). */
struct ran_svm {
        const struct ran_config *c;
        const struct ran_dataset *d;
        const size_t *document;
        size_t n;
        const uint32_t *pieces;     /* those of the vocabulary, if c wants them */
        const double *class_weight; /* (C) of a document's only class; NULL: all 1 */
        double cost;
        bool ratios;      /* r as above; else 1 */
        float *alpha;     /* NULL: 0 to begin with. Or (B, C, sides) as another fit left it, whose
                             weight  and bias this one begins with: sooner there, if only the cost is
                             another */
        double tolerance; /* ends when no document is further than this from where it belongs, */
        size_t passes;    /* or after so many times through the documents */
        uint64_t seed;    /* of the order of documents */
        struct ran_pool *pool;
        /* Called after each pass, with its number; a value other than 0 ends it with RAN_EINTR. May
         * be NULL. */
        int (*pass)(void *arg, size_t passes);
        void *arg;
};

/* Decisions settle long before the last digits do. With a
 * high cost a few documents move for a hundred passes; of Reuters-21578 (90 labels, cost 8) 20 gave
 * the same dev loss as 127, in a sixth of the time. */
extern const double ran_svm_tolerance;
enum { RAN_SVM_PASSES = 20 };

/* idf (rows of the table): how much each bucket counts, by how many documents have it. */
int ran_svm_idf(const struct ran_svm *k, float *idf, struct ran_error *err);

/* Learns weight (rows, C) and bias (C), beginning with what they hold: u is measured from there.
 * They stay as they were unless it succeeds. */
int ran_svm_fit(const struct ran_svm *k, const float *idf, float *weight, float *bias,
                struct ran_error *err);

/* Sides that a document of d can count for, in alpha. */
size_t ran_svm_sides(const struct ran_dataset *d);

/* logits (n, C) of documents of k->d, document (n). */
int ran_svm_score(const struct ran_svm *k, const size_t *document, size_t n, const float *idf,
                  const float *weight, const float *bias, float *logits, struct ran_error *err);

#endif
