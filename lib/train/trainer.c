/* trainer.c - a training run's memory: set up, kept in a checkpoint, and written as a model. */
#include "nn/part.h"
#include "train/trainer.h"
#include "tensors/compact.h"
#include "file/model.h"
#include "part/linear/linear-words.h"
#include "part/linear/linear-model.h"
#include "nn/task.h"
#include "part/crf/crf-train.h"
#include "train/pretrained.h"
#include "train/task.h"
#include "ran/train.h"

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
        if (t->stop.limit > 0 && t->stop.limit < (double)t->steps)
                t->steps = (size_t)t->stop.limit;
        while (done-- > 0 && ran_plan_next(&t->plan))
                ;
}

static int allocate_tables(struct ran_trainer *t, bool dev, struct ran_error *err)
{
        const size_t n = t->table.rows * t->table.width;
        const bool crf = ran_has_linear_words(t->c) && t->c->crf;
        const size_t dense = ran_parts_features(t->c);

        t->table.x = ran_alloc_floats(n, err);
        t->best_table = dev ? ran_alloc_floats(n, err) : NULL;
        t->token_weight = t->c->frozen ? ran_alloc_floats(t->V, err) : NULL;
        t->linear = ran_alloc_floats((t->c->wide + dense) * t->C, err);
        t->idf = ran_has_linear_model(t->c) ? ran_alloc_floats(t->c->wide, err) : NULL;
        t->crf = crf ? ran_alloc_floats(ran_crf_train_floats(t->C), err) : NULL;
        if (t->table.x == NULL || (dev && t->best_table == NULL) || t->linear == NULL ||
            (ran_has_linear_model(t->c) && t->idf == NULL) || (crf && t->crf == NULL) ||
            (t->c->frozen && t->token_weight == NULL))
                return RAN_ENOMEM;
        t->p.token_weight = t->token_weight;
        t->p.wide = t->linear;
        t->p.idf = t->idf;
        t->p.embed = t->table.x;
        t->p.spelling = t->c->spelling > 0 && t->D > 0 ? t->p.embed + t->V * t->D : NULL;
        if (!ran_linear_model_wants_affixes(t->c))
                return RAN_OK;
        t->p.affixes = t->affixes = ran_linear_model_affixes(t->job->tokenizer, t->c, err);
        return t->affixes != NULL ? RAN_OK : RAN_ENOMEM;
}

void ran_trainer_list_documents(struct ran_trainer *t)
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
        const bool dev = ran_train_has_dev(job) && ran_ranks_leads(job->ranks);

        RAN_TRY(ran_layout_init(&t->layout, t->c, t->C, err));
        RAN_TRY(ran_params_init(&t->p, t->c, t->C, err));
        RAN_TRY(ran_optimiser_init(&t->optimiser, t->s, &t->layout, &t->table,
                                   ran_task_is_tied(t->c), job->pool, err));
        RAN_TRY(ran_batcher_init(&t->batcher, t->c, &t->p, t->V, t->C, job->train, job->pool, err));
        RAN_TRY(ran_plan_init(&t->plan, t->c, job->train, t->batch, t->s->bptt, err));
        if (t->s->class_weights == RAN_WEIGHTS_BALANCED)
                RAN_TRY(ran_batcher_balance(&t->batcher, err));
        t->p.seed = t->s->seed;
        t->order = ran_alloc(job->train->B, sizeof *t->order, err);
        t->document = ran_alloc(job->train->B, sizeof *t->document, err);
        t->best_block = dev ? ran_alloc_floats(t->layout.size, err) : NULL;
        t->losses = dev ? ran_alloc(job->dev->B, sizeof *t->losses, err) : NULL;
        t->alone = dev ? ran_alloc(job->dev->B, sizeof *t->alone, err) : NULL;
        if (t->order == NULL || t->document == NULL ||
            (dev && (t->best_block == NULL || t->losses == NULL || t->alone == NULL)))
                return RAN_ENOMEM;
        ran_trainer_list_documents(t);
        if (t->documents == 0)
                return ran_fail(err, RAN_EINVAL, "all documents are held out");
        return allocate_tables(t, dev, err);
}

