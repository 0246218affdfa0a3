/* progress.c - the live line, the plain lines and the log of a training run.
 *
 * On a terminal one line is redrawn, and kept after each evaluation. A file or pipe gets one plain
 * line for each evaluation and every half minute in between: a log stays short, and a long run is
 * never silent.
 */
#include "cmd/train/run/run.h"
#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/train/about/about.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double live_seconds = 0.2, plain_seconds = 30;

void train_progress_begin(struct train_progress *p)
{
        if (cmd_common.quiet)
                p->when = TRAIN_PROGRESS_NEVER;
        p->live = p->when == TRAIN_PROGRESS_ALWAYS ||
                  (p->when == TRAIN_PROGRESS_AUTO && cmd_can_redraw());
        p->next = p->live ? 0 : plain_seconds;
}

/* ---- results as people read them ------------------------------------------------------------- */

double train_progress_metric(const struct train_progress *p, double metric)
{
        if (p->texts && strcmp(p->metric, "loss") == 0)
                return ran_exp(-metric);
        return strcmp(p->metric, "loss") == 0 ? -metric : 100 * metric;
}

const char *train_progress_name(const struct train_progress *p)
{
        if (p->texts && strcmp(p->metric, "loss") == 0)
                return "perplexity";
        return p->single && strcmp(p->metric, "micro_f1") == 0 ? "accuracy" : p->metric;
}

/* "84 of 100, 76 to 90 %", or "76 to 90 %, 100 documents" where the metric is no share of them. */
static void add_interval(const struct train_progress *p, double metric, struct ran_interval i,
                         size_t documents, struct ran_buf *out)
{
        const bool share = p->single && strncmp(p->metric, "macro", 5) != 0;

        if (i.low > i.high) {
                ran_buf_printf(out, "(%zu documents)", documents);
                return;
        }
        ran_buf_char(out, '(');
        if (share)
                ran_buf_printf(out, "%.0f of %zu, ", round(metric * (double)documents), documents);
        ran_buf_printf(out, "%.0f to %.0f %%", 100 * i.low, 100 * i.high);
        if (!share)
                ran_buf_printf(out, ", %zu documents", documents);
        ran_buf_char(out, ')');
}

void train_figure_metric(const struct train_progress *p, double metric,
                         struct ran_interval interval, size_t documents, struct ran_buf *out)
{
        ran_buf_printf(out, "%s %.2f ", train_progress_name(p), train_progress_metric(p, metric));
        add_interval(p, metric, interval, documents, out);
        if (p->unknown > 0)
                ran_buf_printf(out, ", %.3g %% of tokens unknown", 100 * p->unknown);
}

/* The same behind "validation loss 0.4490, ", of a report RAN_REPORT_DEV or _FITTED. */
static void add_figure(const struct train_progress *p, const struct ran_train_report *r,
                       struct ran_buf *out)
{
        const struct ran_interval none = {1, 0};

        ran_buf_printf(out, "validation loss %.4f", r->loss);
        if (strcmp(train_progress_name(p), "loss") == 0) {
                ran_buf_char(out, ' ');
                add_interval(p, r->metric, none, r->validation, out);
        } else {
                ran_buf_str(out, ", ");
                train_figure_metric(p, r->metric, p->texts ? none : r->interval, r->validation,
                                    out);
        }
}

/* ---- lines for people ----------------------------------------------------------------------- */

/* How much is done; with a bar, unless the line is plain. */
static void add_share(const struct train_progress *p, double share, struct ran_buf *line)
{
        enum { BAR = 12 };

        ran_buf_str(line, p->live ? "  [" : "");
        for (int i = 0; p->live && i < BAR; i++)
                ran_buf_char(line, i + 0.5 < share * BAR ? '#' : '-');
        ran_buf_printf(line, "%s  %.0f %%", p->live ? "]" : "", floor(100 * share));
}

/* A live line has no room for the speed. */
static void add_step(const struct train_progress *p, const struct ran_train_report *r,
                     struct ran_buf *line)
{
        char text[32];

