/* model.c - opening the model of a program. */
#include "cmd/records/model.h"

#include "cmd/options/message.h"

static const struct {
        const char *does, *program, *use;
} tasks[] = {
        [RAN_TASK_CLASSIFY] = {"classifies documents", "ran-classify", "ran-classify"},
        [RAN_TASK_TAG] = {"tags words", "ran-tag", "ran-tag"},
        [RAN_TASK_LM] = {"generates text", "ran-lm", "ran-lm score"},
        [RAN_TASK_MLM] = {"predicts masked tokens", "ran-lm", "ran-lm fill"},
};

const char *cmd_model_program_of_task(int task)
{
        return tasks[task].program;
}

const char *cmd_model_use_of_task(int task)
{
        return tasks[task].use;
}

struct ran_model *cmd_model_open(const char *path, bool verify, int task)
{
        struct ran_error err;
        struct ran_model *m = ran_model_open(path, verify, &err);

        if (m == NULL)
                cmd_die(CMD_FAILED, "%s", err.text);
        int has = ran_model_config(m)->task;
        if (has == task)
                return m;
        ran_model_free(m);
        cmd_die(CMD_FAILED, "%s: this model %s: use %s (a model that %s is needed here)", path,
                tasks[has].does, tasks[has].program, tasks[task].does);
}
