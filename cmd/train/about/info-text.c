/* info-text.c - what a model, a checkpoint or a vocabulary is, for people. */
#include "cmd/train/about/info-text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/content/model.h"
#include "cmd/train/about/pretrained.h"

enum { LABELS_SHOWN = 24 };

/* Adds a row, and ends `value`. */
static void row(struct report *r, const char *name, struct ran_buf *value)
{
        r->failed |= value->failed;
        report_bytes(r, REPORT_TEXT, NULL, name, value->data, value->len);
        ran_buf_release(value);
}

static void add_bytes(struct ran_buf *out, size_t bytes)
{
        if (bytes < 10000)
                ran_buf_printf(out, "%zu bytes", bytes);
        else if (bytes < 1000000)
                ran_buf_printf(out, "%.1f kB", (double)bytes / 1e3);
        else
                ran_buf_printf(out, "%.1f MB", (double)bytes / 1e6);
}

static void add_shown(struct ran_buf *out, const char *text)
{
        ran_buf_shown(out, text, strlen(text));
}

static void text_task(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        static const char *const does[RAN_TASK_COUNT] = {
                [RAN_TASK_CLASSIFY] = "classify: labels documents",
                [RAN_TASK_TAG] = "tag: tags words",
                [RAN_TASK_LM] = "lm: language model, predicts the next token",
                [RAN_TASK_MLM] = "mlm: masked language model, predicts masked tokens",
                [RAN_TASK_EMBED] = "embed: encoder, gives vectors of documents",
        };
        struct ran_buf v = {0};

        ran_buf_str(&v, does[c->task]);
        if (c->task == RAN_TASK_CLASSIFY)
                ran_buf_str(&v, c->classify.multilabel ? ", any number of labels each"
                                                       : ", one label each");
        row(r, "task", &v);
        ran_buf_printf(&v, "%s -m ", cmd_model_use(c));
        add_shown(&v, a->path);
        ran_buf_str(&v, " documents.jsonl");
        row(r, "use", &v);
}

static void text_parts(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        static const char *const above[] = {[RAN_UPPER_MEAN] = "mean",
                                            [RAN_UPPER_MAX] = "maximum",
                                            [RAN_UPPER_CERTAIN] = "the most certain"};
        struct ran_buf v = {0}, encoder = {0}, why = {0};

        train_about_encoder(a, &encoder);
        train_about_decision(a, &why);
        if (!ran_config_has_encoder(c) && a->tried && why.len > 0)
                ran_buf_shown(&v, why.data, why.len);
        else
                ran_buf_str(&v, train_about_parts(a));
        ran_buf_str(&v, v.len > 0 ? "; " : "");
        if (!ran_config_has_encoder(c) && a->tried) {
                ran_buf_str(&v, "settings of the encoder (");
                ran_buf_shown(&v, encoder.data, encoder.len);
                ran_buf_str(&v, "): \"tried\" in --format json");
        } else if (!ran_config_has_encoder(c)) {
                ran_buf_str(&v, "trained with --encoder none");
        } else {
                ran_buf_str(&v, "encoder: ");
                ran_buf_shown(&v, encoder.data, encoder.len);
                if (ran_config_has_layers(c))
                        ran_buf_printf(&v, ", %zu layer%s", c->layers, c->layers == 1 ? "" : "s");
                ran_buf_printf(&v, ", width %zu", c->dim);
                if (ran_config_uses(c, "min_window"))
                        ran_buf_printf(&v, ", window %zu", c->window);
                if (c->upper != RAN_UPPER_POOLING)
                        ran_buf_printf(&v, "; above its windows: %s", above[c->upper]);
        }
        row(r, "parts", &v);
        ran_buf_release(&encoder);
        ran_buf_release(&why);
        if (!a->ensemble)
                return;
        if (ran_config_has_features(c)) {
                ran_buf_printf(&v, "weight %.3g, beside n-grams of weight 1", a->dense);
                row(r, "document vectors", &v);
        }
        if (ran_config_trains_encoder(c) || !ran_config_has_features(c)) {
                ran_buf_printf(&v, "encoder %.3g, linear model %.3g", a->encoder, a->linear);
                row(r, "ensemble weights", &v);
        }
        ran_buf_printf(&v, "%.3g", a->cost);
        row(r, "C (cost)", &v);
}

