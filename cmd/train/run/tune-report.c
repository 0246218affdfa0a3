/* tune-report.c - messages of a search: how each trial ended, its settings, and the best trial. */
#include <math.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/options/table.h"
#include "cmd/train/about/about.h"
#include "cmd/train/run/figure.h"
#include "cmd/train/run/search.h"

char *train_search_text(struct ran_buf *b)
{
        ran_buf_char(b, '\0');
        if (b->failed)
                cmd_die(CMD_FAILED, "out of memory");
        return b->data;
}

/* ---- what a trial changes ------------------------------------------------------------------- */

/* " --dropout 0.3" or " --no-affixes", as one would type it; value: the setting as JSON. */
static void add_option(const struct ran_field *field, const char *value, struct ran_buf *out)
{
        const bool on_or_off = field->type == RAN_FIELD_BOOL;

        ran_buf_printf(out, " --%s%s", on_or_off && value[0] == 'f' ? "no-" : "",
                       cmd_option_name(field).text);
        if (!on_or_off)
                ran_buf_printf(out, " %s", value);
}

/* The options that differ, with `was` the values before; fields describe base and other. */
static void add_options(const struct ran_field *fields, const void *base, const void *other,
                        bool was, struct ran_buf *out)
{
        for (const struct ran_field *f = fields; f->name != NULL; f++) {
                struct ran_field one[] = {*f, {0}};
                size_t name = strlen(f->name) + strlen("\"\":");
                struct ran_buf now = {0}, old = {0};

                one[0].later = false;
                ran_fields_changes(one, other, base, &now);
                ran_fields_json(one, base, &old);
                ran_buf_char(&now, '\0');
                if (!now.failed && now.len > 1 && old.len > 0) {
                        add_option(f, now.data + name, out);
                        if (was)
                                ran_buf_printf(out, " (%.*s)", (int)(old.len - name),
                                               old.data + name);
                }
                out->failed |= now.failed | old.failed;
                ran_buf_release(&now);
                ran_buf_release(&old);
        }
}

static void add_changes(const struct train_search *t, const struct ran_config *config,
                        const struct ran_train_settings *settings, bool was, struct ran_buf *out)
{
        add_options(ran_train_fields, t->job->settings, settings, was, out);
        add_options(ran_config_fields, t->job->config, config, was, out);
}

char *train_search_settings(const struct train_search *t, const struct ran_config *config,
                            const struct ran_train_settings *settings)
{
        struct ran_buf training = {0}, model = {0}, out = {0};

        ran_fields_changes(ran_train_fields, settings, t->job->settings, &training);
        ran_fields_changes(ran_config_fields, config, t->job->config, &model);
        ran_buf_char(&out, '{');
        ran_buf_add(&out, training.data, training.len);
        ran_buf_str(&out, training.len > 0 && model.len > 0 ? "," : "");
        ran_buf_add(&out, model.data, model.len);
        ran_buf_char(&out, '}');
        out.failed |= training.failed | model.failed;
        ran_buf_release(&training);
        ran_buf_release(&model);
        return train_search_text(&out);
}

/* ---- messages ------------------------------------------------------------------------------- */

void train_search_tell_trial(struct train_search *t)
{
        static const char *const ends[] = {"", "", "  ended early, behind", "  diverged"};
        const struct train_trial *e = train_search_entry(t);
        struct ran_buf line = {0};
        char time[32];

        ran_buf_printf(&line, "trial %zu", t->at + 1);
        if (e->best_epoch > 0)
                ran_buf_printf(&line, "  validation %s %.2f, epoch %zu of %zu",
                               train_progress_name(&t->progress),
                               train_progress_metric(&t->progress, e->best), e->best_epoch,
                               e->epochs);
        ran_buf_printf(&line, "  %s%s%s ", train_duration(time, e->seconds), ends[e->end],
                       train_search_best(t) == t->at ? "  best" : "");
        if (t->at == 0)
                ran_buf_str(&line, " your settings");
        add_changes(t, &t->config, &t->settings, false, &line);
        train_progress_line(&t->progress, &line);
        line.len = 0;
        ran_buf_str(&line, "\"event\":\"trial\",");
        train_trial_json(t->journal, t->at, &line);
        train_progress_entry(&t->progress, &line);
        ran_buf_release(&line);
}

void train_search_tell(struct train_search *t, size_t best)
{
        const struct train_trial *b = &t->journal->trial[best], *first = &t->journal->trial[0];
        const struct train_progress *p = &t->progress;
        struct ran_buf line = {0};
        char time[32];

        ran_search_apply(&t->search, &t->trial[best], &t->config, &t->settings);
        cmd_note("the best of %zu trials in %s is trial %zu: validation %s %.2f", t->journal->n,
                 train_duration(time, train_search_spent(t)), best + 1, train_progress_name(p),
                 train_progress_metric(p, b->best));
        add_changes(t, &t->config, &t->settings, true, &line);
        if (best > 0 && first->best_epoch > 0)
                cmd_note("with your settings: %.2f", train_progress_metric(p, first->best));
        if (best > 0)
                cmd_note("changed (before):%s", train_search_text(&line));
        else
                cmd_note("your settings were the best");
        if (t->journal->n == 1 && train_search_spent(t) >= t->budget)
                cmd_note("the time was up after the first trial, which took %s",
                         train_duration(time, first->seconds));
        ran_buf_release(&line);
}
