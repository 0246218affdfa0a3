/* budget.h - --minutes: the best model within a time.
 *
 * The linear model always comes first. A few steps of the encoder then show how many fit into what
 * is left, with the refit: the learning rate falls to its end by these (`limit`). If that was
 * wrong, time ends the training after the step at hand (`last`), or the refit, whose encoder is
 * then that of the best epoch (`aborted`). The model says all three, so that --replay does the
 * same steps whatever the time. Rank 0 decides; the others apply it after the same step. */
#ifndef RAN_TRAIN_BUDGET_H
#define RAN_TRAIN_BUDGET_H

#include "ran/train.h"

struct ran_trainer;

/* Seconds of the run, with those of the runs that it resumed. */
double ran_budget_spent(const struct ran_trainer *t);
/* Rank 0, after a step: whether there is something to apply; and does it. */
bool ran_budget_is_due(const struct ran_trainer *t);
void ran_budget_apply(struct ran_trainer *t);
/* Whether the encoder's steps are used up. */
bool ran_budget_is_used(const struct ran_trainer *t);
/* Whether the encoder of the refit is not trained, or not to its end. */
bool ran_budget_aborts_refit(const struct ran_trainer *t);

#endif
