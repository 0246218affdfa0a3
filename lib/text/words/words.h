/* words.h - the words of a text: normalised, and split at white space, punctuation and ideographs.
 *
 * There are two paths. Words of plain ASCII, the bulk of most texts, go through two tables of 256
 * entries; every other stretch, up to the next white space, goes through the steps of
 * normalisation. The tables come from sending each byte through those steps, so the two paths
 * agree. They may alternate before any ASCII character that normalisation keeps: none joins it with
 * the text before it.
 *
 * For byte pairs no part of a text is lost: its words are those of GPT-2, which include the white
 * space; the text is normalised as a whole or not at all. */
#ifndef RAN_TEXT_WORDS_H
#define RAN_TEXT_WORDS_H

#include "ran/text.h"

/* ---- characters (unicode.c) ------------------------------------------------------------------ */

/* Properties for the rules of BERT, as in the library of Hugging Face. The data is libutf8proc's.
 */

/* The property White_Space. */
bool ran_unicode_is_space(int32_t c);
/* Every ASCII character that is neither letter, digit, space nor control ("$" and "`" too), and the
 * categories P*. */
bool ran_unicode_is_punct(int32_t c);
/* \\w in the regular expressions of Hugging Face: letters, marks, digits, connectors. */
bool ran_unicode_is_word(int32_t c);
/* The CJK ideographs that BERT makes words of their own; not kana and hangul. */
bool ran_unicode_is_cjk(int32_t c);
/* Categories Cc and Cf, U+0000 and U+FFFD, but not tab, line feed and carriage return. */
bool ran_unicode_is_control(int32_t c);
bool ran_unicode_is_number(int32_t c); /* Nd, Nl and No */
bool ran_unicode_is_mark(int32_t c);   /* Mn, Mc and Me */
/* May c join a starter before it, under canonical composition? Never wrongly "no". */
bool ran_unicode_may_compose(int32_t c);
unsigned ran_unicode_combining_class(int32_t c);

/* Writes c as UTF-8 at s (4 bytes of room); returns its length in bytes. */
size_t ran_unicode_put(char *s, int32_t c);
/* The first character of n > 0 bytes, and its length; -1 and 1 if they are not UTF-8. */
int32_t ran_unicode_get(const char *s, size_t n, size_t *length);
/* Bytes of the first character of well-formed UTF-8; n > 0. */
size_t ran_unicode_length(const char *s, size_t n);
/* Where the last character of s before `end` > 0 begins. */
size_t ran_unicode_last(const char *s, size_t end);
/* Bytes of white space at the beginning, and at the end. */
size_t ran_unicode_space(const char *s, size_t n);
size_t ran_unicode_trailing_space(const char *s, size_t n);
/* Code points of well-formed UTF-8. */
size_t ran_unicode_count(const char *s, size_t n);

/* ---- words and bytes of GPT-2 (gpt2.c) ------------------------------------------------------- */

/* GPT-2's steps before merging: it splits text into words and represents each byte by a
 * printable character, as vocabularies of byte pairs do. Later models split words differently. */

/* The length of the first word of a text of n > 0 bytes, in bytes and in *chars; the words together
 * are the text. 0 if it does not begin with valid UTF-8. */
size_t ran_gpt2_word(const char *text, size_t n, size_t *chars);
/* The same as GPT-4, Llama 3 and Qwen split words, with at most `digits` digits in one. */
size_t ran_gpt4_word(const char *text, size_t n, size_t digits, size_t *chars);

/* The character for a byte, and the byte of a character, or -1. */
int32_t ran_gpt2_char(unsigned char byte);
int ran_gpt2_byte(int32_t c);
/* Appends the bytes of a token (valid UTF-8) to out, which may be NULL. False, without
 * appending, if one of its characters represents no byte. */
bool ran_gpt2_bytes(const char *token, size_t n, struct ran_buf *out);

/* ---- recent words (word-cache.c) ------------------------------------------------------------- */

/* Recently encoded words and their tokens, because most words of a text recur. A
 * hit equals the result of encoding the word. */

/* The tokens of a word, each from its characters [from, to), which may be none. */
struct ran_word_parts {
        struct ran_word_part {
                uint32_t id, from, to;
        } * at;
        size_t n, cap;
};
void ran_word_parts_add(struct ran_word_parts *p, uint32_t id, size_t from, size_t to);

enum {
        WORD_CACHE_KEY = 3,
        WORD_CACHE_BYTES = 8 * WORD_CACHE_KEY, /* maximum length of a word, */
        WORD_CACHE_PARTS = 6, /* and of its tokens: an entry fits into a cache line */
};

