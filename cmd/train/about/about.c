/* about.c - what a model, a checkpoint or a vocabulary says about itself. */
#include "cmd/train/about/about.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/content/model.h"

/* ---- members of the record of a training ----------------------------------------------------- */

static bool scan(struct ran_record *r, const char *text, size_t n)
{
        struct ran_error err;

        if (ran_record_scan(r, text, n, &err) == RAN_OK)
                return true;
        ran_record_release(r);
        *r = (struct ran_record){0};
        return false;
}

bool train_about_object(const struct ran_record *r, const char *name, struct ran_record *object)
{
        const struct ran_member *m = ran_record_find(r, name, NULL);

        *object = (struct ran_record){0};
        return m != NULL && m->type == 'o' &&
               scan(object, r->line + m->value.begin, m->value.end - m->value.begin);
}

bool train_about_number(const struct ran_record *r, const char *name, double *x)
{
        const struct ran_member *m = ran_record_find(r, name, NULL);

        return m != NULL && m->type == 'n' &&
               ran_parse_double(r->line + m->value.begin, m->value.end - m->value.begin, x);
}

/* A whole number; 0 for all else. */
static size_t count_of(const struct ran_record *r, const char *name)
{
        double x;

        return train_about_number(r, name, &x) && x >= 0 && x < 1e15 ? (size_t)x : 0;
}

