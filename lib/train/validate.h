/* validate.h - what an epoch brought, on the validation documents. */
#ifndef RAN_TRAIN_VALIDATE_H
#define RAN_TRAIN_VALIDATE_H

#include "train/trainer.h"

/* Evaluates the weights at work, and keeps them if they are the best so far. Ends with RAN_EINTR if
 * the caller stops the run. */
int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err);
/* After the weights were rounded: the metric and the ensemble weights of what will be stored. */
int ran_trainer_judge_rounded(struct ran_trainer *t, struct ran_error *err);
/* With the best weights: thresholds or calibration. */
int ran_trainer_tune(struct ran_trainer *t, struct ran_error *err);

#endif
