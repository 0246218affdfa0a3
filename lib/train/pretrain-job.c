/* pretrain-job.c - the job of the first phase of a training, and its trainer: see stages.h. */
#include "nn/task.h"
#include "ran/train.h"
#include "data/masking.h"
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>

/* What a task without labels does not have. */
static void set_config(struct ran_config *c)
{
        enum { SHORTLIST = 4000 };

        c->task = RAN_TASK_MLM;
        c->mask = RAN_MASK_NONE;
        c->classify.multilabel = c->tag.crf = c->linear.affixes = false;
        c->spelling = c->tag.join_sentences = 0;
        ran_config_drop_predictors(c);
        c->lm.shortlist = SHORTLIST;
}

/* Small text is read more often: some twenty million tokens in all. */
static size_t epochs_of(const struct ran_train_job *job)
{
        const double wanted = 2e7, most = 20;
        const struct ran_dataset *d = job->texts->train;

        if (job->settings->pretrain_epochs > 0)
                return job->settings->pretrain_epochs;
        return (size_t)fmax(1, fmin(most, round(wanted / fmax(1, (double)d->first[d->B]))));
}

/* The settings that are best for masked language models, as ran-train mlm has them. Each epoch
 * masks other words, so nothing is memorised, and dropout only slows it down. */
static void set_settings(struct ran_train_settings *s, const struct ran_train_job *job)
{
        s->epochs = epochs_of(job);
        s->batch = 8;
        s->bptt = 0;
        s->learning_rate = 0.002;
        s->min_learning_rate = 0;
        s->dropout = s->embed_dropout = s->word_dropout = s->label_smoothing = 0;
        if (!(s->mask_share > 0))
                s->mask_share = 2 * RAN_MASK_SHARE; /* learns more a minute: share/experiments */
        s->init_rate = s->layer_decay = 1;
        s->metric = RAN_METRIC_LOSS;
        s->class_weights = RAN_WEIGHTS_NONE;
        s->refit = s->early_stop = false;
}

int ran_train_first_phase(const struct ran_train_job *job, struct ran_train_phase *phase,
                          struct ran_error *err)
{
        const struct ran_train_texts *texts = job->texts;

        phase->config = *job->config;
        phase->settings = *job->settings;
        if (!ran_config_has_encoder(job->config) || ran_task_is_tied(job->config))
                return ran_fail(err, RAN_EINVAL,
                                "texts train the encoder of a classifier or tagger, and this model "
                                "has none");
        set_config(&phase->config);
        set_settings(&phase->settings, job);
        phase->job = *job;
        phase->job.config = &phase->config;
        phase->job.settings = &phase->settings;
        phase->job.train = texts->train;
        phase->job.dev = texts->dev;
        phase->job.held_out = texts->held_out;
        phase->job.texts = NULL;
        phase->job.output = phase->job.training = NULL;
        phase->job.storage = RAN_STORAGE_F32;
        phase->job.seconds = texts->seconds;
        phase->job.limit = texts->limit;
        phase->job.resume = false;
        return ran_config_check(&phase->config, err);
}

/* ---- its trainer -------------------------------------------------------------------------------
 */

int ran_trainer_make_first(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_pretrain *p = ran_alloc(1, sizeof *p, err);

        if (p == NULL)
                return RAN_ENOMEM;
        t->first = p;
        RAN_TRY(ran_train_first_phase(t->job, &p->phase, err));
        RAN_TRY(ran_trainer_init(&p->t, &p->phase.job, err));
        p->t.outer = t;
        return RAN_OK;
}

void ran_trainer_release_first(struct ran_trainer *t)
{
        if (t->first != NULL)
                ran_trainer_release(&t->first->t);
        free(t->first);
        t->first = NULL;
}
