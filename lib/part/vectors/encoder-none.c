/* encoder-none.c - no encoder: the linear model alone (linear-model.h, linear-words.h).
 *
 * It has no embedding, no layers and no tensors, D is 0, and the logits of the head are those of
 * the linear model. */
#include "part/vectors/encoder-idle.h"
#include "ran/model.h"

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (ran_task_of(c)->linear == RAN_LINEAR_NONE)
                return ran_fail(err, RAN_EINVAL,
                                "without an encoder there is only a linear model, which predicts "
                                "labels or tags: for '%s' the encoder must be 'ran' or "
                                "'transformer'",
                                ran_task_names[c->task]);
        if (c->wide == 0)
                return ran_fail(err, RAN_EINVAL,
                                "without an encoder and without a linear model nothing is left: "
                                "wide must be above 0, or the encoder not 'none'");
        return RAN_OK;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        (void)w, (void)k;
}

const struct ran_encoder ran_encoder_none = {
        .check = check,
        .lay_out = lay_out,
        RAN_ENCODER_IDLE,
};
