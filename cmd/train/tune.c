/* tune.c - the trials of a search for settings: run, ended early, kept, and reported.
 *
 * A trial is a training like any other, so that its model is what those settings always give. The
 * best model so far is the output, and the journal says of which trial. Both are only ever
 * replaced whole, the model first: whenever a search ends, what it found is there, and --resume
 * goes on behind the last trial that the journal has, or within the one that was interrupted, whose
 * checkpoint stands beside.
 */
#include "cmd/train/tune.h"
#include "cmd/options/message.h"
#include "cmd/options/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How a trial ended that was told to. */
enum verdict { GOES_ON, NOT_BETTER, BEHIND, TOO_LATE };

struct tune {
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
        bool again; /* a trial that the journal has already, for its model's sake */
        enum verdict verdict;
};

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double spent(const struct tune *t)
{
        return t->before + now() - t->began;
}

static char *text_of(struct ran_buf *b)
{
        ran_buf_char(b, '\0');
        if (b->failed)
                cmd_die(CMD_FAILED, "out of memory");
        return b->data;
}

/* The best trial that the journal has a result of; SIZE_MAX: none. */
static size_t best_of(const struct tune *t)
{
        size_t n = t->journal->n, best;

        if (n > 0 && t->journal->trial[n - 1].end == TRAIN_TRIAL_RUNNING)
                n--;
        if (n == 0)
                return SIZE_MAX;
        best = ran_search_best(t->trial, n);
        return t->trial[best].metric > -INFINITY ? best : SIZE_MAX;
}

/* ---- what a trial changes ------------------------------------------------------------------- */

/* " --dropout 0.3" or " --no-affixes", as one would type it; value: the setting as JSON. */
static void add_option(const struct ran_field *field, const char *value, struct ran_buf *out)
{
        const bool on_or_off = field->type == RAN_FIELD_BOOL;

        ran_buf_printf(out, " --%s%s", on_or_off && value[0] == 'f' ? "no-" : "",
                       cmd_option_name(field).text);
        if (!on_or_off)
                ran_buf_printf(out, " %s", value);
}

/* The options that differ, and with `was` the values of before; base and other are what fields
 * describe. */
static void add_options(const struct ran_field *fields, const void *base, const void *other,
                        bool was, struct ran_buf *out)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                const struct ran_field one[] = {*f, {0}};
                size_t name = strlen(f->name) + strlen("\"\":");
                struct ran_buf now = {0}, old = {0};

                ran_fields_changes(one, other, base, &now);
                ran_fields_json(one, base, &old);
                ran_buf_char(&now, '\0');
                if (!now.failed && now.len > 1 && old.len > 0) {
                        add_option(f, now.data + name, out);
                        if (was)
                                ran_buf_printf(out, " (%.*s)", (int)(old.len - name),
                                               old.data + name);
                }
                out->failed |= now.failed | old.failed;
                ran_buf_release(&now);
                ran_buf_release(&old);
        }
}

static void add_changes(const struct tune *t, const struct ran_config *config,
                        const struct ran_train_settings *settings, bool was, struct ran_buf *out)
{
        add_options(ran_train_fields, t->job->settings, settings, was, out);
        add_options(ran_config_fields, t->job->config, config, was, out);
}

/* The same as a JSON object; the caller frees it. */
static char *settings_text(const struct tune *t, const struct ran_config *config,
                           const struct ran_train_settings *settings)
{
        struct ran_buf training = {0}, model = {0}, out = {0};

        ran_fields_changes(ran_train_fields, settings, t->job->settings, &training);
        ran_fields_changes(ran_config_fields, config, t->job->config, &model);
        ran_buf_char(&out, '{');
        ran_buf_add(&out, training.data, training.len);
        ran_buf_str(&out, training.len > 0 && model.len > 0 ? "," : "");
        ran_buf_add(&out, model.data, model.len);
        ran_buf_char(&out, '}');
        out.failed |= training.failed | model.failed;
        ran_buf_release(&training);
        ran_buf_release(&model);
        return text_of(&out);
}

/* ---- the journal ---------------------------------------------------------------------------- */

