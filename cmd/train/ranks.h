/* ranks.h - one of several processes that mpirun started to train one model. */
#ifndef CMD_TRAIN_RANKS_H
#define CMD_TRAIN_RANKS_H

#include "ran.h"

/* First thing in main. True: this process reads the command line and all files, being alone or rank
 * 0; false: it only follows. Ends the program where the processes cannot work together. */
bool train_ranks_open(void);
/* Trains what rank 0 wants; returns the status to end with. */
int train_ranks_follow(void);
/* Last thing in main; returns the status. */
int train_ranks_close(int status);
/* NULL: this process is alone. */
struct ran_ranks *train_ranks(void);

#endif
