/* bpe-file.h - a tokenizer.json of byte pairs, in parts. */
#ifndef RAN_TESTS_UNIT_BPE_FILE_H
#define RAN_TESTS_UNIT_BPE_FILE_H

#include "ran.h"

/* A tokenizer.json of bytes and merges: a list of "left right". Each part NULL for what is usual;
 * more: members of the model, with a comma behind; tokens: members of the vocabulary, with a comma
 * before them. */
struct bpe_parts {
        const char *merges, *normalizer, *byte_level, *added, *more, *pre_tokenizer, *tokens;
        int without;   /* this byte, > 0 */
        bool reserved; /* the reserved tokens come first */
};
struct ran_tokenizer *bpe_file(const struct bpe_parts *p, struct ran_error *err);
/* With these merges alone; a test that needs them fails without. */
struct ran_tokenizer *bpe_with_merges(const char *merges);

#endif
