/* broadcast.h - from rank 0 to all: the job, and the state of a run.
 *
 * Only rank 0 reads files and standard input, so a bad line is reported once, before the broadcast.
 * The others receive all documents as ids, as any document may be in their part of a step, and keep
 * as much of them in memory as rank 0.
 */
#ifndef RAN_TRAIN_BROADCAST_H
#define RAN_TRAIN_BROADCAST_H

#include "train/trainer.h"

/* Rank 0: broadcasts the job. */
int ran_broadcast_job(const struct ran_train_job *job, struct ran_error *err);

/* A job as received by another rank. */
struct ran_broadcast_job_copy {
        struct ran_train_job job;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_dataset train, dev;
        struct ran_tokenizer *tokenizer;
        struct ran_spool held_out;
        struct ran_train_texts texts; /* of the job, or unused: its data follow */
        struct ran_dataset text_train, text_dev;
        struct ran_spool text_held_out;
};
/* Receives the next job, with `pool`, or with a pool of its own if that is NULL. False: no more
 * jobs, or a failure in *err. Release it in any case. */
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
