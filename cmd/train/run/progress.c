/* progress.c - the live line, the plain lines and the log of a training run.
 *
 * On a terminal one line is redrawn, and kept after each evaluation. A file or pipe gets one plain
 * line for each evaluation and every half minute in between: a log stays short, and a long run is
 * never silent.
 */
#include "cmd/train/run/progress.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const double live_seconds = 0.2, plain_seconds = 30;

void train_progress_begin(struct train_progress *p)
{
        if (cmd_common.quiet)
                p->when = TRAIN_PROGRESS_NEVER;
        p->live = p->when == TRAIN_PROGRESS_ALWAYS ||
                  (p->when == TRAIN_PROGRESS_AUTO && cmd_can_redraw());
        p->next = p->live ? 0 : plain_seconds;
}

/* ---- lines for people ----------------------------------------------------------------------- */

static size_t terminal_width(void)
{
        struct winsize w;

        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 2)
                return 79;
        return w.ws_col - 1u; /* a full line would wrap, and could not be drawn again */
}

/* "[####------]", of what is left of the width; nothing where that is little. */
static void add_bar(struct ran_buf *line, double share, size_t width, size_t rest)
{
        const size_t most = 22, least = 6;
        size_t n = line->len + rest < width ? width - line->len - rest : 0;

        n = n > most ? most : n;
        if (n < least)
                return;
        n -= 4; /* brackets, and two spaces */
        ran_buf_str(line, "  [");
        for (size_t i = 0; i < n; i++)
                ran_buf_char(line, (double)i + 0.5 < share * (double)n ? '#' : '-');
        ran_buf_char(line, ']');
}

/* `tail` behind a bar; a plain line has no bar. */
static void add_tail(const struct train_progress *p, struct ran_buf *line, double share,
                     const struct ran_buf *tail)
{
        if (p->live)
                add_bar(line, share, terminal_width(), tail->len);
        line->failed |= tail->failed;
        ran_buf_add(line, tail->data, tail->len);
}

static void add_pass(const struct train_progress *p, const struct ran_train_report *r,
                     struct ran_buf *line)
{
        struct ran_buf tail = {0};

        ran_buf_str(line, "linear model");
        ran_buf_printf(&tail, "  %.0f %%  pass %zu", floor(100 * r->share), r->step);
        add_tail(p, line, r->share, &tail);
        ran_buf_release(&tail);
}

/* The speed is left out where the bar would have no room. */
static void add_step(const struct train_progress *p, const struct ran_train_report *r,
                     struct ran_buf *line)
{
        const double share = r->steps > 0 ? (double)r->step / (double)r->steps : 0;
        const size_t bar = 14;
        struct ran_buf tail = {0}, speed = {0}, left = {0};
        char text[32];

        ran_buf_printf(line, "epoch %zu/%zu", r->epoch, r->epochs);
        ran_buf_printf(&tail, "  %.0f %%  training loss %.4f", floor(100 * share), r->loss);
        ran_buf_printf(&speed, "  %s tokens/s", train_amount(text, r->tokens_per_second));
        ran_buf_printf(&left, "  ETA %s", train_duration(text, r->eta_seconds));
        if (cmd_common.verbose)
                ran_buf_printf(&left, "  step %zu/%zu  learning rate %.1e  gradient norm %.2f",
                               r->step, r->steps, r->learning_rate, r->gradient_norm);
        if (!p->live || line->len + tail.len + speed.len + left.len + bar <= terminal_width())
                ran_buf_add(&tail, speed.data, speed.len);
        ran_buf_add(&tail, left.data, left.len);
        tail.failed |= speed.failed || left.failed;
        add_tail(p, line, share, &tail);
        ran_buf_release(&tail);
        ran_buf_release(&speed);
        ran_buf_release(&left);
}

/* Tells the results of an epoch. */
static void add_epoch(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *line)
{
        const bool two = r->encoder_loss > 0; /* encoder and linear model */

        ran_buf_printf(line, "epoch %zu/%zu  %s", r->epoch, r->epochs, two ? "ensemble: " : "");
        train_figure_add(p, r, line);
        if (r->improved)
                ran_buf_str(line, ", best so far");
        else
                ran_buf_printf(line, ", best %.2f in epoch %zu", train_progress_metric(p, r->best),
                               r->best_epoch);
        ran_buf_printf(line, "  %straining loss %.4f", two ? "encoder: " : "", r->training_loss);
        if (two)
                ran_buf_printf(line, ", validation loss %.4f", r->encoder_loss);
}

static void add_refit(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *line)
{
        if (r->no_encoder || r->linear_only)
                ran_buf_printf(line, "refitting the linear model on all %zu documents",
                               p->documents);
        else
                ran_buf_printf(line, "epoch %zu was best; refitting on all %zu documents",
                               r->best_epoch, p->documents);
}

static void make_line(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *line)
{
        if (p->trial > 0)
                ran_buf_printf(line, "trial %zu  ", p->trial);
        if (r->refit && r->event != RAN_REPORT_REFIT)
                ran_buf_str(line, "refit  ");
        if (r->event == RAN_REPORT_REFIT) {
                add_refit(p, r, line);
        } else if (r->event == RAN_REPORT_DECIDED) {
                ran_train_decision_tell(&r->decision, line);
        } else if (r->event == RAN_REPORT_LINEAR) {
                add_pass(p, r, line);
        } else if (r->event == RAN_REPORT_FITTED || r->no_encoder) {
                ran_buf_str(line, "linear model: ");
                train_figure_add(p, r, line);
        } else if (r->event == RAN_REPORT_DEV) {
                add_epoch(p, r, line);
        } else {
                add_step(p, r, line);
        }
}

