/* masked.h - reads a document with masked tokens for a masked language model (task mlm). */
#ifndef CMD_CONTENT_MASKED_H
#define CMD_CONTENT_MASKED_H

#include "cmd/content/document.h"
#include "ran.h"

/* How to read. */
struct cmd_masked_how {
        const struct ran_tokenizer *tokenizer; /* NULL: ids only */
        size_t V;
        uint32_t mask;          /* the id of a masked token */
        const char *mask_token; /* "[MASK]", in a text or as a word */
        bool none;              /* accept a document without masked tokens */
};

/* Zero-initialise; reused from record to record, one a thread. */
struct cmd_masked {
        uint32_t *ids; /* (L) */
        size_t L;
        uint32_t *positions; /* (n) of the masked tokens, ascending */
        size_t *start, *end; /* (n) the same in code points of the text, in words, or in ids */
        size_t n;
        size_t ids_cap, positions_cap, start_cap, end_cap;
        struct cmd_document document; /* of ids; else scratch */
        struct ran_encoding encoding; /* scratch */
};
void cmd_masked_release(struct cmd_masked *g);

/* Reads the first present member of encoding, ids, tokens and text. For ids, `masked_at` lists
 * the masked positions; without it, ids equal to [MASK] are masked. RAN_EFORMAT without any,
 * unless how->none. */
int cmd_masked_read(struct cmd_masked *g, const struct cmd_masked_how *how,
                    const struct record *record, struct ran_error *err);

#endif
