/* job.h - what is done with the data of a session. */
#ifndef CMD_TRAIN_JOB_H
#define CMD_TRAIN_JOB_H

#include "cmd/train/session.h"

/* Trains, or does a dry run, a replay or a search; returns the status to end with. */
int train_job_run(struct train_session *s);

#endif
