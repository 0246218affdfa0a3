/* split.c - pre-tokenizers: each divides the spans that those before it made, or changes
 * their text. */
#include <string.h>

#include "text/words/words.h"
#include "text/steps/steps.h"

static void push_span(struct ran_passage *p, struct ran_stretch span)
{
        RAN_ROOM(p->other, p->other_cap, p->other_n + 1);
        p->other[p->other_n++] = span;
}

/* What a step made takes the place of what it read. */
static void take_other(struct ran_passage *p)
{
        struct ran_stretch *span = p->span;
        size_t cap = p->span_cap;

        p->span = p->other;
        p->span_cap = p->other_cap;
        p->spans = p->other_n;
        p->other = span;
        p->other_cap = cap;
        p->other_n = 0;
}

/* ---- what a split does with what it finds ---------------------------------------------------- */

/* The part of a span that is not written yet, because what follows may join it. */
struct splitter {
        struct ran_passage *p;
        enum ran_behavior behavior;
        struct ran_stretch part; /* none if begin = end */
        size_t next;             /* the number of the next character */
        bool match, previous;    /* the part is a match; so was the last one taken */
};

static void flush(struct splitter *k)
{
        if (k->part.begin < k->part.end)
                push_span(k->p, k->part);
        k->part.begin = k->part.end;
}

/* The bytes up to `end` are a match, or lie between matches. */
static void take(struct splitter *k, size_t begin, size_t end, size_t chars, bool match)
{
        const struct ran_stretch taken = {begin, end, k->next, chars};
        bool joins = false;

        if (begin == end)
                return;
        k->next += chars;
        if (k->behavior == SPLIT_WITH_PREVIOUS)
                joins = match && !k->previous;
        else if (k->behavior == SPLIT_WITH_NEXT)
                joins = k->match && !match;
        else if (k->behavior == SPLIT_CONTIGUOUS)
                joins = match == k->previous;
        k->previous = match;
        if (joins && k->part.begin < k->part.end) {
                k->part.end = end;
                k->part.chars += chars;
                k->match = false;
                return;
        }
        flush(k);
        if (k->behavior == SPLIT_REMOVED && match)
                return;
        k->part = taken;
        k->match = match;
}

/* ---- what is found -------------------------------------------------------------------------- */

static bool is_wanted(const struct ran_step *step, int32_t c)
{
        switch (step->kind) {
        case STEP_SPACES:
                return ran_unicode_is_space(c);
        case STEP_PUNCTUATION:
                return ran_unicode_is_punct(c);
        case STEP_NUMBERS:
                return ran_unicode_is_number(c);
        default:
                return c == step->c;
        }
}

static int32_t char_at(const char *s, size_t n, size_t *length)
{
        *length = 1;
        return (unsigned char)*s < 0x80 ? *s : ran_unicode_get(s, n, length);
}

static void split_at_chars(const struct ran_step *step, struct splitter *k, struct ran_stretch span)
{
        const char *s = k->p->word_s;
        size_t begin = span.begin, chars = 0, length;

        for (size_t pos = span.begin; pos < span.end; pos += length) {
                if (!is_wanted(step, char_at(s + pos, span.end - pos, &length))) {
                        chars++;
                        continue;
                }
                take(k, begin, pos, chars, step->invert);
                take(k, pos, pos + length, 1, !step->invert);
                begin = pos + length;
                chars = 0;
        }
        take(k, begin, span.end, chars, step->invert);
}

/* Runs of letters, marks and digits, and runs of what is neither that nor white space. */
static void split_runs(struct splitter *k, struct ran_stretch span)
{
        enum { SPACE, WORD, OTHER } kind, next;
        const char *s = k->p->word_s;
        size_t length;

        for (size_t pos = span.begin, end, chars; pos < span.end; pos = end) {
                kind = SPACE;
                for (end = pos, chars = 0; end < span.end; end += length, chars++) {
                        int32_t c = char_at(s + end, span.end - end, &length);
                        next = ran_unicode_is_word(c)    ? WORD
                               : ran_unicode_is_space(c) ? SPACE
                                                         : OTHER;
                        if (end == pos)
                                kind = next;
                        else if (next != kind)
                                break;
                }
                take(k, pos, end, chars, kind == SPACE);
        }
}

/* Every word is a match, and there is nothing between words. */
static void split_words(const struct ran_step *step, struct splitter *k, struct ran_stretch span)
{
        const char *s = k->p->word_s;

        for (size_t pos = span.begin, n; pos < span.end; pos += n) {
                size_t chars = 0;
                n = step->kind == STEP_GPT2
                            ? ran_gpt2_word(s + pos, span.end - pos, &chars)
                            : ran_gpt4_word(s + pos, span.end - pos, step->digits, &chars);
                if (n == 0) /* in no text that was normalised */
                        break;
                take(k, pos, pos + n, chars, !step->invert);
        }
}

static void split_at_pattern(const struct ran_step *step, struct splitter *k,
                             struct ran_stretch span)
{
        const char *s = k->p->word_s + span.begin;
        const size_t n = span.end - span.begin;
        size_t begin, end;

