/* progress.c - the live line, the plain lines and the log of a training run.
 *
 * On a terminal one line is redrawn, and kept after each evaluation. A file or pipe gets one plain
 * line for each evaluation and every half minute in between: a log stays short, and a long run is
 * never silent.
 */
#include "cmd/train/progress.h"
#include "cmd/options/message.h"
#include "cmd/options/common.h"
#include "cmd/options/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const double live_seconds = 0.2, plain_seconds = 30;

static bool can_redraw(void)
{
        const char *term = getenv("TERM");

        return isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

void train_progress_begin(struct train_progress *p)
{
        if (cmd_common.quiet)
                p->when = TRAIN_PROGRESS_NEVER;
        p->live = p->when == TRAIN_PROGRESS_ALWAYS ||
                  (p->when == TRAIN_PROGRESS_AUTO && can_redraw());
        p->next = p->live ? 0 : plain_seconds;
}

/* ---- numbers for people --------------------------------------------------------------------- */

const char *train_duration(char text[32], double seconds)
{
        /* Above a century the exact time no longer matters, and the number stays in range. */
        unsigned long s = (unsigned long)fmin(fmax(seconds, 0), 4e9);

        snprintf(text, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
        return text;
}

const char *train_amount(char text[32], double x)
{
        static const char *const suffix[] = {"", "k", "M", "G", "T", "P", "E"};
        size_t i = 0;

        for (; x >= 999.95 && i + 1 < sizeof suffix / sizeof *suffix; i++)
                x /= 1000;
        snprintf(text, 32, i == 0 ? "%.0f%s" : "%.1f%s", x, suffix[i]);
        return text;
}

double train_progress_metric(const struct train_progress *p, double metric)
{
        if (p->texts)
                return ran_exp(-metric);
        return strcmp(p->metric, "loss") == 0 ? -metric : 100 * metric;
}

const char *train_progress_name(const struct train_progress *p)
{
        if (p->texts)
                return "perplexity";
        return p->single && strcmp(p->metric, "micro_f1") == 0 ? "accuracy" : p->metric;
}

/* ---- lines for people ----------------------------------------------------------------------- */

static void add_dev(const struct train_progress *p, struct ran_buf *line)
{
        const struct ran_train_report *d = &p->dev;

        ran_buf_printf(line, "  dev %s %.2f", train_progress_name(p),
                       train_progress_metric(p, d->metric));
        if (d->no_encoder)
                return;
        if (d->improved)
                ran_buf_str(line, " (best)");
        else
                ran_buf_printf(line, " (best %.2f, epoch %zu)", train_progress_metric(p, d->best),
                               d->best_epoch);
}

/* Of a linear model that is alone: its figures on the validation documents. */
static void add_fitted(const struct ran_train_report *r, struct ran_buf *line)
{
        ran_buf_printf(line, "linear model  dev loss %.4f", r->loss);
}

static void add_steps(const struct ran_train_report *r, struct ran_buf *line)
{
        char text[32];
        double share = r->steps > 0 ? (double)r->step / (double)r->steps : 0;

        ran_buf_printf(line, "epoch %zu/%zu  step %zu/%zu %.1f%%", r->epoch, r->epochs, r->step,
                       r->steps, 100 * share);
        if (r->event == RAN_REPORT_DEV)
                ran_buf_printf(line, "  dev loss %.4f", r->loss);
        else
                ran_buf_printf(line, "  loss %.4f  lr %.1e  |g| %.2f", r->loss, r->learning_rate,
                               r->gradient_norm);
        ran_buf_printf(line, "  %s tok/s", train_amount(text, r->tokens_per_second));
        ran_buf_printf(line, "  eta %s", train_duration(text, r->eta_seconds));
}

static void make_line(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *line)
{
        if (p->trial > 0)
                ran_buf_printf(line, "trial %zu  ", p->trial);
        if (r->event == RAN_REPORT_REFIT && (r->no_encoder || r->linear_only)) {
                ran_buf_printf(line, "refitting the linear model on all %zu documents",
                               p->documents);
                return;
        }
        if (r->event == RAN_REPORT_REFIT) {
                ran_buf_printf(line, "epoch %zu was best; refitting on all %zu documents",
                               r->best_epoch, p->documents);
                return;
        }
        if (r->refit)
                ran_buf_str(line, "refit  ");
        if (r->event == RAN_REPORT_LINEAR)
                ran_buf_printf(line, "linear model  pass %zu", r->step);
        else if (r->no_encoder)
                add_fitted(r, line);
        else
                add_steps(r, line);
        if (p->has_dev && !r->refit)
                add_dev(p, line);
}

static size_t terminal_width(void)
{
        struct winsize w;

        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 2)
                return 79;
        return w.ws_col - 1u; /* a full line would wrap, and could not be drawn again */
}

void train_progress_clear(struct train_progress *p)
{
        if (p->drawn)
                fprintf(stderr, "\r%*s\r", (int)terminal_width(), "");
        p->drawn = false;
}

static void show(struct train_progress *p, const struct ran_train_report *r)
{
        bool passing = r->event == RAN_REPORT_STEP || r->event == RAN_REPORT_LINEAR;
        bool lasting =
                (r->event == RAN_REPORT_DEV || r->event == RAN_REPORT_REFIT) && p->trial == 0;
        struct ran_buf line = {0};

        if (!lasting && (!passing || r->seconds < p->next))
                return;
        p->next = r->seconds + (p->live ? live_seconds : plain_seconds);
        make_line(p, r, &line);
        size_t width = terminal_width();
        size_t n = p->live && !lasting && line.len > width ? width : line.len;
        if (!line.failed) {
                train_progress_clear(p);
                fprintf(stderr, p->live && !lasting ? "%.*s" : "%.*s\n", (int)n, line.data);
                p->drawn = p->live && !lasting;
        }
        ran_buf_release(&line);
}

void train_progress_line(struct train_progress *p, const struct ran_buf *line)
{
        if (p->when == TRAIN_PROGRESS_NEVER || line->failed)
                return;
        train_progress_clear(p);
        fprintf(stderr, "%.*s\n", (int)line->len, line->data);
}

/* ---- lines for machines --------------------------------------------------------------------- */

static void add_number(struct ran_buf *b, const char *name, double x)
{
        ran_buf_printf(b, ",\"%s\":", name);
        ran_buf_double(b, x);
}

static void make_entry(const struct train_progress *p, const struct ran_train_report *r,
                       struct ran_buf *b)
{
        static const char *const event[] = {"wide", "step",  "dev", "checkpoint",
                                            "kept", "refit", "end"};

        ran_buf_printf(b, "\"event\":\"%s\"", event[r->event]);
        if (p->trial > 0)
                ran_buf_printf(b, ",\"trial\":%zu", p->trial);
        if (r->refit)
                ran_buf_str(b, ",\"refit\":true");
        ran_buf_printf(b, ",\"epoch\":%zu,\"epochs\":%zu,\"step\":%zu,\"steps\":%zu", r->epoch,
                       r->epochs, r->step, r->steps);
        if (r->event == RAN_REPORT_DEV) {
                ran_buf_str(b, ",\"dev\":{\"loss\":");
                ran_buf_double(b, r->loss);
                if (p->texts) {
                        add_number(b, "perplexity", ran_exp(r->loss));
                } else {
                        add_number(b, "accuracy", r->accuracy);
                        add_number(b, "micro_f1", r->micro_f1);
                        add_number(b, "macro_f1", r->macro_f1);
                }
                ran_buf_printf(b, "},\"metric\":\"%s\",\"improved\":%s", p->metric,
                               r->improved ? "true" : "false");
                add_number(b, "value", r->metric);
                add_number(b, "best", r->best);
                ran_buf_printf(b, ",\"best_epoch\":%zu", r->best_epoch);
        } else {
                add_number(b, "loss", r->loss);
                add_number(b, "lr", r->learning_rate);
                add_number(b, "grad_norm", r->gradient_norm);
        }
        ran_buf_printf(b, ",\"tokens\":%zu", r->tokens);
        add_number(b, "tokens_per_s", r->tokens_per_second);
        add_number(b, "seconds", r->seconds);
        if (r->moved > 0)
                add_number(b, "moved_bytes", (double)r->moved);
        ran_buf_printf(b, ",\"seed\":%llu", (unsigned long long)p->seed);
}

/* Training survives a log that fails (a full disk): it is reported once, and at the end. */
void train_progress_entry(struct train_progress *p, const struct ran_buf *members)
{
        struct ran_buf entry = {0};

        if (p->log == NULL || p->log_failed)
                return;
        ran_buf_char(&entry, '{');
        ran_buf_add(&entry, members->data, members->len);
        add_number(&entry, "time", floor(1e3 * ran_clock_date()) / 1e3);
        ran_buf_str(&entry, "}\n");
        errno = ENOMEM;
        if (entry.failed || members->failed ||
            fwrite(entry.data, 1, entry.len, p->log) != entry.len || fflush(p->log) != 0) {
                p->log_failed = true;
                train_progress_clear(p);
                cmd_warn("%s: the log cannot be written: %s; training continues without it",
                         p->log_name, strerror(errno));
        }
        ran_buf_release(&entry);
}

void train_progress_report(struct train_progress *p, const struct ran_train_report *r)
{
        p->last = *r;
        if (r->event == RAN_REPORT_DEV) {
                p->dev = *r;
                p->has_dev = true;
        }
        if (p->when != TRAIN_PROGRESS_NEVER)
                show(p, r);
        struct ran_buf entry = {0};
        if (p->log != NULL)
                make_entry(p, r, &entry);
        train_progress_entry(p, &entry);
        ran_buf_release(&entry);
}

bool train_progress_end(struct train_progress *p)
{
        train_progress_clear(p);
        if (p->log != NULL && fclose(p->log) != 0 && !p->log_failed) {
                p->log_failed = true;
                cmd_warn("%s: the log cannot be written: %s", p->log_name, strerror(errno));
        }
        p->log = NULL;
        return !p->log_failed;
}
