/* about.c - what a model, a checkpoint or a vocabulary says about itself. */
#include "cmd/train/about/about.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/options/message.h"
#include "cmd/content/model.h"

/* ---- members ----------------------------------------------------------------------------------
 */

const cJSON *train_about_member(const cJSON *object, const char *path)
{
        char name[64];

        for (size_t n; object != NULL && *path != '\0'; path += n + (path[n] == '.')) {
                n = strcspn(path, ".");
                snprintf(name, sizeof name, "%.*s", (int)n, path);
                object = cJSON_GetObjectItemCaseSensitive(object, name);
        }
        return object;
}

double train_about_number(const cJSON *object, const char *path)
{
        const cJSON *m = train_about_member(object, path);

        return cJSON_IsNumber(m) ? m->valuedouble : 0;
}

size_t train_about_count(const cJSON *object, const char *path)
{
        const double x = train_about_number(object, path);

        return x >= 0 && x < 1e15 ? (size_t)x : 0;
}

const char *train_about_string(const cJSON *object, const char *path)
{
        return cJSON_GetStringValue(train_about_member(object, path));
}

static bool scan(struct ran_record *r, const char *text, size_t n)
{
        struct ran_error err;

        if (ran_record_scan(r, text, n, &err) == RAN_OK)
                return true;
        ran_record_release(r);
        *r = (struct ran_record){0};
        return false;
}

/* ---- figures --------------------------------------------------------------------------------- */

static void read_figure(struct about *a)
{
        const cJSON *metric = train_about_member(a->said, "dev_metric"),
                    *baseline = train_about_member(a->said, "dev_baseline");
        struct about_figure *f = &a->figure;

        f->n = train_about_count(a->said, "dev.documents");
        f->baseline = NAN;
        for (const char *const *name = ran_metric_names; *name != NULL; name++)
                if (cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(metric, *name))) {
                        f->metric = *name;
                        f->value = train_about_number(metric, *name);
                }
        if (f->metric == NULL)
                return;
        /* Only a share of documents has an interval that their number gives: F1 is none. */
        const struct ran_config *c = ran_model_config(a->model);
        const bool share =
                c->task == RAN_TASK_CLASSIFY && !c->classify.multilabel &&
                (strcmp(f->metric, "accuracy") == 0 || strcmp(f->metric, "micro_f1") == 0);
        if ((share || strcmp(f->metric, "accuracy") == 0) && cJSON_IsNumber(baseline))
                f->baseline = baseline->valuedouble;
        if (f->n == 0 || !share || !(f->value >= 0) || !(f->value <= 1))
                return;
        f->metric = "accuracy"; /* which micro F1 is, with one label a document */
        f->has_interval = true;
        f->interval = ran_interval_share(f->value * (double)f->n, (double)f->n);
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

static bool open_vocabulary(struct about *a)
{
        struct ran_buf found = {0};
        struct ran_bytes file;
        struct ran_error err;
        struct stat st;
        const bool named = cmd_model_find(a->path, &found);

        ran_buf_release(&found);
        if (named || (strchr(a->path, '/') == NULL && access(a->path, F_OK) != 0) ||
            (stat(a->path, &st) == 0 && S_ISDIR(st.st_mode)))
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
        scan(&a->config, a->settings.data, a->settings.len);
        const char *training = ran_model_metadata(a->model, "training");
        if (training != NULL && scan(&a->training, training, strlen(training)))
                a->said = cJSON_Parse(training);
        const char *pretrained = ran_model_metadata(a->model, "pretrained");
        a->pretrained = pretrained != NULL ? cJSON_Parse(pretrained) : NULL;
        if (!cJSON_IsObject(a->pretrained)) {
                cJSON_Delete(a->pretrained);
                a->pretrained = NULL;
        }
        a->tried = cJSON_HasObjectItem(a->said, "tried");
        read_figure(a);
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
        cJSON_Delete(a->said);
        cJSON_Delete(a->pretrained);
        ran_buf_release(&a->settings);
        *a = (struct about){0};
}
