/* outputs.c - the outputs for the validation documents, under the weights at work: see stages.h. */
#include "evaluate/evaluate.h"
#include "nn/head.h"
#include "part/linear/crf-train.h"
#include "train/share.h"
#include "train/stages.h"
#include "ran/train.h"

#include <stdlib.h>

/* ---- labels and tags ------------------------------------------------------------------------- */

static int count(const struct ran_trainer *t, size_t *n, struct ran_error *err)
{
        const struct ran_dataset *dev = t->judge.dev;
        const bool words = ran_task_of(t->c)->output == RAN_OUTPUT_WORD;

        if (__builtin_mul_overflow(words ? dev->label_first[dev->B] : dev->B, t->C, n))
                return ran_fail(err, RAN_ENOMEM, "the validation documents have too many words");
        return RAN_OK;
}

static int ask(struct ran_trainer *t, bool alone, struct ran_task_judged *k, struct ran_error *err)
{
        const bool both = t->linear.rows > 0;
        struct ran_config c = *t->c;
        size_t n;

        RAN_TRY(count(t, &n, err));
        k->logits = ran_alloc_floats(n, err);
        k->linear = both ? ran_alloc_floats(n, err) : NULL;
        if (k->logits == NULL || (both && k->linear == NULL))
                return RAN_ENOMEM;
        if (ran_task_of(t->c)->output == RAN_OUTPUT_WORD)
                k->crf = ran_crf_of(&t->weights.p);
        if (alone && ran_config_trains_encoder(&c))
                ran_config_drop_encoder(&c);
        return ran_evaluate_predict(&c, &t->weights.p, t->C, t->judge.dev, t->job->pool,
                                    t->job->ranks, k->logits, k->linear, err);
}

/* Where folds have weighed n-grams and vectors, what they found is the prior. */
static struct ran_ensemble prior_of(const struct ran_trainer *t)
{
        if (ran_config_trains_encoder(t->c) || !(t->at.linear.weight > 0))
                return t->judge.prior;
        return (struct ran_ensemble){0, t->at.linear.weight, t->at.linear.offset};
}

int ran_trainer_ask(struct ran_trainer *t, bool alone,
                    int (*work)(struct ran_trainer *t, struct ran_task_judged *k, void *arg,
                                struct ran_error *err),
                    void *arg, struct ran_error *err)
{
        struct ran_task_judged k = {.c = t->c,
                                    .dev = t->judge.dev,
                                    .pool = t->job->pool,
                                    .C = t->C,
                                    .linear_crf = ran_crf_train_view(t->linear.crf, t->C),
                                    .alone = alone,
                                    .prior = prior_of(t),
                                    .ensemble = t->judge.ensemble,
                                    .losses = t->judge.losses};
        int rc = ask(t, alone, &k, err);

        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = work(t, &k, arg, err);
        free(k.logits);
        free(k.linear);
        return ran_whole(t, rc);
}

int ran_trainer_check_outputs(const struct ran_trainer *t, const struct ran_task_judged *k,
                              struct ran_error *err)
{
        size_t n;

        RAN_TRY(count(t, &n, err));
        return ran_trainer_check_results(t, k->logits, n, err);
}

static int judge(struct ran_trainer *t, struct ran_task_judged *k, void *rates,
                 struct ran_error *err)
{
        RAN_TRY(ran_trainer_check_outputs(t, k, err));
        RAN_TRY(ran_train_task_of(t->c)->judge(k, rates, err));
        t->judge.ensemble = k->ensemble;
        return RAN_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Rank 0 generates alone, and tells the others nothing but the metric. */
static int generate(struct ran_trainer *t, struct ran_rates *r, struct ran_error *err)
{
        if (t->s->metric == RAN_METRIC_LOSS || !ran_trainer_leads(t))
                return RAN_OK;
        if (t->c->mask != RAN_MASK_PREFIX)
                return ran_fail(err, RAN_EINVAL,
                                "the metrics bleu and chrf need sources and targets: mask must be "
                                "'prefix'");
        if (t->job->tokenizer == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the metrics bleu and chrf compare texts: the model has no "
                                "vocabulary");
        return ran_evaluate_generated(r, t->c, &t->weights.p, t->V, t->job->dev, t->job->tokenizer,
                                      t->job->pool, err);
}

static int judge_texts(struct ran_trainer *t, struct ran_rates *r, struct ran_error *err)
{
        RAN_TRY(ran_evaluate_texts(r, t->c, &t->weights.p, t->V, t->job->dev,
                                   t->loop.batcher.of.mask, t->job->pool, t->job->ranks, err));
        const float loss = (float)r->loss;

        RAN_TRY(generate(t, r, err));
        return ran_trainer_leads(t) ? ran_trainer_check_results(t, &loss, 1, err) : RAN_OK;
}

int ran_trainer_judge(struct ran_trainer *t, bool alone, struct ran_rates *r, struct ran_error *err)
{
        *r = (struct ran_rates){0};
        return ran_task_is_tied(t->c) ? ran_whole(t, judge_texts(t, r, err))
                                      : ran_trainer_ask(t, alone, judge, r, err);
}
