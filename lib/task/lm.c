/* lm.c - language models: the next token (lm), or masked ones (mlm; data/masking.h). lm-output.c
 * computes their output. Their metrics are those of evaluate/evaluate.h.
 */
#include "data/loss.h"
#include "nn/part.h"
#include "nn/workspace.h"
#include "task/lm-output.h"
#include "task/train.h"
#include "ran/train.h"

#include <string.h>

static int check_texts(const struct ran_config *c, struct ran_error *err)
{
        if (c->spelling > 0)
                return ran_fail(err, RAN_EINVAL,
                                "a language model predicts words and cannot read their spelling: "
                                "spelling must be 0");
        return RAN_OK;
}

static int check_lm(const struct ran_config *c, struct ran_error *err)
{
        if (c->mask == RAN_MASK_NONE)
                return ran_fail(err, RAN_EINVAL,
                                "a language model must not see what it predicts: mask must be "
                                "'causal' or 'prefix'");
        return check_texts(c, err);
}

static int check_mlm(const struct ran_config *c, struct ran_error *err)
{
        RAN_TRY(ran_task_check_no_mask(c, err));
        return check_texts(c, err);
}

/* ---- its head ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return ran_task_is_tied(c);
}

#define LM_PARAMS(X)                                                                    \
        X(b, "lm.bias", 0, C, ZERO, true)                                               \
        X(tail_w, "lm.tail.weight", ran_lm_tails(c, C), D, GLOROT, c->lm.shortlist > 0) \
        X(tail_b, "lm.tail.bias", 0, ran_lm_tails(c, C), ZERO, c->lm.shortlist > 0)

static void tensors(struct ran_tensor_walk *k, struct ran_params *params,
                    const struct ran_config *c, size_t C)
{
        const size_t D = c->dim;
        struct ran_head_params *p = &params->head;

        LM_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_lm_head = {
        .is_in = is_in,
        .tensors = tensors,
        .classes = "lm.bias",
};

/* Logits of one block of outputs at a time, as wide as the first softmax. */
static void measure(const struct ran_config *c, struct ran_dims *x)
{
        x->logit_rows = x->outputs < RAN_LM_ROWS ? x->outputs : RAN_LM_ROWS;
        x->logit_width = ran_lm_first(c, x->C) + ran_lm_tails(c, x->C);
        x->tail_width = ran_lm_widest(c, x->C);
}

const struct ran_task ran_task_lm = {
        .what = "a language model (lm)",
        .output = RAN_OUTPUT_TOKEN,
        .sources = true,
        .check = check_lm,
        .measure = measure,
};

const struct ran_task ran_task_mlm = {
        .what = "a masked language model (mlm)",
        .output = RAN_OUTPUT_TOKEN,
        .words = true,
        .check = check_mlm,
        .measure = measure,
};

/* ---- training: both -------------------------------------------------------------------------- */

static int check_lm_settings(const struct ran_train_settings *s, struct ran_error *err)
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

static double loss(const struct ran_task_batch *k, struct ran_task_scratch *s,
                   struct ran_params *dp)
{
        return ran_lm_loss(&s->work, k->p, dp, k->C, s->gold, s->scale, k->smoothing);
}

/* ---- training: the next token ---------------------------------------------------------------- */

static double terms_lm(const struct ran_task_batch *k, size_t b, size_t begin, size_t end)
{
        size_t from, to = ran_loss_predicts(k->data, b, begin, end, &from);

        return (double)k->data->weight[b] * (double)(to - from);
}

/* Notes a position for each token that predicts the one after it. */
static int load_lm(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b,
                   size_t begin, size_t end, struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t at = s->packed.positions, from, to = ran_loss_predicts(d, b, begin, end, &from);

        RAN_TRY(RAN_GROW(s->position, s->position_cap, to - from, err));
        RAN_TRY(RAN_GROW(s->gold, s->gold_cap, at + to - from, err));
        RAN_TRY(RAN_GROW(s->scale, s->scale_cap, at + to - from, err));
        for (size_t i = from; i < to; i++, at++) {
                s->position[i - from] = (uint32_t)(i - begin);
                s->gold[at] = d->ids[d->first[b] + i + 1];
                s->scale[at] = (float)((double)d->weight[b] / k->terms);
        }
        if (begin == 0)
                s->packed.sources[s->packed.B - 1] = d->sources[b];
        ran_packed_positions(&s->packed, s->position, to - from);
        return RAN_OK;
}

static size_t targets_lm(const struct ran_dataset *d, size_t b)
{
        size_t from, to = ran_loss_predicts(d, b, 0, d->first[b + 1] - d->first[b], &from);

        return to - from;
}

const struct ran_train_task ran_train_lm = {
        .chunks = true,
        .outputs = 1,
        .prior = &ran_ensemble_default,
        .check_settings = check_lm_settings,
        .terms = terms_lm,
        .load = load_lm,
        .loss = loss,
        .targets = targets_lm,
};

/* ---- training: masked tokens ----------------------------------------------------------------- */

static int check_mlm_settings(const struct ran_train_settings *s, struct ran_error *err)
{
        RAN_TRY(check_lm_settings(s, err));
        if (s->word_dropout > 0)
                return ran_fail(err, RAN_EINVAL,
                                "words are masked for a masked language model: word_dropout must "
                                "be 0");
        return RAN_OK;
}

static int prepare(struct ran_task_batch *k, const struct ran_tokenizer *tokenizer,
                   struct ran_error *err)
{
        return ran_masking_id(&k->mask, tokenizer, err);
}

static struct ran_masking_draw draw_of(const struct ran_task_batch *k)
{
        return (struct ran_masking_draw){k->mask_share, k->noise.seed, k->noise.epoch};
}

static double terms_mlm(const struct ran_task_batch *k, size_t b, size_t from, size_t to)
{
        const struct ran_masking_draw draw = draw_of(k);

        (void)from;
        (void)to;
        return (double)k->data->weight[b] * (double)ran_masking_count(k->data, b, &draw);
}

static int mask(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b,
                const uint32_t **ids, struct ran_error *err)
{
        const struct ran_masking_draw draw = draw_of(k);

        RAN_TRY(ran_masking_make(&s->masking, k->data, b, k->mask, k->C, &draw, err));
        *ids = s->masking.ids;
        return RAN_OK;
}

/* Notes a position for each masked token of the last document that `mask` masked. */
static int load_mlm(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b,
                    size_t from, size_t to, struct ran_error *err)
{
        const struct ran_masking *m = &s->masking;
        const size_t at = s->packed.positions;

        (void)from;
        (void)to;
        RAN_TRY(RAN_GROW(s->gold, s->gold_cap, at + m->n, err));
        RAN_TRY(RAN_GROW(s->scale, s->scale_cap, at + m->n, err));
        memcpy(s->gold + at, m->gold, m->n * sizeof *m->gold);
        for (size_t i = 0; i < m->n; i++)
                s->scale[at + i] = (float)((double)k->data->weight[b] / k->terms);
        ran_packed_positions(&s->packed, m->position, m->n);
        return RAN_OK;
}

static size_t targets_mlm(const struct ran_dataset *d, size_t b)
{
        return ran_masking_count(d, b, &ran_masking_of_dev);
}

const struct ran_train_task ran_train_mlm = {
        .outputs = RAN_MASK_SHARE,
        .prior = &ran_ensemble_default,
        .check_settings = check_mlm_settings,
        .prepare = prepare,
        .terms = terms_mlm,
        .mask = mask,
        .load = load_mlm,
        .loss = loss,
        .targets = targets_mlm,
};
