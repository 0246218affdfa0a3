/* run.c - a training run: signals, and files beside the output. */
#include "cmd/train/run/run.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/outputs.h"
#include "cmd/options/write.h"
#include "cmd/train/read/task.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- signals -------------------------------------------------------------------------------- */

static atomic_int stop_signal; /* any thread may ask */

/* A signal requests a checkpoint and the end, which takes up to one step. The second SIGINT or
 * SIGTERM ends the program at once. The others only request: a hangup comes twice if the shell
 * passes it on, and a pipe without a reader breaks at every line. */
static void on_signal(int signal)
{
        const int before = stop_signal;
        const bool sent = signal == SIGINT || signal == SIGTERM;

        if (sent && (before == SIGINT || before == SIGTERM))
                _exit(128 + signal);
        if (sent || before == 0)
                stop_signal = signal;
}

/* Catches SIGINT even if a script started the program in the background, with SIGINT ignored; but
 * respects nohup. */
void train_run_catch_signals(void)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
        const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        struct sigaction now;

        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
                if (i < 2 || sigaction(signals[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN)
                        sigaction(signals[i], &action, NULL);
}

int train_run_stopped(void)
{
        return stop_signal;
}

int train_run_watch(void *arg, const struct ran_train_report *report)
{
        (void)arg;
        (void)report;
        return stop_signal;
}

int train_run_ended(const struct ran_error *err, const char *interrupted)
{
        const int signal = stop_signal;

        if (err->code == RAN_EINTR && signal != 0) {
                cmd_warn("%s", interrupted);
                return 128 + signal;
        }
        cmd_warn("%s", err->text);
        return cmd_status_of(err);
}

/* ---- files ---------------------------------------------------------------------------------- */

const char *train_run_trial(char path[PATH_MAX], const char *folder, size_t trial)
{
        if (trial == 0)
                snprintf(path, PATH_MAX, "%s/running.json", folder);
        else
                snprintf(path, PATH_MAX, "%s/%zu.json", folder, trial);
        return path;
}

void train_run_each_trial(const char *folder, void (*fn)(const char *path, void *arg), void *arg)
{
        DIR *dir = opendir(folder);
        const struct dirent *entry;
        char path[PATH_MAX];

        while (dir != NULL && (entry = readdir(dir)) != NULL) {
                const size_t digits = strspn(entry->d_name, "0123456789");

                if (strcmp(entry->d_name, "running.json") == 0 ||
                    (digits > 0 && strcmp(entry->d_name + digits, ".json") == 0)) {
                        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
                        fn(path, arg);
                }
        }
        if (dir != NULL)
                closedir(dir);
}

struct check {
        const struct cmd_program *program;
        char **files;
};

static void check_trial(const char *path, void *arg)
{
        const struct check *k = arg;

        cmd_check_beside(k->program, path, k->files);
}

/* The name of a file beside the output. Nobody named it, so that it must be ours to replace: what a
 * symbolic link points to is not, and a pipe would wait for somebody at its other end. */
static char *beside(const char *output, const char *suffix, bool folder,
                    const struct cmd_program *program, char **files)
{
        struct ran_buf path = {0};
        struct stat st;

        ran_buf_printf(&path, "%s%s%c", output, suffix, '\0');
        char *name = path.data;
        if (lstat(name, &st) == 0 && !S_ISREG(st.st_mode) && !(folder && S_ISDIR(st.st_mode)))
                cmd_die(CMD_FAILED,
                        "%s is %s, and the training would write there: remove it, or give "
                        "another name after -o",
                        name,
                        S_ISLNK(st.st_mode)    ? "a symbolic link"
                        : S_ISDIR(st.st_mode)  ? "a folder"
                        : S_ISFIFO(st.st_mode) ? "a pipe"
                                               : "not a regular file");
        cmd_check_beside(program, name, files);
        return name;
}

void train_run_prepare(struct train_run *run, const char *output, const struct cmd_program *program,
                       char **files)
{
        const struct train_run_options *options = run->options;
        char path[PATH_MAX];
        struct stat st;

        run->resume = options->resume;
        cmd_check_writable(output);
        if (cmd_is_stream(output) && (run->resume || options->tune > 0))
                cmd_usage("--%s keeps its state beside the output, and "
                          "%s is no file: give -o MODEL",
                          run->resume ? "resume" : "tune", output);
        if (!cmd_is_stream(output)) {
                run->checkpoint = beside(output, ".ckpt", false, program, files);
                cmd_check_writable(run->checkpoint);
                const bool exists = access(run->checkpoint, F_OK) == 0;
                bool any = exists;
                if (options->tune > 0) {
                        run->trials = beside(output, ".tune", true, program, files);
                        train_run_each_trial(run->trials, check_trial,
                                             &(struct check){program, files});
                        if (stat(run->trials, &st) == 0 && !S_ISDIR(st.st_mode) &&
                            !options->overwrite_checkpoint)
                                cmd_die(CMD_USAGE,
                                        "%s is of an older version, which this version cannot "
                                        "continue: resume it with that version, or start again "
                                        "with --overwrite-checkpoint",
                                        run->trials);
                        /* an interrupted search, or with --resume any */
                        any |= access(train_run_trial(path, run->trials, 0), F_OK) == 0 ||
                               (run->resume &&
                                access(train_run_trial(path, run->trials, 1), F_OK) == 0);
                }
                if (any && !run->resume && !options->overwrite_checkpoint)
                        cmd_die(CMD_FAILED,
                                "%s is left from an interrupted training: continue with --resume, "
                                "or start again with --overwrite-checkpoint",
                                exists ? run->checkpoint : run->trials);
                if (run->resume && !any) {
                        cmd_note("there is no %s to resume: training starts from the beginning",
                                 run->trials != NULL ? run->trials : run->checkpoint);
                        run->resume = false;
                }
        }
        if (options->log != NULL) { /* a resumed run appends to it */
                run->log = fopen(options->log, run->resume ? "ae" : "we");
                if (run->log == NULL)
                        cmd_die(CMD_FAILED, "cannot write the log %s: %s", options->log,
                                strerror(errno));
        }
        if (options->report != NULL) {
                cmd_check_writable(options->report);
                run->page = ran_new(1, sizeof *run->page);
                run->page->path = options->report;
                run->page->resumed = run->resume;
        }
}

void train_run_release(struct train_run *run)
{
        if (run->page != NULL)
                ran_buf_release(&run->page->data);
        free(run->page);
        run->page = NULL;
        free(run->checkpoint);
        free(run->trials);
        run->checkpoint = run->trials = NULL;
}

/* ---- the run -------------------------------------------------------------------------------- */

/* These get each report. */
struct watcher {
        struct train_progress progress;
        struct train_page *page; /* or NULL */
        double before;           /* seconds that the program took until then */
};

static int on_report(void *arg, const struct ran_train_report *report)
{
        struct watcher *w = arg;
        struct ran_train_report r = *report;

        r.seconds += w->before; /* people wait for all of it */
        if (w->page != NULL)
                train_page_note(w->page, &r);
        train_progress_report(&w->progress, &r);
        return stop_signal;
}

/* The share among predicted tokens: those of a source are not. */
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
        const struct train_task *task = run->task;
        const struct ran_field *metric = ran_train_fields;
        while (strcmp(metric->name, "metric") != 0)
                metric++;
        struct train_progress p = {.when = run->options->progress,
                                   .metric = metric->choices[job->settings->metric],
                                   .texts = task->label == NULL,
                                   .unknown = task->label == NULL ? unknown_share(job) : 0,
                                   .single =
                                           task->of_documents && !job->config->classify.multilabel,
                                   .documents = job->train->B,
                                   .seed = job->settings->seed,
                                   .log = run->log,
                                   .log_name = run->options->log};

        train_progress_begin(&p);
        return p;
}