static char *header_text(const struct tune *t)
{
        struct ran_buf out = {0};

        ran_buf_str(&out, "\"search\":");
        ran_search_fields(&t->search, &out);
        ran_buf_char(&out, ',');
        ran_train_describe(t->job, &out);
        return text_of(&out);
}

/* The settings of the next trial, as a text; NULL: nothing is left to try. */
static char *propose(struct tune *t, size_t n)
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
        return settings_text(t, &config, &settings);
}

/* Goes through the journal as the search did: it must have tried what we would. */
static void replay(struct tune *t)
{
        struct train_journal *j = t->journal;
        char *header = header_text(t);

        if (j->n > 0 && strcmp(j->header, header) != 0)
                cmd_die(CMD_USAGE,
                        "%s belongs to a search with other settings, data or version; give the "
                        "same ones to resume, or begin anew by --overwrite-checkpoint",
                        j->path);
        free(j->header);
        j->header = header;
        for (size_t i = 0; i < j->n; i++) {
                char *settings = propose(t, i);

                if (settings == NULL || strcmp(settings, j->trial[i].settings) != 0)
                        cmd_die(CMD_FAILED,
                                "%s:%zu: these are not the settings that this trial had: the "
                                "journal was changed; begin anew by --overwrite-checkpoint",
                                j->path, i + 2);
                free(settings);
                t->trial[i].metric = j->trial[i].best;
                t->before += j->trial[i].seconds;
        }
        j->complete = false;
}

/* ---- one trial ------------------------------------------------------------------------------ */

static struct train_trial *entry(const struct tune *t)
{
        return &t->journal->trial[t->at];
}

/* Ends the trial for good: nothing is to go on from. */
static int end_trial(struct tune *t, enum verdict verdict)
{
        t->verdict = verdict;
        t->run.checkpoint = NULL;
        return 1;
}

static void note_best(struct tune *t, const struct ran_train_report *r)
{
        entry(t)->best = r->best;
        entry(t)->best_epoch = r->best_epoch;
}

static int on_dev(struct tune *t, const struct ran_train_report *r)
{
        size_t best = best_of(t);
        bool over = r->epoch == r->epochs || r->stale >= t->settings.patience;
        const struct train_trial *b = best != SIZE_MAX ? &t->journal->trial[best] : NULL;

        train_trial_reach(entry(t), r->epoch, r->metric);
        note_best(t, r);
        /* Before a checkpoint says that the epoch need not be gone through again. */
        train_journal_write(t->journal);
        if (over) /* and on_kept is next */
                return GOES_ON;
        if (b != NULL && ran_search_behind(b->dev, b->epochs, r->epoch, r->best))
                return end_trial(t, BEHIND);
        return train_run_stopped();
}

/* Before the model takes the place of the best one: an epoch may have been better than what is kept
 * of it, whose encoder the development data did not show to help. */
static int on_kept(struct tune *t, const struct ran_train_report *r)
{
        size_t best = best_of(t);

        note_best(t, r);
        if (best != SIZE_MAX && r->best <= t->journal->trial[best].best)
                return end_trial(t, NOT_BETTER);
        return train_run_stopped();
}

/* The time that a trial took, and its checkpoint, go together. */
static void keep_time(struct tune *t)
{
        entry(t)->seconds = t->trial_before + now() - t->trial_began;
}

static int on_report(void *arg, const struct ran_train_report *r)
{
        struct tune *t = arg;

        train_progress_report(&t->progress, r);
        if (t->again)
                return train_run_stopped();
        switch (r->event) {
        case RAN_REPORT_DEV:
                return on_dev(t, r);
        case RAN_REPORT_CHECKPOINT:
                keep_time(t);
                train_journal_write(t->journal);
                return 0;
        case RAN_REPORT_KEPT:
                return on_kept(t, r);
        case RAN_REPORT_END: /* of one that was resumed when nothing was left to do, too */
                note_best(t, r);
                return 0;
        default:
                if (t->at > 0 && !r->refit && spent(t) >= t->budget)
                        return end_trial(t, TOO_LATE);
                return train_run_stopped();
        }
}

static void digest_of(const char *model, char digest[65])
{
        struct ran_error err;
        struct ran_model *m = ran_model_open(model, false, &err);
        const char *text = m != NULL ? ran_model_metadata(m, "digest") : NULL;

        digest[0] = '\0';
        if (text != NULL && strlen(text) == 64)
                memcpy(digest, text, 65);
        ran_model_free(m);
}

