/* classify.c - labels of documents.
 *
 *   logits = Linear_cls(h),   h the encoder's vector for a document
 *
 * Predictors add their own logits. The encoder learns from the cross-entropy
 * of its own logits, the linear model as a support vector machine (part/linear/fit.h); the
 * validation documents decide their ensemble weights.
 */
#include "data/loss.h"
#include "math/gemm.h"
#include "nn/part.h"
#include "part/linear/linear-model.h"
#include "task/train.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- its head ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return c->task == RAN_TASK_CLASSIFY && ran_config_trains_encoder(c);
}

#define CLASSIFY_PARAMS(X)                              \
        X(w, "classify.out.weight", C, D, GLOROT, true) \
        X(b, "classify.out.bias", 0, C, ZERO, true)

static void tensors(struct ran_tensor_walk *k, struct ran_params *params,
                    const struct ran_config *c, size_t C)
{
        const size_t D = c->dim;
        struct ran_head_params *p = &params->head;

        CLASSIFY_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_classify_head = {
        .is_in = is_in,
        .tensors = tensors,
        .classes = "classify.out.bias",
};

static void drop_out(struct ran_workspace *w, float *h)
{
        for (size_t b = 0; b < w->packed->B; b++)
                ran_workspace_dropout(w, b, 0, RAN_DROP_HEAD, w->noise.dropout, h + b * w->D, w->D,
                                      0);
}

static void head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->packed->B;

        if (w->parts.trains) {
                w->parts.encoder->documents(w, p);
                drop_out(w, h->head);
                /* documents that are scored abreast have the same logits as alone */
                const bool alone = !w->training && w->parts.encoder->rows_stand_alone > 0;
                const size_t rows = alone ? 1 : B;
                for (size_t b = 0; b < B; b += rows)
                        ran_gemm_linear(w->pool, h->logits + b * C, C, h->head + b * D, D,
                                        p->head.w, p->head.b, rows, D, C);
        } else {
                memset(h->logits, 0, B * C * sizeof *h->logits);
        }
        if (ran_has_linear_model(w->c) && w->linear_weight > 0)
                ran_linear_model_add(w, p, C);
}

static void head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                     size_t C)
{
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->packed->B;

        if (w->parts.trains) {
                ran_gemm_linear_bwd(w->pool, h->dhead, D, false, dp->head.w, dp->head.b, h->dlogits,
                                    C, h->head, D, p->head.w, B, D, C);
                drop_out(w, h->dhead);
                w->parts.encoder->documents_bwd(w, p, dp);
        }
        if (w->parts.features > 0 && w->linear_weight > 0)
                ran_linear_model_bwd(w, p, dp, C);
}

const struct ran_task ran_task_classify = {
        .what = "a classifier",
        .output = RAN_OUTPUT_DOCUMENT,
        .linear = RAN_LINEAR_SVM,
        .check = ran_task_check_no_mask,
        .head = head,
        .head_bwd = head_bwd,
};

/* ---- training: targets and loss -------------------------------------------------------------- */

static double terms(const struct ran_task_batch *k, size_t b, size_t from, size_t to)
{
        (void)from;
        (void)to;
        return ran_task_weight(k, b, 0);
}

static double loss(const struct ran_task_batch *k, struct ran_task_scratch *s,
                   struct ran_params *dp)
{
        const struct ran_head *h = &s->work.head;
        double sum = 0;

        ran_head(&s->work, k->p, k->C);
        for (size_t r = 0; r < s->packed.B; r++) {
                const size_t b = s->document[r];
                const struct ran_target target = ran_loss_target(k->data, b);

                sum += ran_loss_classify(h->dlogits + r * k->C, h->logits + r * k->C, k->C, &target,
                                         k->c->classify.multilabel, k->smoothing,
                                         ran_task_weight(k, b, 0) / k->terms);
        }
        ran_head_bwd(&s->work, k->p, dp, k->C);
        return sum;
}

