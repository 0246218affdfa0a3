/* trainer.c - a training run's memory: set up, kept in a checkpoint, and written as a model. */
#include "train/trainer.h"
#include "model/model.h"
#include "model/linear-model.h"
#include "train/crf-train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- set up --------------------------------------------------------------------------------- */

size_t ran_train_batch(const struct ran_train_job *job)
{
        size_t by_size = job->train->B / 100;

        if (job->settings->batch > 0)
                return job->settings->batch;
        return by_size < 4 ? 4 : by_size > 32 ? 32 : by_size;
}

bool ran_train_has_dev(const struct ran_train_job *job)
{
        return job->dev != NULL && job->dev->B > 0;
}

bool ran_train_refits(const struct ran_train_job *job)
{
        return ran_train_has_dev(job) && job->held_out != NULL && job->settings->refit;
}

void ran_trainer_begin_epoch(struct ran_trainer *t)
{
        size_t epoch = (size_t)t->at.epoch, done = (size_t)t->at.batch;

        ran_plan_shuffle(t->order, t->document, t->documents, t->s->seed, epoch);
        t->batches = ran_plan_steps(&t->plan, t->order, t->documents);
        t->steps = (size_t)t->optimiser.step - done + t->batches * (t->s->epochs - epoch);
        while (done-- > 0 && ran_plan_next(&t->plan))
                ;
}

/* Everything that can change the result, and nothing else: the same text means the same run. */
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

static int describe(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_buf out = {0};

        add_training(t->job, &out);
        ran_buf_char(&out, '\0');
        if (out.failed) {
                ran_buf_release(&out);
                return ran_fail(err, RAN_ENOMEM, "memory ran out");
        }
        t->training = out.data;
        return RAN_OK;
}

static int allocate_tables(struct ran_trainer *t, bool dev, struct ran_error *err)
{
        size_t n = t->table.rows * t->table.width;

        t->table.x = ran_alloc_floats(n, err);
        t->best_table = dev ? ran_alloc_floats(n, err) : NULL;
        t->p.wide = t->linear = ran_alloc_floats(t->c->wide * t->C, err);
        if (ran_has_linear_model(t->c) &&
            (t->p.idf = t->idf = ran_alloc_floats(t->c->wide, err)) == NULL)
                return RAN_ENOMEM;
        if (ran_has_linear_words(t->c) && t->c->crf &&
            (t->crf = ran_alloc_floats(ran_crf_train_floats(t->C), err)) == NULL)
                return RAN_ENOMEM;
        if (t->table.x == NULL || (dev && t->best_table == NULL) || t->linear == NULL)
                return RAN_ENOMEM;
        t->p.embed = t->table.x;
        t->p.spelling = t->c->spelling > 0 ? t->p.embed + t->V * t->D : NULL;
        if (!ran_linear_model_wants_pieces(t->c))
                return RAN_OK;
        t->p.pieces = t->pieces = ran_linear_model_pieces(t->job->tokenizer, t->c, err);
        return t->pieces != NULL ? RAN_OK : RAN_ENOMEM;
}

static void list_documents(struct ran_trainer *t)
{
        const bool *held_out = t->at.refit == 0 ? t->job->held_out : NULL;

        t->documents = 0;
        for (size_t b = 0; b < t->job->train->B; b++)
                if (held_out == NULL || !held_out[b])
                        t->document[t->documents++] = b;
}

