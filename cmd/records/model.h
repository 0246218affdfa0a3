/* model.h - opening the model of a program. */
#ifndef CMD_RECORDS_MODEL_H
#define CMD_RECORDS_MODEL_H

#include "ran.h"

/* Opens a model for this task (RAN_TASK_...). The caller frees it. Exits with 3 on failure; for a
 * model of another task, the message names its program. */
struct ran_model *cmd_model_open(const char *path, bool verify, int task);

/* Exits with 2 unless the model has an encoder; the message says why it has none, and how to train
 * one that does. */
void cmd_model_need_encoder(const struct ran_model *m, const char *path);

/* The program for models of the task: "ran-tag". */
const char *cmd_model_program_of_task(int task);
/* The same with a verb: "ran-lm score". */
const char *cmd_model_use_of_task(int task);

#endif
