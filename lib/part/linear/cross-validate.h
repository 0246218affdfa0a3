/* cross-validate.h - C, ratios and the scale of affixes of the linear model (svm.h), by
 * cross-validation.
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
#ifndef RAN_TRAIN_CROSS_VALIDATE_H
#define RAN_TRAIN_CROSS_VALIDATE_H

#include "part/linear/svm.h"

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
