/* counter.h - counts of words, and learning a vocabulary. */
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

/* The words by falling count; of equally frequent ones in the order of their bytes. The caller
 * frees it. */
uint32_t *ran_counter_order(const struct ran_counter *c);

/* Adds the smallest units of subwords to t, which has the reserved tokens, up to
 * settings.vocab_size: bytes, or characters. RAN_EINVAL without room for one. */
int ran_learn_units(const struct ran_counter *c, struct ran_tokenizer *t, struct ran_error *err);
/* Writes the units of a word to row, which has room for n, and returns their number; 0 if the word
 * cannot be written in them. */
size_t ran_learn_spell(const struct ran_tokenizer *t, const char *word, size_t n, uint32_t *row);
/* Merges frequent pairs of units of the counted words into new tokens. */
void ran_learn_merges(const struct ran_counter *c, struct ran_tokenizer *t);

#endif
