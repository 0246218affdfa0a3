/* refit.h - the encoder of a refit against that of the best epoch. */
#ifndef RAN_TRAIN_REFIT_H
#define RAN_TRAIN_REFIT_H

#include "train/trainer.h"

/* Keeps the encoder with the lower loss on the held-out documents: the refitted one, which has seen
 * them, or that of the best epoch. */
int ran_trainer_keep_better(struct ran_trainer *t, bool aborted, struct ran_error *err);

#endif
