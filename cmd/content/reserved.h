/* reserved.h - reserved tokens of a vocabulary that language models need. */
#ifndef CMD_CONTENT_RESERVED_H
#define CMD_CONTENT_RESERVED_H

#include "ran.h"

/* The ids of the reserved tokens in a vocabulary; RAN_NO_ID: it has no such token. */
struct cmd_reserved {
        uint32_t unk, mask, sep, start, end;
};
/* RAN_EINVAL when the vocabulary lacks one that a model of this task and mask needs. Without a
 * tokenizer there are none. */
int cmd_reserved_find(struct cmd_reserved *r, const struct ran_tokenizer *tokenizer, int task,
                      int mask, struct ran_error *err);

#endif
