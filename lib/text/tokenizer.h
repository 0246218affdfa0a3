/* tokenizer.h - what a tokeniser is made of. It is put together by one of hf-read.c, vocab-txt.c
 * and learn.c, and immutable after ran_tokenizer_finish. */
#ifndef RAN_TEXT_TOKENIZER_H
#define RAN_TEXT_TOKENIZER_H

#include "ran/text.h"
#include "text/bpe.h"
#include "text/word-cache.h"
#include "base/string-table.h"
#include "text/words.h"

enum ran_tokenizer_type {
        /* WordLevel: a word is a piece, or unknown */
        TOKENIZER_WORD = RAN_VOCAB_WORD,
        /* WordPiece: the longest piece that fits, again and again */
        TOKENIZER_WORDPIECE = RAN_VOCAB_WORDPIECE,
        /* BPE: bytes, joined by rank */
        TOKENIZER_BPE = RAN_VOCAB_BPE,
};

#define TOKENIZER_PREFIX "##" /* of pieces that go on with a word, in vocabularies made here */

/* A byte, in vocabularies of characters. */
#define TOKENIZER_BYTE "<0x%02X>"
enum { TOKENIZER_BYTE_LENGTH = 6 };

extern const char *const ran_tokenizer_reserved[RAN_RESERVED];

/* Tokens that are found in a text before anything else is done to it: those of an imported file. */
struct ran_added_token {
        uint32_t id;
        bool special;
        bool left, right; /* white space before or behind it is its own */
};
struct ran_added_tokens {
        struct ran_string_table content;
        struct ran_added_token *token; /* (content.n) */
        size_t cap;
        bool first[256]; /* bytes that one begins with */
        size_t longest;  /* in bytes */
};

/* Bytes of a piece that texts are searched for, from each place on: an added token, or one of
 * WordPiece. Nobody has longer ones; they would cost the square of a text. */
enum { TOKENIZER_PIECE_MOST = 1000 };

/* A piece as a JSON string, quotes included: bytes of the vocabulary's JSON. */
struct quoted {
        size_t begin, n;
};
enum { TOKENIZER_STEP = 16 };

struct ran_tokenizer {
        enum ran_tokenizer_type type;
        struct ran_text_rules rules;
        struct ran_string_table
                pieces; /* their numbers are the ids; an id without a piece is empty */
        uint32_t unk;   /* BPE: may be RAN_NO_ID, no text needs it */
        uint32_t least; /* smaller ids are reserved: no text becomes one */
        struct ran_added_tokens added;
        bool attach; /* decoding puts no space before "." and the like */

        /* WordPiece only. */
        char *prefix;
        uint64_t prefix_hash;
        size_t prefix_n;
        size_t max_chars; /* a longer word is unknown */
        size_t longest;   /* bytes of a piece that can be of use */

        struct ran_bpe bpe; /* BPE only */

        char *notice;
        struct ran_buf json;   /* and TOKENIZER_STEP bytes behind it that may be read */
        struct quoted *quoted; /* (pieces.n) where json has them */
        char digest[65];
};

struct ran_tokenizer *ran_tokenizer_new(enum ran_tokenizer_type type, struct ran_error *err);
/* Gives the next id to a piece; an empty one leaves the id without. RAN_EFORMAT when the piece is
 * there already. Pieces must be UTF-8. */
int ran_tokenizer_add(struct ran_tokenizer *t, const char *piece, size_t n, struct ran_error *err);
/* Adds the reserved tokens, in their order, as the first pieces. */
int ran_tokenizer_add_reserved(struct ran_tokenizer *t, struct ran_error *err);
/* Makes a piece a token of its own wherever it stands in a text. */
int ran_tokenizer_add_special(struct ran_tokenizer *t, const struct ran_added_token *token,
                              struct ran_error *err);
int ran_tokenizer_set_prefix(struct ran_tokenizer *t, const char *prefix, struct ran_error *err);
/* BPE: all pieces are there; notes those of single bytes. RAN_EFORMAT when one is missing. */
int ran_tokenizer_find_bytes(struct ran_tokenizer *t, struct ran_error *err);
/* The same where words are rows of characters, and those of single characters. */
int ran_tokenizer_find_chars(struct ran_tokenizer *t, struct ran_error *err);
/* Last: the rules and all pieces are there. Derives everything else. RAN_EFORMAT without the piece
 * `unk`, which may be NULL for BPE. */
int ran_tokenizer_finish(struct ran_tokenizer *t, const char *unk, struct ran_error *err);

/* The scratch of an encoding, made when first asked for; NULL without memory. */
struct ran_encoding_scratch {
        struct ran_words_scratch words;
        struct ran_bpe_scratch bpe;
        struct ran_word_cache known;
        struct ran_word_part *part; /* of the word at hand */
        size_t parts, part_cap;
        struct ran_buf spelled; /* its bytes as characters */
};
struct ran_encoding_scratch *ran_encoding_scratch(struct ran_encoding *e, struct ran_error *err);

/* hf-write.c: fills t->json and t->quoted. hf-read.c and vocab-txt.c: the two kinds of files. */
int ran_tokenizer_write(struct ran_tokenizer *t, struct ran_error *err);
struct ran_tokenizer *ran_tokenizer_read_json(const char *data, size_t n, struct ran_error *err);
struct ran_tokenizer *ran_tokenizer_read_lines(const char *data, size_t n, struct ran_error *err);

#endif
