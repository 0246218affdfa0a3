/* cross-validate.h - how the wide path is learned (svm.h): what errors cost, and with ratios or
 * without.
 *
 * The cost that is best goes from 0.5 to 8 and more with the collection, and with few documents of
 * many classes the wrong one costs 5 points; ratios help sentences and hurt long documents. So it
 * is tried: by cross-validation in five folds of the documents that are learned from, as many of
 * them as it takes to ask 1,000 documents; documents of a group are in one fold. What counts is the
 * loss, at the scale at which it is least, since it tells settings apart by each document and not
 * only by those at the edge.
 */
#ifndef RAN_TRAIN_CROSS_VALIDATE_H
#define RAN_TRAIN_CROSS_VALIDATE_H

#include "train/svm.h"

/* Sets k->cost, if that is 0, and k->ratios, if `ratios` is RAN_RATIOS_AUTO; nothing is tried where
 * there is nothing to choose, or there are too few documents. weight (rows, C) and bias (C) are
 * what fits begin with. Calls k->pass with the number of passes since the call. */
int ran_cross_validate(struct ran_svm *k, int ratios, const float *idf, const float *weight,
                       const float *bias, struct ran_error *err);

#endif
