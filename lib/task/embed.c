/* task-embed.c - no head: the encoder's vectors of documents are what a model of this task gives.
 * It is not trained. */
#include "nn/task.h"
#include "nn/params.h"
#include "nn/workspace.h"
#include "ran/model.h"

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (c->wide > 0 || c->frozen)
                return ran_fail(err, RAN_EINVAL,
                                "an encoder without a head has no linear model: wide must be 0, "
                                "and frozen false");
        return ran_task_check_no_mask(c, err);
}

const struct ran_task ran_task_embed = {
        .what = "an encoder without a head (embed)",
        .output = RAN_OUTPUT_DOCUMENT,
        .linear = RAN_LINEAR_NONE,
        .check = check,
};