        ran_buf_printf(line, "epoch %zu/%zu", r->epoch, r->epochs);
        add_share(p, r->steps > 0 ? (double)r->step / (double)r->steps : 0, line);
        ran_buf_printf(line, "  training loss %.4f", r->loss);
        if (!p->live)
                ran_buf_printf(line, "  %s tokens/s", train_amount(text, r->tokens_per_second));
        ran_buf_printf(line, "  ETA %s", train_duration(text, r->eta_seconds));
        if (cmd_common.verbose)
                ran_buf_printf(line, "  step %zu/%zu  learning rate %.1e  gradient norm %.2f",
                               r->step, r->steps, r->learning_rate, r->gradient_norm);
}

/* Tells the results of an epoch. */
static void add_epoch(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *line)
{
        const bool two = r->encoder_loss > 0; /* encoder and linear model */

        ran_buf_printf(line, "epoch %zu/%zu  %s", r->epoch, r->epochs, two ? "ensemble: " : "");
        add_figure(p, r, line);
        if (r->improved)
                ran_buf_str(line, ", best so far");
        else
                ran_buf_printf(line, ", best %.2f in epoch %zu", train_progress_metric(p, r->best),
                               r->best_epoch);
        ran_buf_printf(line, "  %straining loss %.4f", two ? "encoder: " : "", r->training_loss);
        if (two)
                ran_buf_printf(line, ", validation loss %.4f", r->encoder_loss);
}

static void make_line(const struct train_progress *p, const struct ran_train_report *r,
                      struct ran_buf *line)
{
        if (p->trial > 0)
                ran_buf_printf(line, "trial %zu  ", p->trial);
        if (r->refit && r->event != RAN_REPORT_REFIT)
                ran_buf_str(line, "refit  ");
        if (r->event == RAN_REPORT_REFIT && (r->no_encoder || r->linear_only)) {
                ran_buf_printf(line, "refitting the linear model on all %zu documents",
                               p->documents);
        } else if (r->event == RAN_REPORT_REFIT) {
                ran_buf_printf(line, "epoch %zu was best; refitting on all %zu documents",
                               r->best_epoch, p->documents);
        } else if (r->event == RAN_REPORT_DECIDED) {
                ran_train_decision_tell(&r->decision, line);
        } else if (r->event == RAN_REPORT_LINEAR) {
                ran_buf_str(line, "linear model");
                add_share(p, r->share, line);
                ran_buf_printf(line, "  pass %zu", r->step);
        } else if (r->event == RAN_REPORT_FITTED || r->no_encoder) {
                ran_buf_str(line, "linear model: ");
                add_figure(p, r, line);
        } else if (r->event == RAN_REPORT_DEV) {
                add_epoch(p, r, line);
        } else {
                add_step(p, r, line);
        }
}

void train_progress_line(const struct train_progress *p, const struct ran_buf *line)
{
        if (p->when == TRAIN_PROGRESS_NEVER)
                return;
        cmd_live(NULL);
        fprintf(stderr, "%.*s\n", (int)line->len, line->data);
}

static void show(struct train_progress *p, const struct ran_train_report *r)
{
        const bool passing = r->event == RAN_REPORT_STEP || r->event == RAN_REPORT_LINEAR;
        const bool lasting =
                p->trial == 0 && (r->event == RAN_REPORT_DEV || r->event == RAN_REPORT_REFIT ||
                                  r->event == RAN_REPORT_FITTED || r->event == RAN_REPORT_DECIDED);
        struct ran_buf line = {0};

        if (!lasting && (!passing || r->seconds < p->next))
                return;
        p->next = r->seconds + (!p->live ? plain_seconds : lasting ? 0 : live_seconds);
        p->decided |= r->event == RAN_REPORT_DECIDED;
        make_line(p, r, &line);
        if (p->live && !lasting) {
                ran_buf_char(&line, '\0');
                cmd_live(line.data);
        } else {
                train_progress_line(p, &line);
        }
        ran_buf_release(&line);
}

/* ---- lines for machines --------------------------------------------------------------------- */

