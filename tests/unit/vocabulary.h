/* vocabulary.h - small vocabularies for tests of text. */
#ifndef RAN_TESTS_UNIT_VOCABULARY_H
#define RAN_TESTS_UNIT_VOCABULARY_H

#include "ran.h"

/* The defaults of the option table. */
struct ran_vocab_settings default_settings(void);

/* Those of a type of vocabulary. */
struct ran_vocab_settings type_settings(int vocab_type);

/* A vocabulary learned from texts, NULL at the end; NULL with *err filled on failure. */
struct ran_tokenizer *learn_from(const struct ran_vocab_settings *settings,
                                 const char *const *texts, struct ran_error *err);

/* The tokens of a text, '|' between; with offsets: "piece[0,2)". Valid until the next call; "error:
 * ..." on failure. */
const char *tokens_of(const struct ran_tokenizer *t, const char *text);
const char *tokens_with_offsets(const struct ran_tokenizer *t, const char *text);
/* All tokens in the order of their ids, '|' between, without the first `skip`. */
const char *all_tokens(const struct ran_tokenizer *t, size_t skip);

#endif
