/* tag.c - tags of words: a linear layer at the first subword of every word, and, with a CRF,
 * scores of tags that follow each other (crf.h). The linear model is a CRF of its own. */
#include "data/loss.h"
#include "math/gemm.h"
#include "nn/part.h"
#include "part/linear/linear-words.h"
#include "task/train.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

static int check(const struct ran_config *c, struct ran_error *err)
{
        RAN_TRY(ran_task_check_no_mask(c, err));
        if (c->linear.affixes && ran_config_has_predictor(c))
                return ran_fail(err, RAN_EINVAL,
                                "a tagger has prefixes and suffixes of words as spelling: affixes "
                                "must be off");
        if (c->upper != RAN_UPPER_POOLING)
                return ran_fail(err, RAN_EINVAL,
                                "a tagger needs outputs of tokens: upper must be 'pooling'");
        return RAN_OK;
}

/* ---- its head ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return c->task == RAN_TASK_TAG && ran_config_has_encoder(c);
}

#define TAG_PARAMS(X)                              \
        X(w, "tag.out.weight", C, D, GLOROT, true) \
        X(b, "tag.out.bias", 0, C, ZERO, true)

static void tensors(struct ran_tensor_walk *k, struct ran_params *params,
                    const struct ran_config *c, size_t C)
{
        const size_t D = c->dim;
        struct ran_head_params *p = &params->head;

        TAG_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_tag_head = {
        .is_in = is_in,
        .tensors = tensors,
        .classes = "tag.out.bias",
};

static void head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;
        const size_t D = w->D;

        if (w->parts.encoder == NULL) { /* predictors add them all */
                memset(h->logits, 0, w->packed->positions * C * sizeof *h->logits);
                return;
        }
        ran_head_positions(w, p);
        ran_gemm_linear(w->pool, h->logits, C, h->head, D, p->head.w, p->head.b,
                        w->packed->positions, D, C);
}

static void head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                     size_t C)
{
        struct ran_head *h = &w->head;
        const size_t D = w->D;

        ran_gemm_linear_bwd(w->pool, h->dhead, D, false, dp->head.w, dp->head.b, h->dlogits, C,
                            h->head, D, p->head.w, w->packed->positions, D, C);
        ran_head_positions_bwd(w, p, dp);
}

const struct ran_task ran_task_tag = {
        .what = "a tagger",
        .output = RAN_OUTPUT_WORD,
        .linear = RAN_LINEAR_CRF,
        .words = true,
        .check = check,
        .head = head,
        .head_bwd = head_bwd,
};

/* ---- training: targets and loss -------------------------------------------------------------- */

static size_t words_of(const struct ran_dataset *d, size_t b)
{
        return d->label_first[b + 1] - d->label_first[b];
}

static double terms(const struct ran_task_batch *k, size_t b, size_t from, size_t to)
{
        double sum = 0;

        (void)from;
        (void)to;
        for (size_t i = 0; i < words_of(k->data, b); i++)
                sum += ran_task_weight(k, b, i);
        return sum;
}

static int load(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b, size_t from,
                size_t to, struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        const size_t n = words_of(d, b);

        (void)from;
        (void)to;
        if (k->c->tag.crf)
                RAN_TRY(RAN_GROW(s->crf, s->crf_cap, ran_crf_scratch(true, n, k->C), err));
        ran_packed_positions(&s->packed, d->positions + d->label_first[b], n);
        return RAN_OK;
}

/* Loss of the n words of a document from label `at` on, each sentence a chain of its own, and
 * its gradient by their logits. */
static double crf_loss(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t at,
                       size_t n, const float *logits, float *dlogits, double weight,
                       struct ran_params *dp)
{
        const struct ran_dataset *d = k->data;
        const struct ran_crf crf = ran_crf_of(k->p);
        const struct ran_crf d_crf = ran_crf_of(dp);
        double sum = 0;

        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(d->begins + at, from, n);
                sum += ran_crf_loss(dlogits + from * k->C, &d_crf, logits + from * k->C, &crf,
                                    d->labels + at + from, end - from, k->C, weight, s->crf);
        }
        return sum;
}

