/* task-tag.c - training of taggers: an output a word, independent or, with a CRF, a sentence at
 * a time. The linear model is a CRF of its own (crf-train.h). */
#include "train/task.h"
#include "nn/head.h"
#include "infer/tagger.h"
#include "part/linear/crf-train.h"
#include "evaluate/evaluate.h"
#include "data/loss.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <stdlib.h>

static int check_labels(const struct ran_dataset *d, size_t b, const struct ran_config *c, size_t C,
                        bool unknown, struct ran_error *err)
{
        (void)c;
        return ran_batch_check_labels(d, b, C, unknown, err);
}

/* ---- batches -------------------------------------------------------------------------------- */

static size_t words_of(const struct ran_dataset *d, size_t b)
{
        return d->label_first[b + 1] - d->label_first[b];
}

static double terms(const struct ran_batcher *k, const struct ran_chunk *chunk)
{
        double sum = 0;

        for (size_t i = 0; i < words_of(k->data, chunk->document); i++)
                sum += ran_batch_weight(k, chunk->document, i);
        return sum;
}

static int load(struct ran_batcher *k, struct ran_batch_scratch *s, const struct ran_chunk *chunk,
                struct ran_error *err)
{
        const struct ran_dataset *d = k->data;
        size_t b = chunk->document, n = words_of(d, b);

        if (k->c->crf)
                RAN_BATCH_ROOM(s, crf, ran_crf_scratch(true, n, k->C), err);
        return ran_packed_positions(&s->packed, d->positions + d->label_first[b], n, err);
}

/* Loss of the n words of a document from label `at` on, each sentence a chain of its own, and
 * its gradient by their logits. */
static double crf_loss(struct ran_batcher *k, struct ran_batch_scratch *s, size_t at, size_t n,
                       const float *logits, float *dlogits, double weight, struct ran_grad *g)
{
        const struct ran_dataset *d = k->data;
        const struct ran_crf crf = ran_crf_of(k->p);
        const struct ran_crf_grad d_crf = {g->p.head.crf_start, g->p.head.crf_end,
                                           g->p.head.crf_transition};
        double sum = 0;

        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(d->begins + at, from, n);
                sum += ran_crf_loss(dlogits + from * k->C, &d_crf, logits + from * k->C, &crf,
                                    d->labels + at + from, end - from, k->C, weight, s->crf);
        }
        return sum;
}

/* Loss of a document whose first word has row r of the logits. */
static double document_loss(struct ran_batcher *k, struct ran_batch_scratch *s, size_t b, size_t r,
                            struct ran_grad *g)
{
        size_t at = k->data->label_first[b], n = words_of(k->data, b), C = k->C;
        float *dlogits = s->work.head.dlogits + r * C;
        const float *logits = s->work.head.logits + r * C;
        double sum = 0;

        if (k->c->crf)
                return crf_loss(k, s, at, n, logits, dlogits, ran_batch_weight(k, b, 0) / k->terms,
                                g);
        for (size_t i = 0; i < n; i++) {
                const struct ran_target word = {k->data->labels + at + i, NULL, 1};

                sum += ran_loss_classify(dlogits + i * C, logits + i * C, C, &word, false,
                                         k->smoothing, ran_batch_weight(k, b, i) / k->terms);
        }
        return sum;
}

static double loss(struct ran_batcher *k, struct ran_batch_scratch *s, size_t shard,
                   struct ran_grad *g)
{
        double sum = 0;

        ran_head(&s->work, k->p, k->C);
        for (size_t i = k->shard[shard], r = 0; i < k->shard[shard + 1]; i++, r++)
                sum += document_loss(k, s, k->chunk[i].document, s->packed.doc_position[r], g);
        ran_head_bwd(&s->work, k->p, &g->p, k->C);
        return sum;
}

/* ---- development data ----------------------------------------------------------------------- */

static int score(struct ran_sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_document d = ran_dataset_document(k->d, b);
        size_t at = k->d->label_first[b] * k->C;

        return ran_score_word_parts(s, &d, k->encoder + at,
                                    k->linear != NULL ? k->linear + at : NULL, err);
}

/* Logits (words, C) and CRFs of encoder and linear model. */
struct judged {
        float *logits; /* of the encoder, then of the ensemble */
        float *linear; /* NULL: there is none */
        float *room;   /* (ran_crf_train_floats) the CRF of the ensemble */
        struct ran_crf crf;
        double encoder; /* mean loss of the encoder alone */
        bool alone;     /* only the linear model is asked */
};

