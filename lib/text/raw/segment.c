/* segment.c - the words and sentences of raw text, as corpora with words already split have them.
 *
 * A chunk, a run of characters without white space, is looked at once: where its core begins and
 * ends, without the marks at both ends; where its contraction begins; whether it ends a sentence.
 * Then its words are given out from left to right. */
#include <string.h>

#include "ran/text.h"
#include "text/words/words.h"

const char *const ran_segment_names[] = {"spaces", "punctuation", "conll", "ptb", "ud", NULL};

/* What tells the conventions apart. */
static const struct convention {
        bool marks;    /* marks are words where they end a word, and some inside of it */
        bool all;      /* every mark is a word */
        bool hyphens;  /* so are hyphens and slashes between letters */
        bool numbered; /* "1." keeps its period, as in lists and tables of results */
} conventions[] = {
        [RAN_SEGMENT_SPACES] = {0},
        [RAN_SEGMENT_PUNCTUATION] = {.marks = true, .all = true},
        [RAN_SEGMENT_CONLL] = {.marks = true, .numbered = true},
        [RAN_SEGMENT_PTB] = {.marks = true},
        [RAN_SEGMENT_UD] = {.marks = true, .hyphens = true},
};

enum {
        DOUBLE_OPEN = 0x201c,
        DOUBLE_CLOSE = 0x201d,
        SINGLE_CLOSE = 0x2019,
        ELLIPSIS = 0x2026,
        EN_DASH = 0x2013,
        EM_DASH = 0x2014,
        GUILLEMET_OPEN = 0xab,
        GUILLEMET_CLOSE = 0xbb,
        FULL_STOP_CJK = 0x3002,
};

/* ---- characters ----------------------------------------------------------------------------- */

static int32_t char_at(const struct ran_segments *s, size_t pos, size_t *length)
{
        return ran_unicode_get(s->text + pos, s->n - pos, length);
}

/* The byte at pos, or 0 outside of [begin, end). */
static unsigned char byte_in(const struct ran_segments *s, size_t pos, size_t begin, size_t end)
{
        return pos >= begin && pos < end ? (unsigned char)s->text[pos] : 0;
}

static bool is_digit(unsigned char c)
{
        return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c)
{
        return (c | 0x20u) - 'a' < 26u || c >= 0x80;
}

static bool is_apostrophe(int32_t c)
{
        return c == '\'' || c == SINGLE_CLOSE;
}

/* ---- where a chunk ends, and whether a sentence does ---------------------------------------- */

/* The next chunk's begin; *blank: there is an empty line before it. */
static size_t skip_space(const struct ran_segments *s, size_t pos, bool *blank)
{
        size_t lines = 0, length;
        int32_t c;

        while (pos < s->n && ran_unicode_is_space(c = char_at(s, pos, &length))) {
                lines += c == '\n';
                pos += length;
        }
        *blank = lines > 1;
        return pos;
}

/* Words before whose period no sentence ends, in lower case. Words of one letter and words with an
 * inner period are such words, too. */
static const char *const abbreviations[] = {
        "mr",  "mrs", "ms",  "dr",   "prof",   "gen",  "col",    "lt",  "sgt", "capt",
        "rev", "sen", "rep", "gov",  "st",     "mt",   "ft",     "no",  "vs",  "etc",
        "inc", "ltd", "co",  "corp", "jr",     "sr",   "jan",    "feb", "mar", "apr",
        "jun", "jul", "aug", "sep",  "sept",   "oct",  "nov",    "dec", "ave", "dept",
        "est", "fig", "al",  "pp",   "approx", "bros", "messrs", NULL};

static bool is_abbreviation(const char *word, size_t n)
{
        char lower[8];

        if (n == 1)
                return is_letter((unsigned char)*word);
        if (memchr(word, '.', n) != NULL)
                return word[0] != '.' && is_letter((unsigned char)word[0]);
        if (n >= sizeof lower)
                return false;
        for (size_t i = 0; i < n; i++)
                lower[i] =
                        (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + ('a' - 'A') : word[i]);
        for (size_t i = 0; abbreviations[i] != NULL; i++)
                if (strlen(abbreviations[i]) == n && memcmp(abbreviations[i], lower, n) == 0)
                        return true;
        return false;
}

/* The end of a chunk without quotes and brackets behind it. */
static size_t before_closers(const struct ran_segments *s, size_t begin, size_t end)
{
        while (end > begin) {
                size_t pos = ran_unicode_last(s->text, end), length;
                int32_t c = char_at(s, pos, &length);
                if (c != '"' && c != ')' && c != ']' && c != '}' && c != DOUBLE_CLOSE &&
                    c != GUILLEMET_CLOSE && !is_apostrophe(c))
                        break;
                end = pos;
        }
        return end;
}

