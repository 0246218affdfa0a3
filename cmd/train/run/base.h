/* base.h - a base model, unless there is much text to learn from.
 *
 * Unless --base none is set, or an option that asks for another vocabulary, encoder or way to train
 * it, a training on words that a base model knows is initialised from that model, as by --init: a
 * classifier with --frozen, a tagger with its whole encoder. */
#ifndef CMD_TRAIN_RUN_BASE_H
#define CMD_TRAIN_RUN_BASE_H

#include "cmd/train/run/session.h"

/* Exits with 2 if other options rule --base out. */
void train_base_check(const struct train_session *s);
/* Before the data are read: whether a base model may be used. Exits with 3 if --base names one that
 * is not there. */
bool train_base_may_serve(const struct train_session *s);
/* For struct train_source: when the words of the documents are known, opens the base model as
 * s->init and adapts the settings of the session (arg) and the spelling to it, if they are few and
 * of its language. Returns its vocabulary, or NULL. */
const struct ran_tokenizer *train_base_take(void *arg, const struct train_counted *counted,
                                            size_t *spelling);

#endif