static int allocate(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_job *job = t->job;
        bool dev = ran_train_has_dev(job) && ran_ranks_leads(job->ranks);
        int rc = ran_layout_init(&t->layout, t->c, t->C, err);

        if (rc == RAN_OK)
                rc = ran_params_init(&t->p, t->c, t->C, err);
        if (rc == RAN_OK)
                rc = ran_optimiser_init(&t->optimiser, t->s, &t->layout, &t->table,
                                        ran_is_tied(t->c), job->pool, err);
        if (rc == RAN_OK)
                rc = ran_batcher_init(&t->batcher, t->c, &t->p, t->V, t->C, job->train, job->pool,
                                      err);
        if (rc == RAN_OK)
                rc = ran_plan_init(&t->plan, t->c, job->train, t->batch, t->s->bptt, err);
        if (rc == RAN_OK && t->s->class_weights == RAN_WEIGHTS_BALANCED)
                rc = ran_batcher_balance(&t->batcher, err);
        if (rc != RAN_OK)
                return rc;
        t->p.seed = t->s->seed;
        t->order = ran_alloc(job->train->B, sizeof *t->order, err);
        t->document = ran_alloc(job->train->B, sizeof *t->document, err);
        t->best_block = dev ? ran_alloc_floats(t->layout.size, err) : NULL;
        if (t->order == NULL || t->document == NULL || (dev && t->best_block == NULL))
                return RAN_ENOMEM;
        list_documents(t);
        if (t->documents == 0)
                return ran_fail(err, RAN_EINVAL, "all documents are held out");
        return allocate_tables(t, dev, err);
}

int ran_trainer_init(struct ran_trainer *t, const struct ran_train_job *job, struct ran_error *err)
{
        size_t tokens, rows;
        int rc;

        *t = (struct ran_trainer){.job = job,
                                  .c = job->config,
                                  .s = job->settings,
                                  .C = job->train->C,
                                  .D = job->config->dim};
        t->V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        if (ran_is_tied(t->c))
                t->C = t->V;
        if (job->train->B == 0 || t->C < (job->train->multilabel ? 1 : 2))
                return ran_fail(err, RAN_EINVAL,
                                "%zu documents of %zu %s: there is nothing to learn", job->train->B,
                                t->C, ran_is_tied(t->c) ? "different ids" : "classes");
        t->batch = ran_train_batch(job);
        t->at.best = -INFINITY;
        t->at.threshold = 0.5;
        t->prior = t->c->task == RAN_TASK_TAG ? ran_ensemble_default_words : ran_ensemble_default;
        if (__builtin_mul_overflow(job->train->first[job->train->B], t->s->epochs, &tokens) ||
            !ran_table_shape(&t->table, t->c, t->V) ||
            __builtin_mul_overflow(t->c->wide, t->C, &rows) || rows > SIZE_MAX / sizeof(float))
                return ran_fail(err, RAN_EINVAL,
                                "so many epochs or so large a vocabulary cannot be");
        if (t->s->word_dropout > 0 &&
            (job->tokenizer == NULL || ran_tokenizer_unknown(job->tokenizer) == RAN_NO_ID))
                return ran_fail(err, RAN_EINVAL,
                                "word_dropout needs a vocabulary, which says what unknown is%s",
                                job->tokenizer != NULL ? "; this one, of byte pairs, has no such "
                                                         "piece"
                                                       : "");
        if (ran_linear_model_wants_pieces(t->c) && job->tokenizer == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "without a vocabulary nobody knows what ids begin and end with: "
                                "affixes must be off");
        rc = ran_config_check(t->c, err);
        if (rc == RAN_OK)
                rc = ran_train_settings_check(t->s, t->c, err);
        if (rc == RAN_OK)
                rc = ran_batch_check(job->train, t->c, t->V, t->C, false, err);
        if (rc == RAN_OK)
                rc = ran_batch_check(job->dev, t->c, t->V, t->C, true, err);
        if (rc == RAN_OK && ran_train_has_dev(job) && !ran_is_tied(t->c) && job->dev->C != t->C)
                rc = ran_fail(err, RAN_EINVAL,
                              "the development data are of %zu classes, the training data of %zu",
                              job->dev->C, t->C);
        if (rc == RAN_OK)
                rc = allocate(t, err);
        if (rc == RAN_OK && t->c->task == RAN_TASK_MLM)
                rc = ran_masking_id(&t->batcher.mask, job->tokenizer, err);
        if (rc == RAN_OK && ran_ranks_leads(job->ranks))
                rc = ran_trainer_init_weights(t, err);
        if (rc == RAN_OK && ran_ranks_leads(job->ranks))
                rc = describe(t, err);
        if (rc != RAN_OK)
                return rc;
        t->at.encoder = t->prior.encoder;
        t->at.linear = t->prior.linear;
        t->at.cost = t->s->wide_cost * t->linear_rate;
        t->batcher.ranks = job->ranks;
        t->batcher.smoothing = t->s->label_smoothing;
        t->batcher.word_dropout = t->s->word_dropout;
        t->batcher.unknown = job->tokenizer != NULL ? ran_tokenizer_unknown(job->tokenizer) : 0;
        t->batcher.noise = (struct ran_noise){
                .seed = t->s->seed, .dropout = t->s->dropout, .embed_dropout = t->s->embed_dropout};
        return RAN_OK;
}

