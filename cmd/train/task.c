/* task.c - the table of tasks. */
#include "cmd/train/task.h"

#include <string.h>

#define ENTRY(number, name) [RAN_TASK_##number] = &train_task_##name,

const struct train_task *const train_tasks[RAN_TASK_COUNT + 1] = {RAN_TRAINED_TASKS(ENTRY)};

const struct train_task *train_task_of_verb(const char *name)
{
        const struct train_task *const *t = train_tasks;

        while (strcmp((*t)->verb, name) != 0)
                t++;
        return *t;
}

const struct train_task *train_task_of(int task)
{
        return train_tasks[task];
}
