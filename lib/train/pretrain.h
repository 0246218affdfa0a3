/* pretrain.h - the first phase of a training: the encoder learns from texts without labels.
 *
 *      linear model  |  first phase: masked language model  |  second phase: classes or tags
 *                       texts: all documents but those held     the same encoder, a new head
 *                       out, and others without labels
 *
 * The first phase is a trainer of its own for the one training loop (train.c), with a job that
 * follows from the whole one: settings of masked language models, the same encoder. It lives from
 * its first step to its last. A checkpoint has its state beside that of the whole training; then
 * its encoder, which a refit begins with once more.
 *
 * The linear model is fitted first. If it leaves no room for an encoder, there is no first phase.
 */
#ifndef RAN_TRAIN_PRETRAIN_H
#define RAN_TRAIN_PRETRAIN_H

#include "train/trainer.h"

struct ran_pretrain {
        struct ran_train_phase phase;
        struct ran_trainer t;
};

/* Whether the first phase comes next, or is at work. */
bool ran_pretrain_is_due(const struct ran_trainer *t);
/* Makes t->first, unless a checkpoint brought it; all ranks then have the state of rank 0. */
int ran_pretrain_begin(struct ran_trainer *t, struct ran_error *err);
/* The first phase is over: its encoder, with the weights of the best epoch, becomes that of t. */
int ran_pretrain_end(struct ran_trainer *t, struct ran_error *err);

/* pretrain-job.c: makes t->first; releases it. */
int ran_pretrain_make(struct ran_trainer *t, struct ran_error *err);
void ran_pretrain_release(struct ran_trainer *t);

#endif
