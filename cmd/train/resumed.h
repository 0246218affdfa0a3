/* resumed.h - what a checkpoint says of the training that --resume continues. */
#ifndef CMD_TRAIN_RESUMED_H
#define CMD_TRAIN_RESUMED_H

#include "ran.h"

/* Scans its member `training` into `said`, whose line is then in `text`; the caller releases both.
 * False: there is no checkpoint, or it says nothing. */
bool train_resumed_scan(const char *checkpoint, struct ran_buf *text, struct ran_record *said);
/* Whether a version that begins so wrote it: defaults may have changed since. */
bool train_resumed_is_of(const char *checkpoint, const char *version);

#endif
