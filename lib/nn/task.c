/* task.c - see task.h. */
#include "nn/task.h"
#include "ran/model.h"

#define STRUCT(number, name) [RAN_TASK_##number] = &ran_task_##name,
#define NAME(number, name)   [RAN_TASK_##number] = #name,

static const struct ran_task *const tasks[] = {RAN_TASKS(STRUCT)};
const char *const ran_task_names[] = {RAN_TASKS(NAME) NULL};

const struct ran_task *ran_task_of(const struct ran_config *c)
{
        return tasks[c->task];
}

int ran_task_check_no_mask(const struct ran_config *c, struct ran_error *err)
{
        if (c->mask == RAN_MASK_NONE)
                return RAN_OK;
        return ran_fail(err, RAN_EINVAL,
                        "only language models (lm) hide what follows: for '%s' mask must be "
                        "'none', not '%s'",
                        ran_task_names[c->task], ran_mask_names[c->mask]);
}

/* ---- for programs --------------------------------------------------------------------------- */

const char *ran_task_name(int task)
{
        return ran_task_names[task];
}

bool ran_task_has_labels(int task)
{
        return tasks[task]->output != RAN_OUTPUT_TOKEN && tasks[task]->bias != NULL;
}

bool ran_task_reads_words(int task)
{
        return tasks[task]->words;
}

bool ran_task_reads_sources(int task)
{
        return tasks[task]->sources;
}
