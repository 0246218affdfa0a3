/* page.c - a training as a page: its curves, times, settings, data and result. */

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/pages/chart.h"
#include "cmd/pages/page.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/run.h"

struct train_page *train_page_new(const char *path)
{
        struct train_page *p = ran_new(1, sizeof *p);

        p->path = path;
        p->curve[0].every = p->curve[1].every = 1;
        return p;
}

void train_page_free(struct train_page *p)
{
        if (p != NULL)
                ran_buf_release(&p->data);
        free(p);
}

/* ---- while it trains ------------------------------------------------------------------------- */

static void halve(struct train_page_curve *c)
{
        double *const column[] = {c->step, c->seconds, c->loss, c->rate, c->norm, c->speed};

        for (size_t k = 0; k < sizeof column / sizeof *column; k++)
                for (size_t i = 0; 2 * i < c->n; i++)
                        column[k][i] = column[k][2 * i];
        c->n = (c->n + 1) / 2;
        c->every *= 2;
}

static void add_step(struct train_page_curve *c, const struct ran_train_report *r)
{
        if (c->skipped++ % c->every != 0)
                return;
        if (c->n == TRAIN_PAGE_POINTS)
                halve(c);
        c->step[c->n] = (double)r->step;
        c->seconds[c->n] = r->seconds;
        c->loss[c->n] = r->loss;
        c->rate[c->n] = r->learning_rate;
        c->norm[c->n] = r->gradient_norm;
        c->speed[c->n++] = r->tokens_per_second;
}

static void add_epoch(struct train_page_epochs *e, const struct ran_train_report *r)
{
        if (e->n == TRAIN_PAGE_EPOCHS)
                return;
        e->epoch[e->n] = (double)r->epoch;
        e->step[e->n] = (double)r->step;
        e->loss[e->n] = r->loss;
        e->metric[e->n++] = r->metric;
}

