/* broadcast.h - from rank 0 to all: the job, and the state of a run.
 *
 * Only rank 0 reads files and standard input, so a bad line is found once, before any other rank
 * hears of it. The others get all documents as ids, since any may be in their part of a step, and
 * keep as much of them in memory as rank 0.
 */
#ifndef RAN_TRAIN_BROADCAST_H
#define RAN_TRAIN_BROADCAST_H

#include "train/trainer.h"

/* Rank 0: the others train this, too. */
int ran_broadcast_job(const struct ran_train_job *job, struct ran_error *err);

/* What another rank keeps of a job. */
struct ran_broadcast_job_copy {
        struct ran_train_job job;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_dataset train, dev;
        struct ran_tokenizer *tokenizer;
        struct ran_spool held_out;
};
/* The next job, with `pool` or one of its own where that is NULL; false: there is none, or *err
 * says why. Release it in any case. */
bool ran_broadcast_receive(struct ran_broadcast_job_copy *s, struct ran_ranks *ranks,
                           struct ran_pool **pool, struct ran_error *err);
void ran_broadcast_release(struct ran_broadcast_job_copy *s);

/* All take the state of rank 0. */
int ran_broadcast_state(struct ran_trainer *t, struct ran_error *err);
/* All take the progress of rank 0 and keep their weights. */
int ran_broadcast_progress(struct ran_trainer *t, struct ran_error *err);
/* RAN_EINVAL on all unless all have the same weights. */
int ran_broadcast_compare(struct ran_trainer *t, struct ran_error *err);

#endif
