/* svm.h - the linear model of a classifier: a support vector machine for each class.
 *
 * Each class c against all others is the problem with squared hinge loss
 *
 *   min over u, b   1/2 (|u|² + b²) + Σ_d C_d max(0, 1 - y_d (b + Σ_g u_g r_gc x_dg))²
 *
 * with x_dg as in linear-model.h and y_d = ±1. r_gc is 1 or, with `ratios`, the larger the better
 * feature g, an n-gram or affix, tells class c from the others by itself: r_gc² = |ln (p_gc /
 * q_gc)|, where p is its share in the documents of the class and q in all others, scaled so that
 * documents have length 1 on average (Wang and Manning 2012 use the ratio itself; its root was
 * better on each of five collections). r of affixes is `affixes` times that of n-grams, and both
 * are scaled so that a document of n-grams and affixes keeps its length: spelling tells topics and
 * short texts apart, and is noise in long reviews. Cross-validation chooses C, ratios and affixes
 * (cross-validate.h).
 * wide.weight[g, c] = r_gc u_g. A document with a soft target counts for both sides, in proportion.
 *
 * Solved by dual coordinate descent with shrinking (Hsieh et al. 2008). Classes do not depend on
 * each other, so threads share them, and results are the same for any number of threads. Of two
 * classes with one label a document, the second is the mirror image of the first and is not solved.
 */
#ifndef RAN_TRAIN_SVM_H
#define RAN_TRAIN_SVM_H

#include "part/linear/ensemble.h"
#include "part/linear/features.h"

/* Rows of a matrix of features, and what their documents are. */
struct ran_svm {
        const struct ran_dataset *d;
        const struct ran_features *features;
        const size_t *document; /* (features->n) the document of each row */
        const size_t *row;      /* (n) the rows to learn from */
        size_t n;
        const double *class_weight;   /* (C) of a document's only class; NULL: all 1 */
        bool ratios;                  /* r as above; else 1 */
        double affixes;               /* r of affixes, beside n-grams */
        struct ran_ensemble ensemble; /* without an encoder, by cross-validation; 0: unknown */
        uint64_t seed;                /* of the order of rows */
        struct ran_pool *pool;        /* shares out the classes; NULL: none */
};

/* When to stop: no dual variable further than `tolerance` from its optimum, or as many rows visited
 * as so many passes over all of them have. With a high C a few documents move for a hundred passes:
 * on Reuters-21578 (90 labels, C 8) 20 gave the same validation loss as 127. */
extern const double ran_svm_tolerance;
enum { RAN_SVM_PASSES = 20 };

/* A solver keeps weights and dual variables, so that the next, larger C starts where the last one
 * ended. It starts at weight (c->linear.wide, C) and bias (C), from which u is measured then; NULL:
 * at 0. k is copied; what it points to must outlive the solver. */
struct ran_svm_solver;
struct ran_svm_solver *ran_svm_solver_new(const struct ran_svm *k, const float *weight,
                                          const float *bias, struct ran_error *err);
void ran_svm_solver_free(struct ran_svm_solver *s);
void ran_svm_solver_begin(struct ran_svm_solver *s, double cost, double tolerance, size_t passes);
/* One pass over the rows that are not shrunk away; true when the solution is found or the passes
 * are used up. Cannot fail. */
bool ran_svm_solver_pass(struct ran_svm_solver *s);
/* Rows visited since _begin. */
size_t ran_svm_solver_visits(const struct ran_svm_solver *s);
/* The share of the visits that there may be at most: few problems need them all. */
double ran_svm_solver_share(const struct ran_svm_solver *s);
/* logits (n, C) of n rows of the matrix. */
void ran_svm_solver_score(const struct ran_svm_solver *s, const size_t *row, size_t n,
                          float *logits);
/* Writes the solution to weight (c->linear.wide, C), in the rows of the matrix's buckets, and bias
 * (C). */
void ran_svm_solver_store(const struct ran_svm_solver *s, float *weight, float *bias);

/* Learns weight and bias, starting at what they hold. pass is called after each pass with the
 * number of passes so far and the share of the work that is done; a value other than 0 ends
 * training with RAN_EINTR and leaves both unchanged. */
int ran_svm_fit(const struct ran_svm *k, double cost, float *weight, float *bias,
                int (*pass)(void *arg, size_t passes, double share), void *arg,
                struct ran_error *err);

#endif
