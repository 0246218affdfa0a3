/* trainer.c - a training run's memory: set up, kept in a checkpoint, and written as a model. */
#include "train/trainer.h"
#include "tensors/compact.h"
#include "file/model.h"
#include "nn/vector-cache.h"
#include "part/linear/linear-model.h"
#include "nn/part.h"
#include "nn/task.h"
#include "part/linear/crf-train.h"
#include "train/pretrained.h"
#include "task/train.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- set up --------------------------------------------------------------------------------- */

static int allocate_tables(struct ran_trainer *t, bool dev, struct ran_error *err)
{
        struct ran_weights *w = &t->weights;
        const size_t n = w->table.rows * w->table.width;

        w->table.x = ran_alloc_floats(n, err);
        w->best_table = dev ? ran_alloc_floats(n, err) : NULL;
        if (w->table.x == NULL || (dev && w->best_table == NULL))
                return RAN_ENOMEM;
        RAN_TRY(ran_linear_init(&t->linear, t->c, t->V, t->C, t->job->tokenizer, err));
        ran_linear_lend(&t->linear, &w->p);
        w->p.embed = w->table.x;
        w->p.spelling = ran_encoder_spelling(t->c) > 0 ? w->p.embed + t->V * t->D : NULL;
        return RAN_OK;
}

/* The tensors before the first that is tuned have no gradient. */
static void skip_below(struct ran_trainer *t)
{
        const struct ran_layout *layout = &t->weights.layout;
        size_t i = 0;

        if (t->weights.below == NULL)
                return;
        while (i < layout->n && ran_pretrained_stays(t, layout->spec[i].name))
                i++;
        t->loop.optimiser.from = t->loop.batcher.tree.from =
                i < layout->n ? layout->spec[i].offset : layout->size;
}

static int allocate_below(struct ran_trainer *t, struct ran_error *err)
{
        const size_t below = ran_train_below(t->s, t->c);

        if (below == 0)
                return RAN_OK;
        t->weights.below = t->job->below;
        if (t->weights.below == NULL)
                t->weights.below =
                        ran_vector_cache_new(RAN_VECTORS_OF_TOKENS, below, t->D,
                                             t->job->train->keep, RAN_VECTOR_CACHE_MOST, err);
        t->weights.p.below = t->weights.below;
        skip_below(t);
        return t->weights.below != NULL ? RAN_OK : RAN_ENOMEM;
}

static int allocate(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_job *job = t->job;
        const bool dev = ran_train_has_dev(job) && ran_ranks_leads(job->ranks);

        RAN_TRY(ran_layout_init(&t->weights.layout, t->c, t->C, err));
        RAN_TRY(ran_params_init(&t->weights.p, t->c, t->C, err));
        t->weights.p.integers = job->storage == RAN_STORAGE_I8; /* where they do not change */
        RAN_TRY(ran_optimiser_init(&t->loop.optimiser, t->s, &t->weights.layout, &t->weights.table,
                                   ran_task_is_tied(t->c), job->pool, err));
        RAN_TRY(ran_batcher_init(&t->loop.batcher, t->c, &t->weights.p, t->V, t->C, job->train,
                                 job->pool, err));
        RAN_TRY(allocate_below(t, err));
        RAN_TRY(ran_plan_init(&t->loop.plan, t->c, job->train, t->loop.batch, t->s->bptt, err));
        if (t->s->class_weights == RAN_WEIGHTS_BALANCED)
                RAN_TRY(ran_batcher_balance(&t->loop.batcher, err));
        t->weights.p.seed = t->s->seed;
        t->loop.order = ran_alloc(job->train->B, sizeof *t->loop.order, err);
        t->loop.document = ran_alloc(job->train->B, sizeof *t->loop.document, err);
        t->weights.best_block = dev ? ran_alloc_floats(t->weights.layout.size, err) : NULL;
        t->judge.losses = dev ? ran_alloc(job->dev->B, sizeof *t->judge.losses, err) : NULL;
        t->judge.alone = dev ? ran_alloc(job->dev->B, sizeof *t->judge.alone, err) : NULL;
        if (t->loop.order == NULL || t->loop.document == NULL ||
            (dev &&
             (t->weights.best_block == NULL || t->judge.losses == NULL || t->judge.alone == NULL)))
                return RAN_ENOMEM;
        ran_trainer_list_documents(t);
        if (t->loop.documents == 0)
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
            !ran_table_shape(&t->weights.table, t->c, t->V) ||
            __builtin_mul_overflow(ran_parts_rows(t->c) + 2 * t->c->dim, t->C, &rows) ||
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
        if (ran_train_has_dev(job) && ran_task_has_labels(t->c->task) && job->dev->C != t->C)
                return ran_fail(err, RAN_EINVAL,
                                "the validation documents have %zu classes, the training data %zu",
                                job->dev->C, t->C);
        if (ran_train_has_dev(job) && !ran_task_is_tied(t->c) &&
            ran_train_task_of(t->c)->judge == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "vectors are not judged by validation documents: leave them out");
        return RAN_OK;
}

