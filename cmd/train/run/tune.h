/* tune.h - ran-train --tune: many training runs within a time budget; the best model is kept. */
#ifndef CMD_TRAIN_RUN_TUNE_H
#define CMD_TRAIN_RUN_TUNE_H

#include "cmd/train/run/run.h"

/* Trains with the settings of the job, then with others, for as long as --tune says; the model is
 * the best one on the development data, which the job must have. `given`: whether a setting is
 * fixed. Returns the exit status; with 0, config and settings are those of the best trial.
 */
int train_tune(const struct ran_train_job *job, struct train_run *run,
               bool (*given)(const char *name), struct ran_config *config,
               struct ran_train_settings *settings);

#endif
