/* text-words.c - words of texts, see eval.h.
 *
 * The rules of 13a are about ASCII characters, one rule after another over the whole text. Bytes of
 * other characters are never one of these, so the rules apply to bytes.
 */
#include "eval/eval.h"
#include "base/utf8.h"

#include <string.h>

/* ---- words ---------------------------------------------------------------------------------- */

size_t ran_text_space(const char *text, size_t n)
{
        const unsigned char *s = (const unsigned char *)text;

        if ((s[0] >= 0x09 && s[0] <= 0x0d) || (s[0] >= 0x1c && s[0] <= 0x20))
                return 1;
        if (n >= 2 && s[0] == 0xc2 && (s[1] == 0x85 || s[1] == 0xa0)) /* U+0085, U+00A0 */
                return 2;
        if (n < 3)
                return 0;
        if (s[0] == 0xe1 && s[1] == 0x9a && s[2] == 0x80) /* U+1680 */
                return 3;
        if (s[0] == 0xe2 && s[1] == 0x80 && /* U+2000 to 200A, 2028, 2029, 202F */
            (s[2] <= 0x8a || s[2] == 0xa8 || s[2] == 0xa9 || s[2] == 0xaf))
                return 3;
        if (s[0] == 0xe2 && s[1] == 0x81 && s[2] == 0x9f) /* U+205F */
                return 3;
        return s[0] == 0xe3 && s[1] == 0x80 && s[2] == 0x80 ? 3 : 0; /* U+3000 */
}

static size_t character(const char *text, size_t n)
{
        size_t length = ran_utf8_sequence((const unsigned char *)text, n);

        return length > 0 ? length : 1;
}

bool ran_text_word(const char *text, size_t n, size_t *at, const char **word, size_t *length)
{
        size_t i = *at, space, begin;

        while (i < n && (space = ran_text_space(text + i, n - i)) > 0)
                i += space;
        for (begin = i; i < n && ran_text_space(text + i, n - i) == 0;)
                i += character(text + i, n - i);
        *at = i;
        *word = text + begin;
        *length = i - begin;
        return i > begin;
}

void ran_text_rouge(struct ran_buf *out, const char *text, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                char c = text[i];

                if (c >= 'A' && c <= 'Z')
                        ran_buf_char(out, (char)(c - 'A' + 'a'));
                else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
                        ran_buf_char(out, c);
                else
                        ran_buf_char(out, ' ');
        }
}

/* ---- 13a ------------------------------------------------------------------------------------ */

/* Appends the text with each `from` replaced by `to`. */
static void replace(struct ran_buf *out, const char *text, size_t n, const char *from,
                    const char *to)
{
        size_t length = strlen(from);

        for (size_t i = 0; i < n;) {
                if (n - i >= length && memcmp(text + i, from, length) == 0) {
                        ran_buf_str(out, to);
                        i += length;
                } else {
                        ran_buf_char(out, text[i++]);
                }
        }
}

/* Whether a character is one of these or, after ^, none of them. */
static bool is(char c, const char *class)
{
        const bool other = class[0] == '^';

        return (c != '\0' && strchr(class + other, c) != NULL) != other;
}

/* Punctuation that is always a token: all of ASCII but ' , - and the full stop. */
static bool is_token(char c)
{
        return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' ||
               (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static void add(struct ran_buf *out, char c, bool apart)
{
        if (apart)
                ran_buf_add(out, (const char[]){' ', c, ' '}, 3);
        else
                ran_buf_char(out, c);
}

/* Sets one of two adjacent characters apart, where these classes have them. */
static void split_pairs(struct ran_buf *out, const char *s, size_t n, const char *first,
                        const char *second, bool second_apart)
{
        for (size_t i = 0; i < n; i++) {
                const bool pair = i + 1 < n && is(s[i], first) && is(s[i + 1], second);

                add(out, s[i], pair && !second_apart);
                if (pair)
                        add(out, s[++i], second_apart);
        }
}

static void exchange(struct ran_buf *a, struct ran_buf *b)
{
        const struct ran_buf c = *a;

        *a = *b;
        *b = c;
        b->len = 0;
}

void ran_text_13a(struct ran_buf *out, const char *text, size_t n)
{
        static const char *const replaced[][2] = {
                {"<skipped>", ""}, {"-\n", ""},   {"\n", " "},   {"&quot;", "\""},
                {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"},
        };
        static const struct {
                const char *first, *second;
                bool second_apart;
        } rules[] = {
                {"^0123456789", ".,", true},  /* a full stop or comma that no digit precedes */
                {".,", "^0123456789", false}, /* ... that no digit follows */
                {"0123456789", "-", true},    /* a dash that follows a digit */
        };
        struct ran_buf x = {0}, y = {0};
        size_t end = 0, at = 0, length;
        const char *word;

        while (ran_text_word(text, n, &at, &word, &length)) /* no white space at its end */
                end = at;
        ran_buf_add(&x, text, end);
        for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
                replace(&y, x.data, x.len, replaced[i][0], replaced[i][1]);
                exchange(&x, &y);
        }
        add(&y, ' ', true);
        for (size_t i = 0; i < x.len; i++)
                add(&y, x.data[i], is_token(x.data[i]));
        add(&y, ' ', true);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
                exchange(&x, &y);
                split_pairs(&y, x.data, x.len, rules[i].first, rules[i].second,
                            rules[i].second_apart);
        }
        ran_buf_add(out, y.data, y.len);
        ran_buf_release(&x);
        ran_buf_release(&y);
}
