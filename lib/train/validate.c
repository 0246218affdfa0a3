/* validate.c - development data: the best epoch, and what is tuned on them in the end. */
#include "train/trainer.h"
#include "model/tagger.h"
#include "train/broadcast.h"
#include "train/crf-train.h"
#include "train/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double metric_of(const struct ran_trainer *t, const struct ran_evaluate_rates *r)
{
        switch (t->s->metric) {
        case RAN_METRIC_ACCURACY:
                return r->accuracy;
        case RAN_METRIC_MACRO_F1:
                return r->macro_f1;
        case RAN_METRIC_LOSS:
                return -r->loss;
        default:
                return r->micro_f1;
        }
}

size_t ran_table_bytes(const struct ran_table *t)
{
        return t->rows * t->width * sizeof *t->x;
}

static void keep_best(struct ran_trainer *t, double metric)
{
        if (metric > t->at.best || t->at.best_epoch == 0) {
                t->at.best = metric;
                t->at.best_epoch = t->at.epoch;
                t->at.stale = 0;
                t->at.encoder = t->ensemble.encoder;
                t->at.linear = t->ensemble.linear;
                memcpy(t->best_block, t->p.block, t->layout.size * sizeof(float));
                memcpy(t->best_table, t->table.x, ran_table_bytes(&t->table));
        } else {
                t->at.stale++;
        }
}

/* Probabilities (B, C) of the development data, and what each path counts: FIT asks them, PROVE
 * asks whether the encoder counts at all. */
enum asking { FIT, PROVE };

