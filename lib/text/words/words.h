/* words.h - the words of a text: normalised, and split at white space, punctuation and ideographs.
 *
 * There are two paths. Words of plain ASCII, the bulk of most texts, go through two tables of 256
 * entries; every other stretch, up to the next white space, goes through the steps of normalizer.h.
 * The tables come from sending each byte through those steps, so the two paths agree. They may
 * alternate before any ASCII character that normalisation keeps: none joins it with the text before
 * it.
 *
 * For byte pairs no part of a text is lost: its words are those of GPT-2, which include the white
 * space (gpt2.h), or all of it is one word; then the text is normalised as a whole or not at all.
 * The same holds for pairs of characters, whose words include the spaces before them. */
#ifndef RAN_TEXT_WORDS_H
#define RAN_TEXT_WORDS_H

#include "ran/text.h"
#include "text/words/word-cache.h"
#include "text/words/normalizer.h"

enum {
        WORDS_SHORT = 64,     /* longer words take the general path */
        WORDS_STRETCH = 4096, /* a longer stretch may end without white space, to bound memory */
};

/* Of files only; no settings. */
enum {
        SPLIT_RUNS = -1, /* at white space, and where letters, marks and digits meet all else */
        SPLIT_NOWHERE = RAN_SPLIT_GPT2 + 1,
        SPLIT_GPT4,
        SPLIT_META, /* for tokens of characters: before spaces, written as WORDS_META */
};
/* SentencePiece's replacement for a space, U+2581. */
#define WORDS_META "\xe2\x96\x81"

/* How text is split into words. Fill normal, split and lead, then call ran_text_rules_prepare. */
struct ran_text_rules {
        struct ran_normalizer normal;
        int split;   /* RAN_SPLIT_... or SPLIT_... */
        bool lead;   /* a text without a space at its start gets one; */
        bool always; /* so does one with a space */
        bool uncut;  /* with SPLIT_META: some tokens contain inner spaces, so a text is one word */
        /* For byte pairs: the maximum number of digits in a word. With SPLIT_GPT4 that is all;
         * otherwise digits are split off first, and 0 means not at all. */
        size_t digits;
        unsigned char class[256];
        unsigned char fold[256]; /* the byte that a byte becomes */
        unsigned char word[256]; /* the same, but 0 for bytes of another class than BYTE_WORD */
        bool cjk;                /* each ideograph is a word */
};
int ran_text_rules_prepare(struct ran_text_rules *r, struct ran_error *err);
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
        char *bytes;
        size_t cap;
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
        bool lead;         /* as in rules; may be set after ran_words_begin */
        bool whole;        /* splitting as GPT-2: the text has been prepared */
        size_t digit;      /* if digits are split off: the byte of the next one, if behind pos */
        int code;          /* RAN_OK, or the reason for an early end */
        unsigned char buffer[WORDS_SHORT];
};
/* points: the number of code points of the document before text. */
void ran_words_begin(struct ran_words *w, const struct ran_text_rules *rules,
                     struct ran_words_scratch *scratch, const char *text, size_t n, size_t points);
/* False at the end, or on failure: w->code says which. */
bool ran_words_next(struct ran_words *w, struct ran_word *word, struct ran_error *err);

#endif
