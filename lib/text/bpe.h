/* bpe.h - byte-pair encoding: a word is a sequence of bytes; neighbours are merged while a merge
 * exists, the one of lowest rank first. Or a word is a sequence of characters; those without a
 * token become bytes. */
#ifndef RAN_TEXT_BPE_H
#define RAN_TEXT_BPE_H

#include "text/pairs.h"
#include "base/string-table.h"

struct ran_bpe {
        uint32_t byte[256]; /* the token of each; BPE_NONE for bytes that never occur in UTF-8 */
        struct ran_pairs merges; /* in order of rank */
        uint32_t *joined;        /* (merges.n) the result of each */
        size_t joined_cap;
        bool whole; /* a word that is a token stays whole, even if its merges differ */
        const struct ran_string_table
                *chars;      /* the tokens, if words are sequences of characters; else NULL */
        uint32_t ascii[128]; /* then: of ASCII characters, or BPE_NONE */
        uint32_t most;       /* larger ids are no tokens of characters */
        uint32_t unknown;    /* the token of what has none; BPE_NONE: it is left out */
        bool fused;          /* what is unknown next to each other becomes one of them */
        bool fallback;       /* a character without a token becomes its bytes, if all have one */
};
#define BPE_NONE UINT32_MAX

/* For an empty structure. */
void ran_bpe_init(struct ran_bpe *b);
void ran_bpe_release(struct ran_bpe *b);
/* Adds the merge of the next rank. RAN_EFORMAT if the pair has one. */
int ran_bpe_add_merge(struct ran_bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                      struct ran_error *err);

/* A token of a word: n of its bytes. */
struct ran_bpe_token {
        uint32_t id, n;
};

/* Scratch memory of ran_bpe_cut. Zero-initialise. */
struct ran_bpe_scratch {
        struct bpe_symbol *symbol;
        uint64_t *queue;
        struct ran_bpe_token *token;
        size_t symbol_cap, queue_cap, queue_n, token_cap;
};
void ran_bpe_scratch_release(struct ran_bpe_scratch *s);

/* Splits a word of n > 0 bytes of UTF-8 into *count tokens at *tokens, valid until the next
 * call, in O(n log n). */
int ran_bpe_cut(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s,
                const struct ran_bpe_token **tokens, size_t *count, struct ran_error *err);

#endif
