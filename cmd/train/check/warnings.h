/* warnings.h - what is odd about training data, and does not forbid training. */
#ifndef CMD_TRAIN_CHECK_WARNINGS_H
#define CMD_TRAIN_CHECK_WARNINGS_H

#include "cmd/train/check/problems.h"

/* Adds a sentence for each, with what answers it. dev: NULL without --dev; dev_file: its name.
 * validation: how many documents will validate. */
void train_find_warnings(struct train_problems *w, const struct train_data *train,
                         const struct train_data *dev, char *const *files, const char *dev_file,
                         size_t validation);
/* Adds a sentence if labels of the model of --init, which is `name`, have no document. NULL: none
 * is named. */
void train_find_forgotten(struct train_problems *w, const struct train_data *train,
                          const struct ran_model *init, const char *name);

/* Adds a sentence if documents of --dev are training documents of that model. */
void train_find_known(struct train_problems *w, const struct train_data *dev,
                      const struct ran_model *init, const char *name);

#endif
