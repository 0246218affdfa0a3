/* job.h - runs a session's job. */
#ifndef CMD_TRAIN_RUN_JOB_H
#define CMD_TRAIN_RUN_JOB_H

#include "cmd/train/run/session.h"

/* Trains, or does a dry run, a replay or a search; returns the exit status. */
int train_job_run(struct train_session *s);
/* How many documents it will hold out for validation. */
size_t train_job_held_out(struct train_session *s);

#endif
