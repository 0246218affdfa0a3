/* page.c - a training as a page: its curves, times, settings, data and result. */
#include "cmd/train/run/page.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/was-set.h"
#include "cmd/options/write.h"
#include "cmd/pages/chart.h"
#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/table.h"
#include "cmd/train/about/about.h"
#include "cmd/train/about/amount.h"
#include "cmd/train/run/figure.h"
#include "cmd/train/about/info-text.h"
#include "cmd/train/run/progress.h"

struct train_page *train_page_new(const char *path)
{
        struct ran_error err;
        struct train_page *p = ran_alloc(1, sizeof *p, &err);

        if (p == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
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
        if (r->event == RAN_REPORT_PRETRAINED)
                p->texts_seconds = r->seconds;
        if (r->pretraining)
                return; /* another loss, and other steps */
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

static void write_loss(const struct train_page *p, struct ran_buf *out)
{
        const struct chart_line lines[] = {
                {"training", p->curve[0].step, p->curve[0].loss, p->curve[0].n, false, false},
                {"validation", p->epochs[0].step, p->epochs[0].loss, p->epochs[0].n, true, false},
                {"refit", p->curve[1].step, p->curve[1].loss, p->curve[1].n, false, true},
        };
        const struct chart chart = {.title = "Loss",
                                    .x_name = "step",
                                    .y_name = "loss per document or token (nats)",
                                    .note = "The training loss is smoothed. When it falls and "
                                            "that of validation rises, the model overfits.",
                                    .whole = true,
                                    .lines = lines,
                                    .n = p->curve[1].n > 1 ? 3 : 2};

        chart_add(out, &chart);
}

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

static void write_curve(const struct train_page *p, const char *title, const char *unit,
                        const double *first, const double *refit, struct ran_buf *out)
{
        const struct chart_line lines[] = {
                {"first training", p->curve[0].step, first, p->curve[0].n, false, false},
                {"refit", p->curve[1].step, refit, p->curve[1].n, false, true},
        };
        const struct chart chart = {.title = title,
                                    .x_name = "step",
                                    .y_name = unit,
                                    .whole = true,
                                    .lines = lines,
                                    .n = p->curve[1].n > 1 ? 2 : 1};

        chart_add(out, &chart);
}

static void write_curves(const struct train_page *p, const char *metric, bool texts,
                         struct ran_buf *out)
{
        const bool loss = texts || strcmp(metric, "loss") == 0;

        if (p->curve[0].n + p->curve[1].n < 2)
                return;
        page_put(out, HTML_HEADING, "Curves");
        if (p->resumed)
                page_put(out, HTML_NOTE, "The training was resumed: the curves begin there.");
        page_open(out, HTML_CHARTS);
        write_loss(p, out);
        write_metric(p, metric, loss, out);
        write_curve(p, "Learning rate", "learning rate", p->curve[0].rate, p->curve[1].rate, out);
        write_curve(p, "Norm of the gradient", "norm", p->curve[0].norm, p->curve[1].norm, out);
        write_curve(p, "Speed", "tokens per second", p->curve[0].speed, p->curve[1].speed, out);
        page_close(out, HTML_CHARTS);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void write_time(struct page_table *t, const char *what, double seconds)
{
        char text[32];

        if (seconds > 0)
                page_row(t, CELL_NAME(what), CELL_TEXT(train_duration(text, seconds)));
}

static void write_times(const struct train_page *p, struct ran_buf *out)
{
        const struct ran_train_report *r = &p->last;
        char text[32];

        page_put(out, HTML_HEADING, "Times");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, NULL);
        write_time(&t, "linear model", p->linear_seconds);
        write_time(&t, "until the encoder had learned from texts", p->texts_seconds);
        write_time(&t, "until the best epoch was chosen", p->kept_seconds);
        if (r->refit && r->seconds > p->kept_seconds)
                write_time(&t, "refit", r->seconds - p->kept_seconds);
        write_time(&t, "in all", r->seconds);
        if (!r->no_encoder)
                page_row(&t, CELL_NAME("tokens per second"),
                         CELL_TEXT(train_amount(text, r->tokens_per_second)));
        page_table_end(&t);
        page_put(out, HTML_NOTE, "Times are not in the model.");
}

static void write_epochs(const struct train_page *p, const char *metric, struct ran_buf *out)
{
        const struct train_page_epochs *e = &p->epochs[0];
        bool loss = strcmp(metric, "loss") == 0;
        char heads[100];

        if (e->n == 0)
                return;
        snprintf(heads, sizeof heads, "#epoch|#step|#loss%s%s", loss ? "" : "|#",
                 loss ? "" : metric);
        page_open(out, HTML_DETAILS);
        page_put(out, HTML_SUMMARY, "validation after each epoch, as numbers");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, heads);
        for (size_t i = 0; i < e->n; i++)
                page_row(&t, CELL_FIGURE(e->epoch[i], 0), CELL_FIGURE(e->step[i], 0),
                         CELL_FIGURE(e->loss[i], 4),
                         loss ? CELL_END : CELL_PERCENT(e->metric[i], 2));
        page_table_end(&t);
        page_close(out, HTML_DETAILS);
}

/* "name":value, as ran_fields_json writes one field. */
static void write_setting(const struct ran_field *field, const void *base, struct page_table *t)
{
        const struct ran_field one[] = {*field, {0}};
        struct ran_buf json = {0};
        bool given = cmd_was_set(field->name);

        ran_fields_json(one, base, &json);
        size_t name = strlen(field->name) + 3;
        if (!json.failed && json.len > name)
                page_row_add(
                        t, given ? "all" : NULL,
                        (const struct page_cell[]){
                                CELL_NAME(field->name),
                                {.kind = PAGE_TEXT, .s = json.data + name, .n = json.len - name},
                                CELL_TEXT(given ? "given" : ""),
                                CELL_END});
        ran_buf_release(&json);
}

static void write_settings(const struct ran_train_job *job, struct ran_buf *out)
{
        page_put(out, HTML_HEADING, "Settings");
        page_put(out, HTML_NOTE,
                 "Options that were given are marked; the others have their defaults.");
        page_open(out, HTML_DETAILS);
        page_put(out, HTML_SUMMARY, "all settings");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, NULL);
        for (const struct ran_field *f = ran_train_fields; f->name != NULL; f++)
                write_setting(f, job->settings, &t);
        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++)
                write_setting(f, job->config, &t);
        page_table_end(&t);
        page_close(out, HTML_DETAILS);
}

