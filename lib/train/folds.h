/* folds.h - a model of some documents that scores others: see folds.c. */
#ifndef RAN_TRAIN_FOLDS_H
#define RAN_TRAIN_FOLDS_H

#include "ran/train.h"

/* Documents to score: the rows document (n) of p (set->B, C), or, NULL, the first n. */
struct ran_fold_part {
        const struct ran_dataset *set;
        const size_t *document;
        size_t n;
        float *p;
};
/* Trains a model of the job on `set`, without validation documents, in a temporary file, and scores
 * the parts with it. */
int ran_fold_train(const struct ran_train_job *job, const struct ran_dataset *set,
                   const struct ran_fold_part *part, size_t parts, struct ran_error *err);

#endif
