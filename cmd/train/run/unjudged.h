/* unjudged.h - an encoder beside a linear model must show on validation documents that it helps.
 * Without such documents a classifier has none, unless an option asks for one. A pretrained encoder
 * has shown what it knows: where few documents could be held out, all teach it. */
#ifndef CMD_TRAIN_RUN_UNJUDGED_H
#define CMD_TRAIN_RUN_UNJUDGED_H

#include "cmd/train/run/session.h"

/* Validation documents: fewer stop a pretrained encoder too early, or leave it out, by chance.
 * Measured, see share/experiments. */
enum { TRAIN_FEW = 50 };
/* Whether an option asks for an encoder, or says how to train it. *setting: the first that
 * describes one to be trained from the start, NULL: there is none. */
bool train_asks_for_encoder(const struct train_session *s);
bool train_encoder_setting(const struct train_session *s, const struct ran_field **setting);
/* When the training data are read: s->dev_share, that of --dev-share, or 0. */
void train_choose_dev_share(struct train_session *s);
/* When it is known whether there are validation documents: leaves an encoder out that nobody asks
 * for and nothing would judge. */
void train_unjudged_leave_out(struct train_session *s);

#endif
