/* output.c - the description of a run, and its finished model. */
#include "train/known.h"
#include "train/pretrained.h"
#include "train/share.h"
#include "train/stages.h"
#include "task/train.h"
#include "train/trainer.h"
#include "part/linear/linear-model.h"
#include "file/model.h"
#include "nn/task.h"
#include "ran/train.h"
#include "ran/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that can change the result, and nothing else: the same text means the same run. */
static void add_training(const struct ran_train_job *job, struct ran_buf *out)
{
        ran_buf_str(out, "\"version\":\"" RAN_VERSION "\",");
        ran_fields_json(ran_train_fields, job->settings, out);
        ran_buf_printf(out, ",\"batch_size\":%zu,\"train\":{\"documents\":%zu,\"digest\":\"%s\"}",
                       ran_train_batch(job), job->train->B, job->train->digest);
        if (ran_train_has_dev(job))
                ran_buf_printf(out, ",\"dev\":{\"documents\":%zu,\"digest\":\"%s\"}", job->dev->B,
                               job->dev->digest);
        ran_trainer_describe_init(job, out);
        if (job->training != NULL && job->training[0] != '\0') {
                ran_buf_char(out, ',');
                ran_buf_str(out, job->training);
        }
}

void ran_train_describe(const struct ran_train_job *job, struct ran_buf *out)
{
        ran_buf_str(out, "\"training\":{");
        add_training(job, out);
        ran_buf_str(out, "},\"config\":{");
        ran_fields_json(ran_config_fields, job->config, out);
        ran_buf_str(out, "},\"vocabulary\":");
        if (job->tokenizer != NULL)
                ran_buf_printf(out, "\"%s\"", ran_tokenizer_digest(job->tokenizer));
        else
                ran_buf_printf(out, "%zu", job->V);
}

/* Where the version that wrote a text stands: no text of a user holds a quote that is not escaped.
 */
static size_t find_version(const char *text, size_t n, size_t *end)
{
        static const char key[] = "\"version\":\"";
        const char *found = memmem(text, n, key, sizeof key - 1);
        const char *quote = NULL;

        if (found != NULL)
                quote = memchr(found + sizeof key - 1, '"',
                               n - (size_t)(found - text) - (sizeof key - 1));
        *end = quote != NULL ? (size_t)(quote - text) : 0;
        return quote != NULL ? (size_t)(found - text) : 0;
}

bool ran_train_same_run(const char *a, size_t a_n, const char *b, size_t b_n)
{
        size_t a_end, b_end, from = find_version(a, a_n, &a_end);

        return from == find_version(b, b_n, &b_end) && memcmp(a, b, from) == 0 &&
               a_n - a_end == b_n - b_end && memcmp(a + a_end, b + b_end, a_n - a_end) == 0;
}

int ran_trainer_describe(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_buf out = {0};

        add_training(t->job, &out);
        ran_buf_char(&out, '\0');
        if (out.failed) {
                ran_buf_release(&out);
                return ran_fail(err, RAN_ENOMEM, "memory ran out");
        }
        free(t->training);
        t->training = out.data;
        return RAN_OK;
}

struct ran_parts ran_trainer_parts(const struct ran_trainer *t)
{
        return (struct ran_parts){.config = t->c,
                                  .layout = &t->weights.layout,
                                  .params = &t->weights.p,
                                  .V = t->V,
                                  .C = t->C,
                                  .labels = ran_task_has_labels(t->c->task) ? t->job->train->names
                                                                            : NULL,
                                  .tokenizer = t->job->tokenizer};
}

/* A JSON object with the run's description and `more`. */
int ran_trainer_write_parts(struct ran_trainer *t, const char *path, struct ran_parts *parts,
                            const char *more, struct ran_error *err)
{
        struct ran_buf training = {0};
        int rc;

        ran_buf_printf(&training, "{%s%s}", t->training, more);
        ran_buf_char(&training, '\0');
        if (training.failed) {
                ran_buf_release(&training);
                return ran_fail(err, RAN_ENOMEM, "out of memory while the model was written");
        }
        parts->training = training.data;
        rc = ran_model_write(path, parts, err);
        ran_buf_release(&training);
        return rc;
}

static bool drops(const struct ran_trainer *t)
{
        return ran_trainer_drops_encoder(t) || ran_trainer_drops_linear(t);
}