int ran_trainer_refit(struct ran_trainer *t, struct ran_error *err)
{
        t->at.refit = 1;
        t->at.fitted = t->at.epoch = t->at.batch = t->at.loss = t->at.loss_weight = 0;
        list_documents(t);
        memset(t->p.block, 0, t->layout.size * sizeof(float));
        memset(t->table.x, 0, t->table.rows * t->table.width * sizeof(float));
        memset(t->linear, 0, t->c->wide * t->C * sizeof *t->linear);
        if (t->crf != NULL)
                memset(t->crf, 0, ran_crf_train_floats(t->C) * sizeof *t->crf);
        ran_optimiser_release(&t->optimiser);
        if (ran_optimiser_init(&t->optimiser, t->s, &t->layout, &t->table, ran_is_tied(t->c),
                               t->job->pool, err) != RAN_OK)
                return err->code;
        return ran_ranks_leads(t->job->ranks) ? ran_trainer_init_weights(t, err) : RAN_OK;
}

struct ran_svm ran_trainer_svm(const struct ran_trainer *t)
{
        return (struct ran_svm){.c = t->c,
                                .d = t->job->train,
                                .document = t->document,
                                .n = t->documents,
                                .pieces = t->pieces,
                                .class_weight = t->batcher.class_weight,
                                .cost = t->at.cost,
                                .ratios = t->at.ratios != 0,
                                .tolerance = ran_svm_tolerance,
                                .passes = RAN_SVM_PASSES,
                                .seed = t->s->seed,
                                .pool = t->job->pool};
}

void ran_trainer_release(struct ran_trainer *t)
{
        ran_batcher_release(&t->batcher);
        ran_plan_release(&t->plan);
        ran_optimiser_release(&t->optimiser);
        ran_params_release(&t->p);
        ran_layout_release(&t->layout);
        free(t->table.x);
        free(t->best_table);
        free(t->linear);
        free(t->idf);
        free(t->crf);
        free(t->pieces);
        free(t->best_block);
        free(t->order);
        free(t->document);
        free(t->training);
        ran_calibration_release(&t->calibration);
        *t = (struct ran_trainer){0};
}

/* ---- files ---------------------------------------------------------------------------------- */

static struct ran_parts parts_of(const struct ran_trainer *t)
{
        return (struct ran_parts){.config = t->c,
                                  .layout = &t->layout,
                                  .params = &t->p,
                                  .V = t->V,
                                  .C = t->C,
                                  .labels = ran_is_tied(t->c) ? NULL : t->job->train->names,
                                  .tokenizer = t->job->tokenizer};
}

size_t ran_trainer_extras(struct ran_trainer *t, struct ran_extra x[RAN_EXTRAS])
{
        const struct ran_table_state *table = &t->optimiser.table;
        size_t n = 0, size = t->layout.size, all = table->rows * table->width;

        x[n++] = (struct ran_extra){"train.progress", RAN_DTYPE_F64, &t->at,
                                    sizeof t->at / sizeof(double)};
        x[n++] = (struct ran_extra){"train.m", RAN_DTYPE_F32, t->optimiser.m, size};
        x[n++] = (struct ran_extra){"train.v", RAN_DTYPE_F32, t->optimiser.v, size};
        x[n++] = (struct ran_extra){"train.embed.m", RAN_DTYPE_F32, table->m, all};
        x[n++] = (struct ran_extra){"train.embed.v", RAN_DTYPE_F32, table->v, table->moments};
        x[n++] =
                (struct ran_extra){"train.embed.met", RAN_DTYPE_F64, table->last_step, table->rows};
        if (t->crf != NULL)
                x[n++] = (struct ran_extra){"train.chain", RAN_DTYPE_F32, t->crf,
                                            ran_crf_train_floats(t->C)};
        return n;
}

