/* tasks.c - the table of tasks. */
#include "cmd/train/tasks.h"

#include <string.h>

#define ENTRY(number, name) [RAN_TASK_##number] = &train_task_##name,

static const struct train_task *const tasks[RAN_TASK_COUNT] = {RAN_VERB_TASKS(ENTRY)};

const struct train_task *train_task_of_verb(const char *name)
{
        int task = 0;

        while (strcmp(ran_task_name(task), name) != 0)
                task++;
        return tasks[task];
}
