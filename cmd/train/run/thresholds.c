/* thresholds.c - --threshold-for: thresholds that reach a recall or a precision. */

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/train/run/session.h"

/* With fewer documents of a label, the interval of its recall spans a half of all there is. */
enum { FOLDS = 5, FEWEST = 10 };

/* What an item asks for. */
struct wanted {
        const char *label; /* of n bytes */
        size_t n;
        bool precision;
        double value;
};

static bool starts(const char **s, const char *word)
{
        const size_t n = strlen(word);
        const bool is = strncmp(*s, word, n) == 0;

        *s += is ? n : 0;
        return is;
}

/* The last '=' divides it, because a label may have one. */
static struct wanted read_item(const char *item)
{
        const char *equals = strrchr(item, '='), *value = equals != NULL ? equals + 1 : "";
        struct wanted w = {.label = item, .n = equals != NULL ? (size_t)(equals - item) : 0};

        w.precision = starts(&value, "precision:");
        if ((!w.precision && !starts(&value, "recall:")) ||
            !ran_parse_double(value, strlen(value), &w.value) || !(w.value > 0 && w.value <= 1))
                cmd_usage("--threshold-for %s: give LABEL=recall:X or LABEL=precision:X, with X "
                          "above 0 and at most 1",
                          item);
        return w;
}

void train_thresholds_check(const struct ran_list *items)
{
        for (size_t i = 0; i < items->n; i++)
                read_item(items->item[i]);
}

/* ---- out of fold ----------------------------------------------------------------------------- */

static int on_fold(void *arg, size_t fold)
{
        (void)arg;
        cmd_note("thresholds: fold %zu of %d", fold + 1, FOLDS);
        return train_run_stopped();
}

bool train_thresholds_train_encoder(const struct train_session *s)
{
        return ran_config_trains_encoder(&s->config) &&
               (s->replay.model != NULL ? train_replay_has(&s->replay, "threshold_encoder")
                                        : train_encoder_setting(s, NULL));
}

static int predict(const struct train_session *s, const struct ran_train_job *job, float *p,
                   struct ran_error *err)
{
        struct ran_train_job folds = *job;
        struct ran_config config = *job->config;

        if (ran_config_trains_encoder(&config) && !train_thresholds_train_encoder(s))
                ran_config_drop_encoder(&config);
        folds.config = &config;
        folds.report = train_run_watch;
        folds.seconds = 0;
        folds.limit = (struct ran_train_limit){0};
        return ran_train_folds(&folds, FOLDS, on_fold, NULL, p, err);
}

/* ---- a label --------------------------------------------------------------------------------- */

static size_t class_of(const struct ran_dataset *d, const struct wanted *w)
{
        for (size_t c = 0; c < d->C; c++)
                if (strlen(d->names[c]) == w->n && memcmp(d->names[c], w->label, w->n) == 0)
                        return c;
        cmd_usage("--threshold-for: no document has the label \"%.*s\"", (int)w->n, w->label);
}

static int find(const struct ran_dataset *d, const float *p, size_t c, const struct wanted *w,
                struct ran_threshold *t, struct ran_error *err)
{
        float *own = ran_new_floats(d->B); /* the probabilities of label c, and who has it */
        bool *positive = ran_new(d->B, sizeof *positive);
        size_t positives = 0;

        for (size_t b = 0; b < d->B; b++) {
                own[b] = p[b * d->C + c];
                for (size_t at = d->label_first[b]; at < d->label_first[b + 1]; at++)
                        positive[b] |= d->labels[at] == c;
                positives += positive[b];
        }
        const int rc =
                positives < FEWEST
                        ? ran_fail(err, RAN_EINVAL, "only %zu documents have it, and %d are needed",
                                   positives, FEWEST)
                        : ran_threshold_find(t, own, positive, d->B, w->precision, w->value, err);
        free(own);
        free(positive);
        return rc;
}

static void put_share(struct ran_buf *out, const char *name, double share,
                      struct ran_interval interval)
{
        json_name(out, name);
        json_begin(out, '{');
        json_put_double(out, "value", share);
        json_put_doubles(out, "interval", (double[]){interval.low, interval.high}, 2);
        json_end(out, '}');
}

static void describe(const char *label, const struct wanted *w, const struct ran_threshold *t,
                     struct ran_buf *out)
{
        json_begin(out, '{');
        json_put_text(out, "label", label);
        json_put_double(out, w->precision ? "wanted_precision" : "wanted_recall", w->value);
        json_put_float(out, "threshold", t->threshold);
        put_share(out, "recall", t->recall, t->recall_interval);
        put_share(out, "precision", t->precision, t->precision_interval);
        json_put_size(out, "documents", t->documents);
        json_put_size(out, "with_label", t->positives);
        json_end(out, '}');
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void find_all(const struct ran_dataset *d, const struct ran_list *items, const float *p,
                     struct ran_buf *about)
{
        json_name(about, "decisions");
        json_begin(about, '[');
        for (size_t i = 0; i < items->n; i++) {
                const struct wanted w = read_item(items->item[i]);
                const size_t c = class_of(d, &w);
                struct ran_threshold t;
                struct ran_error err;

                if (find(d, p, c, &w, &t, &err) != RAN_OK)
                        cmd_die(CMD_FAILED, "--threshold-for %s: %s", items->item[i], err.text);
                cmd_note("%s from probability %.4g on: recall %.1f %% (95 %% interval %.1f to "
                         "%.1f), precision %.1f %% (%.1f to %.1f), on %zu documents, %zu of them "
                         "with the label",
                         d->names[c], (double)t.threshold, 100 * t.recall,
                         100 * t.recall_interval.low, 100 * t.recall_interval.high,
                         100 * t.precision, 100 * t.precision_interval.low,
                         100 * t.precision_interval.high, t.documents, t.positives);
                describe(d->names[c], &w, &t, about);
        }
        json_end(about, ']');
}

int train_thresholds_find(const struct train_session *s, const struct ran_train_job *job,
                          struct ran_buf *about)
{
        const struct ran_list *items = &s->options->file.threshold_for;
        const struct ran_dataset *d = job->train;
        struct ran_error err;

        for (size_t i = 0; i < items->n; i++) {
                const struct wanted w = read_item(items->item[i]);
                class_of(d, &w);
        }
        if (items->n == 0)
                return CMD_OK;
        if (d->B > SIZE_MAX / sizeof(float) / d->C)
                cmd_die(CMD_FAILED, "no memory for the probabilities of %zu documents", d->B);
        float *p = ran_new_floats(d->B * d->C);
        train_run_catch_signals();
        const int rc = predict(s, job, p, &err);
        if (rc == RAN_OK)
                find_all(d, items, p, about);
        free(p);
        return rc == RAN_OK ? CMD_OK : train_run_ended(&err, "interrupted");
}