void train_page_note(struct train_page *p, const struct ran_train_report *r)
{
        size_t of = r->refit ? 1 : 0;

        p->last = *r;
        if (r->event == RAN_REPORT_LINEAR && !r->refit)
                p->linear_seconds = r->seconds;
        if (r->event == RAN_REPORT_KEPT)
                p->kept_seconds = r->seconds;
        if (r->event == RAN_REPORT_STEP && !r->no_encoder)
                add_step(&p->curve[of], r);
        if (r->event == RAN_REPORT_DEV)
                add_epoch(&p->epochs[of], r);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void write_metric(const struct train_page *p, const char *metric, bool loss,
                         struct ran_buf *out)
{
        double value[TRAIN_PAGE_EPOCHS];

        for (size_t i = 0; i < p->epochs[0].n; i++)
                value[i] = loss ? ran_exp(p->epochs[0].loss[i]) : p->epochs[0].metric[i];
        char note[100] = "";
        if (p->unknown > 0)
                snprintf(note, sizeof note,
                         "%.3g %% of the tokens are unknown words, whose spelling costs nothing.",
                         100 * p->unknown);
        const struct chart_line line = {loss ? "perplexity" : metric,
                                        p->epochs[0].epoch,
                                        value,
                                        p->epochs[0].n,
                                        true,
                                        false};
        const struct chart chart = {.title = "Validation after each epoch",
                                    .x_name = "epoch",
                                    .y_name = loss ? "perplexity" : metric,
                                    .note = note[0] != '\0' ? note : NULL,
                                    .whole = true,
                                    .lines = &line,
                                    .n = 1};

        chart_add(out, &chart);
}

/* A curve by step: of the first training, of the refit, and of the validation after epochs. */
static void write_curve(const struct train_page *p, const char *title, const char *unit,
                        const double *first, const double *refit, const double *validation,
                        struct ran_buf *out)
{
        const struct train_page_epochs *e = &p->epochs[0];
        const struct chart_line lines[] = {
                {"training", p->curve[0].step, first, p->curve[0].n, false, false},
                {"validation", e->step, validation, validation != NULL ? e->n : 0, true, false},
                {"refit", p->curve[1].step, refit, p->curve[1].n, false, true},
        };
        const struct chart chart = {.title = title,
                                    .x_name = "step",
                                    .y_name = unit,
                                    .note = validation != NULL
                                                    ? "The training loss is smoothed. When it "
                                                      "falls and that of validation rises, the "
                                                      "model overfits."
                                                    : NULL,
                                    .whole = true,
                                    .lines = lines,
                                    .n = 3};

        chart_add(out, &chart);
}

static void write_curves(const struct train_page *p, const char *metric, bool texts,
                         struct ran_buf *out)
{
        const struct train_page_curve *first = &p->curve[0], *refit = &p->curve[1];
        const bool loss = texts || strcmp(metric, "loss") == 0;

        if (first->n + refit->n < 2)
                return;
        page_put(out, HTML_HEADING, "Curves");
        if (p->resumed)
                page_put(out, HTML_NOTE, "The training was resumed: the curves begin there.");
        page_open(out, HTML_CHARTS);
        write_curve(p, "Loss", "loss per document or token (nats)", first->loss, refit->loss,
                    p->epochs[0].loss, out);
        write_metric(p, metric, loss, out);
        write_curve(p, "Learning rate", "learning rate", first->rate, refit->rate, NULL, out);
        write_curve(p, "Norm of the gradient", "norm", first->norm, refit->norm, NULL, out);
        write_curve(p, "Speed", "tokens per second", first->speed, refit->speed, NULL, out);
        page_close(out, HTML_CHARTS);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_times(const struct train_page *p, struct report *r)
{
        const struct ran_train_report *last = &p->last;
        const struct {
                const char *what;
                double seconds;
        } times[] = {{"linear model", p->linear_seconds},
                     {"until the best epoch was chosen", p->kept_seconds},
                     {"refit", last->refit ? last->seconds - p->kept_seconds : 0},
                     {"in all", last->seconds}};
        char text[32];

        report_begin(r, REPORT_OBJECT, NULL, "Times");
        report_note(r, "Times are not in the model.");
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
                if (times[i].seconds > 0)
                        report_string(r, NULL, times[i].what,
                                      train_duration(text, times[i].seconds));
        if (!last->no_encoder)
                report_string(r, NULL, "tokens per second",
                              train_amount(text, last->tokens_per_second));
        report_end(r);
}

/* A folded part of the page; ends the report. */
static void write_folded(struct report *r, const char *summary, struct ran_buf *out)
{
        page_open(out, HTML_DETAILS);
        page_put(out, HTML_SUMMARY, "%s", summary);
        report_page(r, out);
        page_close(out, HTML_DETAILS);
        report_release(r);
}

static void write_epochs(const struct train_page *p, const char *metric, struct ran_buf *out)
{
        const struct train_page_epochs *e = &p->epochs[0];
        struct report r = {0};

        if (e->n == 0)
                return;
        report_begin(&r, REPORT_LIST, NULL, "");
        for (size_t i = 0; i < e->n; i++) {
                report_begin(&r, REPORT_OBJECT, NULL, "");
                report_number(&r, NULL, "epoch", e->epoch[i], 0);
                report_number(&r, NULL, "step", e->step[i], 0);
                report_number(&r, NULL, "loss", e->loss[i], 4);
                report_share(&r, NULL, strcmp(metric, "loss") != 0 ? metric : NULL, e->metric[i]);
                report_end(&r);
        }
        report_end(&r);
        write_folded(&r, "validation after each epoch, as numbers", out);
}

/* "name":value, as ran_fields_json writes one field. */
static void add_setting(const struct ran_field *field, const void *base, struct report *r)
{
        const struct ran_field one[] = {*field, {0}};
        struct ran_buf json = {0};

        ran_fields_json(one, base, &json);
        const size_t name = strlen(field->name) + 3;
        if (json.len > name) {
                report_bytes(r, REPORT_AMOUNT, NULL, field->name, json.data + name,
                             json.len - name);
                report_note(r, "%s", cmd_was_set(field->name) ? "given" : "");
        }
        ran_buf_release(&json);
}

static void write_settings(const struct ran_train_job *job, struct ran_buf *out)
{
        struct report r = {0};

        page_put(out, HTML_HEADING, "Settings");
        page_put(out, HTML_NOTE,
                 "Options that were given are marked; the others have their defaults.");
        for (const struct ran_field *f = ran_train_fields; f->name != NULL; f++)
                add_setting(f, job->settings, &r);
        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++)
                add_setting(f, job->config, &r);
        write_folded(&r, "all settings", out);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The figure, in words. */
static void write_lead(const struct train_page *p, const struct about *a, struct ran_buf *out)
{
        const struct about_figure *f = &a->figure;
        struct ran_buf lead = {0};

        ran_buf_printf(&lead, "%s: %zu documents", a->path,
                       train_about_count(a->said, "train.documents"));
        if (f->metric != NULL && strcmp(f->metric, "loss") == 0)
                ran_buf_printf(&lead, ", loss %.4f on %zu validation documents", f->value, f->n);
        else if (f->metric != NULL)
                ran_buf_printf(&lead, ", %s %.2f %% on %zu validation documents", f->metric,
                               100 * f->value, f->n);
        if (f->has_interval)
                ran_buf_printf(&lead, " (95 %% interval: %.1f to %.1f)", 100 * f->interval.low,
                               100 * f->interval.high);
        if (f->metric != NULL && !isnan(f->baseline))
                ran_buf_printf(&lead, ", %.2f %% for always the most frequent label",
                               100 * f->baseline);
        if (p->last.decision.why != RAN_ENCODER_KEPT) {
                ran_buf_str(&lead, "; ");
                ran_train_decision_tell(&p->last.decision, &lead);
        }
        page_begin(out, "Training", &lead);
}

void train_page_write(const struct train_page *p, const struct ran_train_job *job,
                      const char *metric, bool texts)
{
        struct ran_buf out = {0};
        struct report tables = {0};
        struct about a;

        train_about_open(&a, job->output);
        write_lead(p, &a, &out);
        report_begin(&tables, REPORT_OBJECT, NULL, "Model");
        train_info_rows(&a, &tables);
        train_info_members(&a, &tables);
        report_end(&tables);
        report_page(&tables, &out);
        report_release(&tables);
        write_curves(p, metric, texts, &out);
        write_epochs(p, metric, &out);
        add_times(p, &tables);
        report_page(&tables, &out);
        report_release(&tables);
        page_put(&out, HTML_HEADING, "Data");
        ran_buf_add(&out, p->data.data, p->data.len);
        write_settings(job, &out);
        page_end(&out);
        cmd_write_file(p->path, &out);
        ran_buf_release(&out);
        train_about_release(&a);
}
