/* steps.h - how a tokenizer.json of another library reads text: any normalizers and pre-tokenizers,
 * in any order, one after another over a whole passage, with the same words and the same offsets as
 * in that library. words.h is faster and bounded in memory, for the rules that most vocabularies
 * have.
 *
 * A passage is the text between two added tokens. It becomes spans, which the pre-tokenizers divide
 * further, and at the end words. */
#ifndef RAN_TEXT_STEPS_H
#define RAN_TEXT_STEPS_H

#include "base/string-table.h"
#include "text/words/words.h"

/* ---- SentencePiece's map of characters (charsmap.c) ------------------------------------------ */

/* The precompiled map of characters of SentencePiece: a trie of texts ("double
 * array") and what each becomes. It comes from a file and is not trusted. */

struct ran_charsmap;
/* From base64. NULL: RAN_EFORMAT. */
struct ran_charsmap *ran_charsmap_new(const char *base64, size_t n, struct ran_error *err);
void ran_charsmap_free(struct ran_charsmap *m);
/* Replaces what is in the map, as the library of Hugging Face does: a cluster of characters
 * (grapheme) of less than six bytes as a whole, else each character by itself. Ranges are the
 * library's (see ran_glyphs_settle). *changed: whether anything was; if not, `out` is not filled.
 */
void ran_charsmap_apply(const struct ran_charsmap *m, struct ran_glyphs *out,
                        const struct ran_glyphs *in, bool *changed);

/* ---- regular expressions (pattern.c) --------------------------------------------------------- */

/* The regular expressions that occur in a tokenizer.json, over the characters of a
 * text: alternatives, groups, classes, repetition, and a look at one character ahead. Of the
 * matches at a place the first in the order of the expression counts, as in Perl and Oniguruma.
 * Searching takes time linear in the text, whatever the expression: all ways to match are followed
 * at once (R. Cox, "Regular expression matching: the virtual machine approach"). */

struct ran_pattern;
/* literal: the text itself. NULL: RAN_EFORMAT for what is not supported, and for an expression that
 * matches an empty text. */
struct ran_pattern *ran_pattern_new(const char *text, size_t n, bool literal,
                                    struct ran_error *err);
void ran_pattern_free(struct ran_pattern *p);

/* Scratch memory of a search. Zero-initialise. */
struct ran_pattern_scratch {
        struct pattern_thread *thread; /* two lists of them */
        uint64_t *seen;                /* the place at which an instruction was last reached */
        uint32_t *stack;
        size_t thread_cap, seen_cap, stack_cap;
};
void ran_pattern_scratch_release(struct ran_pattern_scratch *s);

/* Finds the first match in well-formed UTF-8 at or after byte `from`; *begin = n if there is none.
 */
void ran_pattern_find(const struct ran_pattern *p, const char *text, size_t n, size_t from,
                      struct ran_pattern_scratch *s, size_t *begin, size_t *end);

/* ---- the model Unigram (unigram.c) ----------------------------------------------------------- */

/* The model Unigram of SentencePiece: each token has a score, and a word becomes the
 * tokens with the largest sum. The owner frees its arrays. */

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
/* After n and the scores are set: makes the trie of tokens 0 to n - 1, of less than RAN_NO_ID
 * bytes. */
void ran_unigram_prepare(struct ran_unigram *u, const struct ran_string_table *tokens);

/* Scratch memory of ran_unigram_cut. Zero-initialise; the owner frees `end`. */
struct ran_unigram_scratch {
        struct unigram_end *end;
        size_t end_cap;
};

/* Splits a word of n bytes of UTF-8, `chars` characters, into parts of it; unk: the token of
 * unknown text. Time is linear in n for tokens of limited length. */
void ran_unigram_cut(const struct ran_unigram *u, const struct ran_string_table *tokens,
                     uint32_t unk, const char *word, size_t n, size_t chars,
                     struct ran_unigram_scratch *s, struct ran_word_parts *to);

/* ---- steps ----------------------------------------------------------------------------------- */

