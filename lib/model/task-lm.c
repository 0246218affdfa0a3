/* task-lm.c - language models: the next token (lm), or masked ones (mlm). */
#include "model/task.h"

const struct ran_task ran_task_lm = {
        .name = "lm",
        .output = RAN_OUTPUT_TOKEN,
        .sources = true,
};

const struct ran_task ran_task_mlm = {
        .name = "mlm",
        .output = RAN_OUTPUT_TOKEN,
        .words = true,
};
