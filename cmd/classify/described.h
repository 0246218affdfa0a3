/* described.h - classifiers without training: --labels and --label-texts. */
#ifndef CMD_CLASSIFY_DESCRIBED_H
#define CMD_CLASSIFY_DESCRIBED_H

#include "cmd/classify/options.h"

/* Whether the labels are described. */
bool described(const struct classify_options *o);
/* Opens the model, and makes it a classifier of these labels. Exits on failure. */
struct ran_model *described_open(const struct classify_options *o);

#endif
