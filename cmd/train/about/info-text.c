/* info-text.c - what a model, a checkpoint or a vocabulary is, for people. */
#include "cmd/train/about/about.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/content/model.h"

enum { LABELS_SHOWN = 24 };

/* Adds a row, and ends `value`. */
static void row(struct report *r, const char *name, struct ran_buf *value)
{
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

        report_put(r, NULL, "task", "%s%s", does[c->task],
                   c->task != RAN_TASK_CLASSIFY ? ""
                   : c->classify.multilabel     ? ", any number of labels each"
                                                : ", one label each");
        report_put(r, NULL, "use", "%s -m %s documents.jsonl", cmd_model_use(c), a->path);
}

static void text_parts(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        static const char *const above[] = {[RAN_UPPER_MEAN] = "mean",
                                            [RAN_UPPER_MAX] = "maximum",
                                            [RAN_UPPER_CERTAIN] = "the most certain"};
        const char *encoder = train_about_encoder(a), *why = train_about_decision(a);
        struct ran_buf v = {0};

        ran_buf_str(&v, !ran_config_has_encoder(c) && a->tried && why != NULL
                                ? why
                                : train_about_parts(a));
        ran_buf_str(&v, v.len > 0 ? "; " : "");
        if (!ran_config_has_encoder(c) && a->tried) {
                ran_buf_printf(&v, "settings of the encoder (%s): \"tried\" in --format json",
                               encoder);
        } else if (!ran_config_has_encoder(c)) {
                ran_buf_str(&v, "trained with --encoder none");
        } else {
                ran_buf_printf(&v, "encoder: %s", encoder);
                if (ran_config_has_layers(c))
                        ran_buf_printf(&v, ", %zu layer%s", c->layers, c->layers == 1 ? "" : "s");
                ran_buf_printf(&v, ", width %zu", c->dim);
                if (ran_config_uses(c, "min_window"))
                        ran_buf_printf(&v, ", window %zu", c->window);
                if (c->upper != RAN_UPPER_POOLING)
                        ran_buf_printf(&v, "; above its windows: %s", above[c->upper]);
        }
        row(r, "parts", &v);
        if (!cJSON_IsObject(train_about_member(a->said, "paths")))
                return;
        if (ran_config_has_features(c))
                report_put(r, NULL, "document vectors", "weight %.3g, beside n-grams of weight 1",
                           train_about_number(a->said, "paths.dense"));
        if (ran_config_trains_encoder(c) || !ran_config_has_features(c))
                report_put(r, NULL, "ensemble weights", "encoder %.3g, linear model %.3g",
                           train_about_number(a->said, "paths.deep"),
                           train_about_number(a->said, "paths.wide"));
        report_put(r, NULL, "C (cost)", "%.3g", train_about_number(a->said, "paths.cost"));
}

static void text_labels(const struct about *a, struct report *r)
{
        size_t C = ran_model_classes(a->model);
        const struct ran_config *c = ran_model_config(a->model);
        const float *threshold = c->classify.multilabel ? ran_model_thresholds(a->model) : NULL;
        bool same = true;
        struct ran_buf v = {0};

        if (!ran_task_has_labels(c->task))
                return;
        for (size_t i = 1; threshold != NULL && i < C; i++)
                same &= threshold[i] == threshold[0];
        ran_buf_printf(&v, "%zu: ", C);
        for (size_t i = 0; i < C && i < LABELS_SHOWN; i++) {
                ran_buf_str(&v, i > 0 ? ", " : "");
                ran_buf_str(&v, ran_model_label(a->model, i));
                if (threshold != NULL && !same)
                        ran_buf_printf(&v, " (%.3g)", (double)threshold[i]);
        }
        if (C > LABELS_SHOWN)
                ran_buf_printf(&v, " ... and %zu more (--format json)", C - LABELS_SHOWN);
        row(r, c->task == RAN_TASK_TAG ? "tags" : "labels", &v);
        if (threshold == NULL)
                return;
        if (same)
                report_put(r, NULL, "thresholds", "a label is given from probability %.3g on",
                           (double)threshold[0]);
        else
                report_string(r, NULL, "thresholds",
                              "a label is given from the probability in parentheses on");
}

static void text_figure(const struct about *a, struct report *r)
{
        const struct about_figure *f = &a->figure;
        const struct ran_config *c = ran_model_config(a->model);
        struct ran_buf v = {0};

        if (f->metric == NULL || f->n == 0) {
                report_string(r, NULL, "result",
                              "not measured: trained without validation documents");
                return;
        }
        if (strcmp(f->metric, "loss") == 0)
                ran_buf_printf(&v, "loss %.4f on %zu validation documents", f->value, f->n);
        else
                ran_buf_printf(&v, "%s %.2f%% on %zu validation documents", f->metric,
                               100 * f->value, f->n);
        if (f->has_interval)
                ran_buf_printf(&v, " (95 %% interval: %.1f to %.1f)", 100 * f->interval.low,
                               100 * f->interval.high);
        if (!isnan(f->baseline))
                ran_buf_printf(&v, ", %.2f%% for always the most frequent %s", 100 * f->baseline,
                               c->task == RAN_TASK_TAG ? "tag" : "label");
        ran_buf_printf(&v, "; these documents chose the model: measure it on others with %s%s",
                       cmd_model_use(c), ran_task_has_labels(c->task) ? " --eval" : "");
        row(r, "result", &v);
}

