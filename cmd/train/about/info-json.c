/* info-json.c - what a model, a checkpoint or a vocabulary is, as JSON. */
#include "cmd/train/about/info-json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/options/write.h"
#include "cmd/content/model.h"
#include "cmd/train/about/pretrained.h"

static void put_parts(const struct about *a, struct ran_buf *out)
{
        json_name(out, "parts");
        json_begin(out, '[');
        for (size_t i = 0; i < a->parts; i++) {
                const struct ran_model_part *p = &a->part[i];

                json_begin(out, '{');
                json_put_text(out, "name", p->name);
                json_put_size(out, "bytes", p->bytes);
                if (p->tensors > 0) {
                        json_put_size(out, "tensors", p->tensors);
                        json_put_size(out, "elements", p->elements);
                        json_put_text(out, "dtype", p->dtype);
                }
                json_end(out, '}');
        }
        json_end(out, ']');
}

static void put_vocabulary(const struct about *a, struct ran_buf *out)
{
        struct ran_buf type = {0};

        if (a->tokenizer == NULL)
                return;
        train_about_vocabulary(a, &type);
        json_name(out, "vocabulary");
        json_begin(out, '{');
        json_put_string(out, "type", type.data, type.len);
        json_put_size(out, "tokens", ran_tokenizer_size(a->tokenizer));
        json_put_text(out, "digest", ran_tokenizer_digest(a->tokenizer));
        json_end(out, '}');
        ran_buf_release(&type);
}

static void put_labels(const struct about *a, struct ran_buf *out)
{
        const struct ran_config *c = ran_model_config(a->model);

        if (!ran_task_has_labels(c->task))
                return;
        json_put_bool(out, "multilabel", c->classify.multilabel);
        json_name(out, "labels");
        json_begin(out, '[');
        for (size_t i = 0; i < ran_model_classes(a->model); i++) {
                const char *label = ran_model_label(a->model, i);
                json_string(out, label, strlen(label));
        }
        json_end(out, ']');
        if (!c->classify.multilabel)
                return;
        json_name(out, "thresholds");
        json_begin(out, '{');
        for (size_t i = 0; i < ran_model_classes(a->model); i++)
                json_put_double(out, ran_model_label(a->model, i),
                                ran_model_thresholds(a->model)[i]);
        json_end(out, '}');
}

static void put_figure(const struct about_figure *f, struct ran_buf *out)
{
        json_name(out, "validation");
        json_begin(out, '{');
        json_put_size(out, "documents", f->n);
        if (f->metric != NULL) {
                json_put_text(out, "metric", f->metric);
                json_put_double(out, "value", f->value);
        }
        if (f->has_interval) {
                json_name(out, "interval");
                json_begin(out, '[');
                ran_buf_double(out, f->interval.low);
                ran_buf_char(out, ',');
                ran_buf_double(out, f->interval.high);
                json_end(out, ']');
        }
        if (!isnan(f->baseline))
                json_put_double(out, "baseline", f->baseline);
        json_end(out, '}');
}

static void put_ensemble(const struct about *a, struct ran_buf *out)
{
        json_name(out, "ensemble");
        json_begin(out, '{');
        json_put_double(out, "encoder", a->encoder);
        json_put_double(out, "linear", a->linear);
        json_put_double(out, "cost", a->cost);
        json_end(out, '}');
}

static void put_progress(const struct about *a, struct ran_buf *out)
{
        double epochs, steps;

        if (!ran_model_progress(a->model, &epochs, &steps))
                return;
        json_name(out, "progress");
        json_begin(out, '{');
        json_put_double(out, "epochs", epochs);
        json_put_double(out, "steps", steps);
        json_end(out, '}');
}

static void put_model(const struct about *a, struct ran_buf *out)
{
        const struct ran_config *c = ran_model_config(a->model);
        const char *digest = ran_model_metadata(a->model, "digest");
        struct ran_buf encoder = {0};

        json_put_text(out, "task", ran_task_name(c->task));
        json_put_text(out, "program", cmd_model_program_of_task(c->task));
        train_about_encoder(a, &encoder);
        json_put_string(out, a->tried ? "encoder_tried" : "encoder", encoder.data, encoder.len);
        ran_buf_release(&encoder);
        if (ran_task_has_labels(c->task))
                json_put_text(out, "consists_of", train_about_parts(a));
        put_labels(a, out);
        if (digest != NULL)
                json_put_text(out, "digest", digest);
        put_progress(a, out);
        json_put_size(out, "trained_on", a->trained);
        if (a->refitted > 0)
                json_put_size(out, "refitted_on", a->refitted);
        if (a->validated > 0)
                put_figure(&a->figure, out);
        if (a->ensemble)
                put_ensemble(a, out);
        if (a->calibrated > 0)
                json_put_size(out, "calibrated_on", a->calibrated);
        if (ran_model_fingerprints(a->model) > 0)
                json_put_size(out, "fingerprints", ran_model_fingerprints(a->model));
        json_put_raw(out, "config", a->settings.data, a->settings.len);
        if (a->training.count > 0)
                json_put_raw(out, "training", a->training.line, a->training.length);
        train_pretrained_json(a, out);
}

void train_info_members(const struct about *a, struct ran_buf *out)
{
        static const char *const kinds[] = {"model", "checkpoint", "vocabulary"};

        json_put_text(out, "file", a->path);
        json_put_text(out, "kind", kinds[a->kind]);
        json_put_size(out, "bytes", a->bytes);
        if (a->model != NULL) {
                put_model(a, out);
                put_parts(a, out);
        }
        put_vocabulary(a, out);
}

void train_info_json(const struct about *a)
{
        struct ran_buf out = {0};

        json_begin(&out, '{');
        train_info_members(a, &out);
        json_end(&out, '}');
        ran_buf_char(&out, '\n');
        if (out.failed)
                cmd_die(CMD_FAILED, "out of memory");
        cmd_write_file(NULL, &out);
        ran_buf_release(&out);
}