static void add_validation(const struct train_progress *p, const struct ran_train_report *r,
                           struct ran_buf *b)
{
        json_name(b, "dev");
        json_begin(b, '{');
        json_put_double(b, "loss", r->loss);
        if (p->texts) {
                json_put_double(b, "perplexity", ran_exp(r->loss));
                json_put_double(b, "unknown_share", p->unknown);
        } else {
                json_put_double(b, "accuracy", r->accuracy);
                json_put_double(b, "micro_f1", r->micro_f1);
                json_put_double(b, "macro_f1", r->macro_f1);
        }
        json_end(b, '}');
        json_put_text(b, "metric", p->metric);
        json_put_double(b, "value", r->metric);
        json_put_size(b, "documents", r->validation);
        if (!p->texts && !isnan(r->baseline))
                json_put_double(b, "baseline", r->baseline);
        if (r->interval.low <= r->interval.high)
                json_put_doubles(b, "interval", (double[]){r->interval.low, r->interval.high}, 2);
        if (r->event == RAN_REPORT_FITTED)
                return;
        json_put_bool(b, "improved", r->improved);
        json_put_double(b, "best", r->best);
        json_put_size(b, "best_epoch", r->best_epoch);
        if (r->no_encoder)
                return;
        json_put_double(b, "training_loss", r->training_loss);
        if (r->encoder_loss > 0) {
                json_put_double(b, "encoder_loss", r->encoder_loss);
                json_put_double(b, "linear_loss", r->linear_loss);
        }
}

static void make_entry(const struct train_progress *p, const struct ran_train_report *r,
                       struct ran_buf *b)
{
        static const char *const event[] = {"wide",  "step", "dev",    "checkpoint", "kept",
                                            "refit", "end",  "linear", "decided"};

        json_put_text(b, "event", event[r->event]);
        if (p->trial > 0)
                json_put_size(b, "trial", p->trial);
        if (r->refit)
                json_put_bool(b, "refit", true);
        json_put_size(b, "epoch", r->epoch);
        json_put_size(b, "epochs", r->epochs);
        json_put_size(b, "step", r->step);
        json_put_size(b, "steps", r->steps);
        if (r->event == RAN_REPORT_DEV || r->event == RAN_REPORT_FITTED) {
                add_validation(p, r, b);
        } else {
                json_put_double(b, "loss", r->loss);
                json_put_double(b, "lr", r->learning_rate);
                json_put_double(b, "grad_norm", r->gradient_norm);
        }
        if (r->event == RAN_REPORT_DECIDED) {
                struct ran_buf why = {0};

                ran_train_decision_tell(&r->decision, &why);
                json_put_string(b, "decision", why.data, why.len);
                ran_buf_release(&why);
        }
        if (r->event == RAN_REPORT_LINEAR)
                json_put_double(b, "share", r->share);
        json_put_size(b, "tokens", r->tokens);
        json_put_double(b, "tokens_per_s", r->tokens_per_second);
        json_put_double(b, "seconds", r->seconds);
        if (r->moved > 0)
                json_put_double(b, "moved_bytes", (double)r->moved);
        json_put_size(b, "seed", p->seed);
}

/* Training survives a log that fails (a full disk): it is reported once, and at the end. */
void train_progress_entry(struct train_progress *p, const struct ran_buf *members)
{
        struct ran_buf entry = {0};

        if (p->log == NULL || p->log_failed)
                return;
        ran_buf_char(&entry, '{');
        ran_buf_add(&entry, members->data, members->len);
        json_put_double(&entry, "time", floor(1e3 * ran_clock_date()) / 1e3);
        ran_buf_str(&entry, "}\n");
        if (fwrite(entry.data, 1, entry.len, p->log) != entry.len || fflush(p->log) != 0) {
                p->log_failed = true;
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
        cmd_live(NULL);
        if (p->log != NULL && fclose(p->log) != 0 && !p->log_failed) {
                p->log_failed = true;
                cmd_warn("%s: the log cannot be written: %s", p->log_name, strerror(errno));
        }
        p->log = NULL;
        return !p->log_failed;
}