/* Requires something to learn, and no more than memory can address. */
static int check_sizes(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_dataset *d = t->job->train;
        size_t tokens, rows;

        if (d->B == 0 || t->C < (d->multilabel ? 1 : 2))
                return ran_fail(err, RAN_EINVAL,
                                "%zu documents of %zu %s: there is nothing to learn", d->B, t->C,
                                ran_task_is_tied(t->c) ? "different ids" : "classes");
        if (__builtin_mul_overflow(d->first[d->B], t->s->epochs, &tokens) ||
            !ran_table_shape(&t->table, t->c, t->V) ||
            __builtin_mul_overflow(t->c->wide + 2 * t->c->dim, t->C, &rows) ||
            rows > SIZE_MAX / sizeof(float))
                return ran_fail(err, RAN_EINVAL, "too many epochs, or too large a vocabulary");
        return RAN_OK;
}

/* Checks that need the vocabulary. */
static int check_vocabulary(const struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_tokenizer *tokenizer = t->job->tokenizer;

        if (t->s->word_dropout > 0 && ran_config_trains_encoder(t->c) &&
            (tokenizer == NULL || ran_tokenizer_unknown(tokenizer) == RAN_NO_ID))
                return ran_fail(err, RAN_EINVAL,
                                tokenizer != NULL
                                        ? "word_dropout needs a vocabulary with an unknown token; "
                                          "this one, of byte pairs, has none"
                                        : "word_dropout needs a vocabulary, which has the unknown "
                                          "token");
        if (ran_linear_model_wants_affixes(t->c) && tokenizer == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "affixes need a vocabulary, which says how tokens are spelled: "
                                "affixes must be off");
        return RAN_OK;
}

static int check_data(const struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_job *job = t->job;

        RAN_TRY(ran_train_settings_check(t->s, t->c, err));
        RAN_TRY(ran_batch_check(job->train, t->c, t->V, t->C, false, err));
        RAN_TRY(ran_batch_check(job->dev, t->c, t->V, t->C, true, err));
        if (ran_train_has_dev(job) && !ran_task_is_tied(t->c) && job->dev->C != t->C)
                return ran_fail(err, RAN_EINVAL,
                                "the validation documents have %zu classes, the training data %zu",
                                job->dev->C, t->C);
        return RAN_OK;
}

int ran_trainer_init(struct ran_trainer *t, const struct ran_train_job *job, struct ran_error *err)
{
        *t = (struct ran_trainer){0};
        RAN_TRY(ran_config_check(job->config, err));

        const struct ran_train_task *task = ran_train_task_of(job->config);
        *t = (struct ran_trainer){.job = job,
                                  .c = job->config,
                                  .s = job->settings,
                                  .C = job->train->C,
                                  .D = job->config->dim,
                                  .batch = ran_train_batch(job),
                                  .early_stop = job->settings->early_stop,
                                  .prior = *task->prior};
        t->V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        if (!ran_config_has_encoder(t->c)) {
                t->D = 0;
                t->V = job->tokenizer != NULL ? t->V : RAN_ANY_ID;
        }
        if (!ran_config_trains_encoder(t->c)) {
                t->prior = (struct ran_ensemble){0, task->linear_alone, 0};
        }
        if (ran_task_is_tied(t->c))
                t->C = t->V;
        if (t->c->frozen && job->init == NULL && job->vectors == NULL &&
            ran_ranks_leads(job->ranks))
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder needs weights, and there is no initial model");
        size_t most;
        t->baseline = ran_train_has_dev(job) ? ran_dataset_baseline(job->dev, &most) : NAN;
        t->at.best = -INFINITY;
        t->at.threshold = 0.5;
        RAN_TRY(check_sizes(t, err));
        RAN_TRY(check_vocabulary(t, err));
        RAN_TRY(check_data(t, err));
        RAN_TRY(allocate(t, err));
        if (task->prepare != NULL)
                RAN_TRY(task->prepare(&t->batcher, job->tokenizer, err));
        if (ran_ranks_leads(job->ranks)) {
                RAN_TRY(ran_trainer_init_weights(t, err));
                RAN_TRY(ran_trainer_describe(t, err));
        }
        ran_trainer_set_ensemble(t, &t->prior);
        t->at.cost = t->s->wide_cost * t->linear_rate;
        t->batcher.ranks = job->ranks;
        if (t->s->mask_share > 0)
                t->batcher.mask_share = t->s->mask_share;
        t->batcher.smoothing = t->s->label_smoothing;
        t->batcher.word_dropout = t->s->word_dropout;
        t->batcher.unknown = job->tokenizer != NULL ? ran_tokenizer_unknown(job->tokenizer) : 0;
        t->batcher.noise = (struct ran_noise){
                .seed = t->s->seed, .dropout = t->s->dropout, .embed_dropout = t->s->embed_dropout};
        return RAN_OK;
}

