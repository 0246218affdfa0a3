/* unigram.h - the model Unigram of SentencePiece: each token has a score, and a word becomes the
 * tokens with the largest sum. */
#ifndef RAN_TEXT_UNIGRAM_H
#define RAN_TEXT_UNIGRAM_H

#include "base/string-table.h"
#include "text/words/word-cache.h"

struct ran_unigram {
        double *score; /* (n) of the tokens by id */
        size_t n;
        double unknown;     /* the score of a character without a token */
        bool bytes;         /* unknown text becomes tokens of bytes, if all of them are there */
        uint32_t byte[256]; /* these, or RAN_NO_ID */

        /* The tokens as a trie. Nodes are in order of depth, so that the children of one are next
         * to each other, and behind those of the one before it. */
        uint32_t *first;      /* (nodes + 1) the first child of each */
        unsigned char *label; /* (nodes) the byte that leads to it */
        uint32_t *token;      /* (nodes) the token that ends there, or RAN_NO_ID */
        size_t nodes, first_cap, label_cap, token_cap;
};
void ran_unigram_release(struct ran_unigram *u);
/* After n and the scores are set: makes the trie of tokens 0 to n - 1. RAN_EFORMAT, RAN_ENOMEM. */
int ran_unigram_prepare(struct ran_unigram *u, const struct ran_string_table *tokens,
                        struct ran_error *err);

/* Scratch memory of ran_unigram_cut. Zero-initialise. */
struct ran_unigram_scratch {
        struct unigram_end *end;
        struct ran_word_part *part; /* the result */
        size_t end_cap, part_cap, parts;
};
void ran_unigram_scratch_release(struct ran_unigram_scratch *s);

/* Splits a word of n bytes of UTF-8, `chars` characters, into s->part; unk: the token of unknown
 * text. Time is linear in n for tokens of limited length. RAN_ENOMEM. */
int ran_unigram_cut(const struct ran_unigram *u, const struct ran_string_table *tokens,
                    uint32_t unk, const char *word, size_t n, size_t chars,
                    struct ran_unigram_scratch *s, struct ran_error *err);

#endif