static int run_trial(struct tune *t, size_t at, bool resume, struct ran_error *err)
{
        t->at = at;
        t->verdict = GOES_ON;
        ran_search_apply(&t->search, &t->trial[at], &t->config, &t->settings);
        t->run = *t->job;
        t->run.config = &t->config;
        t->run.settings = &t->settings;
        t->run.resume = resume;
        t->run.report = on_report;
        t->run.arg = t;
        if (t->again) /* the one that stands there may be of another trial */
                t->run.checkpoint = NULL;
        t->trial_before = entry(t)->seconds;
        t->trial_began = now();
        t->progress.trial = at + 1;
        t->progress.has_dev = false;
        train_progress_begin(&t->progress);
        return ran_train(&t->run, err);
}

static void tell_trial(struct tune *t)
{
        static const char *const ends[] = {"", "", "  ended early, behind", "  diverged"};
        const struct train_trial *e = entry(t);
        struct ran_buf line = {0};
        char time[32];

        ran_buf_printf(&line, "trial %zu", t->at + 1);
        if (e->best_epoch > 0)
                ran_buf_printf(
                        &line, "  dev %s %.2f, epoch %zu of %zu", train_progress_name(&t->progress),
                        train_progress_metric(&t->progress, e->best), e->best_epoch, e->epochs);
        ran_buf_printf(&line, "  %s%s%s ", train_duration(time, e->seconds), ends[e->end],
                       best_of(t) == t->at ? "  the best" : "");
        if (t->at == 0)
                ran_buf_str(&line, " the settings given");
        add_changes(t, &t->config, &t->settings, false, &line);
        train_progress_line(&t->progress, &line);
        line.len = 0;
        ran_buf_str(&line, "\"event\":\"trial\",");
        train_trial_json(t->journal, t->at, &line);
        train_progress_entry(&t->progress, &line);
        ran_buf_release(&line);
}

/* The trial has a result: it goes into the journal, after its model took its place. */
static void conclude(struct tune *t, enum train_trial_end end)
{
        struct train_trial *e = entry(t);

        unlink(t->job->checkpoint);
        keep_time(t);
        e->end = end;
        if (end == TRAIN_TRIAL_DIVERGED)
                e->best = -INFINITY;
        t->trial[t->at].metric = e->best;
        if (t->verdict == GOES_ON && end == TRAIN_TRIAL_DONE)
                digest_of(t->job->output, e->model);
        train_journal_write(t->journal);
        tell_trial(t);
}

/* Whether the search goes on after the trial at `at`; otherwise *err says why, if it is an error.
 */
