/* task-tag.c - tags of words. */
#include "model/task.h"

const struct ran_task ran_task_tag = {
        .name = "tag",
        .output = RAN_OUTPUT_WORD,
        .linear = RAN_LINEAR_CRF,
        .words = true,
};
