/* tokenizer.h - the parts of a tokeniser. hf/read.c, hf/vocab-txt.c or learn/counter.c builds it;
 * it is immutable after ran_tokenizer_finish. */
#ifndef RAN_TEXT_TOKENIZER_H
#define RAN_TEXT_TOKENIZER_H

#include "ran/text.h"
#include "text/steps/steps.h"
#include "base/string-table.h"

#include <pthread.h>

/* ---- pairs of tokens (pairs.c) --------------------------------------------------------------- */

/* Distinct pairs of tokens, numbered in order of insertion: candidates for a merge when a
 * vocabulary is learned, merges when text is encoded. */

#define PAIRS_NONE UINT32_MAX

struct ran_pairs {
        struct token_pair {
                uint32_t a, b;
        } * at;
        size_t n, cap;
        uint32_t *slot; /* open addressing; PAIRS_NONE where free */
        size_t slots;   /* a power of two */
        unsigned shift; /* 64 - log2 of it */
};

void ran_pairs_release(struct ran_pairs *p);
/* The number of the pair (a, b), or PAIRS_NONE. */
uint32_t ran_pairs_find(const struct ran_pairs *p, uint32_t a, uint32_t b);
/* The same, but adds a missing pair. */
uint32_t ran_pairs_add(struct ran_pairs *p, uint32_t a, uint32_t b);

/* ---- byte pairs (bpe.c) ---------------------------------------------------------------------- */

/* Byte-pair encoding: a word is a sequence of bytes; neighbours are merged while a merge
 * exists, the one of lowest rank first. Or a word is a sequence of characters; those without a
 * token become bytes. */

struct ran_bpe {
        uint32_t byte[256]; /* the token of each; BPE_NONE for bytes that never occur in UTF-8 */
        uint32_t unit[256]; /* the same; of a vocabulary of characters: of ASCII characters */
        struct ran_pairs merges; /* in order of rank */
        uint32_t *joined;        /* (merges.n) the result of each */
        size_t joined_cap;
        bool whole; /* a word that is a token stays whole, even if its merges differ */
        const struct ran_string_table
                *chars;   /* the tokens, if words are sequences of characters; else NULL */
        uint32_t most;    /* larger ids are no tokens of characters */
        uint32_t unknown; /* the token of what has none; BPE_NONE: it is left out */
        bool apart;       /* no merge goes over the beginning of U+2581s: each begins a word */
        bool fused;       /* what is unknown next to each other becomes one of them */
        bool fallback;    /* a character without a token becomes its bytes, if all have one */
};
#define BPE_NONE UINT32_MAX

/* Adds the merge of the next rank. RAN_EFORMAT if the pair has one. */
int ran_bpe_add_merge(struct ran_bpe *b, uint32_t left, uint32_t right, uint32_t joined,
                      struct ran_error *err);

/* A token of a word: n of its bytes. */
struct ran_bpe_token {
        uint32_t id, n;
};

/* Scratch memory of ran_bpe_cut. Zero-initialise. */
enum { TOKENIZER_WORD_MOST = (1u << 30) - 1 }; /* places in the queue are numbers of 32 bits */
struct ran_bpe_scratch {
        struct bpe_symbol *symbol;
        uint64_t *queue;
        struct ran_bpe_token *token;
        size_t symbol_cap, queue_cap, queue_n, token_cap;
};
void ran_bpe_scratch_release(struct ran_bpe_scratch *s);

/* Splits a word of n > 0 bytes of UTF-8, TOKENIZER_WORD_MOST at most, into tokens, s->token, in
 * O(n log n); returns how many. */
size_t ran_bpe_cut(const struct ran_bpe *b, const char *word, size_t n, struct ran_bpe_scratch *s);

/* ---- tokenisers ------------------------------------------------------------------------------ */

enum ran_tokenizer_type {
        /* WordLevel: a word is a token, or unknown */
        TOKENIZER_WORD = RAN_VOCAB_WORD,
        /* WordPiece: the longest matching subword, repeatedly */
        TOKENIZER_WORDPIECE = RAN_VOCAB_WORDPIECE,
        /* BPE: bytes, merged by rank */
        TOKENIZER_BPE = RAN_VOCAB_BPE,
        /* Unigram: the tokens with the largest sum of scores; of files only */
        TOKENIZER_UNIGRAM,
};