/* All that a checkpoint holds beside the weights; the same list writes and reads. */
static size_t extras(struct ran_trainer *t, struct ran_extra x[RAN_EXTRAS])
{
        size_t n = ran_trainer_extras(t, x), size = t->layout.size;
        size_t all = t->table.rows * t->table.width;

        if (t->best_block != NULL) {
                x[n++] = (struct ran_extra){"train.best", RAN_DTYPE_F32, t->best_block, size};
                x[n++] = (struct ran_extra){"train.embed.best", RAN_DTYPE_F32, t->best_table, all};
                x[n++] = (struct ran_extra){"train.calibration", RAN_DTYPE_F32, t->calibrated,
                                            RAN_CALIBRATION_KEPT};
        }
        return n;
}

/* And what the documents go on from that are not read to their end. NULL: memory ran out. */
static float *recurrent_extra(const struct ran_trainer *t, struct ran_extra *x,
                              struct ran_error *err)
{
        size_t n = ran_plan_floats(&t->plan);
        float *data = ran_alloc_floats(n, err);

        *x = (struct ran_extra){"train.carry", RAN_DTYPE_F32, data, n};
        return data;
}

/* A JSON object of the run's description and `more`. */
static int write_parts(struct ran_trainer *t, const char *path, struct ran_parts *parts,
                       const char *more, struct ran_error *err)
{
        struct ran_buf training = {0};
        int rc;

        ran_buf_printf(&training, "{%s%s}", t->training, more);
        ran_buf_char(&training, '\0');
        if (training.failed) {
                ran_buf_release(&training);
                return ran_fail(err, RAN_ENOMEM, "memory ran out while the model was written");
        }
        parts->training = training.data;
        rc = ran_model_write(path, parts, err);
        ran_buf_release(&training);
        return rc;
}

void ran_trainer_note(struct ran_trainer *t)
{
        t->at.updates = (double)t->optimiser.step;
        t->at.decay = t->optimiser.decay;
        t->at.calibrated = (double)t->calibration.documents;
        if (t->calibration.n > 0)
                memcpy(t->calibrated, t->calibration.p, t->calibration.n * sizeof(float));
}

int ran_checkpoint_write(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_parts parts = parts_of(t);
        struct ran_extra x[RAN_EXTRAS];
        float *recurrent;
        int rc;

        ran_trainer_note(t);
        parts.extra = x;
        parts.extras = extras(t, x);
        recurrent = recurrent_extra(t, &x[parts.extras], err);
        if (recurrent == NULL)
                return RAN_ENOMEM;
        ran_plan_pack(&t->plan, recurrent);
        if (x[parts.extras].n > 0)
                parts.extras++;
        rc = write_parts(t, t->job->checkpoint, &parts, "", err);
        free(recurrent);
        return rc;
}

