/* memory.h - the memory that this process takes. */
#ifndef CMD_TRAIN_RUN_MEMORY_H
#define CMD_TRAIN_RUN_MEMORY_H

double train_peak_bytes(void);
/* Bytes that are in memory now; where the system does not tell, the most so far. */
double train_resident_bytes(void);

#endif