extern const char *const ran_tokenizer_types[]; /* by enum ran_tokenizer_type, NULL at the end */

#define TOKENIZER_PREFIX "##" /* of continuing subwords, in vocabularies learned here */

/* The token of a byte, in vocabularies of characters. */
#define TOKENIZER_BYTE "<0x%02X>"
enum { TOKENIZER_BYTE_LENGTH = 6 };

extern const char *const ran_tokenizer_reserved[RAN_RESERVED];

/* Added tokens of an imported file: they are found in a text before any other step. */
struct ran_added_token {
        uint32_t id;
        bool special;
        bool left, right; /* takes the white space before or after it */
        bool single;      /* not inside a word */
};
enum { ADDED_PAIRS = 1 << 16 };
struct ran_added_tokens {
        struct ran_string_table content;
        struct ran_added_token *token; /* (content.n) */
        size_t cap;
        unsigned char *pair; /* a bit for each pair of first bytes; NULL before there is a token */
        size_t longest;      /* in bytes */
};
void ran_added_tokens_release(struct ran_added_tokens *a);
/* Adds a token that is found by n bytes of text; if there are none, never. Of two with the same
 * text the later one is found. RAN_EFORMAT if the text is too long. */
int ran_added_tokens_add(struct ran_added_tokens *a, const char *content, size_t n,
                         const struct ran_added_token *token, struct ran_error *err);
/* An added token in a text: bytes [begin, end), including the white space that it takes; the next
 * one may begin at `next`. */
struct ran_found {
        const struct ran_added_token *token; /* NULL: none; begin and end are the text's end */
        size_t begin, end, next;
};
/* The first one at or after `from`, as the library of Hugging Face finds them; bytes before `taken`
 * are those of others. */
struct ran_found ran_added_tokens_find(const struct ran_added_tokens *a, const char *text, size_t n,
                                       size_t from, size_t taken);

/* A list of ids. */
struct ran_token_list {
        uint32_t *id;
        size_t n, cap;
};

/* The parts of a tokenizer.json that are kept as they are, as JSON, to be written again. */
enum { KEPT_NORMALIZER, KEPT_PRE_TOKENIZER, KEPT_POST_PROCESSOR, KEPT_DECODER, KEPT_MODEL, KEPT };

/* The maximum length of a token that is searched for at every position of a text (added tokens,
 * WordPiece), in bytes. Longer ones, which no real vocabulary has, would cost quadratic time. */
enum { TOKENIZER_TOKEN_MOST = 1000 };

/* A token as a JSON string with its quotes: bytes of the vocabulary's JSON. */
struct quoted {
        size_t begin, n;
};
enum { TOKENIZER_STEP = 16 };

/* Roles of tokens. */
enum ran_token_role {
        RAN_TOKEN_UNKNOWN,
        RAN_TOKEN_PADDING,
        RAN_TOKEN_MASK,
        RAN_TOKEN_FIRST, /* [CLS], <s> */
        RAN_TOKEN_LAST,  /* [SEP], </s> */
        RAN_TOKEN_ROLES
};

struct ran_tokenizer {
        enum ran_tokenizer_type type;
        struct ran_text_rules rules;
        struct ran_string_table tokens; /* the tokens by id; empty for an id without one */
        uint32_t unk;                   /* BPE: may be RAN_NO_ID, since no text needs it */
        uint32_t least;                 /* smaller ids are reserved: text never becomes one */
        struct ran_added_tokens added;
        bool attach; /* decoding puts no space before "." and the like */

        /* WordPiece only. */
        char *prefix;
        uint64_t prefix_hash;
        size_t prefix_n;
        size_t max_chars; /* a longer word is unknown */
        size_t longest;   /* of the tokens that can match, in bytes */

        struct ran_bpe bpe;         /* BPE only */
        struct ran_unigram unigram; /* Unigram only */

