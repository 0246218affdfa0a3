/* task-classify.c - training of classifiers: an output a document. The encoder learns from the
 * cross-entropy of its own logits, the linear model as a support vector machine (svm.h); the
 * development data decide their ensemble weights (ensemble.h). */
#include "train/task.h"
#include "nn/head.h"
#include "evaluate/evaluate.h"
#include "data/loss.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_labels(const struct ran_dataset *d, size_t b, const struct ran_config *c, size_t C,
                        bool unknown, struct ran_error *err)
{
        size_t n = d->label_first[b + 1] - d->label_first[b];

        if (!c->multilabel && n != 1)
                return ran_fail(err, RAN_EINVAL, "a document has %zu labels instead of one", n);
        return ran_batch_check_labels(d, b, C, unknown, err);
}

/* ---- batches -------------------------------------------------------------------------------- */

static double terms(const struct ran_batcher *k, const struct ran_chunk *chunk)
{
        return ran_batch_weight(k, chunk->document, 0);
}

static double loss(struct ran_batcher *k, struct ran_batch_scratch *s, size_t shard,
                   struct ran_grad *g)
{
        double sum = 0;

        ran_head(&s->work, k->p, k->C);
        for (size_t i = k->shard[shard], r = 0; i < k->shard[shard + 1]; i++, r++) {
                size_t b = k->chunk[i].document;
                const struct ran_target target = ran_loss_target(k->data, b);

                sum += ran_loss_classify(s->work.head.dlogits + r * k->C,
                                         s->work.head.logits + r * k->C, k->C, &target,
                                         k->c->multilabel, k->smoothing,
                                         ran_batch_weight(k, b, 0) / k->terms);
        }
        ran_head_bwd(&s->work, k->p, &g->p, k->C);
        return sum;
}

/* ---- development data ----------------------------------------------------------------------- */

static int score(struct ran_sweep *k, struct ran_state *s, size_t b, struct ran_error *err)
{
        const struct ran_document d = ran_dataset_document(k->d, b);
        size_t at = b * k->C;

        return ran_score_parts(s, &d, k->encoder + at, k->linear != NULL ? k->linear + at : NULL,
                               err);
}

/* What is known about the validation documents. */
struct judged {
        float *p;       /* (B, C) logits of the encoder, then probabilities of the ensemble */
        float *linear;  /* (B, C) logits of the linear model; NULL: there is none */
        double encoder; /* mean loss of the encoder alone */
        bool alone;     /* only the linear model is asked */
};

static void judged_release(struct judged *k)
{
        free(k->p);
        free(k->linear);
}

/* Logits of encoder and linear model; true at rank 0 alone. */
static int ask(struct ran_trainer *t, struct judged *k, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const bool both = t->c->wide > 0;
        struct ran_config c = *t->c;

        if (k->alone && !c.frozen)
                c.encoder = RAN_ENCODER_NONE;
        k->p = ran_alloc_floats(dev->B * t->C, err);
        k->linear = both ? ran_alloc_floats(dev->B * t->C, err) : NULL;
        if (k->p == NULL || (both && k->linear == NULL))
                return RAN_ENOMEM;
        RAN_TRY(ran_evaluate_predict(&c, &t->weights.p, t->C, dev, t->job->pool, t->job->ranks,
                                     k->p, k->linear, err));
        return ran_trainer_leads(t) ? ran_trainer_check_results(t, k->p, dev->B * t->C, err)
                                    : RAN_OK;
}

static void make_probabilities(const struct ran_trainer *t, float *p)
{
        for (size_t b = 0; b < t->job->dev->B; b++)
                ran_probabilities(t->c, p + b * t->C, t->C, p + b * t->C);
}

/* Turns k->p into probabilities of the ensemble t->judge.ensemble. */
static void combine(const struct ran_trainer *t, struct judged *k)
{
        if (k->linear != NULL)
                ran_ensemble_add(k->p, &t->judge.ensemble, k->p, k->linear, t->job->dev->B * t->C);
        make_probabilities(t, k->p);
}

static int find_ensemble(struct ran_trainer *t, struct judged *k, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;

        if (k->linear == NULL)
                return RAN_OK;
        return k->alone ? ran_ensemble_fit_linear(&t->judge.ensemble, t->judge.prior, dev, k->p,
                                                  k->linear, err)
                        : ran_ensemble_fit(&t->judge.ensemble, t->judge.prior, dev, k->p, k->linear,
                                           err);
}