int ran_trainer_write(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_parts parts = parts_of(t);
        struct ran_buf more = {0};
        int rc;

        /* Not in a checkpoint, which may go on elsewhere. */
        ran_buf_printf(&more, ",\"kernels\":\"%s\"", ran_isa());
        if (t->at.best_epoch > 0) {
                static const char *const names[] = {"accuracy", "micro_f1", "macro_f1", "loss"};

                ran_buf_printf(&more,
                               ",\"best_epoch\":%.0f,\"dev_metric\":{\"%s\":", t->at.best_epoch,
                               names[t->s->metric]);
                ran_buf_double(&more, t->s->metric == RAN_METRIC_LOSS ? -t->at.best : t->at.best);
                ran_buf_char(&more, '}');
        }
        if (t->at.refit != 0)
                ran_buf_printf(&more, ",\"learned_from\":%zu", t->documents);
        if (t->c->wide > 0) {
                ran_buf_str(&more, ",\"paths\":{\"deep\":");
                ran_buf_double(&more, t->at.encoder);
                ran_buf_str(&more, ",\"wide\":");
                ran_buf_double(&more, t->at.linear);
                ran_buf_str(&more, ",\"cost\":");
                ran_buf_double(&more, t->at.cost);
                if (ran_has_linear_model(t->c))
                        ran_buf_printf(&more, ",\"ratios\":%s",
                                       t->at.ratios != 0 ? "true" : "false");
                ran_buf_char(&more, '}');
        }
        if (t->c->multilabel) {
                ran_buf_str(&more, ",\"thresholds\":[");
                for (size_t c = 0; c < t->C; c++) {
                        if (c > 0)
                                ran_buf_char(&more, ',');
                        ran_buf_float(&more, (float)t->at.threshold);
                }
                ran_buf_char(&more, ']');
        }
        if (t->calibration.n > 0) {
                ran_buf_char(&more, ',');
                ran_calibration_json(&t->calibration, &more);
        }
        ran_buf_char(&more, '\0');
        if (more.failed)
                rc = ran_fail(err, RAN_ENOMEM, "memory ran out while the model was written");
        else
                rc = write_parts(t, t->job->output, &parts, more.data, err);
        ran_buf_release(&more);
        return rc;
}

void ran_trainer_copy_rows(struct ran_trainer *t, size_t first, size_t n, const float *rows)
{
        if (n > 0)
                memcpy(t->table.x + first * t->D, rows, n * t->D * sizeof(float));
}

/* ---- resuming ------------------------------------------------------------------------------- */

static bool same_tokenizer(const struct ran_tokenizer *a, const struct ran_tokenizer *b)
{
        return a == NULL || b == NULL
                       ? a == b
                       : strcmp(ran_tokenizer_digest(a), ran_tokenizer_digest(b)) == 0;
}

static bool same_labels(const struct ran_trainer *t, const struct ran_model *m)
{
        for (size_t c = 0; c < t->C && !ran_is_tied(t->c); c++)
                if (strcmp(m->labels[c], t->job->train->names[c]) != 0)
                        return false;
        return true;
}

static int same_run(const struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        const char *training = ran_model_metadata(m, "training");
        struct ran_buf theirs = {0}, ours = {0};
        size_t n = strlen(t->training);
        bool same, failed;

        ran_fields_json(ran_config_fields, &m->config, &theirs);
        ran_fields_json(ran_config_fields, t->c, &ours);
        failed = theirs.failed || ours.failed;
        same = !failed && theirs.len == ours.len && memcmp(theirs.data, ours.data, ours.len) == 0 &&
               training != NULL && training[0] == '{' &&
               strncmp(training + 1, t->training, n) == 0 && strcmp(training + 1 + n, "}") == 0 &&
               m->V == t->V && m->C == t->C && same_labels(t, m) &&
               same_tokenizer(m->tokenizer, t->job->tokenizer);
        ran_buf_release(&theirs);
        ran_buf_release(&ours);
        if (failed)
                return ran_fail(err, RAN_ENOMEM, "no memory to compare the checkpoint");
        if (!same)
                return ran_fail(
                        err, RAN_EINVAL,
                        "the checkpoint belongs to a run with other settings, "
                        "data or version; give the same ones to resume, or remove it to begin "
                        "anew");
        return RAN_OK;
}

static bool is_weight(double x)
{
        return x >= 0 && x <= 1e12;
}

static bool is_count(double x)
{
        return x >= 0 && x < 1e15 && x == floor(x);
}

