/* run.h - a training run as a person meets it: signals, progress, and what to do next. */
#ifndef CMD_TRAIN_RUN_H
#define CMD_TRAIN_RUN_H

#include "cmd/options/options.h"
#include "ran.h"
#include "cmd/train/journal.h"
#include "cmd/train/progress.h"

struct train_run_options {
        int progress; /* TRAIN_PROGRESS_... */
        char *log;    /* JSON lines, or NULL */
        double checkpoint_minutes;
        double tune;        /* minutes to search for better settings; 0: train with those given */
        size_t data_memory; /* MB of each long array of the data that stay in memory */
        FILE *log_file;     /* opened by train_run_prepare, closed by train_run */
        bool resume;        /* where a checkpoint is; else from the start */
        bool overwrite_checkpoint; /* begin anew although there is one */
        bool replay; /* the model is to be compared with another: nothing to say of its use */
        struct train_journal journal; /* with tune: opened by train_run_prepare */
};

/* Makes sure, before anything is read, that the model and its checkpoint can be written and that no
 * checkpoint, or journal of a search, is lost; dies with 3 otherwise, and with 2 where these are
 * files that options of the program name, or those that are read. Returns the name of the
 * checkpoint, which the caller frees. */
char *train_run_prepare(struct train_run_options *options, const char *output,
                        const struct cmd_program *program, char **files);

/* Trains; fills in resume, checkpoint_seconds, report and arg of the job. Returns the status to end
 * with. */
int train_run(struct ran_train_job *job, const struct train_run_options *options);

/* What train_run is made of, and a search is, too: SIGINT, SIGTERM, SIGHUP and SIGPIPE (of the last
 * two, those that are not ignored) are asked for by _stopped, 0 or the signal; the live line and
 * the log; and what to do with the model. */
void train_run_catch_signals(void);
int train_run_stopped(void);
struct train_progress train_run_progress(const struct ran_train_job *job,
                                         const struct train_run_options *options);
void train_run_tell_model(const struct ran_train_job *job);

/* Says on stdout what training would need. The time is measured in a few seconds of training, of
 * which nothing stays. */
int train_dry_run(const struct ran_train_job *job);

#endif
