/* bpe.h - byte pairs: a word is a row of bytes, of which two neighbours become one piece as long as
 * some make one; those first whose merge is the oldest. Or it is a row of characters, of which
 * those that are no piece are bytes. */
#ifndef RAN_TEXT_BPE_H
#define RAN_TEXT_BPE_H

#include "text/pairs.h"
#include "base/string-table.h"

struct ran_bpe {
        uint32_t byte[256];      /* the piece of each; BPE_NONE for those that no UTF-8 holds */
        struct ran_pairs merges; /* in order of rank */
        uint32_t *joined;        /* (merges.n) the piece that each makes */
        size_t joined_cap;
        bool whole; /* a word that is a piece is that piece, whatever its merges would make */
        const struct ran_string_table
                *chars;      /* the pieces, where words are rows of characters; else NULL */
        uint32_t ascii[128]; /* then: those of ASCII characters, BPE_NONE where there is none */
};
#define BPE_NONE UINT32_MAX

void ran_bpe_release(struct ran_bpe *b);
/* The next merge. RAN_EFORMAT when the pair has one. */
int ran_bpe_add_merge(struct ran_bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                      struct ran_error *err);

/* A piece of a word: so many bytes of it. */
struct ran_bpe_piece {
        uint32_t id, n;
};

/* Memory for cutting words. Zero-initialise. */
struct ran_bpe_scratch {
        struct bpe_symbol *symbol;
        uint64_t *queue;
        struct ran_bpe_piece *piece;
        size_t symbol_cap, queue_cap, queue_n, piece_cap;
};
void ran_bpe_scratch_release(struct ran_bpe_scratch *s);

/* The pieces of a word, n > 0 bytes of UTF-8: *pieces, of *count, valid until the next call. Time
 * is that of sorting n numbers. */
int ran_bpe_cut(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s,
                const struct ran_bpe_piece **pieces, size_t *count, struct ran_error *err);

#endif
