/* reserved.c - reserved tokens of a vocabulary that language models need. */
#include "cmd/content/reading.h"

#include <string.h>

int cmd_reserved_find(struct cmd_reserved *r, const struct ran_tokenizer *tokenizer, int task,
                      int mask, struct ran_error *err)
{
        const bool lm = task == RAN_TASK_LM, prefix = mask == RAN_MASK_PREFIX;
        const struct {
                const char *token;
                uint32_t *id;
                bool needed;
        } reserved[] = {
                {"[UNK]", &r->unk, false},        {"[MASK]", &r->mask, !lm},
                {"[SEP]", &r->sep, lm && prefix}, {"[START]", &r->start, lm && !prefix},
                {"[END]", &r->end, lm},
        };

        for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
                const char *token = reserved[i].token;
                *reserved[i].id = RAN_NO_ID;
                if (tokenizer == NULL ||
                    ran_tokenizer_find(tokenizer, token, strlen(token), reserved[i].id))
                        continue;
                *reserved[i].id = RAN_NO_ID;
                if (reserved[i].needed)
                        return ran_fail(err, RAN_EINVAL,
                                        "the vocabulary has no token %s, which %s needs", token,
                                        lm ? "a language model" : "a masked language model");
        }
        return RAN_OK;
}
