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
 * (cross-validate.c).
 * wide.weight[g, c] = r_gc u_g. A document with a soft target counts for both sides, in proportion.
 *
 * Solved by dual coordinate descent with shrinking (Hsieh et al. 2008). Classes do not depend on
 * each other, so threads share them, and results are the same for any number of threads. Of two
 * classes with one label a document, the second is the mirror image of the first and is not solved.
 */
#ifndef RAN_TRAIN_SVM_H
#define RAN_TRAIN_SVM_H

#include "base/posting.h"
#include "part/linear/ensemble.h"
#include "ran/train.h"

/* ---- features (features.c) ------------------------------------------------------------------- */

/* The features of the linear model (part/linear/linear-model.h) for a data set, hashed once.
 *
 * Hashing costs more than one pass of the solver, and passes are many. So each document is hashed
 * into its list of buckets once; the lists stay in memory or, beyond what the data set may keep
 * there, in a file. From the lists come the rows of a sparse matrix: only buckets that count (idf
 * above 0) have a column, so that the solver's arrays hold what occurs and nothing else.
 *
 *   lists      document 0: (bucket, times) (bucket, times) ...   ascending by bucket
 *   matrix     row 0:      (column, x)     (column, x) ...       |row| = 1
 *   bucket     column -> bucket              the most frequent first
 */

/* Documents of a data set as lists. Zero-initialise. */
struct ran_feature_lists {
        struct ran_posting *posting; /* (first[B]): bucket, and how often it occurs */
        size_t *first;               /* (B+1) */
        struct ran_spool spool, first_spool;
};
/* subwords: those of the vocabulary where c wants them, as in linear-model.h. keep: bytes that may
 * stay in memory; 0: RAN_SPOOL_KEEP. */
int ran_feature_lists_read(struct ran_feature_lists *l, const struct ran_config *c,
                           const struct ran_dataset *d, const uint32_t *subwords, size_t keep,
                           struct ran_pool *pool, struct ran_error *err);
void ran_feature_lists_release(struct ran_feature_lists *l);
/* idf (c->linear.wide) of the n documents given. */
void ran_feature_lists_idf(const struct ran_feature_lists *l, const struct ran_config *c,
                           const size_t *document, size_t n, float *idf);

/* Rows of a sparse matrix, one for each of n documents. Zero-initialise. */
struct ran_features {
        size_t n, columns;
        size_t affixes;   /* the first bucket of affixes; SIZE_MAX: there are none */
        uint32_t *bucket; /* (columns) */
        size_t *first;    /* (n+1) */
        uint32_t *column; /* (first[n]), in the order of buckets */
        float *x;         /* (first[n]) */
        struct ran_spool column_spool, x_spool;
};
int ran_features_make(struct ran_features *f, const struct ran_feature_lists *l,
                      const struct ran_config *c, const size_t *document, size_t n,
                      const float *idf, size_t keep, struct ran_pool *pool, struct ran_error *err);
void ran_features_release(struct ran_features *f);

/* ---- an SVM for each class (svm.c) ----------------------------------------------------------- */

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

/* ---- cross-validation (cross-validate.c) ----------------------------------------------------- */

/* C, ratios and the scale of affixes of the linear model, by cross-validation.
 *
 * The best C is between 0.25 and 8 or more, depending on the collection; with few documents of many
 * classes the wrong one costs 5 points. Ratios help sentences and hurt long documents; affixes help
 * topics and short texts, and are noise in reviews. Five folds of the documents are made, of which
 * as many are used as it takes to validate on 1,000 documents; documents of a group are in one
 * fold. What counts is the loss, with the scale of the logits (and the offset of several labels)
 * that suits the fold: it sees every document, where accuracy sees those near the boundary.
 *
 * It is a race. All settings leave out the first fold. What is worse there than the best by a
 * standard error of the difference, document by document, is out, and a C beyond one that is worse
 * is not tried. Other scales of affixes are tried for the best setting only, at its C that are
 * left. What is left leaves out the other folds, one after another, while what is worse by two
 * standard errors is out. A first fold of few documents takes nothing out.
 *
 * A path is a setting with all C, a chain a path and a fold: a solver that goes from the smallest C
 * to the largest, each starting where the last ended. Chains go side by side, as many as there are
 * threads, and the classes of a chain, too.
 */

/* What the best setting says of rows that it was not fitted to. Zero-initialise. */
enum { RAN_FOLDS = 5 };
struct ran_held_out {
        size_t n, folds;
        size_t begin[RAN_FOLDS + 1]; /* where each fold begins in row; behind the last, n */
        size_t *row;                 /* (n) */
        float *logits;               /* (n, C) */
};
void ran_held_out_release(struct ran_held_out *h);

/* Sets *cost, if that is 0, k->affixes, k->ratios, if `ratios` is RAN_RATIOS_AUTO, for the rows of
 * k, k->ensemble, and, unless it is NULL, *held_out (n = 0: too few documents). With neither cost
 * nor ratios to choose nor held_out or too few documents nothing is tried. weight (c->linear.wide,
 * C) and bias (C) are where fits start, as for ran_svm_fit. pass is called with the number of
 * rounds so far, by any thread of k->pool, but by one at a time, and may end it as there: then
 * *cost and k->ratios stay. */
int ran_cross_validate(struct ran_svm *k, double *cost, int ratios, const float *weight,
                       const float *bias, struct ran_held_out *held_out,
                       int (*pass)(void *arg, size_t passes, double share), void *arg,
                       struct ran_error *err);

#endif
