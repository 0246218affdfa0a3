/* run.h - the interactive side of a training run: signals, progress, and hints. */
#ifndef CMD_TRAIN_RUN_RUN_H
#define CMD_TRAIN_RUN_RUN_H

#include "cmd/options/options.h"
#include "ran.h"
#include "cmd/train/run/page.h"
#include "cmd/train/run/progress.h"

struct train_run_options {
        int progress; /* TRAIN_PROGRESS_... */
        char *log;    /* JSON lines, or NULL */
        char *report; /* a page, or NULL */
        double checkpoint_minutes;
        double minutes;            /* for one training; 0: as long as it takes */
        double tune;               /* minutes to search for better settings; 0: no search */
        size_t data_memory;        /* MB of each long array of the data that stay in memory */
        bool resume;               /* resume if there is a checkpoint */
        bool overwrite_checkpoint; /* start again even if there is one */
};

struct train_task;

/* The files of a run. Zero-initialise but for the options. */
struct train_run {
        const struct train_run_options *options;
        const struct train_task *task;
        const struct import_columns *columns; /* of the input, for the hint about the model */
        bool replay; /* the model is only compared with another: no hints about its use */
        /* train_run_prepare sets these: */
        char *checkpoint;        /* its name */
        char *trials;            /* with --tune, the folder of its trials; else NULL */
        bool resume;             /* from an existing checkpoint or trial */
        FILE *log;               /* closed by train_run */
        struct train_page *page; /* with --report, else NULL */
};

/* Checks, before anything is read, that the model and its checkpoint can be written and that no
 * checkpoint, or trial of a search, is lost; exits with 3 otherwise, and with 2 if these are
 * also files of options, or inputs. */
void train_run_prepare(struct train_run *run, const char *output, const struct cmd_program *program,
                       char **files);
void train_run_release(struct train_run *run);

/* Trains, with resume, report and arg of its own. Returns the status to end with. */
int train_run(const struct ran_train_job *job, struct train_run *run);

/* Parts of train_run for a search: catching SIGINT, SIGTERM, SIGHUP and SIGPIPE (the last two
 * unless ignored; _stopped returns the one received, or 0); the live line and the log. */
void train_run_catch_signals(void);
int train_run_stopped(void);
/* Says why computing ended before its time, `interrupted` after a signal; the exit status. */
int train_run_ended(const struct ran_error *err, const char *interrupted);
struct train_progress train_run_progress(const struct ran_train_job *job,
                                         const struct train_run *run);

#endif
