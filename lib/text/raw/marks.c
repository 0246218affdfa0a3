/* marks.c - quotes, brackets, dashes and dots as a corpus writes them: where one has “, another has
 * ", and the Penn Treebank ``. A text is read with the marks that the training data have. */
#include <string.h>

#include "ran/text.h"
#include "text/words/words.h"

/* Marks of one class stand for each other. */
enum {
        OPEN = 1,
        CLOSE = 2,
        SINGLE_OPEN = 4,
        SINGLE_CLOSE = 8,
        INNER = 16, /* an apostrophe in a word */
        DASH = 32,
        DOTS = 64,
        ROUND_OPEN = 128,
        ROUND_CLOSE = 256,
        SQUARE_OPEN = 512,
        SQUARE_CLOSE = 1024,
        CURLY_OPEN = 2048,
        CURLY_CLOSE = 4096,
        OPENING = OPEN | SINGLE_OPEN,
        CLOSING = CLOSE | SINGLE_CLOSE,
};

enum { STRAIGHT = 0, TREEBANK = 3, SINGLE = 5, SINGLE_TREEBANK = 8, INNER_STRAIGHT = 9 };

static const struct mark {
        const char *text;
        const char *typed; /* as people type it; NULL: as it is */
        int classes;
} marks[RAN_MARK_COUNT] = {
        [STRAIGHT] = {"\"", NULL, OPEN | CLOSE},
        {"\xe2\x80\x9c", NULL, OPEN},
        {"\xe2\x80\x9d", NULL, CLOSE},
        [TREEBANK] = {"``", "\"", OPEN},
        {"''", "\"", CLOSE},
        [SINGLE] = {"'", NULL, SINGLE_OPEN | SINGLE_CLOSE},
        {"\xe2\x80\x98", NULL, SINGLE_OPEN},
        {"\xe2\x80\x99", NULL, SINGLE_CLOSE},
        [SINGLE_TREEBANK] = {"`", "'", SINGLE_OPEN},
        [INNER_STRAIGHT] = {"'s", NULL, INNER},
        {"\xe2\x80\x99s", NULL, INNER},
        {"--", NULL, DASH},
        {"\xe2\x80\x94", NULL, DASH},
        {"...", NULL, DOTS},
        {"\xe2\x80\xa6", NULL, DOTS},
        {"(", NULL, ROUND_OPEN},
        {")", NULL, ROUND_CLOSE},
        {"[", NULL, SQUARE_OPEN},
        {"]", NULL, SQUARE_CLOSE},
        {"{", NULL, CURLY_OPEN},
        {"}", NULL, CURLY_CLOSE},
        {"-LRB-", "(", ROUND_OPEN},
        {"-RRB-", ")", ROUND_CLOSE},
        {"-LSB-", "[", SQUARE_OPEN},
        {"-RSB-", "]", SQUARE_CLOSE},
        {"-LCB-", "{", CURLY_OPEN},
        {"-RCB-", "}", CURLY_CLOSE},
};

static const char apostrophe[] = "\xe2\x80\x99";
enum { APOSTROPHE = sizeof apostrophe - 1 };

/* Whether a word can be a mark, or have an apostrophe: most cannot. */
static bool is_plain(const char *word, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((word[i] | 0x20u) - 'a' >= 26u && (word[i] < '0' || word[i] > '9'))
                        return false;
        return true;
}

static int find(const char *word, size_t n)
{
        for (int i = 0; i < RAN_MARK_COUNT; i++)
                if (strlen(marks[i].text) == n && memcmp(marks[i].text, word, n) == 0)
                        return i;
        return -1;
}

/* The first apostrophe of a word that has more than it: its bytes, and where it is; 0: none. */
static size_t find_apostrophe(const char *word, size_t n, size_t from, size_t *at)
{
        for (size_t i = from; i < n; i++) {
                size_t length =
                        word[i] == '\'' ? 1
                        : n - i >= APOSTROPHE && memcmp(word + i, apostrophe, APOSTROPHE) == 0
                                ? APOSTROPHE
                                : 0;
                *at = i;
                if (length > 0 && length < n)
                        return length;
        }
        return 0;
}

/* ---- what a corpus has ---------------------------------------------------------------------- */

void ran_mark_count(size_t count[RAN_MARK_COUNT], const char *word, size_t n)
{
        size_t at, length;

        if (is_plain(word, n))
                return;
        const int mark = find(word, n);
        if (mark >= 0)
                count[mark]++;
        else if ((length = find_apostrophe(word, n, 0, &at)) > 0)
                count[INNER_STRAIGHT + (length > 1)]++;
}

const char *ran_mark_typed(const char *word, size_t n)
{
        const int mark = is_plain(word, n) ? -1 : find(word, n);

        return mark >= 0 ? marks[mark].typed : NULL;
}

/* A mark is the data's own, and no accident, unless another of its class is so many times as
 * frequent. */
enum { ACCIDENT = 50 };

static bool is_own(const size_t count[RAN_MARK_COUNT], int mark)
{
        for (int i = 0; i < RAN_MARK_COUNT; i++)
                if ((marks[i].classes & marks[mark].classes) != 0 &&
                    count[mark] < count[i] / ACCIDENT)
                        return false;
        return count[mark] > 0;
}

bool ran_mark_treebank(const size_t count[RAN_MARK_COUNT])
{
        for (int i = 0; i < RAN_MARK_COUNT; i++)
                if (marks[i].typed != NULL && is_own(count, i))
                        return true;
        return false;
}

