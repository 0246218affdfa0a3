/* model.h - opening the model of a program. */
#ifndef CMD_RECORDS_MODEL_H
#define CMD_RECORDS_MODEL_H

#include "ran.h"

/* Opens a model for this task (RAN_TASK_...); dies with 3, and says which program a model of
 * another task is for. The caller frees it. */
struct ran_model *cmd_model_open(const char *path, bool verify, int task);

/* What is done with a model of the task: "ran-tag". */
const char *cmd_model_program_of_task(int task);
/* How that is begun: "ran-tag", "ran-lm score". */
const char *cmd_model_use_of_task(int task);

#endif
