/* trainer.c - a training run is set up: its memory, and what goes together. */
#include "nn/part.h"
#include "nn/vector-cache.h"
#include "part/linear/linear-model.h"
#include "task/train.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tensors before the first that is tuned have no gradient. */
static void skip_below(struct ran_trainer *t)
{
        const struct ran_layout *layout = &t->weights.layout;
        size_t i = 0;

        if (t->weights.below == NULL)
                return;
        while (i < layout->n && ran_trainer_stays(t, layout->spec[i].name))
                i++;
        t->loop.optimiser.from = t->loop.batcher.tree.from =
                i < layout->n ? layout->spec[i].offset : layout->size;
}

static void allocate_below(struct ran_trainer *t)
{
        const size_t below = ran_train_below(t->s, t->c);
        struct ran_vector_cache *cache = t->job->below;

        if (below == 0)
                return;
        if (cache == NULL)
                cache = ran_vector_cache_new(below, t->job->train->keep, RAN_VECTOR_CACHE_MOST);
        t->weights.below = t->weights.p.below = cache;
        skip_below(t);
}

static void init_optimiser(struct ran_trainer *t)
{
        ran_optimiser_init(&t->loop.optimiser, t->s, &t->weights.layout, &t->weights.table,
                           ran_task_is_tied(t->c), t->job->pool);
}

static int allocate(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_job *job = t->job;
        const size_t B = job->train->B, rows = t->weights.table.rows * t->weights.table.width;
        struct ran_weights *w = &t->weights;
        struct ran_loop *l = &t->loop;

        RAN_TRY(ran_layout_init(&w->layout, t->c, t->C, err));
        /* Weights, their best, and two moments of each: a search survives a trial that is too
         * large, while the allocations that follow would end the process. */
        void *all = ran_alloc(4, (w->layout.size + rows) * sizeof(float), err);
        free(all);
        if (all == NULL)
                return RAN_ENOMEM;
        RAN_TRY(ran_params_init(&w->p, t->c, t->C, err));
        w->p.integers = job->storage == RAN_STORAGE_I8; /* where they do not change */
        init_optimiser(t);
        RAN_TRY(ran_batcher_init(&l->batcher, t->c, &w->p, t->V, t->C, job->train, job->pool, err));
        allocate_below(t);
        RAN_TRY(ran_plan_init(&l->plan, t->c, job->train, l->batch, t->s->bptt, err));
        if (t->s->class_weights == RAN_WEIGHTS_BALANCED)
                ran_batcher_balance(&l->batcher);
        RAN_TRY(ran_linear_init(&t->linear, t->c, t->V, t->C, job->tokenizer, err));
        l->order = ran_new(B, sizeof *l->order);
        l->document = ran_new(B, sizeof *l->document);
        w->table.x = ran_new_floats(rows);
        if (ran_train_has_dev(job) && ran_trainer_leads(t)) {
                w->best_block = ran_new_floats(w->layout.size);
                w->best_table = ran_new_floats(rows);
                t->judge.losses = ran_new(job->dev->B, sizeof *t->judge.losses);
                t->judge.alone = ran_new(job->dev->B, sizeof *t->judge.alone);
        }
        ran_linear_lend(&t->linear, &w->p);
        w->p.seed = t->s->seed;
        w->p.embed = w->table.x;
        w->p.spelling = ran_encoder_spelling(t->c) > 0 ? w->p.embed + t->V * t->D : NULL;
        ran_trainer_list_documents(t);
        return l->documents > 0 ? RAN_OK : ran_fail(err, RAN_EINVAL, "all documents are held out");
}

/* Requires weights where some stay as they are, something to learn, and no more than memory can
 * address. */
