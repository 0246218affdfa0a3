/* embed.c - no head: the encoder's vectors of documents are what a model of this task gives.
 */
#include "task/train.h"
#include "nn/part.h"
#include "ran/train.h"

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
        (void)s;
        return ran_fail(err, RAN_EINVAL,
                        "an encoder without a head has no labels to learn from: give it with init");
}

const struct ran_train_task ran_train_embed = {
        .prior = &ran_ensemble_default,
        .check_settings = check_settings,
};
