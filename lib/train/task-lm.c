/* task-lm.c - training of language models: predict each token of a text from those before it.
 * Also code in common with masked ones (task-mlm.c). */
#include "train/task-lm.h"
#include "train/task.h"
#include "task/lm-output.h"
#include "evaluate/evaluate.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <stdlib.h>

/* ---- lm and mlm ----------------------------------------------------------------------------- */

int ran_train_lm_check_settings(const struct ran_train_settings *s, struct ran_error *err)
{
        if (s->metric < RAN_METRIC_LOSS)
                return ran_fail(
                        err, RAN_EINVAL,
                        "the best epoch of a language model is the one with the lowest loss: "
                        "metric must be 'loss', or 'bleu' or 'chrf' for pairs");
        if (s->early_stop)
                return ran_fail(err, RAN_EINVAL,
                                "a language model has no linear model that its encoder is compared "
                                "with: early_stop must be off");
        if (s->class_weights != RAN_WEIGHTS_NONE)
                return ran_fail(err, RAN_EINVAL,
                                "a language model has no classes: class_weights must be 'none'");
        return RAN_OK;
}

double ran_train_lm_loss(struct ran_batcher *k, struct ran_batch_scratch *s, size_t shard,
                         struct ran_grad *g)
{
        (void)shard;
        return ran_lm_loss(&s->work, k->p, &g->p, k->C, s->gold, s->scale, k->smoothing);
}

/* Initialises the biases with the frequencies of the ids in the training data. */
int ran_train_lm_init_output(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_dataset *d = t->job->train;
        double *count = ran_alloc(t->V, sizeof *count, err);

        if (count == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < d->first[d->B]; i++)
                count[d->ids[i]]++;
        ran_lm_init_bias(t->c, &t->weights.p, t->V, count);
        free(count);
        return RAN_OK;
}

/* Rank 0 generates alone, and tells the others nothing but the metric. */
static int generate_targets(struct ran_trainer *t, struct ran_evaluate_rates *r,
                            struct ran_error *err)
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

int ran_train_lm_validate(struct ran_trainer *t, bool alone, struct ran_evaluate_rates *r,
                          struct ran_error *err)
{
        (void)alone;
        int rc = ran_evaluate_texts(r, t->c, &t->weights.p, t->V, t->job->dev, t->loop.batcher.mask,
                                    t->job->pool, t->job->ranks, err);
        float loss = (float)r->loss;

        if (rc == RAN_OK)
                rc = generate_targets(t, r, err);
        return rc == RAN_OK && ran_trainer_leads(t) ? ran_trainer_check_results(t, &loss, 1, err)
                                                    : rc;
}

/* ---- lm ------------------------------------------------------------------------------------- */

static double terms(const struct ran_batcher *k, const struct ran_chunk *chunk)
{
        size_t from, to = ran_plan_predicts(k->data, chunk, &from);

        return (double)k->data->weight[chunk->document] * (double)(to - from);
}

/* A position for each token that predicts the one after it. */
static int load(struct ran_batcher *k, struct ran_batch_scratch *s, const struct ran_chunk *chunk,
                struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t b = chunk->document, at = s->packed.positions, from;
        size_t to = ran_plan_predicts(d, chunk, &from);

        RAN_BATCH_ROOM(s, position, to - from, err);
        RAN_BATCH_ROOM(s, gold, at + to - from, err);
        RAN_BATCH_ROOM(s, scale, at + to - from, err);
        for (size_t i = from; i < to; i++, at++) {
                s->position[i - from] = (uint32_t)(i - chunk->from);
                s->gold[at] = d->ids[d->first[b] + i + 1];
                s->scale[at] = (float)((double)d->weight[b] / k->terms);
        }
        if (chunk->from == 0)
                s->packed.sources[s->packed.B - 1] = d->sources[b];
        return ran_packed_positions(&s->packed, s->position, to - from, err);
}

static struct ran_chunk whole(const struct ran_dataset *d, size_t b)
{
        return (struct ran_chunk){.document = b, .to = d->first[b + 1] - d->first[b]};
}

static int score(struct ran_sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        const struct ran_chunk all = whole(d, b);
        const uint32_t *ids = d->ids + d->first[b];
        size_t from, to = ran_plan_predicts(d, &all, &from);
        uint32_t *gold = ran_alloc(all.to, sizeof *gold, err);
        float *nll = ran_alloc_floats(all.to, err);
        const struct ran_lm_out out = {.gold = gold, .nll = nll};
        int rc = RAN_ENOMEM;

        for (size_t t = 0; t < all.to && gold != NULL; t++)
                gold[t] = t < from || t >= to ? RAN_NO_ID : ids[t + 1];
        if (gold != NULL && nll != NULL)
                rc = ran_score_lm(s, NULL, ids, all.to, d->sources[b], &out, err);
        for (size_t t = from; t < to && rc == RAN_OK; t++)
                k->loss[b] += (double)nll[t];
        free(gold);
        free(nll);
        return rc;
}

static size_t targets(const struct ran_dataset *d, size_t b)
{
        const struct ran_chunk all = whole(d, b);
        size_t from, to = ran_plan_predicts(d, &all, &from);

        return to - from;
}

const struct ran_train_task ran_train_lm = {
        .chunks = true,
        .outputs = 1,
        .prior = &ran_ensemble_default,
        .check_settings = ran_train_lm_check_settings,
        .terms = terms,
        .load = load,
        .loss = ran_train_lm_loss,
        .score = score,
        .targets = targets,
        .init_output = ran_train_lm_init_output,
        .validate = ran_train_lm_validate,
};
