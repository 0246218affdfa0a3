/* steps.h - how a tokenizer.json of another library reads text: any normalizers and pre-tokenizers,
 * in any order, one after another over a whole passage, with the same words and the same offsets as
 * in that library. words.h is faster and bounded in memory, for the rules that most vocabularies
 * have.
 *
 * A passage is the text between two added tokens. It becomes spans, which the pre-tokenizers divide
 * further, and at the end words. */
#ifndef RAN_TEXT_STEPS_H
#define RAN_TEXT_STEPS_H

#include "text/steps/charsmap.h"
#include "text/words/normalizer.h"
#include "text/steps/pattern.h"
#include "text/words/words.h"

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
        STEP_NMT,      /* some control characters go, others become spaces */
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

/* The normalizers [0, normal_n), then the pre-tokenizers. */
struct ran_steps {
        struct ran_step *at;
        size_t n, normal_n, cap;
        bool nested; /* the file has a Sequence in a Sequence */
};
struct ran_steps *ran_steps_new(struct ran_error *err);
void ran_steps_free(struct ran_steps *s);
/* Adds a step, which takes over what the step owns, also on failure. RAN_EFORMAT, RAN_ENOMEM. */
int ran_steps_add(struct ran_steps *s, struct ran_step step, struct ran_error *err);
void ran_step_release(struct ran_step *step);

/* Bytes [begin, end) of a passage, its characters from number `first` on. */
struct ran_stretch {
        size_t begin, end, first;
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
 * UTF-8, RAN_ENOMEM. */
int ran_steps_normalize(const struct ran_steps *s, struct ran_passage *p, const char *text,
                        size_t n, size_t *points, struct ran_error *err);
/* Divides a part of the normalised passage into words: the spans, of word_s and word_at. `points`:
 * the code points of the document before the passage. lead: a space goes in front, as between two
 * words of a text. RAN_ENOMEM. */
int ran_steps_split(const struct ran_steps *s, struct ran_passage *p, struct ran_stretch part,
                    size_t points, bool lead, struct ran_error *err);

#endif
