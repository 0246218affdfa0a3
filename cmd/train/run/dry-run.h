/* dry-run.h - --dry-run: what a training would need. */
#ifndef CMD_TRAIN_RUN_DRY_RUN_H
#define CMD_TRAIN_RUN_DRY_RUN_H

#include "ran.h"

/* Reports on stdout what training needs. It trains for a few seconds to measure the time, and
 * discards the result. */
int train_dry_run(const struct ran_train_job *job);

#endif