size_t ran_marks_list(const size_t count[RAN_MARK_COUNT], const char *list[RAN_MARK_COUNT])
{
        int own[RAN_MARK_COUNT] = {0};
        size_t n = 0, at;

        for (int i = 0; i < RAN_MARK_COUNT; i++) {
                if (!is_own(count, i))
                        continue;
                for (at = n++; at > 0 && count[own[at - 1]] < count[i]; at--)
                        own[at] = own[at - 1];
                own[at] = i;
        }
        for (size_t i = 0; i < n; i++)
                list[i] = marks[own[i]].text;
        return n;
}

/* ---- a text with these marks ---------------------------------------------------------------- */

void ran_marks_release(struct ran_marks *m)
{
        ran_buf_release(&m->word);
        *m = (struct ran_marks){0};
}

void ran_marks_know(struct ran_marks *m, const char *mark, size_t n)
{
        const int known = find(mark, n);

        for (size_t i = 0; known >= 0 && i < m->n; i++)
                if (m->own[i] == known)
                        return;
        if (known >= 0)
                m->own[m->n++] = (unsigned char)known;
}

static bool has(const struct ran_marks *m, int mark)
{
        for (size_t i = 0; i < m->n; i++)
                if (m->own[i] == mark)
                        return true;
        return false;
}

/* Whether the data have a mark for each side of this one, where it may stand on both: languages
 * differ in what opens, and half a pair is worse than none. */
static bool has_both_sides(const struct ran_marks *m, int mark)
{
        int classes = 0;

        for (size_t i = 0; i < m->n; i++)
                classes |= marks[m->own[i]].classes;
        return (marks[mark].classes & ~classes & (OPENING | CLOSING)) == 0;
}

/* What the data have for a mark in one of the classes: itself, or else the most frequent. */
static int instead(const struct ran_marks *m, int mark, int classes)
{
        const bool sided = has(m, TREEBANK) && !has(m, STRAIGHT) && has(m, SINGLE_TREEBANK);

        if (mark == SINGLE && classes == SINGLE_OPEN && sided)
                return SINGLE_TREEBANK;
        if (has(m, mark) || !has_both_sides(m, mark))
                return mark;
        for (size_t i = 0; i < m->n; i++)
                if ((marks[m->own[i]].classes & classes) != 0)
                        return sided && m->own[i] == SINGLE && classes == SINGLE_OPEN
                                       ? SINGLE_TREEBANK
                                       : m->own[i];
        return mark;
}

static bool is_quote(int32_t c)
{
        return c == '"' || c == '\'' || c == '`' || (c >= 0x2018 && c <= 0x201f);
}

static bool is_before_quote(int32_t c, bool is_open)
{
        if (!is_open && (c == ':' || c == '=' || c == ',' || c == 0x2026))
                return true;
        return ran_unicode_is_space(c) || c == '(' || c == '[' || c == '{' || c == '<' ||
               c == '-' || c == '/' || c == 0x2013 || c == 0x2014 || c == 0xab;
}

/* Other quotes in a row with one that are looked at. */
enum { QUOTES = 4 };

/* Whether the quote [begin, end) of a text can open, by what stands on its left. */
static bool opens_left(const char *text, size_t n, size_t begin, bool is_open)
{
        size_t length;

        for (int i = 0; begin > 0 && i < QUOTES; i++) {
                begin = ran_unicode_last(text, begin);
                const int32_t c = ran_unicode_get(text + begin, n - begin, &length);
                if (!is_quote(c))
                        return is_before_quote(c, is_open);
        }
        return begin == 0;
}

static bool opens_right(const char *text, size_t n, size_t end)
{
        size_t length;

        for (int i = 0; end < n && i < QUOTES; i++, end += length) {
                const int32_t c = ran_unicode_get(text + end, n - end, &length);
                if (!is_quote(c))
                        return !ran_unicode_is_space(c) &&
                               !(c > 0 && c < 0x80 && strchr(".,;:!?)]}", c) != NULL);
        }
        return false;
}

/* Puts other apostrophes into a word. */
static bool replace_inner(struct ran_marks *m, const char **word, size_t *n)
{
        size_t at, from = 0, length = find_apostrophe(*word, *n, 0, &at);

        if (length == 0)
                return false;
        const int mark = INNER_STRAIGHT + (length > 1), to = instead(m, mark, INNER);
        if (to == mark)
                return false;
        m->word.len = 0;
        for (; length > 0; length = find_apostrophe(*word, *n, from, &at)) {
                ran_buf_add(&m->word, *word + from, at - from);
                ran_buf_add(&m->word, marks[to].text, strlen(marks[to].text) - 1);
                from = at + length;
        }
        ran_buf_add(&m->word, *word + from, *n - from);
        *word = m->word.data;
        *n = m->word.len;
        return true;
}

bool ran_marks_write(struct ran_marks *m, const char *text, size_t n, size_t begin, size_t end,
                     const char **word, size_t *length)
{
        *word = text + begin;
        *length = end - begin;
        if (m->n == 0 || is_plain(*word, *length))
                return false;
        const int mark = find(*word, *length);
        if (mark < 0 || marks[mark].classes == INNER)
                return replace_inner(m, word, length);
        int classes = marks[mark].classes;
        bool *open = (classes & (OPEN | CLOSE)) != 0 ? &m->open : &m->single_open;
        if ((classes & OPENING) != 0 && (classes & CLOSING) != 0)
                /* With space on both sides it opens where none is open. */
                classes &=
                        opens_left(text, n, begin, *open) && (opens_right(text, n, end) || !*open)
                                ? OPENING
                                : CLOSING;
        if ((classes & (OPENING | CLOSING)) != 0)
                *open = (classes & OPENING) != 0;
        const int to = instead(m, mark, classes);
        *word = marks[to].text;
        *length = strlen(*word);
        return to != mark;
}
