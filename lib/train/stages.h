/* stages.h - the stages of a training, in the order of train.c. Each begins where t->at stands and
 * leaves there how far it came (state.h), so that it may be asked again after an interruption. It
 * returns RAN_EINTR when the caller stops the run; train.c then writes the checkpoint.
 */
#ifndef RAN_TRAIN_STAGES_H
#define RAN_TRAIN_STAGES_H

#include "task/train.h"
#include "train/trainer.h"

/* stage-linear.c: fits the linear model, shows what it achieves alone on the validation documents,
 * and decides whether it leaves an encoder room (gain.h). */
int ran_stage_linear(struct ran_trainer *t, struct ran_error *err);

/* stage-epochs.c: trains the encoder until its last epoch; validation documents judge each, unless
 * it is a refit. Without an encoder they judge the linear model, as the only epoch. */
int ran_stage_epochs(struct ran_trainer *t, struct ran_error *err);
/* Writes a checkpoint; all ranks call it. */
int ran_trainer_save(struct ran_trainer *t, struct ran_error *err);

/* stage-best.c: restores the weights of the best epoch as the model will store them, drops an
 * encoder that has not proven itself, and tunes thresholds or the calibration. */
int ran_stage_best(struct ran_trainer *t, struct ran_error *err);

/* stage-refit.c: starts over with all documents, if a refit follows; and after that refit keeps the
 * better encoder. */
int ran_stage_start_over(struct ran_trainer *t, struct ran_error *err);
int ran_stage_compare(struct ran_trainer *t, struct ran_error *err);

/* output.c: encoder and linear model become one model; writes it, and removes the checkpoint. */
int ran_stage_write(struct ran_trainer *t, struct ran_error *err);

/* outputs.c: results of the validation documents under the weights at work, and the ensemble
 * weights that suit them; alone: of the linear model. Only rank 0 has those of labels and tags. */
int ran_trainer_judge(struct ran_trainer *t, bool alone, struct ran_rates *r,
                      struct ran_error *err);
/* All ranks compute the outputs; rank 0 works on them. */
int ran_trainer_ask(struct ran_trainer *t, bool alone,
                    int (*work)(struct ran_trainer *t, struct ran_task_judged *k, void *arg,
                                struct ran_error *err),
                    void *arg, struct ran_error *err);
/* RAN_EDIVERGED unless all outputs are finite. */
int ran_trainer_check_outputs(const struct ran_trainer *t, const struct ran_task_judged *k,
                              struct ran_error *err);

/* judge.c: validation documents judge the weights at work, which are kept if they are the best so
 * far. */
int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err);
/* Judges what will be stored: its metric and ensemble weights. */
int ran_trainer_judge_rounded(struct ran_trainer *t, struct ran_error *err);
/* Notes what the linear model alone achieves: the results of the last validation. */
void ran_trainer_note_linear(struct ran_trainer *t, const struct ran_rates *r);
/* Without an encoder the linear model is the best epoch, the first; rank 0. */
void ran_trainer_leave_out(struct ran_trainer *t, int why);
/* trial.c: the step of the first epoch after which the encoder has cost as much as the linear
 * model, where a part of the documents has to show a gain; 0: there is none. And that look. */
size_t ran_trainer_trial_step(const struct ran_trainer *t);
int ran_trainer_try(struct ran_trainer *t, struct ran_error *err);
/* With the weights of the best epoch: drops an encoder that has not proven itself. */
int ran_trainer_prove(struct ran_trainer *t, struct ran_error *err);
/* Tells of the decision that there is no encoder, once it is made. */
int ran_trainer_tell_decision(struct ran_trainer *t, struct ran_error *err);

#endif
