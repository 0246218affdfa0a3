/* page.c - a training as a page: its curves, times, settings, data and result. */

#include <stdio.h>
#include <string.h>

#include "cmd/options/options.h"
#include "cmd/options/write.h"
#include "cmd/pages/chart.h"
#include "cmd/pages/page.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/run.h"

/* ---- while it trains ------------------------------------------------------------------------- */

static void add_step(struct train_page_curve *c, const struct ran_train_report *r)
{
        if (c->seen++ % ((size_t)1 << c->halved) != 0)
                return;
        if (c->n == TRAIN_PAGE_POINTS) {
                for (size_t i = 0; 2 * i < c->n; i++) {
                        c->step[i] = c->step[2 * i];
                        c->loss[i] = c->loss[2 * i];
                }
                c->n = (c->n + 1) / 2;
                c->halved++;
        }
        c->step[c->n] = (double)r->step;
        c->loss[c->n++] = r->loss;
}

void train_page_note(struct train_page *p, const struct ran_train_report *r)
{
        struct train_page_epochs *e = &p->epochs;

        p->last = *r;
        if (r->event == RAN_REPORT_LINEAR && !r->refit)
                p->linear_seconds = r->seconds;
        if (r->event == RAN_REPORT_KEPT)
                p->kept_seconds = r->seconds;
        if (r->event == RAN_REPORT_STEP && !r->no_encoder)
                add_step(&p->curve[r->refit], r);
        if (r->event != RAN_REPORT_DEV || e->n == TRAIN_PAGE_EPOCHS)
                return;
        e->epoch[e->n] = (double)r->epoch;
        e->step[e->n] = (double)r->step;
        e->loss[e->n] = r->loss;
        e->metric[e->n++] = r->metric;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* The loss by step, of the first training, the validation after epochs, and the refit; and the
 * metric of the validation. */
static void write_curves(struct train_page *p, const struct train_progress *progress,
                         struct ran_buf *out)
{
        const struct train_page_curve *first = &p->curve[0], *refit = &p->curve[1];
        struct train_page_epochs *e = &p->epochs;
        const char *metric = train_progress_name(progress);
        const bool perplexity = progress->texts || strcmp(metric, "loss") == 0;
        const char *name = perplexity ? "perplexity" : metric;
        const struct chart_line losses[] = {
                {"training", first->step, first->loss, first->n, false, false},
                {"validation", e->step, e->loss, e->n, true, false},
                {"refit", refit->step, refit->loss, refit->n, false, true},
        };
        const struct chart_line metrics = {name, e->epoch, e->metric, e->n, true, false};
        char unknown[100];

        if (first->n + refit->n < 2)
                return;
        page_put(out, "h2", "Curves");
        if (p->resumed)
                page_put(out, "p.note", "The training was resumed: the curves begin there.");
        page_open(out, "div.charts");
        chart_add(out, &(struct chart){.title = "Loss",
                                       .x_name = "step",
                                       .y_name = "loss per document or token (nats)",
                                       .note = "The training loss is smoothed. When it falls and "
                                               "that of validation rises, the model overfits.",
                                       .whole = true,
                                       .lines = losses,
                                       .n = 3});
        snprintf(unknown, sizeof unknown,
                 "%.3g %% of the tokens are unknown words, whose spelling costs nothing.",
                 100 * progress->unknown);
        for (size_t i = 0; i < e->n && perplexity; i++)
                e->metric[i] = ran_exp(e->loss[i]);
        chart_add(out, &(struct chart){.title = "Validation after each epoch",
                                       .x_name = "epoch",
                                       .y_name = name,
                                       .note = progress->unknown > 0 ? unknown : NULL,
                                       .whole = true,
                                       .lines = &metrics,
                                       .n = 1});
        page_close(out, "div");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_times(const struct train_page *p, struct report *r)
{
        const struct ran_train_report *last = &p->last;
        const struct {
                const char *what;
                double seconds;
        } times[] = {{"reading", p->read_seconds},
                     {"linear model", p->linear_seconds - p->read_seconds},
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

        page_put(out, "h2", "Settings");
        page_put(out, "p.note",
                 "Options that were given are marked; the others have their defaults.");
        for (const struct ran_field *f = ran_train_fields; f->name != NULL; f++)
                add_setting(f, job->settings, &r);
        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++)
                add_setting(f, job->config, &r);
        page_open(out, "details");
        page_put(out, "summary", "all settings");
        report_page(&r, out);
        page_close(out, "details");
        report_release(&r);
}

/* ---- the page -------------------------------------------------------------------------------- */

void train_page_write(struct train_page *p, const struct ran_train_job *job,
                      const struct train_progress *progress)
{
        const struct ran_train_report *last = &p->last;
        const struct ran_interval none = {1, 0};
        struct ran_buf out = {0}, lead = {0};
        struct report tables = {0};
        struct about a;

        train_about_open(&a, job->output);
        ran_buf_printf(&lead, "%s: %zu documents", a.path, job->train->B);
        if (last->best_epoch > 0) {
                ran_buf_str(&lead, "; validation ");
                train_figure_metric(progress, last->best,
                                    progress->texts ? none : last->best_interval, last->validation,
                                    &lead);
        }
        page_begin(&out, "Training", &lead);
        report_begin(&tables, REPORT_OBJECT, NULL, "Model");
        train_info_members(&a, &tables);
        report_end(&tables);
        report_page(&tables, &out);
        report_release(&tables);
        write_curves(p, progress, &out);
        add_times(p, &tables);
        report_page(&tables, &out);
        report_release(&tables);
        page_put(&out, "h2", "Data");
        ran_buf_add(&out, p->data.data, p->data.len);
        write_settings(job, &out);
        page_end(&out);
        cmd_write_file(p->path, &out);
        ran_buf_release(&out);
        train_about_release(&a);
}
