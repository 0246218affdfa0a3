/* task-embed.c - no head: the encoder's vectors of documents are what a model of this task gives.
 * It is not trained. */
#include "nn/task.h"
#include "nn/params.h"
#include "nn/workspace.h"
#include "ran/model.h"

const struct ran_task ran_task_embed = {
        .what = "an encoder without a head (embed)",
        .output = RAN_OUTPUT_DOCUMENT,
        .linear = RAN_LINEAR_NONE,
        .check = ran_task_check_no_mask,
};
