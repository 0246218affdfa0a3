/* check.h - ran-train --check: what a person should know of data before training. */
#ifndef CMD_TRAIN_CHECK_H
#define CMD_TRAIN_CHECK_H

#include "cmd/train/problems.h"

/* Counts, lengths and repeated texts, before any document is held out. Writes one JSON object, or a
 * page for people, to stdout. */
void train_check(const struct train_data *train, const struct train_data *dev, size_t window,
                 const struct train_problems *problems, bool json);

#endif
