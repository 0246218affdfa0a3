/* run.c - signals, the files of a run, and the summary at its end. */
#include "cmd/train/run.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/records/model.h"
#include "cmd/train/task.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- signals -------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop_signal;

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

/* The name of a file beside the output. */
static char *beside(const struct neighbours *n, const char *suffix)
{
        char *name;

        if (asprintf(&name, "%s%s", n->output, suffix) < 0)
                cmd_die(CMD_FAILED, "out of memory");
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

void train_run_prepare(struct train_run *run, const char *output, const struct cmd_program *program,
                       char **files)
{
        const struct train_run_options *options = run->options;
        const struct neighbours n = {output, program, files};

        run->resume = options->resume;
        cmd_check_writable(output);
        run->checkpoint = beside(&n, ".ckpt");
        bool exists = access(run->checkpoint, F_OK) == 0;
        if (options->tune > 0)
                open_journal(run, &n);
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
        open_log(run);
}

void train_run_release(struct train_run *run)
{
        free(run->checkpoint);
        run->checkpoint = NULL;
}

/* ---- summary -------------------------------------------------------------------------------- */

static double peak_bytes(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

static size_t validation_documents(const struct ran_train_job *job)
{
        return job->dev != NULL ? job->dev->B : 0;
}

static void summarise_linear(const struct ran_train_report *last, const struct train_progress *p)
{
        if (last->best_epoch > 0)
                cmd_note("linear model: dev %s %.2f%s", train_progress_name(p),
                         train_progress_metric(p, last->best),
                         last->refit ? "; it is refitted on all documents" : "");
        else
                cmd_note("linear model, without development data");
}

static void summarise(const struct ran_train_job *job, const struct train_progress *p)
{
        const struct ran_train_report *last = &p->last;
        char tokens[32], rate[32], time[32], peak[32], moved[32];

        if (last->no_encoder)
                summarise_linear(last, p);
        else if (last->refit)
                cmd_note("best epoch %zu: dev %s %.2f; the model is refitted on all documents",
                         last->best_epoch, train_progress_name(p),
                         train_progress_metric(p, last->best));
        else if (last->best_epoch > 0)
                cmd_note("best epoch %zu of %zu: dev %s %.2f", last->best_epoch, last->epoch,
                         train_progress_name(p), train_progress_metric(p, last->best));
        else
                cmd_note("%zu epochs, loss %.4f; the last epoch is kept, without development data",
                         last->epoch, last->loss);
        if (last->first_encoder)
                cmd_note("the encoder of the first training is kept: the refitted one does worse "
                         "on the validation documents");
        if (last->linear_only)
                cmd_note("linear model only: the encoder did not improve results on %zu "
                         "validation documents",
                         validation_documents(job));
        if (last->encoder_only)
                cmd_note("encoder only: the linear model did not improve results on %zu "
                         "validation documents",
                         validation_documents(job));
        if (last->no_encoder)
                cmd_note("%zu documents in %s, peak memory %sB", job->train->B,
                         train_duration(time, last->seconds), train_amount(peak, peak_bytes()));
        else
                cmd_note("%s tokens in %s, %s tokens/s, peak memory %sB",
                         train_amount(tokens, (double)last->tokens),
                         train_duration(time, last->seconds),
                         train_amount(rate, last->tokens_per_second),
                         train_amount(peak, peak_bytes()));
        if (last->moved > 0)
                cmd_note("%zu ranks; rank 0 sent and received %sB", ran_ranks_count(job->ranks),
                         train_amount(moved, (double)last->moved));
}

void train_run_tell_model(const struct ran_train_job *job)
{
        char size[32];
        struct stat file = {0};

        stat(job->output, &file);
        cmd_note("the model is %s (%sB); use it with:", job->output,
                 train_amount(size, (double)file.st_size));
        cmd_note("    %s -m %s FILE", cmd_model_use_of_task(job->config->task), job->output);
}

/* ---- the run -------------------------------------------------------------------------------- */

static int on_report(void *arg, const struct ran_train_report *report)
{
        train_progress_report(arg, report);
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

struct train_progress train_run_progress(const struct ran_train_job *job,
                                         const struct train_run *run)
{
        const struct train_task *task = train_task_of(job->config->task);
        struct train_progress p = {.when = run->options->progress,
                                   .metric = metric_name(job->settings->metric),
                                   .texts = task->label == NULL,
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
        struct train_progress progress = train_run_progress(job, run);
        struct ran_train_job watched = *job;
        struct ran_error err = {0};

        watched.resume = run->resume;
        watched.report = on_report;
        watched.arg = &progress;
        train_run_catch_signals();
        int code = ran_train(&watched, &err);
        bool logged = train_progress_end(&progress);
        if (code != RAN_OK)
                return ended_early(job, &err, progress.last.step > 0);
        summarise(job, &progress);
        if (!run->replay)
                train_run_tell_model(job);
        if (!logged)
                cmd_warn("the model is complete, but %s is not", run->options->log);
        return logged ? CMD_OK : CMD_FAILED;
}

/* ---- dry run -------------------------------------------------------------------------------- */

/* A linear model is fitted to the end, unless that takes longer. */
enum { ENOUGH_LINEAR = 20 };

/* Ends the measurement once the speed is known, and in any case before there would be a model. */
static int on_measured_step(void *arg, const struct ran_train_report *report)
{
        const double enough = 3; /* seconds; the first step is slower than the others */
        double *seconds = arg;

        if (report->no_encoder) {
                *seconds = report->seconds;
                return report->seconds > ENOUGH_LINEAR;
        }
        if (report->event != RAN_REPORT_STEP)
                return 0;
        *seconds = report->seconds + report->eta_seconds;
        return report->seconds > enough || report->step >= report->steps;
}

/* Estimates the seconds of the whole training. Writes no file. */
static double measure(const struct ran_train_job *job)
{
        struct ran_train_settings settings = *job->settings;
        struct ran_train_job trial = *job;
        struct ran_error err = {0};
        double seconds = 0;

        settings.patience = settings.epochs; /* so that nothing but on_measured_step ends it */
        trial.settings = &settings;
        trial.output = trial.checkpoint = NULL;
        trial.report = on_measured_step;
        trial.arg = &seconds;
        int code = ran_train(&trial, &err);
        if (code != RAN_OK && code != RAN_EINTR)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        return seconds;
}

static int tell_linear_time(const struct ran_train_job *job)
{
        char text[32];

        fflush(stdout);
        double seconds = measure(job);
        printf("time        %s%s for the linear model, on %zu threads\n",
               seconds > ENOUGH_LINEAR ? "more than " : "", train_duration(text, seconds),
               ran_pool_threads(job->pool));
        return CMD_OK;
}

int train_dry_run(const struct ran_train_job *job)
{
        struct ran_train_estimate e;
        struct ran_error err = {0};
        char text[32];

        if (ran_train_estimate(job, &e, &err) != RAN_OK)
                cmd_die(cmd_status_of(&err), "%s", err.text);
        printf("parameters  %zu in tables of tokens and features, %zu in the rest\n",
               e.embedding_parameters, e.parameters);
        printf("memory      %sB at most\n", train_amount(text, (double)e.bytes));
        printf("documents   %zu, %s tokens\n", job->train->B,
               train_amount(text, (double)job->train->first[job->train->B]));
        if (!ran_config_has_encoder(job->config))
                return tell_linear_time(job);
        printf("steps       %zu\n", e.steps);
        printf("arithmetic  %s operations per epoch\n", train_amount(text, e.flops));
        fflush(stdout); /* what follows takes a while */
        printf("time        %s for %zu epochs%s, on %zu threads\n",
               train_duration(text, measure(job)), job->settings->epochs,
               job->settings->refit && job->held_out != NULL
                       ? ", and at most as much again for --refit"
                       : "",
               ran_pool_threads(job->pool));
        return CMD_OK;
}
