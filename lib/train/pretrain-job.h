/* pretrain-job.h - the job of the first phase of a training, and its trainer; see pretrain.h. */
#ifndef RAN_TRAIN_PRETRAIN_JOB_H
#define RAN_TRAIN_PRETRAIN_JOB_H

#include "train/trainer.h"

struct ran_pretrain {
        struct ran_train_phase phase;
        struct ran_trainer t;
};

/* Makes t->first, at its beginning; releases it. */
int ran_pretrain_job_make(struct ran_trainer *t, struct ran_error *err);
void ran_pretrain_job_release(struct ran_trainer *t);

#endif
