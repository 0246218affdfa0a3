/* train.c - see train.h. */
#include "task/train.h"
#include "ran/train.h"

#define STRUCT(number, name) [RAN_TASK_##number] = &ran_train_##name,

static const struct ran_train_task *const tasks[] = {RAN_TASKS(STRUCT)};

const struct ran_train_task *ran_train_task_of(const struct ran_config *c)
{
        return tasks[c->task];
}