/* Loss of a document whose first word has row r of the logits. */
static double document_loss(const struct ran_task_batch *k, struct ran_task_scratch *s, size_t b,
                            size_t r, struct ran_params *dp)
{
        const size_t at = k->data->label_first[b], n = words_of(k->data, b), C = k->C;
        float *dlogits = s->work.head.dlogits + r * C;
        const float *logits = s->work.head.logits + r * C;
        double sum = 0;

        if (k->c->tag.crf)
                return crf_loss(k, s, at, n, logits, dlogits, ran_task_weight(k, b, 0) / k->terms,
                                dp);
        for (size_t i = 0; i < n; i++) {
                const struct ran_target word = {k->data->labels + at + i, NULL, 1};

                sum += ran_loss_classify(dlogits + i * C, logits + i * C, C, &word, false,
                                         k->smoothing, ran_task_weight(k, b, i) / k->terms);
        }
        return sum;
}

static double loss(const struct ran_task_batch *k, struct ran_task_scratch *s,
                   struct ran_params *dp)
{
        double sum = 0;

        ran_head(&s->work, k->p, k->C);
        for (size_t r = 0; r < s->packed.B; r++)
                sum += document_loss(k, s, s->document[r], s->packed.doc_position[r], dp);
        ran_head_bwd(&s->work, k->p, dp, k->C);
        return sum;
}

/* ---- training: validation and metric --------------------------------------------------------- */

/* Turns the encoder's logits into the ensemble's, and its CRF, which is in room. */
static void combine(struct ran_task_judged *k, float *room)
{
        const struct ran_tag_scores u = {k->logits, k->crf}, v = {k->linear, k->linear_crf};

        k->ensemble = ran_ensemble_fit_words(k->prior, k->dev, &u, &v, k->alone);
        ran_ensemble_add(k->logits, &k->ensemble, k->logits, k->linear,
                         k->dev->label_first[k->dev->B] * k->C);
        k->crf = ran_ensemble_crf(room, &k->ensemble, &u.crf, &v.crf, k->C);
}

static int judge(struct ran_task_judged *k, struct ran_rates *r, struct ran_error *err)
{
        float *room = ran_new_floats(k->crf.start != NULL ? ran_crf_train_floats(k->C) : 0);
        struct ran_rates encoder = {0};
        int rc = RAN_OK;

        if (k->linear != NULL && !k->alone)
                rc = ran_tag_rates(&encoder, k->dev, k->logits, &k->crf, NULL, k->pool, err);
        if (k->linear != NULL)
                combine(k, room);
        if (rc == RAN_OK)
                rc = ran_tag_rates(r, k->dev, k->logits, &k->crf, k->losses, k->pool, err);
        r->encoder_loss = encoder.loss;
        free(room);
        return rc;
}

/* The finished tagger has one CRF. */
static void merge(const struct ran_config *c, struct ran_params *p, size_t C,
                  const struct ran_ensemble *ensemble, const float *linear_crf)
{
        if (ran_config_has_encoder(c)) {
                ran_ensemble_scale(p->head.w, C * c->dim, ensemble->encoder);
                ran_ensemble_scale(p->head.b, C, ensemble->encoder);
        }
        if (linear_crf == NULL)
                return;
        const struct ran_crf crf = ran_crf_of(p);
        ran_ensemble_add(crf.start, ensemble, crf.start, linear_crf, C);
        ran_ensemble_add(crf.end, ensemble, crf.end, linear_crf + C, C);
        ran_ensemble_add(crf.transition, ensemble, crf.transition, linear_crf + 2 * C, C * C);
}

const struct ran_train_task ran_train_tag = {
        .first_look = 4,
        .worth = 0.0025,
        .prior = &ran_ensemble_default_words,
        .linear_alone = 1,
        .terms = terms,
        .load = load,
        .loss = loss,
        .judge = judge,
        .merge = merge,
};
