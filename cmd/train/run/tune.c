/* tune.c - a search for settings: one training after another, until the time is up.
 *
 * A trial is an ordinary training: its settings always give the same model. What came of it is a
 * file in the folder MODEL.tune, with all that can change its result:
 *
 *     3.json    {"trial":3,"settings":{"dropout":0.3},"dev":[0.71,0.74],"best":0.74,"best_epoch":2,
 *                "seconds":7.25,"end":"done","model":null,"training":{...},"config":{...},...}
 *
 * The trial at work is running.json, which gets its number when it is over. The output is the best
 * model so far. All files are replaced whole, the model first: a search that ends at any time
 * leaves its result. The trials follow from each other, so that --resume reads what came of them,
 * one after another, and continues the trial at work from its checkpoint.
 */
#include "cmd/train/run/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/write.h"
#include "cmd/train/about/about.h"

struct search {
        const struct ran_train_job *job; /* as the user has it */
        struct ran_search search;
        const char *folder;
        struct ran_trial *trial;    /* (n, and the one at work) */
        struct train_trial *result; /* what came of them */
        size_t n, trial_cap, result_cap;
        struct train_progress progress;
        double budget, before, began; /* seconds: in all, of earlier runs, clock */

        /* The trial at work: n, or one that is over, and trained again to restore its model. */
        size_t at;
        struct ran_config config;
        struct ran_train_settings settings;
        struct ran_train_job run;
        double trial_before, trial_began;
        enum { CONTINUES, NOT_BETTER, TOO_FAR_BEHIND, TOO_LATE } outcome;
};

static double spent(const struct search *t)
{
        return t->before + ran_clock() - t->began;
}

/* The best trial with a result; SIZE_MAX: none. */
static size_t best_of(const struct search *t)
{
        const size_t best = t->n > 0 ? ran_search_best(t->trial, t->n) : SIZE_MAX;

        return t->n > 0 && t->trial[best].metric > -INFINITY ? best : SIZE_MAX;
}

/* ---- what a trial changes ------------------------------------------------------------------- */

/* The settings that differ from those of the user, as members of JSON. */
static void add_changes(const struct search *t, struct ran_buf *out)
{
        struct ran_buf changes = {0};

        ran_fields_changes(ran_train_fields, &t->settings, t->job->settings, &changes);
        json_raw(out, changes.data, changes.len);
        changes.len = 0;
        ran_fields_changes(ran_config_fields, &t->config, t->job->config, &changes);
        json_raw(out, changes.data, changes.len);
        ran_buf_release(&changes);
}

/* ---- the file of a trial -------------------------------------------------------------------- */

static const char *const ends[] = {"running", "done", "behind", "diverged"};
enum { ENDS = sizeof ends / sizeof *ends };

/* The members of the trial at work, without what describes its training. */
static void add_trial(const struct search *t, struct ran_buf *out)
{
        const struct train_trial *r = &t->result[t->at];

        json_put_size(out, "trial", t->at + 1);
        json_name(out, "settings");
        json_begin(out, '{');
        add_changes(t, out);
        json_end(out, '}');
        json_put_doubles(out, "dev", r->dev, r->epochs);
        json_put_double(out, "best", r->best);
        json_put_size(out, "best_epoch", r->best_epoch);
        json_put_double(out, "seconds", round(r->seconds * 1e3) / 1e3);
        json_put_text(out, "end", ends[r->end]);
        if (r->model[0] != '\0')
                json_put_text(out, "model", r->model);
        else
                json_put_raw(out, "model", "null", 4);
}

static void write_trial(const struct search *t)
{
        struct ran_buf out = {0};
        char path[PATH_MAX];

        ran_buf_char(&out, '{');
        add_trial(t, &out);
        ran_buf_char(&out, ',');
        ran_train_describe(&t->run, &out);
        ran_buf_str(&out, "}\n");
        cmd_write_file(train_run_trial(path, t->folder, 0), &out);
        ran_buf_release(&out);
}

