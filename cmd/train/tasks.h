/* tasks.h - the tasks, and the verb distil.
 *
 * A new task, of RAN_VERB_TASKS in ran/model.h, is a file task-NAME.c with its entry
 * train_task_NAME, and a verb in ran-train.c.
 */
#ifndef CMD_TRAIN_TASKS_H
#define CMD_TRAIN_TASKS_H

#include "cmd/train/read/task.h"

#define TRAIN_TASK_DECLARE(number, name) extern const struct train_task train_task_##name;
RAN_VERB_TASKS(TRAIN_TASK_DECLARE)

int train_distil(int argc, char **argv);

#endif
