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
        bool resume;        /* if there is a checkpoint; else from the start */
        bool overwrite_checkpoint; /* start again although there is one */
};

/* The files of a run. Zero-initialise but for the options. */
struct train_run {
        const struct train_run_options *options;
        bool replay; /* the model is to be compared with another: nothing to say of its use */
        /* Of train_run_prepare: */
        char *checkpoint;             /* its name */
        bool resume;                  /* from a checkpoint or journal that is there */
        FILE *log;                    /* closed by train_run */
        struct train_journal journal; /* with --tune */
};

/* Makes sure, before anything is read, that the model and its checkpoint can be written and that no
 * checkpoint, or journal of a search, is lost; dies with 3 otherwise, and with 2 where these are
 * files that options of the program name, or those that are read. */
void train_run_prepare(struct train_run *run, const char *output, const struct cmd_program *program,
                       char **files);
void train_run_release(struct train_run *run);

/* Trains; fills in resume, report and arg of the job. Returns the status to end with. */
int train_run(struct ran_train_job *job, struct train_run *run);

/* Parts of train_run that a search uses, too: SIGINT, SIGTERM, SIGHUP and SIGPIPE (of the last two,
 * those that are not ignored), of which _stopped returns the one that came, or 0; the live line and
 * the log; and what to do with the model. */
void train_run_catch_signals(void);
int train_run_stopped(void);
struct train_progress train_run_progress(const struct ran_train_job *job,
                                         const struct train_run *run);
void train_run_tell_model(const struct ran_train_job *job);

/* Says on stdout what training would need. It trains for a few seconds to measure the time, and
 * keeps nothing of that. */
int train_dry_run(const struct ran_train_job *job);

#endif
