/* broadcast.h - what rank 0 knows becomes known to all: the job, and the state that a run is in.
 *
 * Rank 0 alone reads files and standard input, so that a line that cannot be used is found once,
 * before any other rank has heard of it. The documents come to the others as ids, each has them
 * all (any of them may be in its share of a step), and keeps as much of them in memory as rank 0.
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

/* All go on from where rank 0 stands. */
int ran_broadcast_state(struct ran_trainer *t, struct ran_error *err);
/* All stand where rank 0 stands, with the weights that they have. */
int ran_broadcast_progress(struct ran_trainer *t, struct ran_error *err);
/* RAN_EINVAL on all unless all have the same weights. */
int ran_broadcast_compare(struct ran_trainer *t, struct ran_error *err);

#endif