static void reach(struct train_trial *t, size_t epoch, double metric)
{
        RAN_ROOM(t->dev, t->cap, epoch);
        while (t->epochs < epoch)
                t->dev[t->epochs++] = NAN;
        t->dev[epoch - 1] = metric;
}

static bool read_members(struct train_trial *t, const cJSON *o)
{
        static const double most_seconds = 1e12; /* sums of these can be written again */
        const cJSON *dev = train_about_member(o, "dev"), *best = train_about_member(o, "best"), *x;
        const char *end = train_about_string(o, "end"), *model = train_about_string(o, "model");
        size_t e = 0;

        cJSON_ArrayForEach(x, dev)
        {
                if (!cJSON_IsNumber(x) && !cJSON_IsNull(x))
                        return false;
                reach(t, t->epochs + 1, cJSON_IsNumber(x) ? x->valuedouble : NAN);
        }
        t->best = cJSON_IsNumber(best) ? best->valuedouble : -INFINITY;
        t->best_epoch = train_about_count(o, "best_epoch");
        t->seconds = train_about_number(o, "seconds");
        while (e < ENDS && (end == NULL || strcmp(end, ends[e]) != 0))
                e++;
        t->end = (int)e;
        if (model != NULL && strlen(model) == sizeof t->model - 1)
                memcpy(t->model, model, sizeof t->model);
        return cJSON_IsArray(dev) && cJSON_IsNumber(train_about_member(o, "seconds")) && e < ENDS &&
               (cJSON_IsNumber(best) || cJSON_IsNull(best)) && t->best < INFINITY &&
               t->best_epoch <= t->epochs && t->seconds >= 0 && t->seconds <= most_seconds &&
               (t->end != TRAIN_TRIAL_DONE || t->best_epoch > 0) &&
               (t->model[0] != '\0' || cJSON_IsNull(train_about_member(o, "model")));
}

int train_trial_read(struct train_trial *t, const char *text, size_t n, struct ran_span *run,
                     struct ran_error *err)
{
        static const char key[] = "\"training\":";
        const char *end = NULL;
        cJSON *o = cJSON_ParseWithLengthOpts(text, n, &end, false);
        const char *training = memmem(text, n, key, sizeof key - 1), *last = memrchr(text, '}', n);
        const bool read =
                training != NULL && last > training && end == last + 1 && read_members(t, o);

        if (read)
                *run = (struct ran_span){(size_t)(training - text), (size_t)(last - text)};
        cJSON_Delete(o);
        return read ? RAN_OK : ran_fail(err, RAN_EFORMAT, "a member is missing or wrong");
}