/* A row of the table of the model; `value` is empty then. */
static void write_property(struct page_table *t, const char *name, size_t n, struct ran_buf *value)
{
        if (n > 0)
                page_row(t, CELL_NAMED(name, n),
                         {.kind = PAGE_TEXT, .s = value->data, .n = value->len});
        t->out->failed |= value->failed;
        value->len = 0;
}

/* The lines of train_info_text as a table. */
static void write_model(struct ran_buf *out, const struct ran_buf *text)
{
        const char *line = text->data, *end = text->data + text->len, *next, *name = NULL;
        struct ran_buf value = {0};
        size_t name_n = 0;

        page_put(out, HTML_HEADING, "Model");
        struct page_table t = page_table_begin(out, PAGE_PLAIN, NULL);
        for (; line < end; line = next) {
                const char *stop = memchr(line, '\n', (size_t)(end - line));
                size_t n = (size_t)((stop != NULL ? stop : end) - line), begins = 0;

                next = line + n + 1;
                if (n <= TRAIN_INFO_COLUMN || line[0] != ' ')
                        continue; /* the title */
                for (size_t i = 2; i < TRAIN_INFO_COLUMN; i++)
                        begins = line[i] != ' ' ? i + 1 : begins;
                if (begins > 0) {
                        write_property(&t, name, name_n, &value);
                        name = line + 2;
                        name_n = begins - 2;
                } else {
                        ran_buf_char(&value, ' ');
                }
                ran_buf_add(&value, line + TRAIN_INFO_COLUMN, n - TRAIN_INFO_COLUMN);
        }
        write_property(&t, name, name_n, &value);
        page_table_end(&t);
        ran_buf_release(&value);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The figure, in words. */
static void write_lead(const struct train_page *p, const struct about *a, struct ran_buf *out)
{
        const struct about_figure *f = &a->figure;
        struct ran_buf lead = {0};

        ran_buf_printf(&lead, "%s: %zu documents", a->path, a->trained);
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
        struct ran_buf out = {0}, model = {0};
        struct about a;

        train_about_open(&a, job->output);
        train_info_text(&a, &model);
        write_lead(p, &a, &out);
        if (!model.failed)
                write_model(&out, &model);
        write_curves(p, metric, texts, &out);
        write_epochs(p, metric, &out);
        write_times(p, &out);
        page_put(&out, HTML_HEADING, "Data");
        ran_buf_add(&out, p->data.data, p->data.len);
        write_settings(job, &out);
        page_end(&out, NULL);
        cmd_write_file(p->path, &out);
        ran_buf_release(&out);
        ran_buf_release(&model);
        train_about_release(&a);
}