struct ran_cached_word {
        uint64_t key[WORD_CACHE_KEY];
        unsigned char n; /* bytes of the word; 0: empty entry */
        unsigned char parts;
        uint32_t id[WORD_CACHE_PARTS];
        unsigned char from[WORD_CACHE_PARTS], to[WORD_CACHE_PARTS];
};

/* Zero-initialise. */
struct ran_word_cache {
        uint64_t vocab; /* serial of the vocabulary; 0: none */
        void *memory;
        struct ran_cached_word *set; /* pairs of words */
        unsigned sets_log2;
        size_t kept; /* misses since it grew */
};
void ran_word_cache_release(struct ran_word_cache *k);
/* Call it before encoding with a vocabulary: empties the cache if it is of another one. */
void ran_word_cache_use(struct ran_word_cache *k, uint64_t vocab);

/* Packs a word of n <= WORD_CACHE_BYTES bytes into numbers, low byte first, padded with zeros:
 * together with n they identify it. */
void ran_word_cache_key(uint64_t key[WORD_CACHE_KEY], const char *word, size_t n);
/* The entry for that key and n > 0 bytes; NULL on a miss, with *set for ran_word_cache_keep. The
 * table grows with the number of misses. */
const struct ran_cached_word *ran_word_cache_find(struct ran_word_cache *k,
                                                  const uint64_t key[WORD_CACHE_KEY], size_t n,
                                                  struct ran_cached_word **set);
/* Stores a word after a miss, unless it has too many tokens. */
void ran_word_cache_keep(struct ran_cached_word *set, const uint64_t key[WORD_CACHE_KEY], size_t n,
                         const struct ran_word_parts *parts);

/* ---- normalisation (normalizer.c) ------------------------------------------------------------ */

/* Normalisation of a stretch of text, step by step; each character keeps its range
 * in the original.
 *
 * The steps are those of Hugging Face's normalizers, so that each list of steps can be written
 * as a tokenizer.json and most documents can be read as a list of steps. None of them joins
 * ASCII white space with other characters (some turn it into other white space), so a text may
 * be normalised in stretches that end there. */

enum ran_normalizer_step {
        NORMAL_EOL,   /* a line feed becomes the word `eol`, between spaces */
        NORMAL_CLEAN, /* no Cc, Cf, Co, U+FFFD; white space becomes a space */
        NORMAL_CJK,   /* spaces around CJK ideographs */
        NORMAL_NFC,
        NORMAL_NFD,
        NORMAL_NFKC,
        NORMAL_NFKD,
        NORMAL_STRIP_NONSPACING, /* no Mn */
        NORMAL_STRIP_MARKS,      /* no Mn, Mc, Me */
        NORMAL_LOWERCASE,        /* each character by itself: no final sigma */
        NORMAL_STRIP_LEFT,       /* no white space at the start; for whole texts only */
        NORMAL_STRIP_RIGHT,      /* the same at the end */
        NORMAL_NMT, /* some control characters go, others become spaces; with steps.h only */
};

enum {
        NORMAL_STEPS_MAX = 32,
        NORMAL_EOL_MOST = 100, /* bytes; each line feed becomes so many */
};

struct ran_normalizer {
        enum ran_normalizer_step step[NORMAL_STEPS_MAX];
        size_t n;
        char *eol;  /* for NORMAL_EOL */
        bool exact; /* ranges as in the library of Hugging Face, see ran_glyphs_step */
};

/* Adds a step. RAN_EFORMAT if there are too many. */
int ran_normalizer_add(struct ran_normalizer *z, enum ran_normalizer_step step,
                       struct ran_error *err);

/* Adds NORMAL_EOL with a copy of the n bytes at word; the caller frees z->eol. RAN_EFORMAT if n is
 * too large. */
int ran_normalizer_add_eol(struct ran_normalizer *z, const char *word, size_t n,
                           struct ran_error *err);

/* A character, and its code points [begin, end) in the stretch. Marks moved into canonical order
 * keep theirs, so begin may decrease from glyph to glyph. */
struct ran_glyph {
        int32_t c;
        uint32_t begin, end;
};
struct ran_glyphs {
        struct ran_glyph *at;
        size_t n, cap;
};
void ran_glyphs_release(struct ran_glyphs *g);
/* Makes room for `more` glyphs behind those in g. */
void ran_glyphs_reserve(struct ran_glyphs *g, size_t more);
/* Reads the n bytes at text as glyphs. RAN_EFORMAT for invalid UTF-8. */
int ran_glyphs_read(struct ran_glyphs *out, const char *text, size_t n, struct ran_error *err);
/* Adds the characters of a text, well-formed UTF-8, each with the range of `from`. */
void ran_glyphs_add(struct ran_glyphs *out, const char *text, size_t n, struct ran_glyph from);
/* Replaces out with n glyphs as UTF-8. */
void ran_glyphs_write(const struct ran_glyph *at, size_t n, struct ran_buf *out);

