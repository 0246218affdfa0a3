/* ranks.h - one of several processes that mpirun started to train one model. */
#ifndef CMD_TRAIN_RANKS_H
#define CMD_TRAIN_RANKS_H

#include "ran.h"

/* First thing in main. Returns true in rank 0, or a process that is alone: it reads the command
 * line and all files; false: it only follows. Ends the program where the ranks cannot work
 * together. */
bool train_ranks_open(void);
/* Does its part of the trainings of rank 0; returns the status to end with. */
int train_ranks_follow(void);
/* Last thing in main; returns the status. */
int train_ranks_close(int status);
/* NULL: this process is alone. */
struct ran_ranks *train_ranks(void);

#endif