static size_t documents_of(const struct ran_record *training, const char *name)
{
        struct ran_record object;
        size_t n = train_about_object(training, name, &object) ? count_of(&object, "documents") : 0;

        ran_record_release(&object);
        return n;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Only a share of documents has an interval that their number gives: F1 is none. */
static bool is_share(const struct about *a, const char *metric)
{
        const struct ran_config *c = ran_model_config(a->model);

        return c->task == RAN_TASK_CLASSIFY && !c->classify.multilabel &&
               (strcmp(metric, "accuracy") == 0 || strcmp(metric, "micro_f1") == 0);
}

static void read_figure(struct about *a)
{
        struct about_figure *f = &a->figure;
        struct ran_record object;

        f->n = a->validated;
        f->baseline = NAN;
        if (train_about_object(&a->training, "dev_metric", &object))
                for (const char *const *name = ran_metric_names; *name != NULL; name++)
                        if (train_about_number(&object, *name, &f->value))
                                f->metric = *name;
        ran_record_release(&object);
        if (f->metric != NULL && (is_share(a, f->metric) || strcmp(f->metric, "accuracy") == 0) &&
            !train_about_number(&a->training, "dev_baseline", &f->baseline))
                f->baseline = NAN;
        if (f->metric == NULL || f->n == 0 || !is_share(a, f->metric) || !(f->value >= 0) ||
            !(f->value <= 1))
                return;
        f->metric = "accuracy"; /* which micro F1 is, with one label a document */
        f->has_interval = true;
        f->interval = ran_interval_share(f->value * (double)f->n, (double)f->n);
}

/* Whether the objects `train` and `dev` name the same data. */
static bool is_held_out(const struct ran_record *training)
{
        struct ran_record train, dev;
        bool same = false;

        if (train_about_object(training, "train", &train) &&
            train_about_object(training, "dev", &dev)) {
                const struct ran_member *a = ran_record_find(&train, "digest", NULL);
                const struct ran_member *b = ran_record_find(&dev, "digest", NULL);
                size_t n = a != NULL ? a->value.end - a->value.begin : 0;

                same = n > 0 && b != NULL && b->value.end - b->value.begin == n &&
                       memcmp(train.line + a->value.begin, dev.line + b->value.begin, n) == 0;
                ran_record_release(&dev);
        }
        ran_record_release(&train);
        return same;
}

static void read_training(struct about *a)
{
        struct ran_record object;

        a->trained = documents_of(&a->training, "train");
        a->validated = documents_of(&a->training, "dev");
        a->calibrated = documents_of(&a->training, "calibration");
        a->refitted = count_of(&a->training, "learned_from");
        a->best_epoch = count_of(&a->training, "best_epoch");
        a->held_out = is_held_out(&a->training);
        a->tried = ran_record_find(&a->training, "tried", NULL) != NULL;
        a->ensemble = train_about_object(&a->training, "paths", &object);
        if (a->ensemble) {
                train_about_number(&object, "deep", &a->encoder);
                train_about_number(&object, "wide", &a->linear);
                train_about_number(&object, "cost", &a->cost);
                train_about_number(&object, "dense", &a->dense);
        }
        ran_record_release(&object);
        read_figure(a);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Vocabularies are JSON; the files of models begin with a number of eight bytes. */
static bool is_json(const struct ran_bytes *b)
{
        size_t i = ran_utf8_mark((const char *)b->data, b->size);

        while (i < b->size && strchr(" \t\r\n", b->data[i]) != NULL && b->data[i] != '\0')
                i++;
        return i < b->size && b->data[i] == '{' && !(b->size > 8 && b->data[7] == '\0');
}

bool train_about_is_folder(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool open_vocabulary(struct about *a)
{
        struct ran_bytes file;
        struct ran_error err;

        struct ran_buf found = {0};
        const bool named = cmd_model_find(a->path, &found);

        ran_buf_release(&found);
        if (named || (strchr(a->path, '/') == NULL && access(a->path, F_OK) != 0) ||
            train_about_is_folder(a->path))
                return false; /* the name of a model, or a folder that is one */
        if (ran_bytes_open(&file, a->path, &err) != RAN_OK)
                cmd_die(CMD_FAILED, "%s", err.text);
        bool json = is_json(&file);
        a->bytes = file.size;
        if (json)
                a->own = ran_tokenizer_load((const char *)file.data, file.size, &err);
        ran_bytes_release(&file);
        if (json && a->own == NULL)
                cmd_die(cmd_status_of(&err), "%s: %s", a->path, err.text);
        a->tokenizer = a->own;
        a->kind = ABOUT_VOCABULARY;
        return json;
}

static void open_model(struct about *a)
{
        struct ran_error err;
        double epochs, steps;

        a->model = cmd_model_load(a->path, false, &err);
        if (a->model == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        a->bytes = ran_model_bytes(a->model);
        a->tokenizer = ran_model_tokenizer(a->model);
        a->kind = ran_model_progress(a->model, &epochs, &steps) ? ABOUT_CHECKPOINT : ABOUT_MODEL;
        a->parts = ran_model_parts(a->model, a->part);
        ran_buf_char(&a->settings, '{');
        ran_fields_json(ran_config_fields, ran_model_config(a->model), &a->settings);
        ran_buf_char(&a->settings, '}');
        if (a->settings.failed)
                cmd_die(CMD_FAILED, "out of memory");
        scan(&a->config, a->settings.data, a->settings.len);
        const char *training = ran_model_metadata(a->model, "training");
        if (training != NULL)
                scan(&a->training, training, strlen(training));
        read_training(a);
}

void train_about_open(struct about *a, const char *path)
{
        *a = (struct about){.path = path};
        if (!open_vocabulary(a))
                open_model(a);
}

void train_about_release(struct about *a)
{
        ran_model_free(a->model);
        ran_tokenizer_free(a->own);
        ran_record_release(&a->config);
        ran_record_release(&a->training);
        ran_buf_release(&a->settings);
        *a = (struct about){0};
}

/* ---- words for it ---------------------------------------------------------------------------- */

const char *train_about_parts(const struct about *a)
{
        const struct ran_config *c = ran_model_config(a->model);

        if (!ran_task_has_labels(c->task))
                return "";
        if (ran_config_has_features(c) && ran_config_trains_encoder(c))
                return "encoder, and linear model over n-grams and document vectors of its layers "
                       "below the tuned ones";
        if (ran_config_has_features(c))
                return ran_config_has_layers(c) ? "linear model over n-grams and document vectors "
                                                  "of a frozen encoder"
                                                : "linear model over n-grams and means of vectors";
        if (!ran_config_has_encoder(c))
                return "linear model only";
        return ran_config_has_predictor(c) ? "encoder and linear model" : "encoder only";
}

static void add_string(const struct ran_record *r, const char *name, struct ran_buf *out)
{
        const struct ran_member *m = ran_record_find(r, name, NULL);
        struct ran_error err;

        if (m != NULL && m->type == 's')
                ran_json_decode(r->line, m->value, out, &err);
}

void train_about_encoder(const struct about *a, struct ran_buf *out)
{
        struct ran_record tried;

        if (!ran_config_has_encoder(ran_model_config(a->model)) && a->tried &&
            train_about_object(&a->training, "tried", &tried)) {
                add_string(&tried, "encoder", out);
                ran_record_release(&tried);
                return;
        }
        add_string(&a->config, "encoder", out);
}

void train_about_decision(const struct about *a, struct ran_buf *out)
{
        struct ran_record validation;

        if (!train_about_object(&a->training, "validation", &validation))
                return;
        add_string(&validation, "decision", out);
        ran_record_release(&validation);
}

void train_about_vocabulary(const struct about *a, struct ran_buf *out)
{
        struct ran_record all = {0}, model;
        size_t n;
        const char *json = ran_tokenizer_json(a->tokenizer, &n);

        if (!scan(&all, json, n))
                return;
        if (train_about_object(&all, "model", &model))
                add_string(&model, "type", out);
        ran_record_release(&model);
        ran_record_release(&all);
}
