/* replace.h - --replace-unknown: unknown words of a target become words of its source. */
#ifndef CMD_LM_REPLACE_H
#define CMD_LM_REPLACE_H

#include "cmd/lm/continuation.h"

/* Replaces each [UNK] in the text by the source word that got the most attention; the ids stay. The
 * source was read from the record, with offsets in bytes. RAN_EFORMAT if it is no text, or if no
 * source token was in sight. */
int lm_replace_unknown(struct continuation *k, const struct record *record, struct ran_error *err);

#endif