static int check_sizes(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_dataset *d = t->job->train;
        const bool bare = t->job->init == NULL && ran_trainer_leads(t);
        size_t tokens, rows;

        if (bare && t->job->vectors == NULL && ran_config_has_features(t->c) &&
            !ran_config_trains_encoder(t->c))
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder needs weights, and there is no initial model");
        if (bare && ran_train_below(t->s, t->c) > 0)
                return ran_fail(err, RAN_EINVAL,
                                "layers that are not tuned need weights, and there is no initial "
                                "model");
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

/* Settings, vocabulary and documents go together. */
static int check_data(const struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_train_job *job = t->job;
        const struct ran_tokenizer *tokenizer = job->tokenizer;
        const bool dev = ran_train_has_dev(job);

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
        RAN_TRY(ran_train_settings_check(t->s, t->c, err));
        RAN_TRY(ran_batch_check(job->train, t->c, t->V, t->C, false, err));
        RAN_TRY(ran_batch_check(job->dev, t->c, t->V, t->C, true, err));
        if (dev && ran_task_has_labels(t->c->task) && job->dev->C != t->C)
                return ran_fail(err, RAN_EINVAL,
                                "the validation documents have %zu classes, the training data %zu",
                                job->dev->C, t->C);
        if (dev && !ran_task_is_tied(t->c) && ran_train_task_of(t->c)->judge == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "vectors are not judged by validation documents: leave them out");
        return RAN_OK;
}

/* What the batches of the encoder need beside their weights. */
static void set_batcher(struct ran_trainer *t)
{
        const struct ran_train_settings *s = t->s;
        const struct ran_tokenizer *tokenizer = t->job->tokenizer;
        struct ran_batcher *k = &t->loop.batcher;

        k->ranks = t->job->ranks;
        if (s->mask_share > 0)
                k->of.mask_share = s->mask_share;
        k->of.smoothing = s->label_smoothing;
        k->of.noise = (struct ran_noise){
                .seed = s->seed, .dropout = s->dropout, .embed_dropout = s->embed_dropout};
        k->word_dropout = s->word_dropout;
        k->unknown = tokenizer != NULL ? ran_tokenizer_unknown(tokenizer) : 0;
}

int ran_trainer_init(struct ran_trainer *t, const struct ran_train_job *job, struct ran_error *err)
{
        size_t most;

        *t = (struct ran_trainer){0};
        RAN_TRY(ran_config_check(job->config, err));

        const struct ran_config *c = job->config;
        const struct ran_train_task *task = ran_train_task_of(c);
        const bool trains = ran_config_trains_encoder(c), leads = ran_ranks_leads(job->ranks);
        *t = (struct ran_trainer){
                .job = job,
                .c = c,
                .s = job->settings,
                .V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V,
                .C = job->train->C,
                .D = c->dim,
                .loop.batch = ran_train_batch(job),
                .judge.dev = job->dev,
                .judge.baseline =
                        ran_train_has_dev(job) ? ran_dataset_baseline(job->dev, &most) : NAN,
                .judge.prior =
                        trains ? *task->prior : (struct ran_ensemble){0, task->linear_alone, 0},
                .at.best = {.metric = -INFINITY, .threshold = 0.5},
                .at.linear.chosen.affixes = 1};
        if (!ran_config_has_encoder(c)) {
                t->D = 0;
                t->V = job->tokenizer != NULL ? t->V : RAN_ANY_ID;
        }
        if (ran_task_is_tied(c))
                t->C = t->V;
        RAN_TRY(check_sizes(t, err));
        RAN_TRY(check_data(t, err));
        RAN_TRY(allocate(t, err));
        if (task->prepare != NULL)
                RAN_TRY(task->prepare(&t->loop.batcher.of, job->tokenizer, err));
        if (leads) {
                RAN_TRY(ran_trainer_init_weights(t, err));
                struct ran_buf training = {0};
                ran_trainer_describe(job, &training);
                ran_buf_char(&training, '\0');
                t->training = training.data;
        }
        t->at.best.ensemble = t->judge.prior;
        t->at.linear.chosen.cost = t->s->wide_cost * t->linear.rate;
        set_batcher(t);
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
        init_optimiser(t);
        skip_below(t);
        return ran_trainer_leads(t) ? ran_trainer_init_weights(t, err) : RAN_OK;
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