        /* Of a file that is read exactly as the library of Hugging Face reads it (`exact`). */
        bool exact;
        struct ran_steps *steps;            /* in place of the rules; NULL: the rules do the same */
        struct ran_added_tokens normalized; /* added tokens found in the normalised text, with the
                                             * text that they are normalised to */
        bool trim, keep;                    /* see ran_encoding_trim */
        uint32_t most;                      /* ids from here on are of added tokens only */
        struct ran_token_list before, after; /* what surrounds a text */
        uint32_t role[RAN_TOKEN_ROLES];      /* or RAN_NO_ID */
        char *kept[KEPT];

        char *notice;
        uint64_t serial;                 /* of the tokenisers of this process; never 0 */
        struct ran_tokenizer_text *text; /* written when somebody asks for it */
};

/* The tokeniser as a file, and its SHA-256. Writing it takes half the time of reading a model, and
 * most programs that use one never ask for it. */
struct ran_tokenizer_text {
        pthread_mutex_t lock;  /* while it is written */
        bool written;          /* read and set atomically */
        struct ran_buf json;   /* followed by TOKENIZER_STEP readable bytes */
        struct quoted *quoted; /* (tokens.n) their positions in json */
        char digest[65];
};

struct ran_tokenizer *ran_tokenizer_new(enum ran_tokenizer_type type);
/* Gives the next id to a token, or skips the id if n is 0. RAN_EFORMAT if the token exists or is
 * not UTF-8. */
int ran_tokenizer_add(struct ran_tokenizer *t, const char *token, size_t n, struct ran_error *err);
/* Makes a token special: it is found wherever its text occurs. */
int ran_tokenizer_add_special(struct ran_tokenizer *t, const struct ran_added_token *token,
                              struct ran_error *err);
int ran_tokenizer_set_prefix(struct ran_tokenizer *t, const char *prefix, struct ran_error *err);
/* BPE, after all tokens: notes the tokens of single bytes; chars: words are sequences of
 * characters, and those of ASCII characters are noted, too. RAN_EFORMAT if one is missing. */
int ran_tokenizer_find_bytes(struct ran_tokenizer *t, bool chars, struct ran_error *err);
/* The last step, after the rules and all tokens: derives everything else. RAN_EFORMAT without a
 * token `unk`; NULL: t->unk stays, and is that of its model for BPE. */
int ran_tokenizer_finish(struct ran_tokenizer *t, const char *unk, struct ran_error *err);

/* The scratch memory of an encoding, allocated on first use. */
struct ran_encoding_scratch {
        struct ran_words_scratch words;
        struct ran_passage passage;
        struct ran_bpe_scratch bpe;
        struct ran_unigram_scratch unigram;
        struct ran_word_cache cached;
        struct ran_word_parts parts; /* of the current word */
        struct ran_buf spelled;      /* its bytes, as GPT-2's characters */
};
struct ran_encoding_scratch *ran_encoding_scratch(struct ran_encoding *e);

/* encode-steps.c: the same for an added token of n bytes, if t->trim. */
void ran_encoding_trim_added(const struct ran_tokenizer *t, struct ran_encoding *e, const char *s,
                             size_t n);
/* encode.c, for encode-steps.c: appends a token, or those of a word. RAN_EINVAL for a word that is
 * too long. */
void ran_encoding_add(struct ran_encoding *e, uint32_t id, size_t start, size_t end);
int ran_tokenizer_add_word(const struct ran_tokenizer *t, struct ran_word *word,
                           struct ran_encoding *e, struct ran_error *err);
/* encode-steps.c: encodes the text between two added tokens, with t->steps. *points grows by its
 * code points. numbered: each word gets its number; otherwise the text is a word. */
int ran_tokenizer_add_passage(const struct ran_tokenizer *t, const char *text, size_t n,
                              bool numbered, size_t *points, struct ran_encoding *e,
                              struct ran_error *err);
/* Excludes spaces at the ends of the last token from its offsets, as many as its text has: what a
 * post-processor with trim_offsets does (t->trim). t->keep: but not the one that was put in front
 * of the text. */
void ran_encoding_trim(const struct ran_tokenizer *t, struct ran_encoding *e, size_t leading,
                       size_t trailing);

#endif