static bool same_thresholds(const float *threshold, size_t C)
{
        for (size_t i = 1; i < C; i++)
                if (threshold[i] != threshold[0])
                        return false;
        return true;
}

static void text_labels(const struct about *a, struct report *r)
{
        size_t C = ran_model_classes(a->model);
        const struct ran_config *c = ran_model_config(a->model);
        const float *threshold = c->classify.multilabel ? ran_model_thresholds(a->model) : NULL;
        struct ran_buf v = {0};

        if (!ran_task_has_labels(c->task))
                return;
        ran_buf_printf(&v, "%zu: ", C);
        for (size_t i = 0; i < C && i < LABELS_SHOWN; i++) {
                ran_buf_str(&v, i > 0 ? ", " : "");
                add_shown(&v, ran_model_label(a->model, i));
                if (threshold != NULL && !same_thresholds(threshold, C))
                        ran_buf_printf(&v, " (%.3g)", (double)threshold[i]);
        }
        if (C > LABELS_SHOWN)
                ran_buf_printf(&v, " ... and %zu more (--format json)", C - LABELS_SHOWN);
        row(r, c->task == RAN_TASK_TAG ? "tags" : "labels", &v);
        if (threshold == NULL)
                return;
        if (same_thresholds(threshold, C))
                ran_buf_printf(&v, "a label is given from probability %.3g on",
                               (double)threshold[0]);
        else
                ran_buf_str(&v, "a label is given from the probability in parentheses on");
        row(r, "thresholds", &v);
}

static void text_figure(const struct about *a, struct report *r)
{
        const struct about_figure *f = &a->figure;
        struct ran_buf v = {0};

        if (f->metric == NULL || f->n == 0)
                ran_buf_str(&v, "not measured: trained without validation documents");
        else if (strcmp(f->metric, "loss") == 0)
                ran_buf_printf(&v, "loss %.4f on %zu validation documents", f->value, f->n);
        else
                ran_buf_printf(&v, "%s %.2f%% on %zu validation documents", f->metric,
                               100 * f->value, f->n);
        if (f->has_interval)
                ran_buf_printf(&v, " (95 %% interval: %.1f to %.1f)", 100 * f->interval.low,
                               100 * f->interval.high);
        if (f->metric != NULL && f->n > 0 && !isnan(f->baseline))
                ran_buf_printf(&v, ", %.2f%% for always the most frequent %s", 100 * f->baseline,
                               ran_model_config(a->model)->task == RAN_TASK_TAG ? "tag" : "label");
        if (f->metric != NULL && f->n > 0)
                ran_buf_printf(
                        &v, "; these documents chose the model: measure it on others with %s%s",
                        cmd_model_use(ran_model_config(a->model)),
                        ran_task_has_labels(ran_model_config(a->model)->task) ? " --eval" : "");
        row(r, "result", &v);
}

static double number_of(const struct ran_record *record, const char *member)
{
        double x;

        return train_about_number(record, member, &x) ? x : 0;
}

/* The encoder that others trained; false: it is none of those. */
static bool text_pretrained(const struct about *a, struct report *r)
{
        struct ran_record said;
        struct ran_buf v = {0};

        if (!train_pretrained_open(a, &said))
                return false;
        train_pretrained_say(a, &said, &v);
        ran_record_release(&said);
        row(r, "pretrained", &v);
        train_pretrained_sample(a, &v);
        if (v.len > 0)
                row(r, "vector", &v);
        return true;
}

/* The encoder from which it was distilled. */
static void text_teacher(const struct about *a, struct report *r)
{
        struct ran_record teacher, said;
        struct ran_buf v = {0};

        if (train_about_object(&a->training, "teacher", &teacher) &&
            train_about_object(&teacher, "pretrained", &said)) {
                train_pretrained_name(&said, &v);
                row(r, "teacher", &v);
                ran_record_release(&said);
        }
        ran_record_release(&teacher);
}

/* What a distillation lost; false: it was none. */
static bool text_distilled(const struct about *a, struct report *r)
{
        struct ran_record said;
        struct ran_buf v = {0};

        if (!train_about_object(&a->training, "distilled", &said))
                return false;
        text_teacher(a, r);
        const bool ran = ran_record_find(&said, "cosine_static", NULL) != NULL;

        ran_buf_printf(&v,
                       "mean cosine to the teacher's vectors %.3f, on %.0f texts that were held "
                       "out (%s %.3f); rank correlation of the cosines of %.0f pairs %.3f",
                       number_of(&said, "cosine"), number_of(&said, "held_out"),
                       ran ? "of the static vectors" : "before the fit",
                       number_of(&said, ran ? "cosine_static" : "cosine_before"),
                       number_of(&said, "pairs"), number_of(&said, "rank_correlation"));
        row(r, "result", &v);
        ran_record_release(&said);
        return true;
}

