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

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_no_digit(char c)
{
        return !is_digit(c);
}

static bool is_dash(char c)
{
        return c == '-';
}

static bool is_stop(char c)
{
        return c == '.' || c == ',';
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
static void split_pairs(struct ran_buf *out, const char *s, size_t n, bool (*first)(char),
                        bool (*second)(char), bool second_apart)
{
        for (size_t i = 0; i < n; i++) {
                const bool pair = i + 1 < n && first(s[i]) && second(s[i + 1]);

                add(out, s[i], pair && !second_apart);
                if (pair)
                        add(out, s[++i], second_apart);
        }
}

/* The length of the text without white space at its end. */
static size_t trimmed(const char *text, size_t n)
{
        size_t end = 0, at = 0, length;
        const char *word;

        while (ran_text_word(text, n, &at, &word, &length))
                end = at;
        return end;
}

static void exchange(struct ran_buf *a, struct ran_buf *b)
{
        const struct ran_buf c = *a;

        *a = *b;
        *b = c;
        b->len = 0;
}

void ran_text_13a(struct ran_buf *out, struct ran_buf *scratch, const char *text, size_t n)
{
        static const char *const replaced[][2] = {
                {"<skipped>", ""}, {"-\n", ""},   {"\n", " "},   {"&quot;", "\""},
                {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"},
        };
        static const struct {
                bool (*first)(char), (*second)(char);
                bool second_apart;
        } rules[] = {
                {is_no_digit, is_stop, true},  /* a full stop or comma that no digit precedes */
                {is_stop, is_no_digit, false}, /* ... that no digit follows */
                {is_digit, is_dash, true},     /* a dash that follows a digit */
        };
        struct ran_buf x = {0};

        scratch->len = 0;
        ran_buf_add(&x, text, trimmed(text, n));
        for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
                replace(scratch, x.data, x.len, replaced[i][0], replaced[i][1]);
                exchange(&x, scratch);
        }
        add(scratch, ' ', true);
        for (size_t i = 0; i < x.len; i++)
                add(scratch, x.data[i], is_token(x.data[i]));
        add(scratch, ' ', true);
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
                exchange(&x, scratch);
                split_pairs(scratch, x.data, x.len, rules[i].first, rules[i].second,
                            rules[i].second_apart);
        }
        ran_buf_add(out, scratch->data, scratch->len);
        ran_buf_release(&x);
}
