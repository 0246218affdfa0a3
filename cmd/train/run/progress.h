/* progress.h - the live line and the log of a training run. */
#ifndef CMD_TRAIN_RUN_PROGRESS_H
#define CMD_TRAIN_RUN_PROGRESS_H

#include "ran.h"

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
        bool drawn, log_failed;
        double next; /* seconds of the run when the next line is due */
        struct ran_train_report last;
        bool decided; /* the line that says why there is no encoder was shown */
};

/* Decides between the live line and plain ones. */
void train_progress_begin(struct train_progress *p);
/* Shows and logs one report. */
void train_progress_report(struct train_progress *p, const struct ran_train_report *r);
/* Shows how far other work is: what, and its share that is done after so many seconds. */
void train_progress_share(struct train_progress *p, const char *what, double share, double seconds);
/* Shows a line that stays; writes an entry of the log, members from `"event":...` on, no braces. */
void train_progress_line(struct train_progress *p, const struct ran_buf *line);
void train_progress_entry(struct train_progress *p, const struct ran_buf *members);
/* Ends the live line, so that messages start on a line of their own. */
void train_progress_clear(struct train_progress *p);
/* Closes the log; false if some of it could not be written (already reported). */
bool train_progress_end(struct train_progress *p);

#endif