static void judged_release(struct judged *k)
{
        free(k->logits);
        free(k->linear);
        free(k->room);
}

/* True at rank 0 alone. */
static int ask(struct ran_trainer *t, struct judged *k, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const bool both = t->c->wide > 0;
        struct ran_config c = *t->c;
        size_t n;

        if (__builtin_mul_overflow(dev->label_first[dev->B], t->C, &n))
                return ran_fail(err, RAN_ENOMEM, "the validation documents have too many words");
        if (k->alone)
                c.encoder = RAN_ENCODER_NONE;
        k->crf = ran_crf_of(&t->weights.p);
        k->logits = ran_alloc_floats(n, err);
        k->room = ran_alloc_floats(k->crf.start != NULL ? ran_crf_train_floats(t->C) : 0, err);
        k->linear = both ? ran_alloc_floats(n, err) : NULL;
        if (k->logits == NULL || k->room == NULL || (both && k->linear == NULL))
                return RAN_ENOMEM;
        RAN_TRY(ran_evaluate_predict(&c, &t->weights.p, t->C, dev, t->job->pool, t->job->ranks,
                                     k->logits, k->linear, err));
        return ran_trainer_leads(t) ? ran_trainer_check_results(t, k->logits, n, err) : RAN_OK;
}

/* Turns the encoder's logits into the ensemble's. */
static int combine(struct ran_trainer *t, struct judged *k, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const struct ran_tag_scores u = {k->logits, k->crf},
                                    v = {k->linear, ran_crf_train_view(t->linear.crf, t->C)};

        RAN_TRY(ran_ensemble_fit_words(&t->judge.ensemble, t->judge.prior, dev, &u, &v, k->alone,
                                       err));
        ran_ensemble_add(k->logits, &t->judge.ensemble, k->logits, k->linear,
                         dev->label_first[dev->B] * t->C);
        k->crf = ran_ensemble_crf(k->room, &t->judge.ensemble, &u.crf, &v.crf, t->C);
        return RAN_OK;
}

static int judge(struct ran_trainer *t, struct judged *k, struct ran_evaluate_rates *r,
                 struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_evaluate_rates encoder = {0};

        if (k->linear != NULL && !k->alone)
                RAN_TRY(ran_evaluate_tags(&encoder, dev, k->logits, &k->crf, NULL, t->job->pool,
                                          err));
        if (k->linear != NULL)
                RAN_TRY(combine(t, k, err));
        RAN_TRY(ran_evaluate_tags(r, dev, k->logits, &k->crf, t->judge.losses, t->job->pool, err));
        r->encoder_loss = encoder.loss;
        return RAN_OK;
}

static int validate(struct ran_trainer *t, bool alone, struct ran_evaluate_rates *r,
                    struct ran_error *err)
{
        struct judged k = {.alone = alone};
        int rc = ask(t, &k, err);

        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = judge(t, &k, r, err);
        judged_release(&k);
        return rc;
}

/* The finished tagger has one CRF. */
static void merge(struct ran_trainer *t)
{
        const struct ran_ensemble ensemble = ran_trainer_ensemble(t);
        struct ran_head_params *q = &t->weights.p.head;

        if (ran_config_has_encoder(t->c)) {
                ran_trainer_scale(q->tag_w, t->C * t->D, t->at.best.encoder);
                ran_trainer_scale(q->tag_b, t->C, t->at.best.encoder);
        }
        if (t->linear.crf == NULL)
                return;
        ran_ensemble_add(q->crf_start, &ensemble, q->crf_start, t->linear.crf, t->C);
        ran_ensemble_add(q->crf_end, &ensemble, q->crf_end, t->linear.crf + t->C, t->C);
        ran_ensemble_add(q->crf_transition, &ensemble, q->crf_transition, t->linear.crf + 2 * t->C,
                         t->C * t->C);
}

const struct ran_train_task ran_train_tag = {
        .first_look = 4,
        .worth = 0.0025,
        .prior = &ran_ensemble_default_words,
        .linear_alone = 1,
        .check_labels = check_labels,
        .terms = terms,
        .load = load,
        .loss = loss,
        .score = score,
        .validate = validate,
        .merge = merge,
};
