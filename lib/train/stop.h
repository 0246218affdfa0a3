/* stop.h - whether the encoder of a classifier or tagger pays: it is trained only as long as it may
 * still improve the ensemble, and kept only if it did.
 *
 * The linear model is there first. Each epoch's ensemble is compared with it, document by document:
 * the gain is the mean difference of their losses on the validation documents, and its standard
 * error says how much of that may be chance. So a decision is a function of the data, never of the
 * clock; it is kept in the checkpoint. `--no-early-stop` leaves out the first two rules.
 *
 *   before the first epoch: the linear model errs on too few documents for any gain to show
 *   after epoch e: the gain is more than 1 / e standard errors short of a proof
 *   at the end: the best epoch's gain is no proof: the encoder is dropped
 */
#ifndef RAN_TRAIN_STOP_H
#define RAN_TRAIN_STOP_H

#include "train/gain.h"

struct ran_evaluate_rates;
struct ran_trainer;

/* Shows what the linear model alone achieves on the validation documents, and decides whether an
 * encoder is tried. Does nothing where one of the three is missing. */
int ran_trainer_look(struct ran_trainer *t, struct ran_error *err);
/* Rank 0, after validation: the gain of this epoch; whether it is the last. */
void ran_trainer_weigh(struct ran_trainer *t, const struct ran_evaluate_rates *r, bool best);
/* Tells of the decision, once it is made. */
int ran_trainer_tell_decision(struct ran_trainer *t, struct ran_error *err);
/* After a validation with the weights that are kept: what they gain, and the interval. */
void ran_trainer_note_best(struct ran_trainer *t, const struct ran_evaluate_rates *r);
/* With the weights of the best epoch: drops an encoder that has not proven itself. */
int ran_trainer_prove(struct ran_trainer *t, struct ran_error *err);

#endif
