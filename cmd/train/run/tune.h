/* tune.h - ran-train --tune: many trainings within a time budget; the best model is kept. */
#ifndef CMD_TRAIN_RUN_TUNE_H
#define CMD_TRAIN_RUN_TUNE_H

#include "cmd/train/run/run.h"

/* Trains with the settings of the job, then with others, for as long as --tune says; the model is
 * the best one on the development data, which the job must have; what an option has set stays.
 * Returns the exit status; with 0, config and settings are those of the best trial. */
int train_tune(const struct ran_train_job *job, struct train_run *run, struct ran_config *config,
               struct ran_train_settings *settings);

/* What came of a trial. */
struct train_trial {
        double *dev; /* (epochs) metric after each, for comparing trials; NaN: unknown */
        size_t epochs, cap;
        double best; /* of them; -INFINITY: none */
        size_t best_epoch;
        double seconds;
        enum {
                TRAIN_TRIAL_RUNNING, /* interrupted: its checkpoint continues */
                TRAIN_TRIAL_DONE,
                TRAIN_TRIAL_BEHIND,   /* ended early: a better one was much better by then */
                TRAIN_TRIAL_DIVERGED, /* or memory did not suffice */
        } end;
        char model[65]; /* digest of its model, if it was the best so far; or "" */
};
/* Reads n bytes, as of a file: *run is the part that describes the training. Free t->dev in any
 * case. RAN_EFORMAT: this is no trial. */
int train_trial_read(struct train_trial *t, const char *text, size_t n, struct ran_span *run,
                     struct ran_error *err);

#endif
