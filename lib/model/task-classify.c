/* task-classify.c - labels of documents. */
#include "model/task.h"

const struct ran_task ran_task_classify = {
        .name = "classify",
        .output = RAN_OUTPUT_DOCUMENT,
        .linear = RAN_LINEAR_SVM,
};
