/* journal.h - MODEL.tune: the trials of a search for settings, so that it can be resumed. */
#ifndef CMD_TRAIN_RUN_JOURNAL_H
#define CMD_TRAIN_RUN_JOURNAL_H

#include "ran.h"

enum train_trial_end {
        TRAIN_TRIAL_RUNNING, /* interrupted: its checkpoint continues */
        TRAIN_TRIAL_DONE,
        TRAIN_TRIAL_BEHIND,   /* ended early: a better one was much better by then */
        TRAIN_TRIAL_DIVERGED, /* or memory did not suffice */
};
struct train_trial {
        char *settings; /* a JSON object: the settings that differ from the first trial */
        double *dev;    /* (epochs) metric after each, for comparing trials; NaN: unknown */
        size_t epochs, cap;
        double best; /* of them; -INFINITY: none */
        size_t best_epoch;
        double seconds;
        enum train_trial_end end;
        char model[65]; /* digest of its model, if it was the best so far; or "" */
};
struct train_journal {
        char *path;
        char *header; /* JSON members that describe the search and its data */
        struct train_trial *trial;
        size_t n, cap;
        bool complete; /* its time was used up */
};

/* Reads the journal if it exists, else n is 0; exits with 3 if it is damaged or another kind of
 * file.
 */
void train_journal_open(struct train_journal *j, const char *path);
/* The same from the bytes of the file; j has only its path. Release it in any case. */
int train_journal_read(struct train_journal *j, const char *text, size_t n, struct ran_error *err);
/* Clears the trials. The file stays until it is written. */
void train_journal_clear(struct train_journal *j);
void train_journal_release(struct train_journal *j);

/* A new trial, zeroed but for `best`; takes over its settings. */
struct train_trial *train_journal_add(struct train_journal *j, char *settings);
void train_journal_drop(struct train_journal *j); /* the last one */
/* A trial reached this metric after an epoch, from 1. */
void train_trial_reach(struct train_trial *t, size_t epoch, double metric);
/* Appends the members of a trial, for the journal and the log. */
void train_trial_json(const struct train_journal *j, size_t i, struct ran_buf *out);
/* Replaces the whole file at once. Exits with 3 on failure. */
void train_journal_write(const struct train_journal *j);

#endif