/* Whether a small letter comes first in the chunk at pos, behind quotes and brackets. */
static bool goes_on_small(const struct ran_segments *s, size_t pos)
{
        size_t length;

        for (; pos < s->n; pos += length) {
                int32_t c = char_at(s, pos, &length);
                if (c >= 'a' && c <= 'z')
                        return true;
                if (!ran_unicode_is_punct(c))
                        return false;
        }
        return false;
}

/* Whether the period that ends the chunk's text at `end` belongs to the word before it. */
static bool keeps_period(const struct ran_segments *s, size_t begin, size_t end)
{
        const struct convention *k = &conventions[s->convention];
        size_t word = begin, digits = 0, length;

        while (word < end && ran_unicode_is_punct(char_at(s, word, &length)))
                word += length;
        if (word >= end - 1)
                return false;
        while (is_digit(byte_in(s, word + digits, word, end - 1)))
                digits++;
        if (digits > 0 && word + digits == end - 1)
                return k->numbered && s->first && digits < 3 && !s->sentence_ends;
        return is_abbreviation(s->text + word, end - 1 - word);
}

/* Decides what follows from the end of the chunk: s->sentence_ends, s->period. */
static void judge_end(struct ran_segments *s)
{
        size_t end = before_closers(s, s->chunk, s->chunk_end), length;
        bool blank, last;

        s->next = skip_space(s, s->chunk_end, &blank);
        last = s->next == s->n;
        s->sentence_ends = blank || last;
        s->period = SIZE_MAX;
        if (end == s->chunk)
                return;
        size_t pos = ran_unicode_last(s->text, end);
        int32_t c = char_at(s, pos, &length);
        if (c != '.' && c != '!' && c != '?' && c != ELLIPSIS && c != FULL_STOP_CJK)
                return;
        bool small = !last && !blank && goes_on_small(s, s->next);
        bool run = c == '.' && byte_in(s, pos - 1, s->chunk, end) == '.';
        if (c == '.' && !run && (small || keeps_period(s, s->chunk, end)))
                s->period = pos;
        else
                s->sentence_ends |= !small;
}

/* ---- the parts of a chunk ------------------------------------------------------------------- */

/* The bytes of a contraction at the end of [begin, end), such as "n't" and "'ll"; 0: none. */
static size_t contraction(const struct ran_segments *s, size_t begin, size_t end)
{
        static const char *const tails[] = {"s", "m", "d", "t", "re", "ve", "ll", NULL};

        for (size_t i = 0; tails[i] != NULL; i++) {
                size_t n = strlen(tails[i]), pos, length;
                if (end - begin <= n)
                        continue;
                bool same = true;
                for (size_t k = 0; k < n; k++)
                        same = same && (s->text[end - n + k] | 0x20) == tails[i][k];
                if (!same)
                        continue;
                pos = ran_unicode_last(s->text, end - n);
                if (!is_apostrophe(char_at(s, pos, &length)))
                        continue;
                if (*tails[i] != 't')
                        return end - pos;
                return (byte_in(s, pos - 1, begin, end) | 0x20) == 'n' ? end - pos + 1 : 0;
        }
        return 0;
}

/* A mark at the front of [pos, end) that is a word by itself. */
static bool peels_front(const struct ran_segments *s, size_t pos, size_t end)
{
        size_t length;
        int32_t c = char_at(s, pos, &length);
        unsigned char then = byte_in(s, pos + length, pos, end);

        if (!ran_unicode_is_punct(c) || c == '_' || c == '@')
                return false;
        if (is_apostrophe(c))
                return !is_digit(then) && contraction(s, pos, end) != end - pos;
        if (c == '+' || c == '-' || c == '.')
                return !is_digit(then);
        return !((c == '#' || c == '&') && (is_letter(then) || is_digit(then)));
}

static bool peels_back(const struct ran_segments *s, size_t begin, size_t pos)
{
        size_t length;
        int32_t c = char_at(s, pos, &length);

        if (!ran_unicode_is_punct(c) || c == '_' || c == '+' || c == '@' || c == '&')
                return false;
        if (c == '$')
                return !is_letter(byte_in(s, pos - 1, begin, pos));
        return pos != s->period;
}

