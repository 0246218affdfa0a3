/* summary.h - what is said when a training has ended. */
#ifndef CMD_TRAIN_RUN_SUMMARY_H
#define CMD_TRAIN_RUN_SUMMARY_H

#include "cmd/train/run/run.h"

/* The most memory that the process has had. */
double train_peak_bytes(void);
/* Results and cost, from the last report. */
void train_summarise(const struct ran_train_job *job, const struct train_progress *p);
/* Where the model is, and the command that uses it. */
void train_tell_model(const struct ran_train_job *job, const struct train_run *run);

#endif