static bool sane(const struct ran_trainer *t)
{
        const double *x = (const double *)&t->at, epochs = (double)t->s->epochs;
        const double last = t->at.refit != 0 ? t->at.best_epoch : epochs;
        /* Then one of the epochs was the best. */
        const bool judged = ran_train_has_dev(t->job) &&
                            (t->at.epoch > 0 || t->at.stale > 0 || t->at.refit != 0);

        for (size_t i = 0; i < sizeof t->at / sizeof *x; i++)
                if (isnan(x[i]))
                        return false;
        return (t->at.refit == 0 || ran_train_refits(t->job)) && is_weight(t->at.encoder) &&
               is_weight(t->at.linear) && t->at.threshold >= 0 && t->at.threshold <= 1 &&
               is_count(t->at.epoch) && t->at.epoch <= last && is_count(t->at.batch) &&
               t->at.batch <= t->at.updates && is_count(t->at.updates) &&
               is_count(t->at.calibrated) && is_weight(t->at.cost) && is_count(t->at.best_epoch) &&
               t->at.best_epoch <= epochs && (!judged || t->at.best_epoch > 0) &&
               is_count(t->at.stale) && t->at.stale <= epochs;
}

static int read_recurrent(struct ran_trainer *t, const struct ran_model *m, struct ran_error *err)
{
        struct ran_extra x;
        float *recurrent = recurrent_extra(t, &x, err);
        int rc = recurrent != NULL ? RAN_OK : RAN_ENOMEM;

        if (rc == RAN_OK && x.n > 0)
                rc = ran_model_read_extra(m, &x, err);
        if (rc == RAN_OK)
                rc = ran_plan_unpack(&t->plan, recurrent, err);
        free(recurrent);
        return rc;
}

int ran_trainer_resume(struct ran_trainer *t, struct ran_error *err)
{
        bool here = sane(t);

        if (here) {
                t->optimiser.step = (uint64_t)t->at.updates;
                t->optimiser.decay = t->at.decay;
                list_documents(t);
                ran_trainer_begin_epoch(t);
                here = t->at.batch <= (double)t->batches;
        }
        return here ? RAN_OK
                    : ran_fail(err, RAN_EFORMAT, "the checkpoint's progress makes no sense");
}

static void read_linear(struct ran_trainer *t, const struct ran_model *m)
{
        if (t->c->wide == 0)
                return;
        memcpy(t->linear, m->params.wide, t->c->wide * t->C * sizeof *t->linear);
        if (t->idf != NULL)
                memcpy(t->idf, m->params.idf, t->c->wide * sizeof *t->idf);
}

static int read_calibration(struct ran_trainer *t, struct ran_error *err)
{
        size_t documents = (size_t)t->at.calibrated;
        float *p = documents > 0 ? ran_alloc_floats(RAN_CALIBRATION_KEPT, err) : NULL;

        if (documents > 0 && p == NULL)
                return RAN_ENOMEM;
        ran_calibration_release(&t->calibration);
        t->calibration = (struct ran_calibration){.documents = documents, .p = p};
        t->calibration.n = documents < RAN_CALIBRATION_KEPT ? documents : RAN_CALIBRATION_KEPT;
        if (documents > 0)
                memcpy(p, t->calibrated, RAN_CALIBRATION_KEPT * sizeof *p);
        return RAN_OK;
}

int ran_checkpoint_read(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_extra x[RAN_EXTRAS];
        size_t n = extras(t, x);
        struct ran_model *m;
        int rc;

        if (t->job->checkpoint == NULL)
                return ran_fail(err, RAN_EINVAL, "there is no checkpoint to resume from");
        m = ran_model_open(t->job->checkpoint, true, err);
        if (m == NULL)
                return err->code;
        rc = same_run(t, m, err);
        for (size_t i = 0; i < n && rc == RAN_OK; i++)
                rc = ran_model_read_extra(m, &x[i], err);
        if (rc == RAN_OK)
                rc = ran_trainer_resume(t, err);
        if (rc == RAN_OK)
                rc = read_recurrent(t, m, err);
        if (rc == RAN_OK) {
                memcpy(t->p.block, m->params.block, t->layout.size * sizeof(float));
                ran_trainer_copy_rows(t, 0, t->V, m->params.embed);
                ran_trainer_copy_rows(t, t->V, t->c->spelling, m->params.spelling);
                read_linear(t, m);
                rc = read_calibration(t, err);
        }
        ran_model_free(m);
        return rc;
}