/* Reports whose line stays. */
static bool lasts(const struct train_progress *p, const struct ran_train_report *r)
{
        return p->trial == 0 && (r->event == RAN_REPORT_DEV || r->event == RAN_REPORT_REFIT ||
                                 r->event == RAN_REPORT_FITTED || r->event == RAN_REPORT_DECIDED);
}

void train_progress_clear(struct train_progress *p)
{
        if (p->drawn)
                fprintf(stderr, "\r%*s\r", (int)terminal_width(), "");
        p->drawn = false;
}

static void draw(struct train_progress *p, const struct ran_buf *line, bool lasting)
{
        const size_t width = terminal_width();
        const size_t n = p->live && !lasting && line->len > width ? width : line->len;

        if (line->failed)
                return;
        train_progress_clear(p);
        cmd_put_line(line->data, n);
        fputs(p->live && !lasting ? "" : "\n", stderr);
        p->drawn = p->live && !lasting;
}

static void show(struct train_progress *p, const struct ran_train_report *r)
{
        bool passing = r->event == RAN_REPORT_STEP || r->event == RAN_REPORT_LINEAR;
        bool lasting = lasts(p, r);
        struct ran_buf line = {0};

        if (!lasting && (!passing || r->seconds < p->next))
                return;
        p->next = r->seconds + (!p->live ? plain_seconds : lasting ? 0 : live_seconds);
        p->decided |= r->event == RAN_REPORT_DECIDED;
        make_line(p, r, &line);
        draw(p, &line, lasting);
        ran_buf_release(&line);
}

void train_progress_share(struct train_progress *p, const char *what, double share, double seconds)
{
        struct ran_buf line = {0}, tail = {0};

        if (p->when == TRAIN_PROGRESS_NEVER || seconds < p->next)
                return;
        p->next = seconds + (p->live ? live_seconds : plain_seconds);
        ran_buf_str(&line, what);
        ran_buf_printf(&tail, "  %.0f %%", floor(100 * share));
        add_tail(p, &line, share, &tail);
        draw(p, &line, false);
        ran_buf_release(&tail);
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

static void add_validation(const struct train_progress *p, const struct ran_train_report *r,
                           struct ran_buf *b)
{
        ran_buf_str(b, ",\"dev\":{\"loss\":");
        ran_buf_double(b, r->loss);
        if (p->texts) {
                add_number(b, "perplexity", ran_exp(r->loss));
                add_number(b, "unknown_share", p->unknown);
        } else {
                add_number(b, "accuracy", r->accuracy);
                add_number(b, "micro_f1", r->micro_f1);
                add_number(b, "macro_f1", r->macro_f1);
        }
        ran_buf_printf(b, "},\"metric\":\"%s\"", p->metric);
        add_number(b, "value", r->metric);
        ran_buf_printf(b, ",\"documents\":%zu", r->validation);
        if (!p->texts && !isnan(r->baseline))
                add_number(b, "baseline", r->baseline);
        if (r->interval.low <= r->interval.high) {
                ran_buf_str(b, ",\"interval\":[");
                ran_buf_double(b, r->interval.low);
                ran_buf_char(b, ',');
                ran_buf_double(b, r->interval.high);
                ran_buf_char(b, ']');
        }
        if (r->event == RAN_REPORT_FITTED)
                return;
        ran_buf_printf(b, ",\"improved\":%s", r->improved ? "true" : "false");
        add_number(b, "best", r->best);
        ran_buf_printf(b, ",\"best_epoch\":%zu", r->best_epoch);
        if (r->no_encoder)
                return;
        add_number(b, "training_loss", r->training_loss);
        if (r->encoder_loss > 0) {
                add_number(b, "encoder_loss", r->encoder_loss);
                add_number(b, "linear_loss", r->linear_loss);
        }
}

static void make_entry(const struct train_progress *p, const struct ran_train_report *r,
                       struct ran_buf *b)
{
        static const char *const event[] = {"wide",  "step", "dev",    "checkpoint", "kept",
                                            "refit", "end",  "linear", "decided"};

        ran_buf_printf(b, "\"event\":\"%s\"", event[r->event]);
        if (p->trial > 0)
                ran_buf_printf(b, ",\"trial\":%zu", p->trial);
        if (r->refit)
                ran_buf_str(b, ",\"refit\":true");
        ran_buf_printf(b, ",\"epoch\":%zu,\"epochs\":%zu,\"step\":%zu,\"steps\":%zu", r->epoch,
                       r->epochs, r->step, r->steps);
        if (r->event == RAN_REPORT_DEV || r->event == RAN_REPORT_FITTED) {
                add_validation(p, r, b);
        } else {
                add_number(b, "loss", r->loss);
                add_number(b, "lr", r->learning_rate);
                add_number(b, "grad_norm", r->gradient_norm);
        }
        if (r->event == RAN_REPORT_DECIDED) {
                struct ran_buf why = {0};

                ran_train_decision_tell(&r->decision, &why);
                ran_buf_str(b, ",\"decision\":");
                ran_buf_json(b, why.data, why.len);
                b->failed |= why.failed;
                ran_buf_release(&why);
        }
        if (r->event == RAN_REPORT_LINEAR)
                add_number(b, "share", r->share);
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
        struct ran_buf entry = {0};

        p->last = *r;
        if (p->when != TRAIN_PROGRESS_NEVER)
                show(p, r);
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