/* Applies one step, but NORMAL_EOL, to `in`, which may change; `out` is replaced. exact: where
 * characters compose or marks change places, ranges are those of the library of Hugging Face: the
 * characters that come out take the ranges of those that went in, one by one, and a character
 * composed of several has the range of the first. */
void ran_glyphs_step(enum ran_normalizer_step step, bool exact, struct ran_glyphs *out,
                     struct ran_glyphs *in);

/* How the library describes a change: glyph i of `out` has a number in `begin`, as int32_t: > 0, it
 * is new, and shares the range of the character before it; otherwise it replaces a character of
 * `in`, and as many more as the number is below 0 are removed behind it. Sets the ranges. */
void ran_glyphs_settle(struct ran_glyphs *out, const struct ran_glyphs *in);

/* Normalises the n bytes at text into *out, with *spare as scratch; *points becomes the number
 * of code points read. RAN_EFORMAT for invalid UTF-8. Time is linear in n. */
int ran_normalizer_apply(const struct ran_normalizer *z, const char *text, size_t n,
                         struct ran_glyphs *out, struct ran_glyphs *spare, size_t *points,
                         struct ran_error *err);

/* ---- words ----------------------------------------------------------------------------------- */

enum {
        WORDS_SHORT = 64,     /* longer words take the general path */
        WORDS_STRETCH = 4096, /* a longer stretch may end without white space, to bound memory */
};

/* How text is split into words. Fill normal and split, then call ran_text_rules_prepare. */
struct ran_text_rules {
        struct ran_normalizer normal;
        int split; /* RAN_SPLIT_... */
        unsigned char class[256];
        unsigned char fold[256]; /* the byte that a byte becomes */
        unsigned char word[256]; /* the same, but 0 for bytes of another class than BYTE_WORD */
        bool cjk;                /* each ideograph is a word */
};
void ran_text_rules_prepare(struct ran_text_rules *r);
void ran_text_rules_release(struct ran_text_rules *r);
/* Whether both read every text alike. */
bool ran_text_rules_equal(const struct ran_text_rules *a, const struct ran_text_rules *b);
/* The rules that settings ask for; *r must be zero. */
int ran_text_rules_set(struct ran_text_rules *r, const struct ran_vocab_settings *settings,
                       struct ran_error *err);

/* A word, valid until the next call. */
struct ran_word {
        const char *s; /* normalised, UTF-8 */
        size_t n;
        size_t chars; /* code points in s */
        /* Character k came from the code points [first + k, first + k + 1) of the text, or, when
         * glyphs is set, [first + glyphs[k].begin, first + glyphs[k].end). */
        size_t first;
        const struct ran_glyph *glyphs;
        bool keyed; /* key is that of ran_word_cache_key; never of a longer word */
        uint64_t key[WORD_CACHE_KEY];
};
/* The code points [*begin, *end) of the text behind characters [from, to) of a word; to > from. */
void ran_words_extent(const struct ran_word *word, size_t from, size_t to, size_t *begin,
                      size_t *end);

/* Scratch memory, reused from text to text. Zero-initialise. */
struct ran_words_scratch {
        struct ran_glyphs glyphs, spare;
        struct ran_buf bytes;
};
void ran_words_scratch_release(struct ran_words_scratch *scratch);

/* An iterator over the words of a text. */
struct ran_words {
        const struct ran_text_rules *rules;
        struct ran_words_scratch *scratch;
        const char *text;
        size_t pos, n;     /* in bytes */
        size_t points;     /* code points before pos */
        size_t glyph;      /* next one of scratch->glyphs, */
        size_t glyphs_end; /* of so many, */
        size_t first;      /* which count from this code point */
        bool lead;  /* with RAN_SPLIT_GPT2: a text without a space at its start gets one; may be set
                     * after ran_words_begin */
        bool whole; /* with RAN_SPLIT_GPT2: the text has been prepared */
        int code;   /* RAN_OK, or the reason for an early end */
        unsigned char buffer[WORDS_SHORT];
};
/* points: the number of code points of the document before text. */
void ran_words_begin(struct ran_words *w, const struct ran_text_rules *rules,
                     struct ran_words_scratch *scratch, const char *text, size_t n, size_t points);
/* False at the end, or on failure: w->code says which. */
bool ran_words_next(struct ran_words *w, struct ran_word *word, struct ran_error *err);

#endif