/* A mark inside of a core that is a word by itself. */
static bool breaks(const struct ran_segments *s, size_t pos)
{
        size_t length;
        int32_t c = char_at(s, pos, &length);
        unsigned char before = byte_in(s, pos - 1, s->core, s->core_end);
        unsigned char then = byte_in(s, pos + length, s->core, s->core_end);
        bool number = is_digit(before) && is_digit(then),
             letters = is_letter(before) && is_letter(then);

        if (conventions[s->convention].all)
                return ran_unicode_is_punct(c);
        if (s->address)
                return false;
        if ((c > 0 && c < 0x80 && strchr("()[]{}\";?!", c) != NULL) || c == DOUBLE_OPEN ||
            c == DOUBLE_CLOSE || c == GUILLEMET_OPEN || c == GUILLEMET_CLOSE || c == ELLIPSIS ||
            c == EM_DASH)
                return true;
        switch (c) {
        case ',':
        case ':':
        case EN_DASH:
                return !number;
        case '.':
                return before == '.' || then == '.';
        case '-':
                return before == '-' || then == '-' ||
                       (conventions[s->convention].hyphens && letters);
        case '/':
                return conventions[s->convention].hyphens && letters;
        default:
                return false;
        }
}

/* A web or mail address, whose marks are its own. */
static bool is_address(const char *word, size_t n)
{
        for (size_t i = 0; i + 2 < n; i++) {
                if (memcmp(word + i, "://", 3) == 0)
                        return true;
                if (word[i] == '@' && i > 0 && is_letter((unsigned char)word[i + 1]))
                        return true;
        }
        return n > 4 && memcmp(word, "www.", 4) == 0;
}

static void open_chunk(struct ran_segments *s)
{
        size_t length;

        for (s->chunk_end = s->chunk; s->chunk_end < s->n; s->chunk_end += length)
                if (ran_unicode_is_space(char_at(s, s->chunk_end, &length)))
                        break;
        judge_end(s);
        s->core = s->chunk;
        s->split = s->core_end = s->chunk_end;
        if (!conventions[s->convention].marks)
                return;
        if (!conventions[s->convention].all) {
                while (s->core < s->chunk_end && peels_front(s, s->core, s->chunk_end)) {
                        (void)char_at(s, s->core, &length);
                        s->core += length;
                }
                while (s->core_end > s->core) {
                        size_t pos = ran_unicode_last(s->text, s->core_end);
                        if (!peels_back(s, s->core, pos))
                                break;
                        s->core_end = pos;
                }
        }
        s->address = is_address(s->text + s->core, s->core_end - s->core);
        s->split = s->core_end;
        if (conventions[s->convention].all)
                return;
        size_t n = contraction(s, s->core, s->core_end);
        if (n < s->core_end - s->core)
                s->split -= n;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The end of a mark, or of several that are one word, before `limit`. */
static size_t end_of_mark(const struct ran_segments *s, size_t pos, size_t limit)
{
        size_t length;
        int32_t c = char_at(s, pos, &length);
        bool runs =
                c > 0 && c < 0x80 && strchr(".-*`'", c) != NULL && !conventions[s->convention].all;

        for (pos += length; runs && pos < limit && s->text[pos] == (char)c;)
                pos++;
        return pos;
}

static size_t end_of_word(const struct ran_segments *s, size_t pos)
{
        const size_t limit = pos < s->split ? s->split : s->core_end;
        size_t length;

        if (!conventions[s->convention].marks)
                return s->chunk_end;
        if (pos < s->core)
                return end_of_mark(s, pos, s->core);
        if (pos >= s->core_end)
                return end_of_mark(s, pos, s->chunk_end);
        if (breaks(s, pos))
                return end_of_mark(s, pos, limit);
        while (pos < limit && !breaks(s, pos)) {
                int32_t c = char_at(s, pos, &length);
                pos += length;
                if (c == '$' && is_digit(byte_in(s, pos, s->core, s->core_end)))
                        break;
        }
        return pos;
}

void ran_segments_begin(struct ran_segments *s, int convention, const char *text, size_t n)
{
        bool blank;

        *s = (struct ran_segments){.text = text, .n = n, .convention = convention, .first = true};
        s->next = skip_space(s, 0, &blank);
        s->pos = s->chunk_end = s->next;
}

bool ran_segments_next(struct ran_segments *s, size_t *begin, size_t *end, bool *first)
{
        if (s->pos == s->chunk_end) {
                if (s->next == s->n)
                        return false;
                s->first |= s->sentence_ends;
                s->pos = s->chunk = s->next;
                open_chunk(s);
        }
        *begin = s->pos;
        *end = s->pos = end_of_word(s, s->pos);
        *first = s->first;
        s->first = false;
        return true;
}
