/* pairs.h - defaults for records with a source and a target. */
#ifndef CMD_TRAIN_RUN_PAIRS_H
#define CMD_TRAIN_RUN_PAIRS_H

#include "cmd/train/run/session.h"

/* Whether records with a source and a target get a vocabulary of their own: *v. */
bool train_pairs_vocabulary(const struct train_session *s, struct ran_vocab_settings *v);
/* The mask prefix, and those defaults for what is not set; names them. For data that have sources
 * and targets where nobody set a mask. */
void train_pairs_adapt(struct train_session *s);

#endif