int train_run(const struct ran_train_job *job, struct train_run *run)
{
        struct watcher w = {train_run_progress(job, run), run->page, ran_clock() - run->began};
        struct train_progress *progress = &w.progress;
        struct ran_train_job watched = *job;
        struct ran_error err = {0};

        watched.resume = run->resume;
        watched.report = on_report;
        watched.arg = &w;
        if (run->page != NULL)
                run->page->read_seconds = w.before;
        train_run_catch_signals();
        int rc = ran_train(&watched, &err);
        bool logged = train_progress_end(progress);
        if (rc != RAN_OK) {
                /* by a signal that another rank did not get */
                const bool interrupted = err.code == RAN_EINTR && stop_signal != 0;

                if (interrupted && job->ranks == NULL)
                        cmd_warn("interrupted");
                else
                        cmd_warn("%s%s", interrupted ? "interrupted: " : "", err.text);
                if (progress->last.step > 0 && err.code != RAN_EDIVERGED &&
                    job->checkpoint != NULL && access(job->checkpoint, F_OK) == 0)
                        cmd_warn("%s has the state of the training: continue with the same command "
                                 "and --resume",
                                 job->checkpoint);
                return interrupted ? 128 + stop_signal : cmd_status_of(&err);
        }
        train_summarise(job, progress);
        if (run->page != NULL)
                train_page_write(run->page, job, progress);
        if (!run->replay)
                train_tell_model(job, run);
        if (!logged)
                cmd_warn("the model is complete, but %s is not", run->options->log);
        return logged ? CMD_OK : CMD_FAILED;
}

/* ---- several processes ----------------------------------------------------------------------- */

static struct ran_ranks *ranks;

struct ran_ranks *train_ranks(void)
{
        return ranks;
}

int train_ranks_close(int status)
{
        struct ran_ranks *r = ranks;

        ranks = NULL;
        ran_ranks_close(r, status);
        return status;
}

/* Runs for any cmd_die. */
static void close_at_exit(void)
{
        train_ranks_close(CMD_FAILED);
}

bool train_ranks_open(void)
{
        struct ran_error err = {0};

        if (ran_ranks_open(&ranks, train_run_stopped, &err) != RAN_OK) {
                cmd_set_program("ran-train");
                if (err.text[0] == '\0')
                        exit(CMD_OK); /* rank 0 prints it, unless the launcher ends it before */
                cmd_die(cmd_status_of(&err), "%s", err.text);
        }
        if (ranks != NULL)
                atexit(close_at_exit); /* after the program's own cleanup */
        return ran_ranks_me(ranks) == 0;
}

int train_ranks_follow(void)
{
        struct ran_error err = {0};
        int status = CMD_OK;

        cmd_set_program("ran-train");
        train_run_catch_signals();
        if (ran_train_follow(ranks, &err) != RAN_OK) {
                status = cmd_status_of(&err);
                cmd_warn("rank %zu: %s", ran_ranks_me(ranks), err.text);
        }
        return train_ranks_close(status);
}
