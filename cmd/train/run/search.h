/* search.h - the search for settings of --tune: declarations for tune.c, trial.c, tune-report.c
 * and search.c. */
#ifndef CMD_TRAIN_RUN_SEARCH_H
#define CMD_TRAIN_RUN_SEARCH_H

#include "cmd/train/run/run.h"

/* Why a trial ended early. */
enum train_outcome { TRAIN_CONTINUES, TRAIN_NOT_BETTER, TRAIN_BEHIND, TRAIN_TOO_LATE };

struct train_search {
        const struct ran_train_job *job; /* as the user has it */
        struct ran_search search;
        struct train_journal *journal;
        struct ran_trial *trial; /* (n of the journal) */
        size_t cap;
        struct train_progress progress;
        double budget, before, began; /* seconds: in all, of earlier runs, clock */

        /* The trial at work. */
        size_t at;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_train_job run;
        double trial_before, trial_began;
        bool again; /* repeats a trial of the journal, to restore its model */
        enum train_outcome outcome;
};

/* ---- search.c ------------------------------------------------------------------------------- */

double train_search_spent(const struct train_search *t);              /* seconds of the budget */
struct train_trial *train_search_entry(const struct train_search *t); /* the trial at work */
/* The best trial with a result in the journal; SIZE_MAX: none. */
size_t train_search_best(const struct train_search *t);

/* ---- trial.c -------------------------------------------------------------------------------- */

void train_search_digest(const char *model, char digest[65]); /* of a model file; "": none */

/* Trains trial `at`. */
int train_search_run_trial(struct train_search *t, size_t at, bool resume, struct ran_error *err);
/* The same, and adds its result to the journal. Returns whether the search continues; otherwise
 * *err has the error, if any. */
bool train_search_try(struct train_search *t, size_t at, bool resume, struct ran_error *err);

/* ---- tune-report.c -------------------------------------------------------------------------- */

/* Ends the text; exits if memory ran out. */
char *train_search_text(struct ran_buf *b);
/* The settings that differ from those of the job, as a JSON object; the caller frees it. */
char *train_search_settings(const struct train_search *t, const struct ran_config *config,
                            const struct ran_train_settings *settings);
/* Reports how the current trial ended. */
void train_search_tell_trial(struct train_search *t);
/* Reports how the search ended; `best` is its best trial; sets t->config and t->settings to its
 * settings. */
void train_search_tell(struct train_search *t, size_t best);

#endif
