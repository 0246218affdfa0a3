/* task.c - the table of tasks, in the order of RAN_TASK_... */
#include "model/task.h"

static const struct ran_task *const tasks[] = {
        [RAN_TASK_CLASSIFY] = &ran_task_classify,
        [RAN_TASK_TAG] = &ran_task_tag,
        [RAN_TASK_LM] = &ran_task_lm,
        [RAN_TASK_MLM] = &ran_task_mlm,
};

const struct ran_task *ran_task_of(const struct ran_config *c)
{
        return tasks[c->task];
}

const char *ran_task_name(int task)
{
        return tasks[task]->name;
}

bool ran_task_has_labels(int task)
{
        return tasks[task]->output != RAN_OUTPUT_TOKEN;
}

bool ran_task_reads_words(int task)
{
        return tasks[task]->words;
}

bool ran_task_reads_sources(int task)
{
        return tasks[task]->sources;
}