/* ---- training: validation and metric --------------------------------------------------------- */

static void make_probabilities(const struct ran_task_judged *k, float *p)
{
        for (size_t b = 0; b < k->dev->B; b++)
                ran_probabilities(k->c, p + b * k->C, k->C, p + b * k->C);
}

/* Turns k->logits into probabilities of the ensemble. */
static void combine(struct ran_task_judged *k)
{
        if (k->linear != NULL)
                ran_ensemble_add(k->logits, &k->ensemble, k->logits, k->linear, k->dev->B * k->C);
        make_probabilities(k, k->logits);
}

/* The mean loss of the encoder alone, beside a linear model; 0: there is none. */
static double judge_encoder(const struct ran_task_judged *k)
{
        const size_t n = k->dev->B * k->C;

        if (k->linear == NULL || k->alone)
                return 0;
        float *p = ran_new_floats(n);
        memcpy(p, k->logits, n * sizeof *p);
        make_probabilities(k, p);
        const double loss = ran_rates_losses(k->dev, p, k->losses);
        free(p);
        return loss;
}

static void rate(const struct ran_task_judged *k, struct ran_rates *r)
{
        const struct ran_dataset *dev = k->dev;
        struct ran_eval_report report;
        struct ran_eval *e =
                ran_eval_new(k->C, (const char *const *)dev->names, k->c->classify.multilabel);

        ran_rates_classify(e, dev, k->logits, NULL);
        ran_eval_finish(e, &report);
        *r = (struct ran_rates){.accuracy = report.accuracy,
                                .micro_f1 = report.micro.f1,
                                .macro_f1 = report.macro.f1,
                                .loss = report.n_known > 0 ? report.log_loss : INFINITY,
                                .outputs = dev->B,
                                .single = !k->c->classify.multilabel};
        r->wrong = dev->B - (size_t)lround(report.accuracy * (double)dev->B);
        for (size_t c = 0; c < report.C; c++) {
                r->hits += (double)report.classes[c].tp;
                r->errors += (double)(report.classes[c].fp + report.classes[c].fn);
        }
        ran_eval_free(e);
}

static int judge(struct ran_task_judged *k, struct ran_rates *r, struct ran_error *err)
{
        const double encoder = judge_encoder(k);

        (void)err;
        if (k->linear != NULL)
                k->ensemble = ran_ensemble_fit(k->prior, k->dev, k->logits, k->linear, k->alone);
        combine(k);
        ran_rates_losses(k->dev, k->logits, k->losses);
        rate(k, r);
        r->encoder_loss = encoder;
        return RAN_OK;
}

/* The threshold of several labels, or the calibration of one. */
static void tune(struct ran_task_judged *k, struct ran_calibration *calibration, double *threshold)
{
        combine(k);
        if (k->c->classify.multilabel)
                *threshold = (double)ran_rates_best_threshold(k->dev, k->logits);
        else
                ran_rates_calibrate(calibration, k->dev, k->logits);
}

static double held_out_loss(const struct ran_task_judged *k)
{
        return ran_ensemble_loss(&k->ensemble, k->dev, k->logits,
                                 k->linear != NULL ? k->linear : k->logits);
}

static void merge(const struct ran_config *c, struct ran_params *p, size_t C,
                  const struct ran_ensemble *ensemble, const float *linear_crf)
{
        (void)linear_crf;
        if (!ran_config_trains_encoder(c))
                return;
        ran_ensemble_scale(p->head.w, C * c->dim, ensemble->encoder);
        ran_ensemble_scale(p->head.b, C, ensemble->encoder);
}

const struct ran_train_task ran_train_classify = {
        .first_look = 1,
        .worth = 0.05,
        .has_head = true,
        .prior = &ran_ensemble_default,
        .linear_alone = 2,
        .one_label = true,
        .terms = terms,
        .loss = loss,
        .judge = judge,
        .tune = tune,
        .held_out_loss = held_out_loss,
        .merge = merge,
};
