/* run.c - signals, the files of a run, and the summary at its end. */
#include "cmd/train/run.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/model.h"
#include "cmd/train/figure.h"
#include "cmd/train/task.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__ /* as <stdlib.h> says */
#include <malloc.h>
#endif

/* ---- signals -------------------------------------------------------------------------------- */

static atomic_int stop_signal; /* any thread may ask */

static bool is_sent(int signal)
{
        return signal == SIGINT || signal == SIGTERM;
}

/* A signal requests a checkpoint and the end, which takes up to one step. The second SIGINT or
 * SIGTERM ends the program at once. The others only request: a hangup comes twice if the shell
 * passes it on, and a pipe without a reader breaks at every line. */
static void on_signal(int signal)
{
        if (is_sent(signal) && is_sent(stop_signal))
                _exit(128 + signal);
        if (is_sent(signal) || stop_signal == 0)
                stop_signal = signal;
}

static void catch_signal(int signal)
{
        const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

        sigaction(signal, &action, NULL);
}

static bool ignored(int signal)
{
        struct sigaction action;

        return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Catches SIGINT even if a script started the program in the background, with SIGINT ignored; but
 * respects nohup. */
void train_run_catch_signals(void)
{
        catch_signal(SIGINT);
        catch_signal(SIGTERM);
        if (!ignored(SIGHUP))
                catch_signal(SIGHUP);
        if (!ignored(SIGPIPE))
                catch_signal(SIGPIPE);
}

int train_run_stopped(void)
{
        return stop_signal;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* A resumed run appends to its log. */
static void open_log(struct train_run *run)
{
        const char *name = run->options->log;

        if (name == NULL)
                return;
        run->log = fopen(name, run->resume ? "ae" : "we");
        if (run->log == NULL)
                cmd_die(CMD_FAILED, "cannot write the log %s: %s", name, strerror(errno));
}

/* The output, and the files beside it that must not be overwritten. */
struct neighbours {
        const char *output;
        const struct cmd_program *program;
        char **files; /* that are read */
};

/* Nobody named this file, so it must be ours to replace: what a symbolic link points to is not, and
 * a pipe would wait for somebody at its other end. */
static void check_kind(const char *name)
{
        struct stat st;

        if (lstat(name, &st) != 0 || S_ISREG(st.st_mode))
                return;
        cmd_die(CMD_FAILED,
                "%s is %s, and the training would write a file there: remove it, or give another "
                "name after -o",
                name,
                S_ISLNK(st.st_mode)    ? "a symbolic link"
                : S_ISDIR(st.st_mode)  ? "a folder"
                : S_ISFIFO(st.st_mode) ? "a pipe"
                                       : "not a regular file");
}

/* The name of a file beside the output. */
static char *beside(const struct neighbours *n, const char *suffix)
{
        char *name;

        if (asprintf(&name, "%s%s", n->output, suffix) < 0)
                cmd_die(CMD_FAILED, "out of memory");
        check_kind(name);
        cmd_check_beside(n->program, name, n->files);
        cmd_check_writable(name);
        return name;
}

/* The journal of a complete search may be overwritten, like its model. */
static void open_journal(struct train_run *run, const struct neighbours *n)
{
        struct train_journal *j = &run->journal;
        char *name = beside(n, ".tune");

        if (run->options->overwrite_checkpoint) {
                j->path = name;
        } else {
                train_journal_open(j, name);
                free(name);
        }
        if (j->complete && !run->resume)
                train_journal_clear(j);
}

/* Whether the output takes bytes and keeps no file, such as a pipe or /dev/null: nothing stands
 * beside it. As ran_writer_open has it. */
static bool is_stream(const char *output)
{
        struct stat file;

        return strncmp(output, "/dev/", 5) == 0 ||
               (stat(output, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
}

/* A training leaves its state beside its output, unless that is a stream. */
static void prepare_checkpoint(struct train_run *run, const struct neighbours *n)
{
        const struct train_run_options *options = run->options;

        if (is_stream(n->output)) {
                if (run->resume || options->tune > 0)
                        cmd_usage("--%s keeps the state of the training in a file beside the "
                                  "output, and %s is no file: give -o MODEL",
                                  run->resume ? "resume" : "tune", n->output);
                return;
        }
        run->checkpoint = beside(n, ".ckpt");
        bool exists = access(run->checkpoint, F_OK) == 0;
        if (options->tune > 0)
                open_journal(run, n);
        bool any = exists || run->journal.n > 0;
        if (any && !run->resume && !options->overwrite_checkpoint)
                cmd_die(CMD_FAILED,
                        "%s is left from an interrupted training: continue with --resume, or start "
                        "again with --overwrite-checkpoint",
                        exists ? run->checkpoint : run->journal.path);
        if (run->resume && !any) {
                cmd_note("there is no %s to resume: training starts from the beginning",
                         run->checkpoint);
                run->resume = false;
        }
}

void train_run_prepare(struct train_run *run, const char *output, const struct cmd_program *program,
                       char **files)
{
        const struct train_run_options *options = run->options;
        const struct neighbours n = {output, program, files};

        run->resume = options->resume;
        cmd_check_writable(output);
        prepare_checkpoint(run, &n);
        open_log(run);
        if (options->report != NULL) {
                cmd_check_writable(options->report);
                run->page = train_page_new(options->report);
                run->page->resumed = run->resume;
        }
}

void train_run_release(struct train_run *run)
{
        train_page_free(run->page);
        run->page = NULL;
        free(run->checkpoint);
        run->checkpoint = NULL;
}

/* ---- summary -------------------------------------------------------------------------------- */

static double peak_bytes(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

/* Bytes that are in memory now; where the system does not tell, the most so far. */
static double resident_bytes(void)
{
        FILE *f = fopen("/proc/self/statm", "re");
        char line[128] = ""; /* all pages, those in memory, and more */
        const char *second = NULL;

        if (f != NULL && fgets(line, sizeof line, f) != NULL)
                second = strchr(line, ' ');
        if (f != NULL)
                fclose(f);
        const double pages = second != NULL ? (double)strtoull(second, NULL, 10) : 0;
        return pages > 0 ? pages * (double)sysconf(_SC_PAGESIZE) : peak_bytes();
}

/* "validation accuracy 84.00 (84 of 100, 76 to 90 %)" of a model. */
static void tell_figure(const struct train_progress *p, const char *model, double metric,
                        struct ran_interval interval, const char *after)
{
        struct ran_buf line = {0};

        train_figure_metric(p, metric, interval, p->last.validation, &line);
        ran_buf_char(&line, '\0');
        if (!line.failed)
                cmd_note("%s: validation %s%s", model, line.data, after);
        ran_buf_release(&line);
}

/* What anyone achieves who looks at no document. */
static void tell_baseline(const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;
        const bool of_words = !p->single;

        if (last->best_epoch == 0 || isnan(last->baseline) ||
            strcmp(train_progress_name(p), "accuracy") != 0)
                return;
        cmd_note("baseline, always the most frequent %s: validation accuracy %.2f",
                 of_words ? "tag" : "label", 100 * last->baseline);
}

static void tell_linear(const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;

        if (last->no_encoder && last->linear_only)
                cmd_note("n-grams only: document vectors did not improve the linear model in "
                         "cross-validation");
        if (last->best_epoch == 0)
                cmd_note("linear model, without validation documents");
        else
                tell_figure(p, "linear model", last->best, last->best_interval,
                            last->refit ? "; it is refitted on all documents" : "");
}

/* The best epoch, beside what the linear model alone achieves. */
static void tell_best(const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;
        struct ran_interval none = {1, 0};
        char name[64];

        if (!isnan(last->linear_metric))
                tell_figure(p, "linear model alone", last->linear_metric, last->linear_interval,
                            "");
        if (last->refit)
                snprintf(name, sizeof name, "best epoch %zu", last->best_epoch);
        else
                snprintf(name, sizeof name, "best epoch %zu of %zu", last->best_epoch, last->epoch);
        tell_figure(p, name, last->best, p->texts ? none : last->best_interval,
                    last->refit ? "; the model is refitted on all documents" : "");
}

static void tell_decision(const struct ran_train_decision *d)
{
        struct ran_buf line = {0};

        ran_train_decision_tell(d, &line);
        ran_buf_char(&line, '\0');
        if (!line.failed && line.len > 1)
                cmd_note("%s", line.data);
        ran_buf_release(&line);
}

static void tell_cost(const struct ran_train_job *job, const struct ran_train_report *last)
{
        char tokens[32], rate[32], time[32], peak[32], moved[32];

        cmd_note("%zu documents in %s, peak memory %sB", job->train->B,
                 train_duration(time, last->seconds), train_amount(peak, peak_bytes()));
        if (last->tokens > 0)
                cmd_note("encoder: %s tokens, %s tokens/s",
                         train_amount(tokens, (double)last->tokens),
                         train_amount(rate, last->tokens_per_second));
        if (last->moved > 0)
                cmd_note("%zu ranks; rank 0 sent and received %sB", ran_ranks_count(job->ranks),
                         train_amount(moved, (double)last->moved));
}

/* Why a training with --minutes needed less; NULL: no reason but a good guess of the speed. */
static const char *why_short(const struct ran_train_job *job, const struct ran_train_report *last)
{
        if (last->no_encoder)
                return "a linear model takes no longer";
        if (last->decision.why == RAN_ENCODER_NO_ROOM || last->decision.why == RAN_ENCODER_NO_GAIN)
                return "the encoder was given up";
        if (last->limit > 0)
                return last->linear_only ? "the rest was for a refit of the encoder, which is left "
                                           "out"
                                         : NULL;
        return last->stale >= job->settings->patience
                       ? "more epochs did not improve the validation results (--patience)"
                       : "all epochs are done (--epochs)";
}

static void tell_limit(const struct ran_train_job *job, const struct ran_train_report *last)
{
        static const double much = 0.2; /* of the time, to be worth a word */
        char time[32], all[32];

        if (last->limit > 0)
                cmd_note("time limit: the encoder was trained for %zu steps", last->limit);
        if (last->aborted)
                cmd_note("time limit: the encoder is not refitted on all documents");
        const char *why = last->seconds < (1 - much) * job->seconds ? why_short(job, last) : NULL;
        if (why != NULL)
                cmd_note("%s of %s were needed: %s", train_duration(time, last->seconds),
                         train_duration(all, job->seconds), why);
}

static void summarise(const struct ran_train_job *job, const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;

        if (last->no_encoder || last->linear_only)
                tell_linear(p);
        else if (last->best_epoch > 0)
                tell_best(p);
        else
                cmd_note("%zu epochs, training loss %.4f; the last epoch is kept, without "
                         "validation documents",
                         last->epoch, last->loss);
        tell_baseline(p);
        if (last->first_encoder)
                cmd_note("the encoder of the first training is kept: the refitted one does worse "
                         "on the validation documents");
        if (!p->decided)
                tell_decision(&last->decision);
        if (last->encoder_only)
                cmd_note("encoder only: the linear model did not improve results on %zu "
                         "validation documents",
                         last->validation);
        tell_limit(job, last);
        tell_cost(job, last);
}

/* " --NAME 'VALUE'": a word for the shell. */
static void add_option(struct ran_buf *out, const char *name, const char *value)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_.,:/=@%+-";
        const bool quotes = value[0] == '\0' || value[strspn(value, plain)] != '\0';

        ran_buf_printf(out, " --%s %s", name, quotes ? "'" : "");
        for (const char *s = value; *s != '\0'; s++) {
                ran_buf_str(out, *s == '\'' ? "'\\'" : "");
                ran_buf_char(out, *s);
        }
        ran_buf_str(out, quotes ? "'" : "");
}

/* What new records of the same kind need as well. */
static void add_columns(struct ran_buf *out, const struct import_columns *c)
{
        for (size_t i = 0; i < c->text_member.n; i++)
                add_option(out, "text-member", c->text_member.item[i]);
        if (c->id_member != NULL)
                add_option(out, "id-member", c->id_member);
        if (c->delimiter != NULL)
                add_option(out, "delimiter", c->delimiter);
        ran_buf_char(out, '\0');
}

void train_run_tell_model(const struct ran_train_job *job, const struct train_run *run)
{
        struct ran_buf columns = {0};
        char size[32];
        struct stat file = {0};

        if (is_stream(job->output)) {
                cmd_note("the model went to %s", job->output);
                return;
        }
        stat(job->output, &file);
        cmd_note("the model is %s (%sB); use it with:", job->output,
                 train_amount(size, (double)file.st_size));
        add_columns(&columns, run->columns);
        cmd_note("    %s -m %s%s FILE", cmd_model_use(job->config), job->output,
                 columns.failed ? "" : columns.data);
        ran_buf_release(&columns);
}

/* ---- the run -------------------------------------------------------------------------------- */

/* What gets each report. */
struct watcher {
        struct train_progress progress;
        struct train_page *page; /* or NULL */
};

static int on_report(void *arg, const struct ran_train_report *report)
{
        struct watcher *w = arg;

        if (w->page != NULL)
                train_page_note(w->page, report);
        train_progress_report(&w->progress, report);
        return stop_signal;
}

static const char *metric_name(int metric)
{
        const struct ran_field *f = ran_train_fields;

        while (strcmp(f->name, "metric") != 0)
                f++;
        return f->choices[metric];
}

/* Reports the files left, and how to continue; steps: whether this run did any. */
static int ended_early(const struct ran_train_job *job, const struct ran_error *err, bool steps)
{
        bool again = err->code != RAN_EDIVERGED;
        bool interrupted = err->code == RAN_EINTR && stop_signal != 0; /* not another rank */

        if (interrupted && job->ranks == NULL)
                cmd_warn("interrupted");
        else
                cmd_warn("%s%s", interrupted ? "interrupted: " : "", err->text);
        if (steps && again && job->checkpoint != NULL && access(job->checkpoint, F_OK) == 0)
                cmd_warn("%s has the state of the training: continue with the same command and "
                         "--resume",
                         job->checkpoint);
        return interrupted ? 128 + stop_signal : cmd_status_of(err);
}

/* Of the tokens that are predicted: those of a source are not. */
static double unknown_share(const struct ran_train_job *job)
{
        const struct ran_dataset *d = job->dev != NULL && job->dev->B > 0 ? job->dev : job->train;
        const uint32_t unknown =
                job->tokenizer != NULL ? ran_tokenizer_unknown(job->tokenizer) : RAN_NO_ID;
        size_t all = 0, n = 0;

        for (size_t b = 0; b < d->B && unknown != RAN_NO_ID; b++) {
                const size_t from = d->first[b] + (d->sources != NULL ? d->sources[b] : 0);
                all += d->first[b + 1] - from;
                for (size_t t = from; t < d->first[b + 1]; t++)
                        n += d->ids[t] == unknown;
        }
        return all > 0 ? (double)n / (double)all : 0;
}

struct train_progress train_run_progress(const struct ran_train_job *job,
                                         const struct train_run *run)
{
        const struct train_task *task = train_task_of(job->config->task);
        struct train_progress p = {.when = run->options->progress,
                                   .metric = metric_name(job->settings->metric),
                                   .texts = task->label == NULL,
                                   .unknown = task->label == NULL ? unknown_share(job) : 0,
                                   .single = task->of_documents && !job->config->multilabel,
                                   .documents = job->train->B,
                                   .seed = job->settings->seed,
                                   .log = run->log,
                                   .log_name = run->options->log};

        train_progress_begin(&p);
        return p;
}

int train_run(const struct ran_train_job *job, struct train_run *run)
{
        struct watcher w = {train_run_progress(job, run), run->page};
        struct train_progress *progress = &w.progress;
        struct ran_train_job watched = *job;
        struct ran_error err = {0};

        watched.resume = run->resume;
        watched.report = on_report;
        watched.arg = &w;
        train_run_catch_signals();
        int code = ran_train(&watched, &err);
        bool logged = train_progress_end(progress);
        if (code != RAN_OK)
                return ended_early(job, &err, progress->last.step > 0);
        summarise(job, progress);
        if (run->page != NULL)
                run->page->unknown = progress->unknown;
        if (run->page != NULL)
                train_page_write(run->page, job, train_progress_name(progress), progress->texts);
        if (!run->replay)
                train_run_tell_model(job, run);
        if (!logged)
                cmd_warn("the model is complete, but %s is not", run->options->log);
        return logged ? CMD_OK : CMD_FAILED;
}

/* ---- dry run -------------------------------------------------------------------------------- */

/* Seconds after which a measurement ends, of the linear model and of the encoder; and the share of
 * the linear model's work that says something, unless it takes long. */
static const double enough = 3, too_long = 10, enough_share = 0.1, of_refit = 0.25;

static bool refits(const struct ran_train_job *job)
{
        return job->settings->refit && job->held_out != NULL;
}

struct measurement {
        double seconds; /* of the whole training, estimated */
        double again;   /* what the refit takes beside the first fit, which finds C as well */
        bool whole;     /* it came to its end */
};

/* The linear model: its passes say how much of the work is done. */
static int on_measured_pass(void *arg, const struct ran_train_report *report)
{
        struct measurement *m = arg;
        const double share = report->share > 0.01 ? report->share : 0.01;
        const bool over =
                report->seconds > too_long || (report->seconds > enough && share > enough_share);

        m->seconds = report->seconds;
        m->whole = report->event == RAN_REPORT_END;
        if (report->event != RAN_REPORT_LINEAR || report->refit || !over)
                return 0;
        m->seconds = report->seconds / share * (1 + m->again);
        return 1;
}

/* The encoder: the first step is slower than the others. */
static int on_measured_step(void *arg, const struct ran_train_report *report)
{
        struct measurement *m = arg;

        if (report->event != RAN_REPORT_STEP)
                return 0;
        m->seconds = report->seconds + report->eta_seconds;
        return report->seconds > enough || report->step >= report->steps;
}

/* Trains for a moment, and writes no file. */
static struct measurement measure(const struct ran_train_job *job, const struct ran_config *config,
                                  int (*report)(void *, const struct ran_train_report *))
{
        struct ran_train_settings settings = *job->settings;
        struct ran_train_job trial = *job;
        struct measurement m = {.again = refits(job) ? of_refit : 0};
        struct ran_error err = {0};

        settings.patience = settings.epochs; /* so that nothing else ends it */
        trial.config = config;
        trial.settings = &settings;
        trial.output = trial.checkpoint = NULL;
        trial.report = report;
        trial.arg = &m;
        int code = ran_train(&trial, &err);
        if (code != RAN_OK && code != RAN_EINTR)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        return m;
}

static void tell_linear_time(const struct ran_train_job *job)
{
        struct ran_train_settings settings = *job->settings;
        struct ran_config config = *job->config;
        struct ran_train_job linear = *job;
        char text[32];

        if (config.wide == 0)
                return;
        settings.freeze = false;
        linear.settings = &settings;
        if (!config.frozen) { /* initial weights are those of an encoder, and no matter */
                config.encoder = RAN_ENCODER_NONE;
                linear.vectors = NULL;
                linear.init = NULL;
        }
        linear.texts = NULL;
        struct measurement m = measure(&linear, &config, on_measured_pass);
        printf("time        %s%s for the linear model, on %zu threads\n", m.whole ? "" : "about ",
               train_duration(text, m.seconds), ran_pool_threads(job->pool));
        fflush(stdout);
}

static void tell_encoder_time(const struct ran_train_job *job)
{
        struct ran_config config = *job->config;
        char text[32];

        struct ran_train_job labels = *job;

        labels.texts = NULL;
        config.wide = 0;
        struct measurement m = measure(&labels, &config, on_measured_step);
        printf("time        %s for %zu epochs%s, on %zu threads\n", train_duration(text, m.seconds),
               job->settings->epochs, refits(job) ? ", and at most as much again for --refit" : "",
               ran_pool_threads(job->pool));
        if (job->settings->early_stop && job->config->wide > 0 && job->dev != NULL)
                puts("            less if the encoder does not improve on the linear model");
}

/* The texts of --pretrain: --minutes and --pretrain-minutes may leave less time for them. */
static void tell_texts(const struct ran_train_job *job)
{
        struct ran_train_phase phase;
        struct ran_train_estimate e;
        struct ran_error err = {0};
        char text[32];

        if (job->texts == NULL)
                return;
        if (ran_train_first_phase(job, &phase, &err) != RAN_OK ||
            ran_train_estimate(&phase.job, &e, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        printf("texts       %zu, %s tokens, without labels: %zu steps\n", phase.job.train->B,
               train_amount(text, (double)phase.job.train->first[phase.job.train->B]), e.steps);
        fflush(stdout);
        phase.job.seconds = 0;
        struct measurement m = measure(&phase.job, &phase.config, on_measured_step);
        printf("time        %s for %zu epochs of them, on %zu threads\n",
               train_duration(text, m.seconds), phase.settings.epochs, ran_pool_threads(job->pool));
}

/* What the program holds already, and what training takes on top; or what reading the data took. */
static void tell_memory(const struct ran_train_estimate *e, double resident, double peak)
{
        /* What runs differ in: allocators, and how far threads are. */
        const double training = 1.04 * (resident + (double)e->bytes), reading = 1.04 * peak;
        char text[32];

        printf("memory      %sB at most",
               train_amount(text, training > reading ? training : reading));
        if (e->file_bytes > 0)
                printf(", and %sB in temporary files", train_amount(text, (double)e->file_bytes));
        putchar('\n');
}

int train_dry_run(const struct ran_train_job *job)
{
#ifdef __GLIBC__
        malloc_trim(0); /* what reading has freed, training takes again */
#endif
        const double resident = resident_bytes(), peak = peak_bytes();
        struct ran_train_estimate e;
        struct ran_error err = {0};
        char text[32];

        if (ran_train_estimate(job, &e, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        printf("parameters  %zu in tables of tokens and features, %zu in the rest\n",
               e.embedding_parameters, e.parameters);
        tell_memory(&e, resident, peak);
        printf("documents   %zu, %s tokens\n", job->train->B,
               train_amount(text, (double)job->train->first[job->train->B]));
        if (ran_config_trains_encoder(job->config)) {
                printf("steps       %zu\n", e.steps);
                printf("arithmetic  %s operations per epoch\n", train_amount(text, e.flops));
        }
        fflush(stdout); /* what follows takes a while */
        tell_linear_time(job);
        tell_texts(job);
        if (ran_config_trains_encoder(job->config))
                tell_encoder_time(job);
        return CMD_OK;
}
