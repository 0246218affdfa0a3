/* embed.c - no head: the encoder's vectors of documents are what a model of this task gives.
 *
 * Encoders that make a vector of a document learn from vectors, such as those of another encoder
 * (ran/distil.h):
 *
 *      loss = 1 - v . t / |t|      v the encoder's vector, of length 1, t the target
 */
#include "task/train.h"
#include "nn/encoder.h"
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

static double lose(const struct ran_task_batch *k, size_t b, const float *v, float *dv,
                   double scale)
{
        const float *t = k->data->target + b * k->C;
        const double length = sqrt((double)ran_simd->dot(t, t, k->C));

        for (size_t i = 0; i < k->C; i++)
                dv[i] = length > 0 ? (float)(-scale * (double)t[i] / length) : 0;
        return scale * (length > 0 ? 1 - (double)ran_simd->dot(v, t, k->C) / length : 1);
}

static double loss(const struct ran_task_batch *k, struct ran_task_scratch *s,
                   struct ran_params *dp)
{
        return ran_task_documents(k, s, dp, lose);
}

const struct ran_train_task ran_train_embed = {
        .prior = &ran_ensemble_default,
        .check_settings = check_settings,
        .terms = terms,
        .loss = loss,
};
