/* info-json.c - what a model, a checkpoint or a vocabulary is, for machines. */
#include "cmd/train/about/about.h"

#include <math.h>

#include "cmd/content/model.h"

/* People read all but the parts in rows (info-text.c). */
static void add_parts(const struct about *a, struct report *r)
{
        report_begin(r, REPORT_LIST, "parts", "Parts");
        for (size_t i = 0; i < a->parts; i++) {
                const struct ran_model_part *p = &a->part[i];
                const bool tensors = p->tensors > 0;

                report_begin(r, REPORT_OBJECT, "", "");
                report_string(r, "name", "part", p->name);
                report_count(r, "bytes", "bytes", p->bytes);
                report_count(r, tensors ? "tensors" : NULL, "tensors", p->tensors);
                report_count(r, tensors ? "elements" : NULL, "elements", p->elements);
                report_string(r, tensors ? "dtype" : NULL, "type", tensors ? p->dtype : "");
                report_end(r);
        }
        report_end(r);
}

static void add_vocabulary(const struct about *a, struct report *r)
{
        struct ran_buf type = {0};

        train_about_vocabulary(a, &type);
        report_begin(r, REPORT_OBJECT, "vocabulary", NULL);
        report_bytes(r, REPORT_TEXT, "type", NULL, type.data, type.len);
        report_count(r, "tokens", NULL, ran_tokenizer_size(a->tokenizer));
        report_string(r, "digest", NULL, ran_tokenizer_digest(a->tokenizer));
        report_end(r);
        ran_buf_release(&type);
}

static void add_labels(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        const size_t C = ran_model_classes(a->model);

        report_bool(r, "multilabel", NULL, c->classify.multilabel);
        report_begin(r, REPORT_LIST, "labels", NULL);
        for (size_t i = 0; i < C; i++)
                report_string(r, "", NULL, ran_model_label(a->model, i));
        report_end(r);
        if (!c->classify.multilabel)
                return;
        report_begin(r, REPORT_OBJECT, "thresholds", NULL);
        for (size_t i = 0; i < C; i++)
                report_number(r, ran_model_label(a->model, i), NULL,
                              (double)ran_model_thresholds(a->model)[i], 0);
        report_end(r);
}

void train_info_figure(const struct about_figure *f, struct report *r)
{
        report_count(r, "documents", "validation documents", f->n);
        report_string(r, f->metric != NULL ? "metric" : NULL, "metric",
                      f->metric != NULL ? f->metric : "not measured");
        report_number(r, f->metric != NULL ? "value" : NULL, "result",
                      f->metric != NULL ? f->value : NAN, 4);
        if (!f->has_interval)
                return;
        report_begin(r, REPORT_LIST, "interval", NULL);
        report_number(r, "", NULL, f->interval.low, 0);
        report_number(r, "", NULL, f->interval.high, 0);
        report_end(r);
        report_put(r, NULL, "95 % interval", "%.4f to %.4f", f->interval.low, f->interval.high);
}

static void add_numbers(const struct about *a, struct report *r)
{
        double epochs, steps;

        if (ran_model_progress(a->model, &epochs, &steps)) {
                report_begin(r, REPORT_OBJECT, "progress", NULL);
                report_number(r, "epochs", NULL, epochs, 0);
                report_number(r, "steps", NULL, steps, 0);
                report_end(r);
        }
        const size_t refitted = train_about_count(a->said, "learned_from");
        report_count(r, "trained_on", NULL, train_about_count(a->said, "train.documents"));
        report_count(r, refitted > 0 ? "refitted_on" : NULL, NULL, refitted);
        if (a->figure.n > 0) {
                report_begin(r, REPORT_OBJECT, "validation", NULL);
                train_info_figure(&a->figure, r);
                report_number(r, isnan(a->figure.baseline) ? NULL : "baseline", NULL,
                              a->figure.baseline, 0);
                report_end(r);
        }
        if (cJSON_IsObject(train_about_member(a->said, "paths"))) {
                report_begin(r, REPORT_OBJECT, "ensemble", NULL);
                report_number(r, "encoder", NULL, train_about_number(a->said, "paths.deep"), 0);
                report_number(r, "linear", NULL, train_about_number(a->said, "paths.wide"), 0);
                report_number(r, "cost", NULL, train_about_number(a->said, "paths.cost"), 0);
                report_end(r);
        }
        const size_t calibrated = train_about_count(a->said, "calibration.documents");
        report_count(r, calibrated > 0 ? "calibrated_on" : NULL, NULL, calibrated);
        const size_t known = ran_model_fingerprints(a->model);
        report_count(r, known > 0 ? "fingerprints" : NULL, known > 0 ? "fingerprints" : NULL,
                     known);
        report_note(r, "of documents that it was trained on, to know them again");
}

static void add_model(const struct about *a, struct report *r)
{
        const struct ran_config *c = ran_model_config(a->model);
        const char *digest = ran_model_metadata(a->model, "digest");

        report_string(r, "task", NULL, ran_task_name(c->task));
        report_string(r, "program", NULL, cmd_model_program_of_task(c->task));
        report_string(r, a->tried ? "encoder_tried" : "encoder", NULL, train_about_encoder(a));
        if (ran_task_has_labels(c->task)) {
                report_string(r, "consists_of", NULL, train_about_parts(a));
                add_labels(a, r);
        }
        if (digest != NULL)
                report_string(r, "digest", NULL, digest);
        add_numbers(a, r);
        report_bytes(r, REPORT_RAW, "config", NULL, a->settings.data, a->settings.len);
        if (a->training.count > 0)
                report_bytes(r, REPORT_RAW, "training", NULL, a->training.line, a->training.length);
        train_pretrained_members(a, r);
        add_parts(a, r);
}

void train_info_members(const struct about *a, struct report *r)
{
        static const char *const kinds[] = {"model", "checkpoint", "vocabulary"};

        report_string(r, "file", NULL, a->path);
        report_string(r, "kind", NULL, kinds[a->kind]);
        report_count(r, "bytes", NULL, a->bytes);
        if (a->model != NULL)
                add_model(a, r);
        if (a->tokenizer != NULL)
                add_vocabulary(a, r);
}