/* What happens to the text that a split finds. */
enum ran_behavior {
        SPLIT_REMOVED,
        SPLIT_ISOLATED,
        SPLIT_WITH_PREVIOUS,
        SPLIT_WITH_NEXT,
        SPLIT_CONTIGUOUS, /* runs of it are isolated */
};

enum ran_step_kind {
        /* Normalizers. */
        STEP_PLAIN,    /* `plain` */
        STEP_REPLACE,  /* what matches `pattern` becomes `text` */
        STEP_PREPEND,  /* `text` goes in front */
        STEP_CHARSMAP, /* `map` */
        /* Pre-tokenizers that find what to split at. */
        STEP_PATTERN,     /* `pattern` */
        STEP_GPT2,        /* words of GPT-2; or of GPT-4, with so many `digits` */
        STEP_GPT4,        /* ... */
        STEP_SPACES,      /* white space */
        STEP_PUNCTUATION, /* each punctuation mark */
        STEP_NUMBERS,     /* each digit */
        STEP_CHAR,        /* the character `c` */
        STEP_RUNS,        /* all but runs of letters, marks and digits, and runs of other marks */
        /* Pre-tokenizers that change the text. */
        STEP_META, /* a space becomes `c`; `lead` says who gets one in front */
        STEP_LEAD, /* a span gets a space in front unless it has one */
};
enum ran_lead { LEAD_ALWAYS, LEAD_FIRST, LEAD_NEVER };

/* SentencePiece's replacement for a space, U+2581. */
#define STEPS_META "\xe2\x96\x81"

struct ran_step {
        enum ran_step_kind kind;
        enum ran_normalizer_step plain;
        enum ran_behavior behavior;
        enum ran_lead lead;
        bool invert;
        int32_t c;
        size_t digits;
        char *text;
        size_t n;
        struct ran_pattern *pattern;
        struct ran_charsmap *map;
};

/* The normalizers [0, normal_n), then the pre-tokenizers. Zero-initialise. */
struct ran_steps {
        struct ran_step *at;
        size_t n, normal_n, cap;
        bool nested; /* the file has a Sequence in a Sequence */
        bool bytes;  /* words are sequences of bytes */
};
void ran_steps_free(struct ran_steps *s);
/* Adds a step, with what it owns. Returns it, until the next is added. */
struct ran_step *ran_steps_add(struct ran_steps *s, struct ran_step step);

/* Bytes [begin, end) of a passage: so many characters, from number `first` on. */
struct ran_stretch {
        size_t begin, end, first, chars;
};

/* A passage as it is read. Zero-initialise, and reuse. */
struct ran_passage {
        const char *s; /* n bytes of UTF-8 */
        size_t n;
        /* Character k has the code points [at[k].begin, at[k].end) of the original passage; NULL:
         * k alone. */
        const struct ran_glyph *at;
        /* The same for the words. */
        const char *word_s;
        const struct ran_glyph *word_at;
        struct ran_stretch *span; /* (spans) */
        size_t spans;
        bool led; /* the words got a space in front that the text does not have */

        struct ran_stretch *other; /* the spans that a step makes */
        size_t span_cap, other_n, other_cap;
        struct ran_glyphs glyphs, spare;       /* of the normalised passage */
        struct ran_buf normal_bytes, bytes[2]; /* its bytes; those that a step makes */
        struct ran_glyphs changed[2];
        int turn; /* which of two a step fills */
        struct ran_pattern_scratch pattern;
};
void ran_passage_release(struct ran_passage *p);

/* Normalises n bytes of text: sets s, n and at; *points: its code points. RAN_EFORMAT for invalid
 * UTF-8. */
int ran_steps_normalize(const struct ran_steps *s, struct ran_passage *p, const char *text,
                        size_t n, size_t *points, struct ran_error *err);
/* Divides a part of the normalised passage into words: the spans, of word_s and word_at. `points`:
 * the code points of the document before the passage. lead: the character that goes in front, as
 * between two words of a text, or 0. */
void ran_steps_split(const struct ran_steps *s, struct ran_passage *p, struct ran_stretch part,
                     size_t points, int32_t lead);

#endif
