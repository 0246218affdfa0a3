/* ranks.h - one of several processes that mpirun started to train one model. */
#ifndef CMD_TRAIN_RUN_RANKS_H
#define CMD_TRAIN_RUN_RANKS_H

#include "ran.h"

/* Call it first in main. Returns true in rank 0 or a single process, which reads the command
 * line and all files; false: the process only follows. Exits if the ranks cannot work together. */
bool train_ranks_open(void);
/* Does its part of rank 0's training runs; returns the exit status. */
int train_ranks_follow(void);
/* Call it last in main; returns the status. */
int train_ranks_close(int status);
/* NULL: a single process. */
struct ran_ranks *train_ranks(void);

#endif
