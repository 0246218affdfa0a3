/* task-classify.c - training of classifiers: an output a document. The encoder learns from the
 * cross-entropy of its own logits, the linear model as a support vector machine (svm.h); the
 * development data decide their ensemble weights (ensemble.h). */
#include "train/task.h"
#include "model/head.h"
#include "train/evaluate.h"
#include "train/loss.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>

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

typedef int fit_ensemble(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                         const struct ran_dataset *d, const float *encoder, const float *linear,
                         struct ran_error *err);

/* Turns the encoder's logits (B, C) into probabilities of the ensemble; `fit` finds its weights.
 * linear (B, C): logits of the linear model, or NULL. */
static int combine(struct ran_trainer *t, fit_ensemble *fit, float *p, const float *linear,
                   struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        size_t C = t->C;

        RAN_TRY(ran_trainer_check_results(t, p, dev->B * C, err));
        if (linear != NULL) {
                RAN_TRY(fit(&t->ensemble, t->prior, dev, p, linear, err));
                ran_ensemble_add(p, &t->ensemble, p, linear, dev->B * C);
        }
        for (size_t b = 0; b < dev->B; b++)
                ran_probabilities(t->c, p + b * C, C, p + b * C);
        return RAN_OK;
}

/* p (B, C): probabilities of the development data; true at rank 0 alone. */
static int predict(struct ran_trainer *t, fit_ensemble *fit, float *p, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        float *linear = t->c->wide > 0 ? ran_alloc_floats(dev->B * t->C, err) : NULL;
        int rc = RAN_ENOMEM;

        if (t->c->wide == 0 || linear != NULL)
                rc = ran_evaluate_predict(t->c, &t->p, t->C, dev, t->job->pool, t->job->ranks, p,
                                          linear, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = combine(t, fit, p, linear, err);
        free(linear);
        return rc;
}

static int rate(struct ran_trainer *t, const float *p, struct ran_evaluate_rates *r,
                struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_eval_report report;
        struct ran_eval *e =
                ran_eval_new(t->C, (const char *const *)dev->names, t->c->multilabel, err);
        int rc = e != NULL ? ran_evaluate_classify(e, dev, p, NULL, err) : RAN_ENOMEM;

        if (rc == RAN_OK) {
                ran_eval_finish(e, &report);
                *r = (struct ran_evaluate_rates){.accuracy = report.accuracy,
                                                 .micro_f1 = report.micro.f1,
                                                 .macro_f1 = report.macro.f1,
                                                 .loss = report.n_known > 0 ? report.log_loss
                                                                            : INFINITY};
        }
        ran_eval_free(e);
        return rc;
}

static bool encodes(const struct ran_trainer *t)
{
        return ran_config_has_encoder(t->c);
}

static int validate(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        float *p = ran_alloc(t->job->dev->B * t->C, sizeof *p, err);
        int rc = RAN_ENOMEM;

        if (p != NULL)
                rc = predict(t, encodes(t) ? ran_ensemble_fit : ran_ensemble_fit_linear, p, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = rate(t, p, r, err);
        free(p);
        return rc;
}

/* Drops the encoder unless it helps significantly; the metric is then the linear model's. */
static int drop_encoder(struct ran_trainer *t, const float *p, struct ran_error *err)
{
        struct ran_evaluate_rates r;

        if (t->c->wide == 0 || t->ensemble.encoder != 0 || !(t->at.encoder > 0))
                return RAN_OK;
        RAN_TRY(rate(t, p, &r, err));
        t->at.best = ran_evaluate_metric(&r, t->s->metric);
        t->at.encoder = t->ensemble.encoder;
        t->at.linear = t->ensemble.linear;
        return RAN_OK;
}

static int calibrate(struct ran_trainer *t, const float *p, struct ran_error *err)
{
        if (!t->c->multilabel)
                return ran_evaluate_calibrate(&t->calibration, t->job->dev, p, err);
        t->at.threshold = (double)ran_evaluate_best_threshold(t->job->dev, p);
        return RAN_OK;
}

/* Decides whether the encoder is used, and the threshold of several labels, or the calibration
 * of one. */
static int tune(struct ran_trainer *t, struct ran_error *err)
{
        float *p = ran_alloc(t->job->dev->B * t->C, sizeof *p, err);

        if (p == NULL)
                return RAN_ENOMEM;
        int rc = predict(t, encodes(t) ? ran_ensemble_prove : ran_ensemble_fit_linear, p, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = drop_encoder(t, p, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = calibrate(t, p, err);
        free(p);
        return rc;
}

static int held_out_loss(struct ran_trainer *t, double *sum, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const bool both = t->c->wide > 0;
        const struct ran_ensemble ensemble = {both ? t->at.encoder : 1, both ? t->at.linear : 0};
        float *encoder = ran_alloc_floats(dev->B * t->C, err);
        float *linear = both ? ran_alloc_floats(dev->B * t->C, err) : NULL;
        int rc = RAN_ENOMEM;

        if (encoder != NULL && (linear != NULL || !both))
                rc = ran_evaluate_predict(t->c, &t->p, t->C, dev, t->job->pool, t->job->ranks,
                                          encoder, linear, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = ran_ensemble_loss(sum, &ensemble, dev, encoder, both ? linear : encoder, err);
        free(encoder);
        free(linear);
        return rc;
}

/* ---- the linear model ----------------------------------------------------------------------- */

static int fit_rows(struct ran_trainer *t, struct ran_svm *svm, struct ran_error *err)
{
        double cost = t->at.cost;

        svm->ratios = t->at.ratios != 0;
        if (t->at.refit == 0)
                RAN_TRY(ran_cross_validate(svm, &cost, t->s->wide_ratios, t->linear,
                                           t->p.head.wide_b, ran_trainer_on_pass, t, err));
        RAN_TRY(ran_svm_fit(svm, cost, t->linear, t->p.head.wide_b, ran_trainer_on_pass, t, err));
        t->at.cost = cost;
        t->at.ratios = svm->ratios;
        return RAN_OK;
}

static int fit_linear(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_features features = {0};
        size_t *row = ran_alloc(t->documents, sizeof *row, err);
        int rc = row != NULL ? RAN_OK : RAN_ENOMEM;

        for (size_t i = 0; i < t->documents && rc == RAN_OK; i++)
                row[i] = i;
        if (rc == RAN_OK)
                rc = ran_features_make(&features, &t->lists, t->c, t->document, t->documents,
                                       t->idf, t->job->train->keep, t->job->pool, err);
        if (rc == RAN_OK) {
                struct ran_svm svm = {.d = t->job->train,
                                      .features = &features,
                                      .document = t->document,
                                      .row = row,
                                      .n = t->documents,
                                      .class_weight = t->batcher.class_weight,
                                      .seed = t->s->seed,
                                      .pool = t->job->pool};

                rc = fit_rows(t, &svm, err);
        }
        ran_features_release(&features);
        free(row);
        if (rc == RAN_OK && (t->at.refit != 0 || !ran_train_refits(t->job)))
                ran_feature_lists_release(&t->lists); /* nothing else reads them */
        return rc;
}

static void merge(struct ran_trainer *t)
{
        if (!encodes(t))
                return;
        ran_trainer_scale(t->p.head.out_w, t->C * t->D, t->at.encoder);
        ran_trainer_scale(t->p.head.out_b, t->C, t->at.encoder);
}

const struct ran_train_task ran_train_classify = {
        .has_head = true,
        .prior = &ran_ensemble_default,
        .linear_alone = 2,
        .check_labels = check_labels,
        .terms = terms,
        .loss = loss,
        .score = score,
        .validate = validate,
        .tune = tune,
        .fit_linear = fit_linear,
        .merge = merge,
        .held_out_loss = held_out_loss,
};
