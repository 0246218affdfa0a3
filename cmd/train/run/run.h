/* run.h - the interactive side of a training run: signals, progress, and hints. */
#ifndef CMD_TRAIN_RUN_RUN_H
#define CMD_TRAIN_RUN_RUN_H

#include <limits.h>

#include "cmd/options/options.h"
#include "ran.h"

/* ---- progress.c ------------------------------------------------------------------------------ */

/* AUTO: the live line on a terminal, else a plain line now and then. ALWAYS: the live line on
 * any stderr. */
enum { TRAIN_PROGRESS_AUTO, TRAIN_PROGRESS_ALWAYS, TRAIN_PROGRESS_NEVER };

/* Zero-initialise but for the first members. */
struct train_progress {
        int when;           /* TRAIN_PROGRESS_... */
        const char *metric; /* name of the dev metric, as in --metric */
        bool texts;         /* of a language model: loss is shown as perplexity */
        double unknown;     /* of a language model: the share of unknown tokens in its texts */
        bool single;        /* one label a document: micro F1 is shown as accuracy */
        size_t documents;   /* of the training data, including held-out ones */
        uint64_t seed;
        size_t trial; /* of a search, from 1: its epochs are shown like steps; 0: of none */
        FILE *log;    /* one JSON object a report; NULL: none */
        const char *log_name;
        /* The rest is filled here. */
        bool live; /* one line that is redrawn, on a terminal */
        bool log_failed;
        double next; /* seconds of the run when the next line is due */
        struct ran_train_report last;
        bool decided; /* the line that says why there is no encoder was shown */
};

/* Decides between the live line and plain ones. */
void train_progress_begin(struct train_progress *p);
/* Shows and logs one report. */
void train_progress_report(struct train_progress *p, const struct ran_train_report *r);
/* Shows a line that stays; writes an entry of the log, members from `"event":...` on, no braces. */
void train_progress_line(const struct train_progress *p, const struct ran_buf *line);
void train_progress_entry(struct train_progress *p, const struct ran_buf *members);
/* Closes the log; false if some of it could not be written (already reported). */
bool train_progress_end(struct train_progress *p);

/* ---- page.c ---------------------------------------------------------------------------------- */

enum { TRAIN_PAGE_POINTS = 1500, TRAIN_PAGE_EPOCHS = 2000 };

/* A curve: when it is full, every second point is left out, and from then on as many more. All 0 at
 * first. */
struct train_page_curve {
        double step[TRAIN_PAGE_POINTS], loss[TRAIN_PAGE_POINTS];
        size_t n, halved, seen;
};
/* Validation after an epoch. */
struct train_page_epochs {
        double epoch[TRAIN_PAGE_EPOCHS], step[TRAIN_PAGE_EPOCHS], loss[TRAIN_PAGE_EPOCHS],
                metric[TRAIN_PAGE_EPOCHS];
        size_t n;
};
struct train_page {
        const char *path;    /* of the page */
        struct ran_buf data; /* the report about the data, as a part of the page */
        /* One for the first training, one for the refit. */
        struct train_page_curve curve[2];
        struct train_page_epochs epochs; /* of the first */
        /* When the data were read, the linear model and the first training were done. */
        double read_seconds, linear_seconds, kept_seconds;
        struct ran_train_report last;
        bool resumed;
};

void train_page_note(struct train_page *p, const struct ran_train_report *r);
/* Writes the page of a complete training; exits with 3 if it cannot. */
void train_page_write(struct train_page *p, const struct ran_train_job *job,
                      const struct train_progress *progress);

/* The validation metric for people, and its name: a loss, a perplexity, or per cent for all else.
 */
double train_progress_metric(const struct train_progress *p, double metric);
const char *train_progress_name(const struct train_progress *p);
/* Appends "accuracy 84.00 (84 of 100, 76 to 90 %)": metric, documents and 95 % interval. */
void train_figure_metric(const struct train_progress *p, double metric,
                         struct ran_interval interval, size_t documents, struct ran_buf *out);

/* ---- run.c ----------------------------------------------------------------------------------- */

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
        double began;                         /* clock, before anything was read */
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
/* In the folder of a search the file of a trial, from 1, that is over; 0: of the one that is not.
 * Returns path. */
const char *train_run_trial(char path[PATH_MAX], const char *folder, size_t trial);
/* Each file of that folder that has the name of one. */
void train_run_each_trial(const char *folder, void (*fn)(const char *path, void *arg), void *arg);

/* Trains, with resume, report and arg of its own. Returns the status to end with. */
int train_run(const struct ran_train_job *job, struct train_run *run);

/* Parts of train_run for a search: catching SIGINT, SIGTERM, SIGHUP and SIGPIPE (the last two
 * unless ignored; _stopped returns the one received, or 0); the live line and the log. */
void train_run_catch_signals(void);
int train_run_stopped(void);
/* The report of a job that nobody sees: whether it is to end. */
int train_run_watch(void *arg, const struct ran_train_report *report);
/* Says why computing ended before its time, `interrupted` after a signal; the exit status. */
int train_run_ended(const struct ran_error *err, const char *interrupted);
struct train_progress train_run_progress(const struct ran_train_job *job,
                                         const struct train_run *run);

/* ---- tune.c: --tune, many trainings within a time budget; the best model is kept ---------------
 */

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

/* ---- summary.c ------------------------------------------------------------------------------- */

/* The most memory that the process has had. */
double train_peak_bytes(void);
/* Results and cost, from the last report. */
void train_summarise(const struct ran_train_job *job, const struct train_progress *p);
/* Where the model is, and the command that uses it. */
void train_tell_model(const struct ran_train_job *job, const struct train_run *run);

/* ---- dry-run.c ------------------------------------------------------------------------------- */

/* Reports on stdout what training needs. It trains for a few seconds to measure the time, and
 * discards the result. */
int train_dry_run(const struct ran_train_job *job);

/* ---- run.c: several processes under mpirun ----------------------------------------------------
 */

/* Call it first in main. Returns true in rank 0 or a single process, which reads the command
 * line and all files; false: the process only follows. Exits if the ranks cannot work together. */
bool train_ranks_open(void);
/* Does its part of rank 0's training runs; returns the exit status. */
int train_ranks_follow(void);
/* Call it last in main; returns the status. */
int train_ranks_close(int status);
/* NULL: a single process. */
struct ran_ranks *train_ranks(void);

#endif
