/* loss.h - losses of the heads and their gradients. */
#ifndef RAN_TRAIN_LOSS_H
#define RAN_TRAIN_LOSS_H

#include "ran.h"

/* Cross-entropy of one document, or binary cross-entropy averaged over C with several labels. gold:
 * its classes, n_gold of them (one with a single label). smoothing: the share of the target that
 * all classes divide among them (several labels: that goes to 0.5). Returns the loss times
 * `weight`; dlogits (C) is its gradient, and may stand where the logits do. */
double ran_loss_classify(float *dlogits, const float *logits, size_t C, const uint32_t *gold,
                         size_t n_gold, bool multilabel, double smoothing, double weight);

#endif
