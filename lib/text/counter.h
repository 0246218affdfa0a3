/* counter.h - words and how often each was seen; what a vocabulary is learned from. */
#ifndef RAN_TEXT_COUNTER_H
#define RAN_TEXT_COUNTER_H

#include "ran/text.h"
#include "base/string-table.h"
#include "text/tokenizer.h"

struct ran_counter {
        struct ran_vocab_settings settings; /* eol_token is that of rules */
        struct ran_text_rules rules;
        struct ran_string_table words, wanted;
        uint64_t *count; /* (words.n) */
        size_t count_cap;
        struct ran_counter_report report;
};

/* Each adds pieces to t, which holds the reserved ones, until it has settings.vocab_size;
 * RAN_EINVAL when there is nothing to learn from. */
int ran_learn_words(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err);
int ran_learn_wordpiece(const struct ran_counter *c, struct ran_tokenizer *t,
                        struct ran_error *err);
int ran_learn_bpe(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err);
/* The single characters that a word-piece vocabulary begins with. */
int ran_learn_alphabet(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err);

/* The smallest pieces of a word, in row, which has room for n; returns how many, 0 when the word
 * cannot be spelt. */
typedef size_t spell_fn(const struct ran_tokenizer *t, const char *word, size_t n, uint32_t *row);
/* Adds what the pieces of the counted words join to. */
int ran_learn_merges(const struct ran_counter *c, struct ran_tokenizer *t, spell_fn *spell,
                     struct ran_error *err);

#endif