static bool try(struct tune *t, size_t at, bool resume, struct ran_error *err)
{
        int code = run_trial(t, at, resume, err);

        if (code == RAN_OK || t->verdict == NOT_BETTER) {
                conclude(t, TRAIN_TRIAL_DONE);
        } else if (t->verdict == BEHIND) {
                conclude(t, TRAIN_TRIAL_BEHIND);
        } else if (code == RAN_EDIVERGED || (code == RAN_ENOMEM && at > 0)) {
                train_progress_clear(&t->progress);
                cmd_warn("trial %zu: %s", at + 1, err->text);
                conclude(t, TRAIN_TRIAL_DIVERGED);
        } else {
                if (code == RAN_EINTR)
                        err->code = RAN_OK;
                return false;
        }
        err->code = RAN_OK;
        return true;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Somebody moved the best model so far away, or wrote over it. */
static bool find_model(struct tune *t, struct ran_error *err)
{
        size_t best = best_of(t);
        char digest[65];

        if (best == SIZE_MAX)
                return true;
        digest_of(t->job->output, digest);
        if (digest[0] != '\0' && strcmp(digest, t->journal->trial[best].model) == 0)
                return true;
        cmd_note("%s is not the model of trial %zu, the best so far: it is trained again",
                 t->job->output, best + 1);
        t->again = true;
        int code = run_trial(t, best, false, err);
        t->again = false;
        if (code == RAN_EINTR)
                err->code = RAN_OK;
        return code == RAN_OK;
}

static void search(struct tune *t, bool resume, struct ran_error *err)
{
        struct train_journal *j = t->journal;
        bool more = find_model(t, err);

        t->began = now();
        while (more && !train_run_stopped() && (best_of(t) == SIZE_MAX || spent(t) < t->budget)) {
                bool running = j->n > 0 && j->trial[j->n - 1].end == TRAIN_TRIAL_RUNNING;
                char *settings = running ? NULL : propose(t, j->n);

                if (!running && settings == NULL) {
                        train_progress_clear(&t->progress);
                        cmd_note("nothing is left to try");
                        break;
                }
                if (!running)
                        train_journal_add(j, settings);
                more = try(t, j->n - 1, resume, err);
                resume = false;
        }
}

static void summarise(struct tune *t, size_t best)
{
        const struct train_trial *b = &t->journal->trial[best], *first = &t->journal->trial[0];
        const struct train_progress *p = &t->progress;
        struct ran_buf line = {0};
        char time[32];

        ran_search_apply(&t->search, &t->trial[best], &t->config, &t->settings);
        cmd_note("the best of %zu trials in %s is trial %zu: dev %s %.2f", t->journal->n,
                 train_duration(time, spent(t)), best + 1, train_progress_name(p),
                 train_progress_metric(p, b->best));
        add_changes(t, &t->config, &t->settings, true, &line);
        if (best > 0 && first->best_epoch > 0)
                cmd_note("with the settings given: %.2f", train_progress_metric(p, first->best));
        if (best > 0)
                cmd_note("changed, with what it was:%s", text_of(&line));
        else
                cmd_note("it has the settings given: no others were better");
        if (t->journal->n == 1 && spent(t) >= t->budget)
                cmd_note("no others could be tried: the time was up, of which the first trial "
                         "took %s",
                         train_duration(time, first->seconds));
        ran_buf_release(&line);
        train_run_tell_model(t->job);
}

/* The time is used up, or nothing is left to try: what was begun is given up. */
static void complete(struct tune *t)
{
        struct train_journal *j = t->journal;

        if (j->n > 0 && j->trial[j->n - 1].end == TRAIN_TRIAL_RUNNING) {
                train_journal_drop(j);
                unlink(t->job->checkpoint);
        }
        j->complete = true;
        train_journal_write(j);
}

/* What to end with, and what to say. */
static int finish(struct tune *t, const struct ran_error *err)
{
        size_t best = best_of(t);

        if (err->code != RAN_OK)
                cmd_warn("%s", err->text);
        else if (train_run_stopped())
                cmd_warn("interrupted");
        if (err->code != RAN_OK || train_run_stopped()) {
                if (best != SIZE_MAX)
                        cmd_warn("%s is the model of trial %zu, the best so far", t->job->output,
                                 best + 1);
                if (t->journal->n > 0)
                        cmd_warn("%s holds what was found: go on with the same command and "
                                 "--resume",
                                 t->journal->path);
                return err->code != RAN_OK ? cmd_status_of(err) : 128 + train_run_stopped();
        }
        complete(t);
        if (best == SIZE_MAX) {
                cmd_warn("every trial diverged: there is no model");
                return CMD_DIVERGED;
        }
        summarise(t, best);
        return CMD_OK;
}

int train_tune(const struct ran_train_job *job, struct train_run_options *options,
               bool (*given)(const char *name), struct ran_config *config,
               struct ran_train_settings *settings)
{
        struct tune t = {.job = job,
                         .journal = &options->journal,
                         .budget = 60 * options->tune,
                         .progress = train_run_progress(job, options)};
        struct ran_error err = {0};

        if (ran_search_init(&t.search, job, given, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        replay(&t);
        train_run_catch_signals();
        t.began = now();
        search(&t, options->resume && access(job->checkpoint, F_OK) == 0, &err);
        bool logged = train_progress_end(&t.progress);
        int status = finish(&t, &err);
        if (status == CMD_OK && !logged) {
                cmd_warn("the model is complete, but %s is not", options->log);
                status = CMD_FAILED;
        }
        *config = t.config;
        *settings = t.settings;
        train_journal_release(t.journal);
        free(t.trial);
        return status;
}
