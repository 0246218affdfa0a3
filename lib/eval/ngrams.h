/* ngrams.h - sequences of symbols, the words or characters of two texts, and the n-grams and
 * subsequences that they have in common. */
#ifndef RAN_EVAL_NGRAMS_H
#define RAN_EVAL_NGRAMS_H

#include "base/string-table.h"
#include "ran/base.h"

/* A sequence of symbols. Zero-initialise; reused. */
struct ran_symbols {
        uint32_t *symbol;
        size_t n, cap;
};
void ran_symbols_add(struct ran_symbols *s, uint32_t symbol);

/* Counts what two texts share. Zero-initialise; one a thread, reused. */
struct ran_ngrams {
        struct ran_string_table words; /* numbers of words; emptied by ran_ngrams_begin */
        uint32_t *order, *rank;
        uint64_t *row;
        size_t order_cap, rank_cap, row_cap;
};
void ran_ngrams_release(struct ran_ngrams *k);
/* Forgets the words of the texts before. */
void ran_ngrams_begin(struct ran_ngrams *k);
/* Appends the number of a word. */
void ran_ngrams_word(struct ran_ngrams *k, struct ran_symbols *s, const char *word, size_t n);

/* n-grams of the orders 1 to `most` of a text and of its reference. */
struct ran_ngram_counts {
        uint64_t text, reference, match; /* each n-gram matches as often as both have it */
};
void ran_ngrams_count(struct ran_ngrams *k, const struct ran_symbols *text,
                      const struct ran_symbols *reference, size_t most,
                      struct ran_ngram_counts *counts);
/* The length of the longest common subsequence. */
size_t ran_ngrams_subsequence(struct ran_ngrams *k, const struct ran_symbols *text,
                              const struct ran_symbols *reference);

#endif