static void text_training(const struct about *a, struct report *r)
{
        struct ran_buf v = {0};
        struct ran_record init;
        double epochs, steps;

        if (ran_model_progress(a->model, &epochs, &steps)) {
                ran_buf_printf(&v,
                               "%.0f epochs and %.0f steps done; the command that began the "
                               "training continues it with --resume",
                               epochs, steps);
                row(r, "interrupted after", &v);
        }
        if (text_pretrained(a, r) && a->training.count == 0)
                return;
        if (a->training.count == 0) {
                ran_buf_str(&v, "not recorded in this file");
                row(r, "trained on", &v);
                return;
        }
        ran_buf_printf(&v, "%zu documents", a->trained);
        if (ran_record_find(&a->training, "labels_guessed", NULL) != NULL)
                ran_buf_str(&v, " without labels, which descriptions gave them");
        if (a->validated > 0)
                ran_buf_printf(&v,
                               a->held_out ? ", %zu of them held out for validation"
                                           : "; %zu other ones for validation",
                               a->validated);
        if (a->refitted > 0)
                ran_buf_printf(&v, "; then refitted on %zu documents", a->refitted);
        if (a->best_epoch > 0)
                ran_buf_printf(&v, "; best epoch: %zu", a->best_epoch);
        row(r, "trained on", &v);
        if (train_about_object(&a->training, "init", &init)) {
                ran_buf_str(&v, "a model with digest ");
                const struct ran_member *m = ran_record_find(&init, "digest", NULL);
                if (m != NULL)
                        ran_buf_shown(&v, init.line + m->value.begin,
                                      m->value.end - m->value.begin);
                row(r, "initialised from", &v);
        }
        ran_record_release(&init);
        if (!text_distilled(a, r) && a->kind == ABOUT_MODEL)
                text_figure(a, r);
}

static void text_calibration(const struct about *a, struct report *r)
{
        struct ran_buf v = {0};

        if (ran_model_config(a->model)->task != RAN_TASK_CLASSIFY ||
            ran_model_config(a->model)->classify.multilabel)
                return;
        if (a->calibrated == 0)
                ran_buf_str(&v, "none: --coverage is not possible");
        else
                ran_buf_printf(&v, "%zu documents; --coverage up to %.3g", a->calibrated,
                               (double)a->calibrated / (double)(a->calibrated + 1));
        row(r, "calibration", &v);
}

/* A share of a decision with its interval: "recall 91.1 % (79.3 to 96.5)". */
static void add_share(const struct ran_record *decision, const char *name, struct ran_buf *out)
{
        struct ran_record share;
        struct ran_span item;
        double value = 0, end[2] = {0, 1};
        size_t pos = 0, n = 0;
        char type;

        if (train_about_object(decision, name, &share)) {
                const struct ran_member *interval = ran_record_find(&share, "interval", NULL);

                train_about_number(&share, "value", &value);
                while (interval != NULL && n < 2 &&
                       ran_json_next(share.line, interval->value, &pos, NULL, &item, &type))
                        ran_parse_double(share.line + item.begin, item.end - item.begin, &end[n++]);
                ran_buf_printf(out, "%s %.1f %% (%.1f to %.1f)", name, 100 * value, 100 * end[0],
                               100 * end[1]);
        }
        ran_record_release(&share);
}

static void text_decision(const struct ran_record *decision, struct report *r)
{
        const struct ran_member *label = ran_record_find(decision, "label", NULL);
        struct ran_buf v = {0};
        double threshold = 0;

        if (label == NULL || !train_about_number(decision, "threshold", &threshold))
                return;
        ran_buf_shown(&v, decision->line + label->value.begin,
                      label->value.end - label->value.begin);
        ran_buf_printf(&v, " from %.4g on: ", threshold);
        add_share(decision, "recall", &v);
        ran_buf_str(&v, ", ");
        add_share(decision, "precision", &v);
        ran_buf_str(&v, ", out of fold");
        row(r, "threshold", &v);
}