static int predict(struct ran_trainer *t, enum asking what, float *p, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        size_t C = t->C, n = dev->B * C;
        float *wide = t->c->wide > 0 ? ran_alloc_floats(n, err) : NULL;
        int rc = RAN_ENOMEM;

        if (t->c->wide == 0 || wide != NULL)
                rc = ran_evaluate_predict(t->c, &t->p, C, dev, t->job->pool, t->job->ranks, p, wide,
                                          err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = ran_trainer_check_results(t, p, n, err);
        if (rc != RAN_OK || !ran_trainer_leads(t)) {
                free(wide);
                return rc;
        }
        if (wide != NULL)
                rc = (what == FIT ? ran_ensemble_fit : ran_ensemble_prove)(&t->ensemble, t->prior,
                                                                           dev, p, wide, err);
        if (rc == RAN_OK && wide != NULL)
                ran_ensemble_add(p, &t->ensemble, p, wide, n);
        for (size_t b = 0; b < dev->B && rc == RAN_OK; b++)
                ran_probabilities(t->c, p + b * C, C, p + b * C);
        free(wide);
        return rc;
}

/* Logits `deep` and `wide` (words, C) of the development data become those of both, and chain
 * (ran_crf_train_floats) is what goes with them. */
static int blend_words(struct ran_trainer *t, float *deep, const float *wide, float *chain,
                       struct ran_crf *crf, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        const struct ran_tag_scores u = {deep, ran_crf_of_params(&t->p)},
                                    v = {wide, ran_crf_train_view(t->crf, t->C)};
        int rc = ran_ensemble_fit_words(&t->ensemble, t->prior, dev, &u, &v, err);

        if (rc != RAN_OK)
                return rc;
        ran_ensemble_add(deep, &t->ensemble, deep, wide, dev->label_first[dev->B] * t->C);
        *crf = ran_ensemble_crf(chain, &t->ensemble, &u.crf, &v.crf, t->C);
        return RAN_OK;
}

static int judge_tags(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_crf crf = ran_crf_of_params(&t->p);
        size_t n;

        if (__builtin_mul_overflow(dev->label_first[dev->B], t->C, &n))
                return ran_fail(err, RAN_ENOMEM, "development data of so many words cannot be");
        float *deep = ran_alloc_floats(n, err),
              *chain = ran_alloc_floats(crf.start != NULL ? ran_crf_train_floats(t->C) : 0, err);
        float *wide = t->c->wide > 0 ? ran_alloc_floats(n, err) : NULL;
        int rc = RAN_ENOMEM;

        if (deep != NULL && chain != NULL && (t->c->wide == 0 || wide != NULL))
                rc = ran_evaluate_predict(t->c, &t->p, t->C, dev, t->job->pool, t->job->ranks, deep,
                                          wide, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = ran_trainer_check_results(t, deep, n, err);
        if (rc == RAN_OK && ran_trainer_leads(t) && wide != NULL)
                rc = blend_words(t, deep, wide, chain, &crf, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = ran_evaluate_tags(r, dev, deep, &crf, t->job->pool, err);
        free(deep);
        free(wide);
        free(chain);
        return rc;
}

/* Of probabilities (B, C). */
static int judge_labels(struct ran_trainer *t, const float *p, struct ran_evaluate_rates *r,
                        struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        struct ran_eval_report report;
        struct ran_eval *e =
                ran_eval_new(t->C, (const char *const *)dev->names, t->c->multilabel, err);
        int rc = e != NULL ? ran_evaluate_classify(e, dev, p, NULL, err) : RAN_ENOMEM;

        if (rc == RAN_OK) {
                ran_eval_finish(e, &report);
                *r = (struct ran_evaluate_rates){report.accuracy, report.micro.f1, report.macro.f1,
                                                 report.n_known > 0 ? report.log_loss : INFINITY};
        }
        ran_eval_free(e);
        return rc;
}

static int judge_texts(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        int rc = ran_evaluate_texts(r, t->c, &t->p, t->V, t->job->dev, t->batcher.mask,
                                    t->job->pool, t->job->ranks, err);
        float loss = (float)r->loss;

        return rc == RAN_OK && ran_trainer_leads(t) ? ran_trainer_check_results(t, &loss, 1, err)
                                                    : rc;
}

/* One epoch's figures. */
static int judge(struct ran_trainer *t, struct ran_evaluate_rates *r, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;
        float *p;
        int rc = RAN_ENOMEM;

        if (t->c->task == RAN_TASK_TAG)
                return judge_tags(t, r, err);
        if (ran_is_tied(t->c))
                return judge_texts(t, r, err);
        p = ran_alloc(dev->B * t->C, sizeof *p, err);
        if (p != NULL)
                rc = predict(t, FIT, p, err);
        if (rc == RAN_OK && ran_trainer_leads(t))
                rc = judge_labels(t, p, r, err);
        free(p);
        return rc;
}

int ran_trainer_validate(struct ran_trainer *t, struct ran_error *err)
{
        struct ran_train_report report;
        struct ran_evaluate_rates r = {0}; /* classifiers' are known to the rank that leads alone */
        int rc = judge(t, &r, err), next;

        if (rc != RAN_OK)
                return ran_ranks_break(t->job->ranks, rc);
        if (ran_trainer_leads(t))
                keep_best(t, metric_of(t, &r));
        if (ran_broadcast_progress(t, err) != RAN_OK)
                return err->code;
        report = ran_trainer_report(t, RAN_REPORT_DEV);
        report.epoch = (size_t)t->at.epoch;
        report.loss = r.loss;
        report.accuracy = r.accuracy;
        report.micro_f1 = r.micro_f1;
        report.macro_f1 = r.macro_f1;
        report.metric = metric_of(t, &r);
        report.improved = t->at.stale == 0;
        if (ran_trainer_tell_all(t, &report, &next, err) != RAN_OK)
                return err->code;
        return next == RAN_STOP ? RAN_EINTR : RAN_OK;
}

/* The model that is kept does without its encoder, and this is how good it is. */
static int keep_alone(struct ran_trainer *t, const float *p, struct ran_error *err)
{
        struct ran_evaluate_rates r;
        int rc = judge_labels(t, p, &r, err);

        if (rc != RAN_OK)
                return rc;
        t->at.best = metric_of(t, &r);
        t->at.encoder = t->ensemble.encoder;
        t->at.linear = t->ensemble.linear;
        return RAN_OK;
}

/* Whether the encoder of the finished model counts, the threshold that it decides with, or what its
 * sets of labels go by; from the best weights on the dev data. */
int ran_trainer_tune(struct ran_trainer *t, struct ran_error *err)
{
        const struct ran_dataset *dev = t->job->dev;

        if (t->c->task != RAN_TASK_CLASSIFY || !ran_train_has_dev(t->job))
                return RAN_OK;
        float *p = ran_alloc(dev->B * t->C, sizeof *p, err);
        if (p == NULL)
                return RAN_ENOMEM;
        int rc = predict(t, PROVE, p, err);
        if (rc == RAN_OK && ran_trainer_leads(t) && t->c->wide > 0 && t->ensemble.encoder == 0 &&
            t->at.encoder > 0)
                rc = keep_alone(t, p, err);
        if (rc == RAN_OK && ran_trainer_leads(t) && t->c->multilabel)
                t->at.threshold = (double)ran_evaluate_best_threshold(dev, p);
        if (rc == RAN_OK && ran_trainer_leads(t) && !t->c->multilabel)
                rc = ran_evaluate_calibrate(&t->calibration, dev, p, err);
        free(p);
        return rc == RAN_OK ? RAN_OK : ran_ranks_break(t->job->ranks, rc);
}
