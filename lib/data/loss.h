/* loss.h - losses of the heads and their gradients. */
#ifndef RAN_TRAIN_LOSS_H
#define RAN_TRAIN_LOSS_H

#include "ran/train.h"

/* The target of a document: probabilities p (n) of the classes label (n), ascending, and 0 for
 * the others. With a single label they add up to 1. p NULL: all are 1. */
struct ran_target {
        const uint32_t *label;
        const float *p;
        size_t n;
};

/* Cross-entropy of one document, or binary cross-entropy averaged over C with several labels.
 * smoothing: the part of the target that all classes divide equally (several labels: that moves
 * towards 0.5). Returns the loss times `weight`; dlogits (C) is its gradient and may be the
 * logits. */
double ran_loss_classify(float *dlogits, const float *logits, size_t C,
                         const struct ran_target *target, bool multilabel, double smoothing,
                         double weight);

/* Target of document b: its labels, or its soft target. */
struct ran_target ran_loss_target(const struct ran_dataset *d, size_t b);

#endif