/* What a file says of the trial at work; false: there is no such file. */
static bool load(struct search *t, size_t trial)
{
        struct ran_buf ours = {0};
        char path[PATH_MAX];
        struct ran_bytes file;
        struct ran_error err;
        struct ran_span run = {0};

        if (access(train_run_trial(path, t->folder, trial), F_OK) != 0)
                return false;
        if (ran_bytes_open(&file, path, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        const char *text = (const char *)file.data;
        if (train_trial_read(&t->result[t->at], text, file.size, &run, &err) != RAN_OK)
                cmd_die(CMD_FAILED,
                        "%s: %s: this is no trial of ran-train --tune, or it is damaged; start "
                        "again with --overwrite-checkpoint",
                        path, err.text);
        ran_train_describe(&t->run, &ours);
        if (run.end - run.begin != ours.len || memcmp(text + run.begin, ours.data, ours.len) != 0)
                cmd_die(CMD_USAGE,
                        "%s belongs to a search with other settings or data: give the same ones to "
                        "resume, or start again with --overwrite-checkpoint",
                        path);
        ran_buf_release(&ours);
        ran_bytes_release(&file);
        t->trial[t->at].metric = t->result[t->at].best;
        t->before += t->result[t->at].seconds;
        return true;
}

/* ---- while a trial trains -------------------------------------------------------------------- */

/* Ends the trial for good, without a checkpoint. */
static int end_trial(struct search *t, int outcome)
{
        t->outcome = outcome;
        t->run.checkpoint = NULL;
        return 1;
}

static int on_report(void *arg, const struct ran_train_report *r)
{
        struct search *t = arg;
        struct train_trial *own = &t->result[t->at];
        const size_t best = best_of(t);
        const struct train_trial *b = best != SIZE_MAX ? &t->result[best] : NULL;

        train_progress_report(&t->progress, r);
        if (t->at < t->n)
                return train_run_stopped();
        switch (r->event) {
        case RAN_REPORT_DECIDED:
        case RAN_REPORT_DEV:
                /* Without an encoder the linear model is the trial's only epoch. */
                if (r->event == RAN_REPORT_DECIDED && r->decision.epoch > 0)
                        break;
                reach(own, r->epoch, r->metric);
                own->best = r->best;
                own->best_epoch = r->best_epoch;
                write_trial(t); /* before a checkpoint records that the epoch is done */
                if (r->event == RAN_REPORT_DECIDED)
                        break;
                if (r->epoch == r->epochs || r->stale >= t->settings.patience)
                        return 0; /* REPORT_KEPT is next */
                if (b != NULL && ran_search_behind(b->dev, b->epochs, r->epoch, r->best))
                        return end_trial(t, TOO_FAR_BEHIND);
                break;
        case RAN_REPORT_CHECKPOINT: /* the time of a trial is that of its checkpoint */
                own->seconds = t->trial_before + ran_clock() - t->trial_began;
                write_trial(t);
                return 0;
        case RAN_REPORT_KEPT: /* before the model replaces the best one; it may be worse than its
                               * best epoch, if the encoder was dropped */
        case RAN_REPORT_END:  /* also of a trial resumed when it was complete */
                own->best = r->best;
                own->best_epoch = r->best_epoch;
                if (r->event == RAN_REPORT_END)
                        return 0;
                if (b != NULL && r->best <= b->best)
                        return end_trial(t, NOT_BETTER);
                break;
        default:
                if (t->at > 0 && !r->refit && spent(t) >= t->budget)
                        return end_trial(t, TOO_LATE);
        }
        return train_run_stopped();
}

/* ---- a trial --------------------------------------------------------------------------------- */

/* Makes it the trial at work. */
static void set_trial(struct search *t, size_t at)
{
        t->at = at;
        t->outcome = CONTINUES;
        ran_search_apply(&t->search, &t->trial[at], &t->config, &t->settings);
        t->run = *t->job;
        t->run.config = &t->config;
        t->run.settings = &t->settings;
        t->run.report = on_report;
        t->run.arg = t;
}

/* The next trial; false: nothing is left to try. */
static bool propose(struct search *t)
{
        RAN_ROOM(t->trial, t->trial_cap, t->n + 1);
        RAN_ROOM(t->result, t->result_cap, t->n + 1);
        t->result[t->n] = (struct train_trial){.best = -INFINITY};
        if (!ran_search_next(&t->search, t->trial, t->n, &t->trial[t->n]))
                return false;
        set_trial(t, t->n);
        return true;
}

static int train(struct search *t, bool resume, struct ran_error *err)
{
        t->run.resume = resume;
        if (t->at < t->n) /* that file may be of another trial */
                t->run.checkpoint = NULL;
        t->trial_before = t->result[t->at].seconds;
        t->trial_began = ran_clock();
        t->progress.trial = t->at + 1;
        train_progress_begin(&t->progress);
        return ran_train(&t->run, err);
}

/* The digest of the model, or "". */
static void find_digest(const char *model, char digest[65])
{
        struct ran_error err;
        struct ran_model *m = ran_model_open(model, false, &err);
        const char *text = m != NULL ? ran_model_metadata(m, "digest") : NULL;

        digest[0] = '\0';
        if (text != NULL && strlen(text) == 64)
                memcpy(digest, text, 65);
        ran_model_free(m);
}

static void tell_trial(struct search *t)
{
        static const char *const words[ENDS] = {"", "", "  ended early, behind", "  diverged"};
        const struct train_trial *r = &t->result[t->at];
        struct ran_buf line = {0};
        char time[32];

        ran_buf_printf(&line, "trial %zu", t->at + 1);
        if (r->best_epoch > 0)
                ran_buf_printf(&line, "  validation %s %.2f, epoch %zu of %zu",
                               train_progress_name(&t->progress),
                               train_progress_metric(&t->progress, r->best), r->best_epoch,
                               r->epochs);
        ran_buf_printf(&line, "  %s%s%s  {", train_duration(time, r->seconds), words[r->end],
                       best_of(t) == t->at ? "  best" : "");
        add_changes(t, &line);
        ran_buf_str(&line, t->at == 0 ? "}  your settings" : "}");
        train_progress_line(&t->progress, &line);
        line.len = 0;
        ran_buf_str(&line, "\"event\":\"trial\",");
        add_trial(t, &line);
        train_progress_entry(&t->progress, &line);
        ran_buf_release(&line);
}

/* The trial is over, and its model has become the output if it is the best so far. */
static void conclude(struct search *t, int end)
{
        struct train_trial *r = &t->result[t->at];
        char running[PATH_MAX], over[PATH_MAX];

        unlink(t->job->checkpoint);
        r->seconds = t->trial_before + ran_clock() - t->trial_began;
        r->end = end;
        if (end == TRAIN_TRIAL_DIVERGED)
                r->best = -INFINITY;
        t->trial[t->at].metric = r->best;
        if (t->outcome == CONTINUES && end == TRAIN_TRIAL_DONE)
                find_digest(t->job->output, r->model);
        write_trial(t);
        t->n++;
        train_run_trial(over, t->folder, t->n);
        if (rename(train_run_trial(running, t->folder, 0), over) != 0)
                cmd_die(CMD_FAILED, "cannot write %s: %s", over, strerror(errno));
        tell_trial(t);
}

/* Trains the trial at work. Returns whether the search continues; otherwise *err has the error, if
 * any. */
static bool try(struct search *t, bool resume, struct ran_error *err)
{
        if (t->n > 0)
                write_trial(t); /* an interrupted search can be told from one that is over */
        const int rc = train(t, resume, err);
        const bool diverged = rc == RAN_EDIVERGED || (rc == RAN_ENOMEM && t->at > 0);

        if (diverged)
                cmd_warn("trial %zu: %s", t->at + 1, err->text);
        if (rc == RAN_EINTR || diverged)
                err->code = RAN_OK;
        if (rc == RAN_OK || t->outcome == NOT_BETTER)
                conclude(t, TRAIN_TRIAL_DONE);
        else if (diverged || t->outcome == TOO_FAR_BEHIND)
                conclude(t, diverged ? TRAIN_TRIAL_DIVERGED : TRAIN_TRIAL_BEHIND);
        else
                return false;
        return true;
}

/* ---- the search ------------------------------------------------------------------------------ */

static void remove_trial(const char *path, void *arg)
{
        (void)arg;
        unlink(path);
}

/* Makes the folder, and leaves what an earlier search has there only to --resume. */
static void open_folder(const struct search *t, bool resume)
{
        unlink(t->folder); /* a file of 0.2.0, where it is to be overwritten */
        if (mkdir(t->folder, 0777) != 0 && errno != EEXIST)
                cmd_die(CMD_FAILED, "cannot make the folder %s: %s", t->folder, strerror(errno));
        if (!resume)
                train_run_each_trial(t->folder, remove_trial, NULL);
}

/* Trains the best model so far again if its file was moved or overwritten. */
static bool find_model(struct search *t, struct ran_error *err)
{
        const size_t best = best_of(t);
        char digest[65];

        if (best == SIZE_MAX)
                return true;
        find_digest(t->job->output, digest);
        if (digest[0] != '\0' && strcmp(digest, t->result[best].model) == 0)
                return true;
        cmd_note("%s is not the model of trial %zu, the best so far: training it again",
                 t->job->output, best + 1);
        set_trial(t, best);
        const int rc = train(t, false, err);
        if (rc == RAN_EINTR)
                err->code = RAN_OK;
        return rc == RAN_OK;
}

static void tell(struct search *t, size_t best)
{
        const struct train_trial *first = &t->result[0];
        const struct train_progress *p = &t->progress;
        struct ran_buf line = {0};
        char time[32];

        cmd_note("the best of %zu trials in %s is trial %zu: validation %s %.2f", t->n,
                 train_duration(time, spent(t)), best + 1, train_progress_name(p),
                 train_progress_metric(p, t->result[best].best));
        add_changes(t, &line);
        ran_buf_char(&line, '\0');
        if (best > 0 && first->best_epoch > 0)
                cmd_note("with your settings: %.2f", train_progress_metric(p, first->best));
        if (best > 0)
                cmd_note("changed: {%s}", line.data);
        else
                cmd_note("your settings were the best");
        if (t->n == 1 && spent(t) >= t->budget)
                cmd_note("the time was up after the first trial, which took %s",
                         train_duration(time, first->seconds));
        ran_buf_release(&line);
}

/* The exit status, and the final report. */
static int finish(struct search *t, const struct ran_error *err)
{
        const size_t best = best_of(t);
        char path[PATH_MAX];

        if (err->code != RAN_OK)
                cmd_warn("%s", err->text);
        else if (train_run_stopped())
                cmd_warn("interrupted");
        train_run_trial(path, t->folder, 0);
        if (err->code != RAN_OK || train_run_stopped()) {
                if (best != SIZE_MAX)
                        cmd_warn("%s is the model of trial %zu, the best so far", t->job->output,
                                 best + 1);
                if (t->n > 0 || access(path, F_OK) == 0)
                        cmd_warn("%s has the state of the search: continue with the same command "
                                 "and --resume",
                                 t->folder);
                return err->code != RAN_OK ? cmd_status_of(err) : 128 + train_run_stopped();
        }
        /* The time is up: a trial that is not over does not count. */
        unlink(path);
        unlink(t->job->checkpoint);
        if (best == SIZE_MAX) {
                cmd_warn("every trial diverged: there is no model");
                return CMD_DIVERGED;
        }
        set_trial(t, best);
        tell(t, best);
        return CMD_OK;
}

int train_tune(const struct ran_train_job *job, struct train_run *run, struct ran_config *config,
               struct ran_train_settings *settings)
{
        struct search t = {.job = job,
                           .folder = run->trials,
                           .budget = 60 * run->options->tune,
                           .progress = train_run_progress(job, run)};
        struct ran_error err = {0};

        if (ran_search_init(&t.search, job, cmd_was_set, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        open_folder(&t, run->resume);
        bool any = propose(&t);
        while (any && load(&t, t.n + 1)) {
                t.n++;
                any = propose(&t);
        }
        if (any)
                load(&t, 0);
        train_run_catch_signals();
        bool resume = run->resume && access(job->checkpoint, F_OK) == 0;
        bool more = find_model(&t, &err);
        if (any)
                set_trial(&t, t.n);
        t.began = ran_clock();
        while (more && !train_run_stopped() && (best_of(&t) == SIZE_MAX || spent(&t) < t.budget)) {
                if (!any) {
                        cmd_note("nothing is left to try");
                        break;
                }
                more = try(&t, resume, &err);
                resume = false;
                any = propose(&t);
        }
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
        for (size_t i = 0; i < t.result_cap && i <= t.n; i++)
                free(t.result[i].dev);
        free(t.trial);
        free(t.result);
        return status;
}
