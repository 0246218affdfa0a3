/* embed.c - no head: the encoder's vectors of documents are what a model of this task gives.
 *
 * Encoders that make a vector of a document learn from vectors, such as those of another encoder
 * (ran/distil.h):
 *
 *      loss = 1 - v . t / |t|      v the encoder's vector, of length 1, t the target
 */
#include "task/train.h"
#include "nn/encoder.h"
#include "nn/head.h"
#include "nn/part.h"
#include "math/simd.h"
#include "ran/train.h"

#include <math.h>

static void head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        for (size_t b = 0; b < w->packed->B; b++)
                w->parts.encoder->vector(w, p, b, w->head.logits + b * C);
}

static void head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                     size_t C)
{
        (void)C;
        w->parts.encoder->vector_bwd(w, p, dp, w->head.dlogits);
}

const struct ran_task ran_task_embed = {
        .what = "an encoder without a head (embed)",
        .output = RAN_OUTPUT_DOCUMENT,
        .linear = RAN_LINEAR_NONE,
        .check = ran_task_check_no_mask,
        .head = head,
        .head_bwd = head_bwd,
};

/* ---- training -------------------------------------------------------------------------------- */

static int check_settings(const struct ran_train_settings *s, struct ran_error *err)
{
        if (s->metric != RAN_METRIC_LOSS || s->refit || s->early_stop ||
            s->class_weights != RAN_WEIGHTS_NONE)
                return ran_fail(err, RAN_EINVAL,
                                "vectors have no labels: metric must be 'loss', class_weights "
                                "'none', refit and early_stop off");
        return RAN_OK;
}

static double terms(const struct ran_task_batch *k, size_t b, size_t from, size_t to)
{
        (void)from;
        (void)to;
        return (double)k->data->weight[b];
}

/* The loss of a document, of vector v (C); dv (C) gets `scale` times its derivative by v, unless it
 * is NULL. */
static double lose(const struct ran_dataset *d, size_t b, const float *v, float *dv, double scale)
{
        const size_t C = d->target_width;
        const float *t = d->target + b * C;
        const double length = sqrt((double)ran_simd->dot(t, t, C));

        for (size_t i = 0; i < C && dv != NULL; i++)
                dv[i] = length > 0 ? (float)(-scale * (double)t[i] / length) : 0;
        return length > 0 ? 1 - (double)ran_simd->dot(v, t, C) / length : 1;
}

static double loss(const struct ran_task_batch *k, struct ran_task_scratch *s,
                   struct ran_params *dp)
{
        double sum = 0;

        ran_head(&s->work, k->p, k->C);
        for (size_t r = 0; r < s->packed.B; r++) {
                const size_t b = s->document[r];
                const double scale = ran_task_weight(k, b, 0) / k->terms;

                sum += scale * lose(k->data, b, s->work.head.logits + r * k->C,
                                    s->work.head.dlogits + r * k->C, scale);
        }
        ran_head_bwd(&s->work, k->p, dp, k->C);
        return sum;
}

static int judge(struct ran_task_judged *k, struct ran_rates *r, struct ran_error *err)
{
        double sum = 0;

        (void)err;
        for (size_t b = 0; b < k->dev->B; b++) {
                k->losses[b] = lose(k->dev, b, k->logits + b * k->C, NULL, 1);
                sum += k->losses[b];
        }
        *r = (struct ran_rates){.loss = sum / (double)k->dev->B, .outputs = k->dev->B};
        return RAN_OK;
}

const struct ran_train_task ran_train_embed = {
        .prior = &ran_ensemble_default,
        .check_settings = check_settings,
        .terms = terms,
        .loss = loss,
        .judge = judge,
};
