/* task-lm.h - what causal and masked language models have in common. */
#ifndef RAN_TRAIN_TASK_LM_H
#define RAN_TRAIN_TASK_LM_H

#include "train/task.h"

/* Checks of settings, the loss, initial biases of the output, and the validation loss. */
int ran_train_lm_check_settings(const struct ran_train_settings *s, struct ran_error *err);
double ran_train_lm_loss(struct ran_batcher *k, struct ran_batch_scratch *s, size_t shard,
                         struct ran_grad *g);
int ran_train_lm_init_output(struct ran_trainer *t, struct ran_error *err);
int ran_train_lm_validate(struct ran_trainer *t, bool alone, struct ran_evaluate_rates *r,
                          struct ran_error *err);

#endif
