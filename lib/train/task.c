/* task.c - the table of tasks, in the order of RAN_TASK_... */
#include "train/task.h"

static const struct ran_train_task *const tasks[] = {
        [RAN_TASK_CLASSIFY] = &ran_train_classify,
        [RAN_TASK_TAG] = &ran_train_tag,
        [RAN_TASK_LM] = &ran_train_lm,
        [RAN_TASK_MLM] = &ran_train_mlm,
};

const struct ran_train_task *ran_train_task_of(const struct ran_config *c)
{
        return tasks[c->task];
}