/* What a distillation lost. */
static void text_distilled(const struct about *a, const cJSON *said, struct report *r)
{
        const cJSON *teacher = train_about_member(a->said, "teacher.pretrained");
        const bool ran = cJSON_HasObjectItem(said, "cosine_static");
        struct ran_buf v = {0};

        train_pretrained_name(teacher, &v);
        if (teacher != NULL)
                row(r, "teacher", &v);
        ran_buf_printf(
                &v,
                "mean cosine to the teacher's vectors %.3f, on %.0f texts that were held out "
                "(%s %.3f)",
                train_about_number(said, "cosine"), train_about_number(said, "held_out"),
                ran ? "of the static vectors" : "before the fit",
                train_about_number(said, ran ? "cosine_static" : "cosine_before"));
        if (cJSON_HasObjectItem(said, "rank_correlation"))
                ran_buf_printf(&v, "; rank correlation of the cosines of %.0f pairs %.3f",
                               train_about_number(said, "pairs"),
                               train_about_number(said, "rank_correlation"));
        row(r, "result", &v);
}

static void text_training(const struct about *a, struct report *r)
{
        const cJSON *init = train_about_member(a->said, "init");
        const cJSON *distilled = train_about_member(a->said, "distilled");
        const char *begun = train_about_string(init, "digest"),
                   *digest = train_about_string(a->said, "train.digest"),
                   *other = train_about_string(a->said, "dev.digest");
        const size_t refitted = train_about_count(a->said, "learned_from"),
                     best = train_about_count(a->said, "best_epoch");
        struct ran_buf v = {0};
        double epochs, steps;

        if (ran_model_progress(a->model, &epochs, &steps))
                report_put(r, NULL, "interrupted after",
                           "%.0f epochs and %.0f steps done; the command that began the training "
                           "continues it with --resume",
                           epochs, steps);
        if (a->pretrained != NULL) {
                train_pretrained_say(a, &v);
                row(r, "pretrained", &v);
        }
        if (a->said == NULL && a->pretrained == NULL)
                report_string(r, NULL, "trained on", "not recorded in this file");
        if (a->said == NULL)
                return;
        ran_buf_printf(&v, "%zu documents", train_about_count(a->said, "train.documents"));
        if (cJSON_HasObjectItem(a->said, "labels_guessed"))
                ran_buf_str(&v, " without labels, which descriptions gave them");
        if (a->figure.n > 0)
                ran_buf_printf(&v,
                               digest != NULL && other != NULL && strcmp(digest, other) == 0
                                       ? ", %zu of them held out for validation"
                                       : "; %zu other ones for validation",
                               a->figure.n);
        if (refitted > 0)
                ran_buf_printf(&v, "; then refitted on %zu documents", refitted);
        if (best > 0)
                ran_buf_printf(&v, "; best epoch: %zu", best);
        row(r, "trained on", &v);
        if (init != NULL)
                report_put(r, NULL, "initialised from", "a model with digest %s",
                           begun != NULL ? begun : "");
        if (distilled != NULL)
                text_distilled(a, distilled, r);
        else if (a->kind == ABOUT_MODEL)
                text_figure(a, r);
}

static void text_calibration(const struct about *a, struct report *r)
{
        const size_t calibrated = train_about_count(a->said, "calibration.documents");

        if (ran_model_config(a->model)->task != RAN_TASK_CLASSIFY ||
            ran_model_config(a->model)->classify.multilabel)
                return;
        if (calibrated == 0)
                report_string(r, NULL, "calibration", "none: --coverage is not possible");
        else
                report_put(r, NULL, "calibration", "%zu documents; --coverage up to %.3g",
                           calibrated, (double)calibrated / (double)(calibrated + 1));
}

/* A share of a decision with its interval: "recall 91.1 % (79.3 to 96.5)". */
static void add_share(const cJSON *decision, const char *name, struct ran_buf *out)
{
        const cJSON *share = train_about_member(decision, name);
        const cJSON *interval = train_about_member(share, "interval");
        const cJSON *low = cJSON_GetArrayItem(interval, 0), *high = cJSON_GetArrayItem(interval, 1);

        if (share != NULL)
                ran_buf_printf(out, "%s %.1f %% (%.1f to %.1f)", name,
                               100 * train_about_number(share, "value"),
                               cJSON_IsNumber(low) ? 100 * low->valuedouble : 0,
                               cJSON_IsNumber(high) ? 100 * high->valuedouble : 100);
}

static void text_decisions(const struct about *a, struct report *r)
{
        const cJSON *list = train_about_member(a->said, "decisions"), *decision;
        struct ran_buf v = {0};

        cJSON_ArrayForEach(decision, list)
        {
                const char *label = train_about_string(decision, "label");

                if (label == NULL)
                        continue;
                ran_buf_printf(&v, "\"%s\" from %.4g on: ", label,
                               train_about_number(decision, "threshold"));
                add_share(decision, "recall", &v);
                ran_buf_str(&v, ", ");
                add_share(decision, "precision", &v);
                ran_buf_str(&v, ", out of fold");
                row(r, "threshold", &v);
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
}

void train_info_rows(const struct about *a, struct report *r)
{
        const char *version = train_about_string(a->said, "version");
        const char *split = train_about_string(a->said, "text_split");
        struct ran_buf v = {0};

        if (a->model != NULL) {
                text_task(a, r);
                text_parts(a, r);
                text_labels(a, r);
                text_training(a, r);
                text_calibration(a, r);
                text_decisions(a, r);
        }
        if (a->tokenizer == NULL) {
                ran_buf_str(&v, "none: records must have ids");
        } else {
                train_about_vocabulary(a, &v);
                ran_buf_printf(&v, ", %zu tokens, digest %.12s...",
                               ran_tokenizer_size(a->tokenizer),
                               ran_tokenizer_digest(a->tokenizer));
        }
        row(r, "vocabulary", &v);
        if (split != NULL)
                report_put(r, NULL, "texts",
                           "split into sentences and words like the training data: %s", split);
        text_sizes(a, r);
        if (version != NULL)
                report_put(r, NULL, "written by", "version %s", version);
}