static void text_decisions(const struct about *a, struct report *r)
{
        const struct ran_member *list = ran_record_find(&a->training, "decisions", NULL);
        struct ran_record decision = {0};
        struct ran_span item;
        struct ran_error err;
        size_t pos = 0;
        char type;

        while (list != NULL && list->type == 'a' &&
               ran_json_next(a->training.line, list->value, &pos, NULL, &item, &type))
                if (ran_record_scan(&decision, a->training.line + item.begin, item.end - item.begin,
                                    &err) == RAN_OK)
                        text_decision(&decision, r);
        ran_record_release(&decision);
}

static void text_vocabulary(const struct about *a, struct report *r)
{
        struct ran_buf v = {0}, type = {0};

        if (a->tokenizer == NULL) {
                ran_buf_str(&v, "none: records must have ids");
        } else {
                train_about_vocabulary(a, &type);
                ran_buf_shown(&v, type.data, type.len);
                ran_buf_printf(&v, ", %zu tokens, digest %.12s...",
                               ran_tokenizer_size(a->tokenizer),
                               ran_tokenizer_digest(a->tokenizer));
        }
        row(r, "vocabulary", &v);
        ran_buf_release(&type);
}

/* Appends the strings of a list. */
static void add_strings(const char *json, const struct ran_member *list, struct ran_buf *out)
{
        struct ran_buf text = {0};
        struct ran_span item;
        struct ran_error err;
        size_t pos = 0;
        char type;

        while (ran_json_next(json, list->value, &pos, NULL, &item, &type)) {
                text.len = 0;
                if (type != 's' || ran_json_decode(json, item, &text, &err) != RAN_OK)
                        continue;
                ran_buf_str(out, out->len > 0 ? " " : "");
                ran_buf_shown(out, text.data, text.len);
        }
        ran_buf_release(&text);
}

/* How a tagger splits a text. */
static void text_split(const struct about *a, struct report *r)
{
        struct ran_record *training = (struct ran_record *)&a->training;
        const struct ran_member *m = ran_record_find(training, "text_split", NULL),
                                *marks = ran_record_find(training, "text_marks", NULL);
        struct ran_buf v = {0};

        if (m == NULL || m->type != 's')
                return;
        ran_buf_str(&v, "split into sentences and words like the training data: ");
        ran_buf_shown(&v, training->line + m->value.begin + 1, m->value.end - m->value.begin - 2);
        row(r, "texts", &v);
        if (marks != NULL && marks->type == 'a') {
                add_strings(training->line, marks, &v);
                row(r, "marks of texts", &v);
        }
}

static void text_sizes(const struct about *a, struct report *r)
{
        size_t numbers = 0;
        struct ran_buf v = {0};

        for (size_t i = 0; i < a->parts; i++)
                if (strncmp(a->part[i].dtype, "U", 1) != 0 &&
                    strcmp(a->part[i].name, "checkpoint") != 0)
                        numbers += a->part[i].elements;
        add_bytes(&v, a->bytes);
        if (a->model != NULL)
                ran_buf_printf(&v, ", %zu weights", numbers);
        row(r, "size", &v);
        if (a->model == NULL)
                return;
        ran_buf_str(&v, "any processor, no GPU; about ");
        add_bytes(&v, a->bytes);
        ran_buf_str(&v, train_about_is_folder(a->path)
                                ? " of memory for each program that uses the folder; "
                                  "of a file, which ran-train import makes, they share "
                                  "much of it"
                                : " of memory, shared by all programs that use the "
                                  "model");
        row(r, "needs", &v);
}

void train_info_rows(const struct about *a, struct report *r)
{
        struct ran_record *training = (struct ran_record *)&a->training;
        const struct ran_member *version = ran_record_find(training, "version", NULL);
        struct ran_buf v = {0};

        if (a->model != NULL) {
                text_task(a, r);
                text_parts(a, r);
                text_labels(a, r);
                text_training(a, r);
                text_calibration(a, r);
                text_decisions(a, r);
        }
        text_vocabulary(a, r);
        if (a->model != NULL)
                text_split(a, r);
        text_sizes(a, r);
        if (version != NULL && version->type == 's') {
                ran_buf_str(&v, "version ");
                ran_buf_shown(&v, training->line + version->value.begin + 1,
                              version->value.end - version->value.begin - 2);
                row(r, "written by", &v);
        }
}
