/* task.c - the table of tasks. */
#include "cmd/train/task.h"

#include <string.h>

const struct train_task *const train_tasks[TRAIN_TASKS + 1] = {
        &train_task_classify, &train_task_tag, &train_task_lm, &train_task_mlm, NULL,
};

const struct train_task *train_task_of_verb(const char *name)
{
        const struct train_task *const *t = train_tasks;

        while (strcmp((*t)->verb, name) != 0)
                t++;
        return *t;
}

const struct train_task *train_task_of(int task)
{
        const struct train_task *const *t = train_tasks;

        while ((*t)->task != task)
                t++;
        return *t;
}