/* What is left of the run's model without the part that it drops. */
static struct ran_config left_of(const struct ran_trainer *t)
{
        struct ran_config c = *t->c;

        if (ran_trainer_drops_encoder(t))
                ran_config_drop_encoder(&c);
        else if (ran_trainer_drops_linear(t))
                ran_config_drop_predictors(&c);
        return c;
}

/* The settings of an encoder or a linear model that was dropped: with them --replay trains it
 * again. */
static void add_tried(const struct ran_trainer *t, struct ran_buf *out)
{
        const struct ran_config left = left_of(t);
        const char *before = ",\"tried\":{";
        struct ran_buf field = {0};

        for (const struct ran_field *f = ran_config_fields; f->name != NULL; f++) {
                struct ran_field one[] = {*f, {0}};
                const bool all = ran_trainer_drops_encoder(t) && !ran_config_is_of_task(f->name);

                one[0].later = false;
                field.len = 0;
                ran_fields_changes(one, t->c, all ? NULL : &left, &field);
                if (field.len == 0)
                        continue;
                ran_buf_str(out, before);
                ran_buf_add(out, field.data, field.len);
                before = ",";
        }
        out->failed |= field.failed;
        ran_buf_release(&field);
        ran_buf_char(out, '}');
}

/* Copies the tensors that are left without the dropped part. */
static void copy_tensors(float *block, const struct ran_layout *layout, const struct ran_trainer *t)
{
        for (size_t i = 0; i < layout->n; i++) {
                const struct ran_tensor_spec *to = &layout->spec[i], *from = t->weights.layout.spec;
                size_t rows = to->rows > 0 ? to->rows : 1;

                while (strcmp(from->name, to->name) != 0)
                        from++;
                memcpy(block + to->offset, t->weights.p.block + from->offset,
                       rows * to->cols * sizeof *block);
        }
}

/* An encoder without weight is not in the model, nor is such a linear model. */
static int write_part(struct ran_trainer *t, const char *more, const struct ran_extra *known,
                      struct ran_error *err)
{
        const struct ran_config c = left_of(t);
        struct ran_layout layout;
        struct ran_params params;

        RAN_TRY(ran_layout_init(&layout, &c, t->C, err));
        int rc = ran_params_init(&params, &c, t->C, err);
        if (rc == RAN_OK) {
                struct ran_parts parts = ran_trainer_parts(t);

                copy_tensors(params.block, &layout, t);
                params.embed = t->weights.p.embed;
                params.spelling = t->weights.p.spelling;
                ran_linear_lend(&t->linear, &params);
                parts.storage = t->job->storage;
                parts.extra = known;
                parts.extras = known->n > 0;
                parts.config = &c;
                parts.layout = &layout;
                parts.params = &params;
                rc = ran_trainer_write_parts(t, t->job->output, &parts, more, err);
        }
        ran_params_release(&params);
        ran_layout_release(&layout);
        return rc;
}

static void add_interval(double low, double high, struct ran_buf *out)
{
        if (low > high)
                return;
        ran_buf_str(out, ",\"interval\":[");
        ran_buf_double(out, low);
        ran_buf_char(out, ',');
        ran_buf_double(out, high);
        ran_buf_char(out, ']');
}

/* What the validation documents said, and why there is no encoder. */
static void add_validation(const struct ran_trainer *t, struct ran_buf *out)
{
        const struct ran_train_decision d = ran_trainer_decision(t);
        struct ran_buf why = {0};

        if (t->at.decision.documents == 0)
                return;
        ran_buf_printf(out,
                       ",\"validation\":{\"documents\":%zu,\"linear\":{\"value\":", d.documents);
        ran_buf_double(out, t->s->metric == RAN_METRIC_LOSS ? -t->at.decision.metric
                                                            : t->at.decision.metric);
        add_interval(t->at.decision.low, t->at.decision.high, out);
        ran_buf_str(out, "},\"model\":{\"value\":");
        ran_buf_double(out,
                       t->s->metric == RAN_METRIC_LOSS ? -t->at.best.metric : t->at.best.metric);
        add_interval(t->at.best.low, t->at.best.high, out);
        ran_buf_char(out, '}');
        ran_train_decision_tell(&d, &why);
        if (why.len > 0) {
                ran_buf_str(out, ",\"decision\":");
                ran_buf_json(out, why.data, why.len);
        }
        out->failed |= why.failed;
        ran_buf_char(out, '}');
        ran_buf_release(&why);
}

