/* output.c - the description of a run, and its finished model. */
#include "nn/part.h"
#include "part/linear/linear-model.h"
#include "ran/math.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ran_trainer_describe(const struct ran_train_job *job, struct ran_buf *out)
{
        ran_buf_str(out, "\"version\":\"" RAN_VERSION "\",");
        ran_fields_json(ran_train_fields, job->settings, out);
        ran_buf_printf(out, ",\"batch_size\":%zu,\"train\":{\"documents\":%zu,\"digest\":\"%s\"}",
                       ran_train_batch(job), job->train->B, job->train->digest);
        if (ran_train_has_dev(job))
                ran_buf_printf(out, ",\"dev\":{\"documents\":%zu,\"digest\":\"%s\"}", job->dev->B,
                               job->dev->digest);
        if (job->init != NULL)
                ran_buf_printf(out, ",\"init\":{\"digest\":\"%s\"}",
                               ran_model_metadata(job->init, "digest"));
        /* Those without a digest are of the run itself. */
        if (job->vectors != NULL && job->vectors->digest[0] != '\0')
                ran_buf_printf(out, ",\"vectors\":{\"digest\":\"%s\"}", job->vectors->digest);
        if (job->training != NULL && job->training[0] != '\0') {
                ran_buf_char(out, ',');
                ran_buf_str(out, job->training);
        }
}

