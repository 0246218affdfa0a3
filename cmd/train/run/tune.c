/* tune.c - a search for settings: one trial after another, until the time is up.
 *
 * A trial is an ordinary training run: its settings always give the same model. The output is the
 * best model so far, and the journal names its trial. Both are only replaced whole, the model
 * first: a search that ends at any time leaves its result. --resume continues after the last trial
 * of the journal, or resumes an interrupted trial from its checkpoint.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/train/run/search.h"
#include "cmd/train/run/summary.h"
#include "cmd/train/run/tune.h"

/* ---- the journal ---------------------------------------------------------------------------- */

static char *header_text(const struct train_search *t)
{
        struct ran_buf out = {0};

        ran_buf_str(&out, "\"search\":");
        ran_search_fields(&t->search, &out);
        ran_buf_char(&out, ',');
        ran_train_describe(t->job, &out);
        return train_search_text(&out);
}

/* The settings of the next trial, as text; NULL: nothing is left to try. */
static char *propose(struct train_search *t, size_t n)
{
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_error err;
        struct ran_trial *trial = ran_grow(t->trial, &t->cap, n + 1, sizeof *trial, &err);

        if (trial == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        t->trial = trial;
        if (!ran_search_next(&t->search, trial, n, &trial[n]))
                return NULL;
        ran_search_apply(&t->search, &trial[n], &config, &settings);
        return train_search_settings(t, &config, &settings);
}

/* The trials of 0.1.0 followed other rules. */
static void refuse_0_1_0(const struct train_journal *j)
{
        if (j->n > 0 && strstr(j->header, "\"version\":\"0.1.0\"") != NULL)
                cmd_die(CMD_USAGE,
                        "%s is of version 0.1.0, which this version cannot continue: resume it "
                        "with that version, or start again with --overwrite-checkpoint",
                        j->path);
}

/* Checks the journal: its trials must be those that this search would run. */
static void restore(struct train_search *t)
{
        struct train_journal *j = t->journal;
        char *header = header_text(t);

        if (j->n > 0 && !ran_train_same_run(j->header, strlen(j->header), header, strlen(header)))
                cmd_die(CMD_USAGE,
                        "%s belongs to a search with other settings or data: give the "
                        "same ones to resume, or start again with --overwrite-checkpoint",
                        j->path);
        free(j->header);
        j->header = header;
        for (size_t i = 0; i < j->n; i++) {
                char *settings = propose(t, i);

                if (settings == NULL || strcmp(settings, j->trial[i].settings) != 0)
                        cmd_die(CMD_FAILED,
                                "%s:%zu: the settings are not those of this trial: the journal was "
                                "changed; start again with --overwrite-checkpoint",
                                j->path, i + 2);
                free(settings);
                t->trial[i].metric = j->trial[i].best;
                t->before += j->trial[i].seconds;
        }
        j->complete = false;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Trains the best model so far again if its file was moved or overwritten. */
static bool find_model(struct train_search *t, struct ran_error *err)
{
        size_t best = train_search_best(t);
        char digest[65];

        if (best == SIZE_MAX)
                return true;
        train_search_digest(t->job->output, digest);
        if (digest[0] != '\0' && strcmp(digest, t->journal->trial[best].model) == 0)
                return true;
        cmd_note("%s is not the model of trial %zu, the best so far: training it again",
                 t->job->output, best + 1);
        t->again = true;
        int rc = train_search_run_trial(t, best, false, err);
        t->again = false;
        if (rc == RAN_EINTR)
                err->code = RAN_OK;
        return rc == RAN_OK;
}

static void search(struct train_search *t, bool resume, struct ran_error *err)
{
        struct train_journal *j = t->journal;
        bool more = find_model(t, err);

        t->began = ran_clock();
        while (more && !train_run_stopped() &&
               (train_search_best(t) == SIZE_MAX || train_search_spent(t) < t->budget)) {
                bool running = j->n > 0 && j->trial[j->n - 1].end == TRAIN_TRIAL_RUNNING;
                char *settings = running ? NULL : propose(t, j->n);

                if (!running && settings == NULL) {
                        train_progress_clear(&t->progress);
                        cmd_note("nothing is left to try");
                        break;
                }
                if (!running)
                        train_journal_add(j, settings);
                more = train_search_try(t, j->n - 1, resume, err);
                resume = false;
        }
}

/* The time is up, or nothing is left to try: a trial that has not ended does not count. */
static void complete(struct train_search *t)
{
        struct train_journal *j = t->journal;

        if (j->n > 0 && j->trial[j->n - 1].end == TRAIN_TRIAL_RUNNING) {
                train_journal_drop(j);
                unlink(t->job->checkpoint);
        }
        j->complete = true;
        train_journal_write(j);
}

/* The exit status, and the final report. */
static int finish(struct train_search *t, const struct ran_error *err)
{
        size_t best = train_search_best(t);

        if (err->code != RAN_OK)
                cmd_warn("%s", err->text);
        else if (train_run_stopped())
                cmd_warn("interrupted");
        if (err->code != RAN_OK || train_run_stopped()) {
                if (best != SIZE_MAX)
                        cmd_warn("%s is the model of trial %zu, the best so far", t->job->output,
                                 best + 1);
                if (t->journal->n > 0)
                        cmd_warn("%s has the state of the search: continue with the same command "
                                 "and --resume",
                                 t->journal->path);
                return err->code != RAN_OK ? cmd_status_of(err) : 128 + train_run_stopped();
        }
        complete(t);
        if (best == SIZE_MAX) {
                cmd_warn("every trial diverged: there is no model");
                return CMD_DIVERGED;
        }
        train_search_tell(t, best);
        return CMD_OK;
}

int train_tune(const struct ran_train_job *job, struct train_run *run,
               bool (*given)(const char *name), struct ran_config *config,
               struct ran_train_settings *settings)
{
        struct train_search t = {.job = job,
                                 .journal = &run->journal,
                                 .budget = 60 * run->options->tune,
                                 .progress = train_run_progress(job, run)};
        struct ran_error err = {0};

        refuse_0_1_0(&run->journal);
        if (ran_search_init(&t.search, job, given, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        restore(&t);
        train_run_catch_signals();
        t.began = ran_clock();
        search(&t, run->resume && access(job->checkpoint, F_OK) == 0, &err);
        bool logged = train_progress_end(&t.progress);
        int status = finish(&t, &err);
        if (status == CMD_OK)
                train_tell_model(t.job, run);
        if (status == CMD_OK && !logged) {
                cmd_warn("the model is complete, but %s is not", run->options->log);
                status = CMD_FAILED;
        }
        *config = t.config;
        *settings = t.settings;
        train_journal_release(t.journal);
        free(t.trial);
        return status;
}
