/* resumed.h - what a checkpoint says of the training that --resume continues. */
#ifndef CMD_TRAIN_RUN_RESUMED_H
#define CMD_TRAIN_RUN_RESUMED_H

#include "ran.h"

/* Scans its member `training` into `said`, whose line is then in `text`; the caller releases both.
 * False: there is no checkpoint, or it says nothing. */
bool train_resumed_scan(const char *checkpoint, struct ran_buf *text, struct ran_record *said);
/* Its configuration; false: there is no checkpoint. */
bool train_resumed_config(const char *checkpoint, struct ran_config *config);

#endif