        for (size_t pos = 0; pos < n; pos = end) {
                ran_pattern_find(step->pattern, s, n, pos, &k->p->pattern, &begin, &end);
                take(k, span.begin + pos, span.begin + begin,
                     ran_unicode_count(s + pos, begin - pos), step->invert);
                take(k, span.begin + begin, span.begin + end,
                     ran_unicode_count(s + begin, end - begin), !step->invert);
        }
}

static void split(const struct ran_step *step, struct ran_passage *p)
{
        for (size_t i = 0; i < p->spans; i++) {
                const struct ran_stretch span = p->span[i];
                struct splitter k = {.p = p, .behavior = step->behavior, .next = span.first};

                if (step->kind == STEP_PATTERN)
                        split_at_pattern(step, &k, span);
                else if (step->kind == STEP_GPT2 || step->kind == STEP_GPT4)
                        split_words(step, &k, span);
                else if (step->kind == STEP_RUNS)
                        split_runs(&k, span);
                else
                        split_at_chars(step, &k, span);
                flush(&k);
        }
        take_other(p);
}

/* ---- what changes the text ------------------------------------------------------------------- */

static struct ran_glyph range_of(const struct ran_passage *p, size_t k)
{
        return p->word_at != NULL ? p->word_at[k]
                                  : (struct ran_glyph){0, (uint32_t)k, (uint32_t)k + 1};
}

/* Whether a span gets the character in front. */
static bool leads(const struct ran_step *step, const struct ran_passage *p, struct ran_stretch span,
                  size_t points)
{
        const char *s = p->word_s + span.begin;
        size_t length;
        const int32_t c = char_at(s, span.end - span.begin, &length);

        if (step->lead == LEAD_NEVER || c == step->c || c == ' ')
                return false;
        return step->lead == LEAD_ALWAYS || points + range_of(p, span.first).begin == 0;
}

/* Writes a span with `c` for each space, and in front if `lead`. */
static void write_span(const struct ran_step *step, const struct ran_passage *p,
                       struct ran_stretch span, bool lead, struct ran_buf *bytes,
                       struct ran_glyphs *glyphs)
{
        char meta[4] = {0};
        const size_t meta_n = ran_unicode_put(meta, step->c), n = span.end - span.begin;
        size_t k = span.first;

        ran_glyphs_reserve(glyphs, n + 1);
        /* No overflow: glyphs are larger. */
        char *begin = ran_buf_room(bytes, (n + 1) * sizeof meta), *to = begin;
        if (lead) {
                memcpy(to, meta, sizeof meta);
                to += meta_n;
                glyphs->at[glyphs->n++] = range_of(p, k);
        }
        for (size_t pos = span.begin; pos < span.end; pos++) {
                const char c = p->word_s[pos];

                if (((unsigned char)c & 0xc0) != 0x80)
                        glyphs->at[glyphs->n++] = range_of(p, k++);
                memcpy(to, meta, sizeof meta);
                if (c != ' ')
                        *to = c;
                to += c == ' ' ? meta_n : 1;
        }
        bytes->len += (size_t)(to - begin);
}

static void change(const struct ran_step *step, struct ran_passage *p, size_t points)
{
        struct ran_buf *bytes = &p->bytes[p->turn];
        struct ran_glyphs *glyphs = &p->changed[p->turn];

        bytes->len = glyphs->n = 0;
        for (size_t i = 0; i < p->spans; i++) {
                const size_t begin = bytes->len, first = glyphs->n;
                const bool lead = leads(step, p, p->span[i], points);
                write_span(step, p, p->span[i], lead, bytes, glyphs);
                push_span(p, (struct ran_stretch){begin, bytes->len, first, glyphs->n - first});
        }
        p->turn = !p->turn;
        p->word_s = bytes->data;
        p->word_at = glyphs->at;
        take_other(p);
}

/* Whether a step of that kind changes anything: most texts need no copy. */
static bool changes(const struct ran_step *step, const struct ran_passage *p, size_t points)
{
        for (size_t i = 0; i < p->spans; i++)
                if (leads(step, p, p->span[i], points))
                        return true;
        return step->kind == STEP_META && p->spans > 0;
}

void ran_steps_split(const struct ran_steps *s, struct ran_passage *p, struct ran_stretch part,
                     size_t points, int32_t lead)
{
        const struct ran_step space = {.kind = STEP_LEAD, .c = lead, .lead = LEAD_ALWAYS};

        p->word_s = p->s;
        p->word_at = p->at;
        p->spans = p->other_n = 0;
        p->led = false;
        if (part.begin == part.end)
                return;
        push_span(p, part);
        take_other(p);
        p->led = lead != 0 && changes(&space, p, points);
        if (p->led)
                change(&space, p, points);
        for (size_t i = s->normal_n; i < s->n; i++) {
                const struct ran_step *step = &s->at[i];
                if (step->kind != STEP_META && step->kind != STEP_LEAD)
                        split(step, p);
                else if (changes(step, p, points))
                        change(step, p, points);
        }
}
