/* share.h - the one place where a training meets other processes (ranks/ranks.h). All go through
 * the same stages with the same weights. Rank 0 alone reads, decides (by reports, validation data
 * or the clock) and writes.
 *
 *      sum      the gradients of a step: inside ran_batch_gradient
 *      agree    on how something ended: ran_lead, ran_whole
 *      share    what rank 0 has: ran_share_...
 *
 * A single process is rank 0, and there is nothing to do.
 *
 * Only rank 0 reads files and standard input, so a bad line is reported once, before the others
 * know of a job. They receive all documents as ids, as any document may be in their part of a step,
 * and keep as much of them in memory as rank 0.
 */
#ifndef RAN_TRAIN_SHARE_H
#define RAN_TRAIN_SHARE_H

#include "train/trainer.h"

/* Rank 0 does the work; all return what it returns. */
int ran_lead(struct ran_trainer *t, int (*work)(struct ran_trainer *t, struct ran_error *err),
             struct ran_error *err);
/* Returns rc, how a computation of all ranks ended here; the others cannot go on if it failed. */
int ran_whole(const struct ran_trainer *t, int rc);

/* Rank 0: sends the job. */
int ran_share_job(const struct ran_train_job *job, struct ran_error *err);

/* A job as received by another rank. */
struct ran_share_job_copy {
        struct ran_train_job job;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_dataset train, dev;
        struct ran_tokenizer *tokenizer;
        struct ran_spool held_out;
};
/* Receives the next job, with `pool`, or with a pool of its own if that is NULL. False: no more
 * jobs, or a failure in *err. Release it in any case. */
bool ran_share_receive(struct ran_share_job_copy *s, struct ran_ranks *ranks,
                       struct ran_pool **pool, struct ran_error *err);
void ran_share_release(struct ran_share_job_copy *s);

/* All take the state of rank 0. */
int ran_share_state(struct ran_trainer *t, struct ran_error *err);
/* All take the progress of rank 0 and keep their weights. */
int ran_share_numbers(struct ran_trainer *t, struct ran_error *err);
/* RAN_EINVAL on all unless all have the same weights. */
int ran_share_compare(struct ran_trainer *t, struct ran_error *err);

#endif
