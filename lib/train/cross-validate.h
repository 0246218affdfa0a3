/* cross-validate.h - the cost C of the linear SVM (svm.h), and whether features are weighted by
 * ratios.
 *
 * The best cost ranges from 0.5 to 8 and more by collection, and with few documents of many classes
 * the wrong one loses 5 points; ratios help sentences and hurt long documents. So both are chosen
 * by five-fold cross-validation on the training documents; folds are used until 1,000 documents
 * were held out. Documents of a group are in one fold. The criterion is the loss at the scale where
 * it is lowest: every document contributes to it, not only those near the decision boundary.
 */
#ifndef RAN_TRAIN_CROSS_VALIDATE_H
#define RAN_TRAIN_CROSS_VALIDATE_H

#include "train/svm.h"

/* Sets k->cost, if that is 0, and k->ratios, if `ratios` is RAN_RATIOS_AUTO; nothing is tried
 * without alternatives, or with too few documents. weight (rows, C) and bias (C) are what fits
 * begin with. Calls k->pass with the number of passes since the call. */
int ran_cross_validate(struct ran_svm *k, int ratios, const float *idf, const float *weight,
                       const float *bias, struct ran_error *err);

#endif
