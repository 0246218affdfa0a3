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
        uint32_t *joined;        /* (merges.n) the token that each makes */
        size_t joined_cap;
        bool whole; /* a word that is a token is that token, whatever its merges give */
        const struct ran_string_table
                *chars;      /* the tokens, if words are sequences of characters; else NULL */
        uint32_t ascii[128]; /* then: of ASCII characters, or BPE_NONE */
};
#define BPE_NONE UINT32_MAX

void ran_bpe_release(struct ran_bpe *b);
/* Adds the merge of the next rank. RAN_EFORMAT if the pair has one. */
int ran_bpe_add_merge(struct ran_bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                      struct ran_error *err);

/* A token of a word: n of its bytes. */
struct ran_bpe_piece {
        uint32_t id, n;
};

/* Scratch memory of ran_bpe_cut. Zero-initialise. */
struct ran_bpe_scratch {
        struct bpe_symbol *symbol;
        uint64_t *queue;
        struct ran_bpe_piece *piece;
        size_t symbol_cap, queue_cap, queue_n, piece_cap;
};
void ran_bpe_scratch_release(struct ran_bpe_scratch *s);

/* Splits a word of n > 0 bytes of UTF-8 into *count tokens at *pieces, valid until the next call,
 * in O(n log n). */
int ran_bpe_cut(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s,
                const struct ran_bpe_piece **pieces, size_t *count, struct ran_error *err);

#endif