int ran_trainer_write(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_parts parts = ran_trainer_parts(t);
        struct ran_buf more = {0};
        struct ran_extra known;
        int rc;

        RAN_TRY(ran_known_make(t->job, t->at.epochs.refit != 0, &known, err));
        parts.storage = t->job->storage;
        parts.extra = &known;
        parts.extras = known.n > 0;

        /* Not in a checkpoint, which may resume elsewhere. */
        ran_buf_printf(&more, ",\"kernels\":\"%s\"", ran_isa());
        if (t->job->about != NULL && t->job->about[0] != '\0')
                ran_buf_printf(&more, ",%s", t->job->about);
        if (t->at.best.epoch > 0) {
                if (ran_config_trains_encoder(t->c) && t->at.decision.why != RAN_ENCODER_NO_ROOM)
                        ran_buf_printf(&more, ",\"best_epoch\":%.0f", t->at.best.epoch);
                ran_buf_printf(&more, ",\"dev_metric\":{\"%s\":", ran_metric_names[t->s->metric]);
                ran_buf_double(&more, t->s->metric == RAN_METRIC_LOSS ? -t->at.best.metric
                                                                      : t->at.best.metric);
                ran_buf_char(&more, '}');
                if (!isnan(t->judge.baseline)) {
                        ran_buf_str(&more, ",\"dev_baseline\":");
                        ran_buf_double(&more, t->judge.baseline);
                }
        }
        if (t->at.epochs.limit > 0 || t->at.epochs.last > 0 || ran_budget_aborts_refit(t))
                ran_buf_printf(&more,
                               ",\"time_limit\":{\"from\":%.0f,\"steps\":%.0f,\"last\":%.0f,"
                               "\"aborted\":%s}",
                               t->at.epochs.limit_from, t->at.epochs.limit, t->at.epochs.last,
                               ran_budget_aborts_refit(t) ? "true" : "false");
        add_validation(t, &more);
        if (t->at.epochs.refit != 0)
                ran_buf_printf(&more, ",\"learned_from\":%zu", t->loop.documents);
        if (t->linear.rows > 0) {
                ran_buf_str(&more, ",\"paths\":{\"deep\":");
                ran_buf_double(&more, t->at.best.encoder);
                ran_buf_str(&more, ",\"wide\":");
                ran_buf_double(&more, t->at.best.linear);
                if (t->c->classify.multilabel) {
                        ran_buf_str(&more, ",\"offset\":");
                        ran_buf_double(&more, t->at.best.offset);
                }
                ran_buf_str(&more, ",\"cost\":");
                ran_buf_double(&more, t->at.linear.cost);
                if (ran_config_has_features(t->c)) {
                        ran_buf_str(&more, ",\"dense\":");
                        ran_buf_double(&more, t->at.linear.dense);
                        ran_buf_str(&more, ",\"shrinkage\":");
                        ran_buf_double(&more, t->at.linear.shrinkage);
                        if (t->at.linear.described != 0)
                                ran_buf_str(&more, ",\"label_texts\":true");
                }
                if (ran_has_linear_model(t->c))
                        ran_buf_printf(&more, ",\"ratios\":%s",
                                       t->at.linear.ratios != 0 ? "true" : "false");
                if (t->at.linear.affixes != 1) {
                        ran_buf_str(&more, ",\"affixes\":");
                        ran_buf_double(&more, t->at.linear.affixes);
                }
                ran_buf_char(&more, '}');
        }
        if (drops(t))
                add_tried(t, &more);
        if (t->c->classify.multilabel) {
                ran_buf_str(&more, ",\"thresholds\":[");
                for (size_t c = 0; c < t->C; c++) {
                        if (c > 0)
                                ran_buf_char(&more, ',');
                        ran_buf_float(&more, (float)t->at.best.threshold);
                }
                ran_buf_char(&more, ']');
        }
        if (t->judge.calibration.n > 0) {
                ran_buf_char(&more, ',');
                ran_calibration_json(&t->judge.calibration, &more);
        }
        ran_buf_char(&more, '\0');
        if (more.failed)
                rc = ran_fail(err, RAN_ENOMEM, "out of memory while the model was written");
        else if (drops(t))
                rc = write_part(t, more.data, &known, err);
        else
                rc = ran_trainer_write_parts(t, t->job->output, &parts, more.data, err);
        free(known.data);
        ran_buf_release(&more);
        return rc;
}