void ran_train_describe(const struct ran_train_job *job, struct ran_buf *out)
{
        ran_buf_str(out, "\"training\":{");
        ran_trainer_describe(job, out);
        ran_buf_str(out, "},\"config\":{");
        ran_fields_json(ran_config_fields, job->config, out);
        ran_buf_str(out, "},\"vocabulary\":");
        if (job->tokenizer != NULL)
                ran_buf_printf(out, "\"%s\"", ran_tokenizer_digest(job->tokenizer));
        else
                ran_buf_printf(out, "%zu", job->V);
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

int ran_trainer_write_parts(struct ran_trainer *t, const char *path, struct ran_parts *parts,
                            const char *more, struct ran_error *err)
{
        struct ran_buf training = {0};

        ran_buf_printf(&training, "{%s%s}", t->training, more);
        parts->training = training.data; /* it ends in a NUL */
        const int rc = ran_model_write(path, NULL, parts, err);
        ran_buf_release(&training);
        return rc;
}

/* ---- which documents it has learned from ----------------------------------------------------- */

/* Whether a training for this task that begins with the weights of init knows documents already: a
 * training on texts says nothing of labels. */
static bool knows(const struct ran_model *init, int task)
{
        return init != NULL && ran_model_fingerprints(init) > 0 &&
               ran_task_has_labels(ran_model_config(init)->task) == ran_task_has_labels(task);
}

size_t ran_train_find_known(const struct ran_dataset *d, const struct ran_model *init, int task,
                            bool *known)
{
        size_t n = 0;

        for (size_t b = 0; b < d->B; b++) {
                const bool is = d->fingerprint != NULL && knows(init, task) &&
                                ran_model_knows(init, d->fingerprint[b]);

                if (known != NULL)
                        known[b] = is;
                n += is;
        }
        return n;
}

/* Their fingerprints, for the model: of all after a refit, else of those that were not held out;
 * and those of the model that training began with. The caller frees the data. */
static struct ran_extra known_documents(const struct ran_trainer *t)
{
        const struct ran_dataset *d = t->job->train;
        const struct ran_model *init = t->job->init;
        const bool *held_out = t->at.epochs.refit == 0 ? t->job->held_out : NULL;
        size_t n = knows(init, t->c->task) ? ran_model_fingerprints(init) : 0;
        struct ran_extra extra = {.name = RAN_KNOWN_TENSOR, .dtype = RAN_DTYPE_U32};

        if (d->fingerprint == NULL && n == 0)
                return extra;
        uint32_t *known = ran_new(n + d->B, sizeof *known);
        if (n > 0)
                memcpy(known, ran_model_known(init).data, n * sizeof *known);
        for (size_t b = 0; d->fingerprint != NULL && b < d->B; b++)
                if (held_out == NULL || !held_out[b])
                        known[n++] = d->fingerprint[b];
        extra.data = known;
        extra.n = ran_known_sort(known, n);
        return extra;
}

/* ---- what the model says of its training ----------------------------------------------------- */

static void add_number(struct ran_buf *out, const char *before, double x)
{
        ran_buf_str(out, before);
        ran_buf_double(out, x);
}

/* Results as users know them: a loss is negated inside. */
static void add_metric(const struct ran_trainer *t, struct ran_buf *out, const char *before,
                       double metric)
{
        add_number(out, before, t->s->metric == RAN_METRIC_LOSS ? -metric : metric);
}

static void add_result(const struct ran_trainer *t, struct ran_buf *out, const char *before,
                       double metric, struct ran_interval interval)
{
        add_metric(t, out, before, metric);
        if (interval.low <= interval.high) {
                add_number(out, ",\"interval\":[", interval.low);
                add_number(out, ",", interval.high);
                ran_buf_char(out, ']');
        }
}

/* What the validation documents said, and why there is no encoder. */
static void add_validation(const struct ran_trainer *t, struct ran_buf *out)
{
        const struct ran_train_decision d = ran_trainer_decision(t);
        struct ran_buf why = {0};

        if (d.documents == 0)
                return;
        ran_buf_printf(out, ",\"validation\":{\"documents\":%zu", d.documents);
        add_result(t, out, ",\"linear\":{\"value\":", t->at.decision.metric,
                   t->at.decision.interval);
        add_result(t, out, "},\"model\":{\"value\":", t->at.best.metric, t->at.best.interval);
        ran_buf_char(out, '}');
        ran_train_decision_tell(&d, &why);
        if (why.len > 0) {
                ran_buf_str(out, ",\"decision\":");
                ran_buf_json(out, why.data, why.len);
        }
        ran_buf_char(out, '}');
        ran_buf_release(&why);
}

/* The ensemble ("deep" and "wide" are its encoder and linear model), and what the linear model
 * chose. */
static void add_paths(const struct ran_trainer *t, struct ran_buf *out)
{
        const struct ran_ensemble *ensemble = &t->at.best.ensemble;
        const struct ran_linear_choice *chosen = &t->at.linear.chosen;

        add_number(out, ",\"paths\":{\"deep\":", ensemble->encoder);
        add_number(out, ",\"wide\":", ensemble->linear);
        if (t->c->classify.multilabel)
                add_number(out, ",\"offset\":", ensemble->offset);
        add_number(out, ",\"cost\":", chosen->cost);
        if (ran_config_has_features(t->c)) {
                add_number(out, ",\"dense\":", chosen->dense);
                add_number(out, ",\"shrinkage\":", chosen->shrinkage);
                if (chosen->described != 0)
                        ran_buf_str(out, ",\"label_texts\":true");
        }
        if (ran_has_linear_model(t->c))
                ran_buf_printf(out, ",\"ratios\":%s", chosen->ratios != 0 ? "true" : "false");
        if (chosen->affixes != 1)
                add_number(out, ",\"affixes\":", chosen->affixes);
        ran_buf_char(out, '}');
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
        ran_buf_release(&field);
        ran_buf_char(out, '}');
}

static void add_all(const struct ran_trainer *t, bool drops, struct ran_buf *out)
{
        const struct ran_state_epochs *at = &t->at.epochs;
        const bool aborted = ran_budget_aborts_refit(t);

        /* Not in a checkpoint, which may resume elsewhere. */
        ran_buf_printf(out, ",\"kernels\":\"%s\"", ran_isa());
        if (t->job->about != NULL && t->job->about[0] != '\0')
                ran_buf_printf(out, ",%s", t->job->about);
        if (t->at.best.epoch > 0) {
                if (ran_config_trains_encoder(t->c) && t->at.decision.why != RAN_ENCODER_NO_ROOM)
                        ran_buf_printf(out, ",\"best_epoch\":%.0f", t->at.best.epoch);
                ran_buf_printf(out, ",\"dev_metric\":{\"%s\"", ran_metric_names[t->s->metric]);
                add_metric(t, out, ":", t->at.best.metric);
                ran_buf_char(out, '}');
                if (!isnan(t->judge.baseline))
                        add_number(out, ",\"dev_baseline\":", t->judge.baseline);
        }
        if (at->limit > 0 || at->last > 0 || aborted)
                ran_buf_printf(out,
                               ",\"time_limit\":{\"from\":%.0f,\"steps\":%.0f,\"last\":%.0f,"
                               "\"aborted\":%s}",
                               at->limit_from, at->limit, at->last, aborted ? "true" : "false");
        add_validation(t, out);
        if (at->refit != 0)
                ran_buf_printf(out, ",\"learned_from\":%zu", t->loop.documents);
        if (t->linear.rows > 0)
                add_paths(t, out);
        if (drops)
                add_tried(t, out);
        if (t->c->classify.multilabel) {
                ran_buf_str(out, ",\"thresholds\":[");
                for (size_t c = 0; c < t->C; c++) {
                        if (c > 0)
                                ran_buf_char(out, ',');
                        ran_buf_float(out, (float)t->at.best.threshold);
                }
                ran_buf_char(out, ']');
        }
        if (t->judge.calibration.n > 0) {
                ran_buf_char(out, ',');
                ran_calibration_json(&t->judge.calibration, out);
        }
        ran_buf_char(out, '\0');
}

/* ---- the model ------------------------------------------------------------------------------- */

/* An encoder without weight is not in the model, nor is such a linear model: `parts` become those
 * that are left, with layout and params of their own, which the caller releases. */
static int leave_out(struct ran_trainer *t, const struct ran_config *left, struct ran_parts *parts,
                     struct ran_layout *layout, struct ran_params *params, struct ran_error *err)
{
        RAN_TRY(ran_layout_init(layout, left, t->C, err));
        RAN_TRY(ran_params_init(params, left, t->C, err));
        for (size_t i = 0; i < layout->n; i++) {
                const struct ran_tensor_spec *to = &layout->spec[i], *from = t->weights.layout.spec;
                const size_t rows = to->rows > 0 ? to->rows : 1;

                while (strcmp(from->name, to->name) != 0)
                        from++;
                memcpy(params->block + to->offset, t->weights.p.block + from->offset,
                       rows * to->cols * sizeof *params->block);
        }
        params->embed = t->weights.p.embed;
        params->spelling = t->weights.p.spelling;
        ran_linear_lend(&t->linear, params);
        parts->config = left;
        parts->layout = layout;
        parts->params = params;
        return RAN_OK;
}

int ran_trainer_write(struct ran_trainer *t, struct ran_error *err)
{
        const bool drops = ran_trainer_drops_encoder(t) || ran_trainer_drops_linear(t);
        const struct ran_config left = left_of(t);
        const struct ran_extra known = known_documents(t);
        struct ran_parts parts = ran_trainer_parts(t);
        struct ran_layout layout = {0};
        struct ran_params params = {0};
        struct ran_buf more = {0};
        int rc = RAN_OK;

        parts.storage = t->job->storage;
        parts.extra = &known;
        parts.extras = known.n > 0;
        add_all(t, drops, &more);
        if (drops)
                rc = leave_out(t, &left, &parts, &layout, &params, err);
        if (rc == RAN_OK)
                rc = ran_trainer_write_parts(t, t->job->output, &parts, more.data, err);
        ran_params_release(&params);
        ran_layout_release(&layout);
        free(known.data);
        ran_buf_release(&more);
        return rc;
}
