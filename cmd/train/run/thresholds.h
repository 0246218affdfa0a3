/* thresholds.h - --threshold-for: thresholds of labels that reach a recall or a precision. */
#ifndef CMD_TRAIN_RUN_THRESHOLDS_H
#define CMD_TRAIN_RUN_THRESHOLDS_H

#include "cmd/train/run/session.h"

/* Exits with 2 for an item that is not LABEL=recall:X or LABEL=precision:X. */
void train_thresholds_check(const struct ran_list *items);
/* Whether the models of the folds have an encoder to train: they have no validation documents, and
 * so none that nobody asked for. */
bool train_thresholds_train_encoder(const struct train_session *s);
/* Finds them by out-of-fold probabilities of the training documents, says what they reach, and
 * appends them as the member "decisions". Nothing without items. Returns CMD_OK, or how the program
 * ends if a signal ended it; exits for what cannot be reached. */
int train_thresholds_find(const struct train_session *s, const struct ran_train_job *job,
                          struct ran_buf *about);

#endif