/* The loss of the encoder alone, beside a linear model. */
static int judge_encoder(struct ran_trainer *t, struct judged *k, struct ran_error *err)
{
        const size_t n = t->job->dev->B * t->C;

        if (k->linear == NULL || k->alone)
                return RAN_OK;
        float *p = ran_alloc_floats(n, err);
        if (p == NULL)
                return RAN_ENOMEM;
        memcpy(p, k->p, n * sizeof *p);
        make_probabilities(t, p);
        k->encoder = ran_evaluate_losses(t->job->dev, p, t->judge.losses);
        free(p);
        return RAN_OK;
}

static int rate(struct ran_trainer *t, const struct judged *k, struct ran_evaluate_rates *r,
                struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_eval_report report;
        struct ran_eval *e =
                ran_eval_new(t->C, (const char *const *)dev->names, t->c->multilabel, err);
        int rc = e != NULL ? ran_evaluate_classify(e, dev, k->p, NULL, err) : RAN_ENOMEM;

        if (rc == RAN_OK) {
                ran_eval_finish(e, &report);
                *r = (struct ran_evaluate_rates){.accuracy = report.accuracy,
                                                 .micro_f1 = report.micro.f1,
                                                 .macro_f1 = report.macro.f1,
                                                 .loss = report.n_known > 0 ? report.log_loss
                                                                            : INFINITY,
                                                 .encoder_loss = k->encoder,
                                                 .outputs = dev->B,
                                                 .single = !t->c->multilabel};
                r->wrong = dev->B - (size_t)lround(report.accuracy * (double)dev->B);
                for (size_t c = 0; c < report.C; c++) {
                        r->hits += (double)report.classes[c].tp;
                        r->errors += (double)(report.classes[c].fp + report.classes[c].fn);
                }
        }
        ran_eval_free(e);
        return rc;
}

static int judge(struct ran_trainer *t, struct judged *k, struct ran_evaluate_rates *r,
                 struct ran_error *err)
{
        RAN_TRY(judge_encoder(t, k, err));
        RAN_TRY(find_ensemble(t, k, err));
        combine(t, k);
        ran_evaluate_losses(t->job->dev, k->p, t->judge.losses);
        return rate(t, k, r, err);
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

static int calibrate(struct ran_trainer *t, const float *p, struct ran_error *err)
{
        if (!t->c->multilabel)
                return ran_evaluate_calibrate(&t->judge.calibration, t->job->dev, p, err);
        t->at.best.threshold = (double)ran_evaluate_best_threshold(t->job->dev, p);
        return RAN_OK;
}

/* The threshold of several labels, or the calibration of one. */
static int tune(struct ran_trainer *t, struct ran_error *err)
{
        struct judged k = {.alone = ran_trainer_drops_encoder(t)};
        int rc = ask(t, &k, err);

        if (rc == RAN_OK && ran_trainer_leads(t)) {
                combine(t, &k);
                rc = calibrate(t, k.p, err);
        }
        judged_release(&k);
        return rc;
}

static int held_out_loss(struct ran_trainer *t, double *sum, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const bool both = t->c->wide > 0;
        const struct ran_ensemble ensemble =
                both ? ran_trainer_ensemble(t) : (struct ran_ensemble){.encoder = 1};
        float *encoder = ran_alloc_floats(dev->B * t->C, err);
        float *linear = both ? ran_alloc_floats(dev->B * t->C, err) : NULL;
        int rc = RAN_ENOMEM;

        if (encoder != NULL && (linear != NULL || !both))
                rc = ran_evaluate_predict(t->c, &t->weights.p, t->C, dev, t->job->pool,
                                          t->job->ranks, encoder, linear, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = ran_ensemble_loss(sum, &ensemble, dev, encoder, both ? linear : encoder, err);
        free(encoder);
        free(linear);
        return rc;
}

/* ---- the finished model ---------------------------------------------------------------------- */

static void merge(struct ran_trainer *t)
{
        if (!ran_config_trains_encoder(t->c))
                return;
        ran_trainer_scale(t->weights.p.head.out_w, t->C * t->D, t->at.best.encoder);
        ran_trainer_scale(t->weights.p.head.out_b, t->C, t->at.best.encoder);
}

const struct ran_train_task ran_train_classify = {
        .first_look = 1,
        .worth = 0.05,
        .has_head = true,
        .prior = &ran_ensemble_default,
        .linear_alone = 2,
        .check_labels = check_labels,
        .terms = terms,
        .loss = loss,
        .score = score,
        .validate = validate,
        .tune = tune,
        .merge = merge,
        .held_out_loss = held_out_loss,
};
