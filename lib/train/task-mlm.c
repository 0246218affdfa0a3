/* task-mlm.c - training of masked language models: predict masked tokens (masking.h) from all
 * others. */
#include "train/task-lm.h"
#include "train/task.h"
#include "evaluate/evaluate.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

static int check_settings(const struct ran_train_settings *s, struct ran_error *err)
{
        RAN_TRY(ran_train_lm_check_settings(s, err));
        if (s->word_dropout > 0)
                return ran_fail(err, RAN_EINVAL,
                                "words are masked for a masked language model: word_dropout must "
                                "be 0");
        return RAN_OK;
}

static int prepare(struct ran_batcher *k, const struct ran_tokenizer *tokenizer,
                   struct ran_error *err)
{
        return ran_masking_id(&k->mask, tokenizer, err);
}

static struct ran_masking_draw draw_of(const struct ran_batcher *k)
{
        return (struct ran_masking_draw){k->mask_share, k->noise.seed, k->noise.epoch};
}

static double terms(const struct ran_batcher *k, const struct ran_chunk *chunk)
{
        const struct ran_masking_draw draw = draw_of(k);
        size_t b = chunk->document;

        return (double)k->data->weight[b] * (double)ran_masking_count(k->data, b, &draw);
}

static int mask(struct ran_batcher *k, struct ran_batch_scratch *s, size_t b, const uint32_t **ids,
                struct ran_error *err)
{
        const struct ran_masking_draw draw = draw_of(k);

        RAN_TRY(ran_masking_make(&s->masking, k->data, b, k->mask, k->C, &draw, err));
        *ids = s->masking.ids;
        return RAN_OK;
}

/* A position for each masked token of the last document that `mask` masked. */
static int load(struct ran_batcher *k, struct ran_batch_scratch *s, const struct ran_chunk *chunk,
                struct ran_error *err)
{
        const struct ran_masking *m = &s->masking;
        size_t at = s->packed.positions;

        RAN_BATCH_ROOM(s, gold, at + m->n, err);
        RAN_BATCH_ROOM(s, scale, at + m->n, err);
        memcpy(s->gold + at, m->gold, m->n * sizeof *m->gold);
        for (size_t i = 0; i < m->n; i++)
                s->scale[at + i] = (float)((double)k->data->weight[chunk->document] / k->terms);
        return ran_packed_positions(&s->packed, m->position, m->n, err);
}

/* Development data are masked as in epoch 0, whatever the seed. */
static int score(struct ran_sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_dataset *d = k->d;
        struct ran_masking masked = {0};
        float *nll = NULL;
        int rc = ran_masking_make(&masked, d, b, k->mask, k->C, &ran_masking_of_dev, err);

        if (rc == RAN_OK && (nll = ran_alloc_floats(masked.n, err)) == NULL)
                rc = RAN_ENOMEM;
        if (rc == RAN_OK)
                rc = ran_score_masked(s, masked.ids, d->first[b + 1] - d->first[b], masked.position,
                                      masked.n, masked.gold, nll, NULL, err);
        for (size_t i = 0; i < masked.n && rc == RAN_OK; i++)
                k->loss[b] += (double)nll[i];
        free(nll);
        ran_masking_release(&masked);
        return rc;
}

static size_t targets(const struct ran_dataset *d, size_t b)
{
        return ran_masking_count(d, b, &ran_masking_of_dev);
}

const struct ran_train_task ran_train_mlm = {
        .outputs = RAN_MASK_SHARE,
        .prior = &ran_ensemble_default,
        .check_settings = check_settings,
        .prepare = prepare,
        .terms = terms,
        .mask = mask,
        .load = load,
        .loss = ran_train_lm_loss,
        .score = score,
        .targets = targets,
        .init_output = ran_train_lm_init_output,
        .validate = ran_train_lm_validate,
};
