/* trial.c - one trial of a search: runs it, ends it early, and adds it to the journal. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/train/run/search.h"

/* ---- while it trains ------------------------------------------------------------------------ */

/* Ends the trial for good, without a checkpoint. */
static int end_trial(struct train_search *t, enum train_outcome outcome)
{
        t->outcome = outcome;
        t->run.checkpoint = NULL;
        return 1;
}

static void note_best(struct train_search *t, const struct ran_train_report *r)
{
        train_search_entry(t)->best = r->best;
        train_search_entry(t)->best_epoch = r->best_epoch;
}

static int on_dev(struct train_search *t, const struct ran_train_report *r)
{
        size_t best = train_search_best(t);
        bool over = r->epoch == r->epochs || r->stale >= t->settings.patience;
        const struct train_trial *b = best != SIZE_MAX ? &t->journal->trial[best] : NULL;

        train_trial_reach(train_search_entry(t), r->epoch, r->metric);
        note_best(t, r);
        /* Runs before a checkpoint records that the epoch is done. */
        train_journal_write(t->journal);
        if (over) /* and on_kept is next */
                return TRAIN_CONTINUES;
        if (b != NULL && ran_search_behind(b->dev, b->epochs, r->epoch, r->best))
                return end_trial(t, TRAIN_BEHIND);
        return train_run_stopped();
}

/* Without an encoder the linear model is the trial's only epoch. */
static int on_decided(struct train_search *t, const struct ran_train_report *r)
{
        if (r->decision.epoch == 0) {
                train_trial_reach(train_search_entry(t), r->epoch, r->metric);
                note_best(t, r);
                train_journal_write(t->journal);
        }
        return train_run_stopped();
}

/* Runs before the model replaces the best one. The model may be worse than its best epoch, if
 * the encoder was dropped. */
static int on_kept(struct train_search *t, const struct ran_train_report *r)
{
        size_t best = train_search_best(t);

        note_best(t, r);
        if (best != SIZE_MAX && r->best <= t->journal->trial[best].best)
                return end_trial(t, TRAIN_NOT_BETTER);
        return train_run_stopped();
}

/* The time of a trial is that of its checkpoint. */
static void keep_time(struct train_search *t)
{
        train_search_entry(t)->seconds = t->trial_before + ran_clock() - t->trial_began;
}

static int on_report(void *arg, const struct ran_train_report *r)
{
        struct train_search *t = arg;

        train_progress_report(&t->progress, r);
        if (t->again)
                return train_run_stopped();
        switch (r->event) {
        case RAN_REPORT_DEV:
                return on_dev(t, r);
        case RAN_REPORT_DECIDED:
                return on_decided(t, r);
        case RAN_REPORT_CHECKPOINT:
                keep_time(t);
                train_journal_write(t->journal);
                return 0;
        case RAN_REPORT_KEPT:
                return on_kept(t, r);
        case RAN_REPORT_END: /* also of a trial resumed when it was complete */
                note_best(t, r);
                return 0;
        default:
                if (t->at > 0 && !r->refit && train_search_spent(t) >= t->budget)
                        return end_trial(t, TRAIN_TOO_LATE);
                return train_run_stopped();
        }
}

void train_search_digest(const char *model, char digest[65])
{
        struct ran_error err;
        struct ran_model *m = ran_model_open(model, false, &err);
        const char *text = m != NULL ? ran_model_metadata(m, "digest") : NULL;

        digest[0] = '\0';
        if (text != NULL && strlen(text) == 64)
                memcpy(digest, text, 65);
        ran_model_free(m);
}

int train_search_run_trial(struct train_search *t, size_t at, bool resume, struct ran_error *err)
{
        t->at = at;
        t->outcome = TRAIN_CONTINUES;
        ran_search_apply(&t->search, &t->trial[at], &t->config, &t->settings);
        t->run = *t->job;
        t->run.config = &t->config;
        t->run.settings = &t->settings;
        t->run.resume = resume;
        t->run.report = on_report;
        t->run.arg = t;
        if (t->again) /* that file may be of another trial */
                t->run.checkpoint = NULL;
        t->trial_before = train_search_entry(t)->seconds;
        t->trial_began = ran_clock();
        t->progress.trial = at + 1;
        train_progress_begin(&t->progress);
        return ran_train(&t->run, err);
}

/* ---- its result ----------------------------------------------------------------------------- */

/* Adds the result of the trial to the journal, after its model has become the output. */
static void conclude(struct train_search *t, enum train_trial_end end)
{
        struct train_trial *e = train_search_entry(t);

        unlink(t->job->checkpoint);
        keep_time(t);
        e->end = end;
        if (end == TRAIN_TRIAL_DIVERGED)
                e->best = -INFINITY;
        t->trial[t->at].metric = e->best;
        if (t->outcome == TRAIN_CONTINUES && end == TRAIN_TRIAL_DONE)
                train_search_digest(t->job->output, e->model);
        train_journal_write(t->journal);
        train_search_tell_trial(t);
}

bool train_search_try(struct train_search *t, size_t at, bool resume, struct ran_error *err)
{
        int rc = train_search_run_trial(t, at, resume, err);

        if (rc == RAN_OK || t->outcome == TRAIN_NOT_BETTER) {
                conclude(t, TRAIN_TRIAL_DONE);
        } else if (t->outcome == TRAIN_BEHIND) {
                conclude(t, TRAIN_TRIAL_BEHIND);
        } else if (rc == RAN_EDIVERGED || (rc == RAN_ENOMEM && at > 0)) {
                train_progress_clear(&t->progress);
                cmd_warn("trial %zu: %s", at + 1, err->text);
                conclude(t, TRAIN_TRIAL_DIVERGED);
        } else {
                if (rc == RAN_EINTR)
                        err->code = RAN_OK;
                return false;
        }
        err->code = RAN_OK;
        return true;
}