/* Layers that stay need to have learned something before. */
static int check_below(const struct ran_trainer *t, struct ran_error *err)
{
        if (ran_train_below(t->s, t->c) == 0)
                return RAN_OK;
        if (t->job->init == NULL && ran_ranks_leads(t->job->ranks))
                return ran_fail(err, RAN_EINVAL,
                                "layers that are not tuned need weights, and there is no initial "
                                "model");
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
                                  .loop.batch = ran_train_batch(job),
                                  .judge.dev = job->dev,
                                  .judge.prior = *task->prior};
        t->V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        if (!ran_config_has_encoder(t->c)) {
                t->D = 0;
                t->V = job->tokenizer != NULL ? t->V : RAN_ANY_ID;
        }
        if (!ran_config_trains_encoder(t->c)) {
                t->judge.prior = (struct ran_ensemble){0, task->linear_alone, 0};
        }
        if (ran_task_is_tied(t->c))
                t->C = t->V;
        if (ran_config_has_features(t->c) && !ran_config_trains_encoder(t->c) &&
            job->init == NULL && job->vectors == NULL && ran_ranks_leads(job->ranks))
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder needs weights, and there is no initial model");
        RAN_TRY(check_below(t, err));
        size_t most;
        t->judge.baseline = ran_train_has_dev(job) ? ran_dataset_baseline(job->dev, &most) : NAN;
        t->at.best.metric = -INFINITY;
        t->at.best.threshold = 0.5;
        t->at.linear.affixes = 1;
        RAN_TRY(check_sizes(t, err));
        RAN_TRY(check_vocabulary(t, err));
        RAN_TRY(check_data(t, err));
        RAN_TRY(allocate(t, err));
        if (task->prepare != NULL)
                RAN_TRY(task->prepare(&t->loop.batcher.of, job->tokenizer, err));
        if (ran_ranks_leads(job->ranks)) {
                RAN_TRY(ran_trainer_init_weights(t, err));
                RAN_TRY(ran_trainer_describe(t, err));
        }
        ran_trainer_set_ensemble(t, &t->judge.prior);
        t->at.linear.cost = t->s->wide_cost * t->linear.rate;
        t->loop.batcher.ranks = job->ranks;
        if (t->s->mask_share > 0)
                t->loop.batcher.of.mask_share = t->s->mask_share;
        t->loop.batcher.of.smoothing = t->s->label_smoothing;
        t->loop.batcher.word_dropout = t->s->word_dropout;
        t->loop.batcher.unknown =
                job->tokenizer != NULL ? ran_tokenizer_unknown(job->tokenizer) : 0;
        t->loop.batcher.of.noise = (struct ran_noise){
                .seed = t->s->seed, .dropout = t->s->dropout, .embed_dropout = t->s->embed_dropout};
        return RAN_OK;
}

int ran_trainer_refit(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_weights *w = &t->weights;

        t->at.epochs.refit = 1;
        t->at.linear.fitted = t->at.epochs.epoch = t->at.epochs.batch = 0;
        t->at.epochs.loss = t->at.epochs.loss_weight = 0;
        ran_trainer_list_documents(t);
        memset(w->p.block, 0, w->layout.size * sizeof(float));
        memset(w->table.x, 0, w->table.rows * w->table.width * sizeof(float));
        ran_linear_clear(&t->linear, t->C);
        ran_optimiser_release(&t->loop.optimiser);
        RAN_TRY(ran_optimiser_init(&t->loop.optimiser, t->s, &w->layout, &w->table,
                                   ran_task_is_tied(t->c), t->job->pool, err));
        skip_below(t);
        return ran_ranks_leads(t->job->ranks) ? ran_trainer_init_weights(t, err) : RAN_OK;
}

void ran_trainer_release(struct ran_trainer *t)
{
        ran_batcher_release(&t->loop.batcher);
        ran_plan_release(&t->loop.plan);
        ran_optimiser_release(&t->loop.optimiser);
        ran_params_release(&t->weights.p);
        if (t->job != NULL && t->weights.below != t->job->below)
                ran_vector_cache_close(t->weights.below, NULL);
        ran_layout_release(&t->weights.layout);
        ran_linear_release(&t->linear);
        free(t->weights.table.x);
        free(t->weights.best_block);
        free(t->weights.best_table);
        free(t->judge.losses);
        free(t->judge.alone);
        free(t->loop.order);
        free(t->loop.document);
        free(t->training);
        ran_calibration_release(&t->judge.calibration);
        *t = (struct ran_trainer){0};
}
