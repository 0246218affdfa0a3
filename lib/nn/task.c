/* task.c - what programs and checks ask of tasks. See task.h; parts.c has their table. */
#include "nn/task.h"
#include "ran/model.h"

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
        return ran_tasks[task]->linear != RAN_LINEAR_NONE;
}

bool ran_task_reads_words(int task)
{
        return ran_tasks[task]->words;
}