struct ran_ensemble ran_trainer_ensemble(const struct ran_trainer *t)
{
        return (struct ran_ensemble){t->at.encoder, t->at.linear, t->stop.offset};
}

void ran_trainer_set_ensemble(struct ran_trainer *t, const struct ran_ensemble *ensemble)
{
        t->at.encoder = ensemble->encoder;
        t->at.linear = ensemble->linear;
        t->stop.offset = ensemble->offset;
}

int ran_trainer_refit(struct ran_trainer *t, struct ran_error *err)
{
        t->at.refit = 1;
        t->at.fitted = t->at.epoch = t->at.batch = t->at.loss = t->at.loss_weight = 0;
        ran_trainer_list_documents(t);
        memset(t->p.block, 0, t->layout.size * sizeof(float));
        memset(t->table.x, 0, t->table.rows * t->table.width * sizeof(float));
        memset(t->linear, 0, t->c->wide * t->C * sizeof *t->linear);
        if (t->crf != NULL)
                memset(t->crf, 0, ran_crf_train_floats(t->C) * sizeof *t->crf);
        ran_optimiser_release(&t->optimiser);
        RAN_TRY(ran_optimiser_init(&t->optimiser, t->s, &t->layout, &t->table,
                                   ran_task_is_tied(t->c), t->job->pool, err));
        return ran_ranks_leads(t->job->ranks) ? ran_trainer_init_weights(t, err) : RAN_OK;
}

void ran_trainer_release(struct ran_trainer *t)
{
        ran_pretrained_release(t);
        ran_batcher_release(&t->batcher);
        ran_plan_release(&t->plan);
        ran_optimiser_release(&t->optimiser);
        ran_params_release(&t->p);
        ran_layout_release(&t->layout);
        free(t->table.x);
        free(t->best_table);
        ran_feature_lists_release(&t->lists);
        ran_dense_release(&t->dense);
        free(t->token_weight);
        free(t->linear);
        free(t->idf);
        free(t->ahead);
        free(t->crf);
        free(t->affixes);
        free(t->best_block);
        free(t->losses);
        free(t->alone);
        free(t->order);
        free(t->document);
        free(t->training);
        ran_calibration_release(&t->calibration);
        *t = (struct ran_trainer){0};
}

void ran_trainer_round_encoder(struct ran_trainer *t)
{
        for (size_t i = 0; i < t->layout.n; i++) {
                const struct ran_tensor_spec *s = &t->layout.spec[i];

                ran_compact_round(t->job->storage, t->p.block + s->offset, s->rows, s->cols);
        }
        ran_compact_round(t->job->storage, t->table.x, t->table.rows, t->table.width);
}

void ran_trainer_copy_rows(struct ran_trainer *t, size_t first, size_t n, const float *rows)
{
        if (n > 0 && t->D > 0)
                memcpy(t->table.x + first * t->D, rows, n * t->D * sizeof(float));
}

void ran_trainer_scale(float *x, size_t n, double by)
{
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(by * (double)x[i]);
}
