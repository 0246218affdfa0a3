/* normalizer.h - normalisation of a stretch of text, step by step; each character keeps its range
 * in the original.
 *
 * The steps are those of Hugging Face's normalizers, so that each list of steps can be written
 * as a tokenizer.json and most documents can be read as a list of steps. None of them joins
 * ASCII white space with other characters (some turn it into other white space), so a text may
 * be normalised in stretches that end there. */
#ifndef RAN_TEXT_NORMALIZER_H
#define RAN_TEXT_NORMALIZER_H

#include "ran/text.h"

enum ran_normalizer_step {
        NORMAL_EOL,         /* a line feed becomes the word `eol`, between spaces */
        NORMAL_CLEAN,       /* no Cc, Cf, Co, U+FFFD; white space becomes a space */
        NORMAL_CLEAN_CC_CF, /* no Cc, Cf, U+FFFD but tab, line feed and carriage return */
        NORMAL_CJK,         /* spaces around CJK ideographs */
        NORMAL_NFC,
        NORMAL_NFD,
        NORMAL_NFKC,
        NORMAL_NFKD,
        NORMAL_STRIP_NONSPACING, /* no Mn */
        NORMAL_STRIP_MARKS,      /* no Mn, Mc, Me */
        NORMAL_LOWERCASE,        /* each character by itself: no final sigma */
        NORMAL_STRIP_LEFT,       /* no white space at the start; for whole texts only */
        NORMAL_STRIP_RIGHT,      /* the same at the end */
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
int ran_glyphs_reserve(struct ran_glyphs *g, size_t more, struct ran_error *err);
/* Reads the n bytes at text as glyphs. RAN_EFORMAT for invalid UTF-8. */
int ran_glyphs_read(struct ran_glyphs *out, const char *text, size_t n, struct ran_error *err);

/* Applies one step, but NORMAL_EOL, to `in`, which may change; `out` is replaced. exact: where
 * characters compose or marks change places, ranges are those of the library of Hugging Face: the
 * characters that come out take the ranges of those that went in, one by one, and a character
 * composed of several has the range of the first. */
int ran_glyphs_step(enum ran_normalizer_step step, bool exact, struct ran_glyphs *out,
                    struct ran_glyphs *in, struct ran_error *err);

/* How the library describes a change: glyph i of `out` has a number in `begin`, as int32_t: > 0, it
 * is new, and shares the range of the character before it; otherwise it replaces a character of
 * `in`, and as many more as the number is below 0 are removed behind it. Sets the ranges. */
void ran_glyphs_settle(struct ran_glyphs *out, const struct ran_glyphs *in);

/* Normalises the n bytes at text into *out, with *spare as scratch; *points becomes the number
 * of code points read. RAN_EFORMAT for invalid UTF-8. Time is linear in n. */
int ran_normalizer_apply(const struct ran_normalizer *z, const char *text, size_t n,
                         struct ran_glyphs *out, struct ran_glyphs *spare, size_t *points,
                         struct ran_error *err);

#endif
