/* gpt2.c - words and bytes of GPT-2. */
#include "text/words/words.h"

#include <string.h>
#include <utf8proc.h>

/* ---- words ---------------------------------------------------------------------------------- */

enum kind { KIND_BAD, KIND_SPACE = ' ', KIND_LETTER = 'a', KIND_NUMBER = '1', KIND_OTHER = '.' };

/* The kind of each ASCII character. */
static const char ascii_kinds[] = ".........     .................."
                                  " ...............1111111111......"
                                  ".aaaaaaaaaaaaaaaaaaaaaaaaaa....."
                                  ".aaaaaaaaaaaaaaaaaaaaaaaaaa.....";

static enum kind kind_of(int32_t c)
{
        utf8proc_category_t category = utf8proc_category(c);

        if (ran_unicode_is_space(c))
                return KIND_SPACE;
        if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO)
                return KIND_LETTER;
        if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO)
                return KIND_NUMBER;
        return KIND_OTHER;
}

/* The kind of the first character, and its length. */
static enum kind first_kind(const char *s, size_t n, size_t *length)
{
        *length = 1;
        if ((unsigned char)s[0] < 0x80)
                return (enum kind)ascii_kinds[(unsigned char)s[0]];
        int32_t c = ran_unicode_get(s, n, length);
        return c >= 0 ? kind_of(c) : KIND_BAD;
}

/* 's 't 're 've 'm 'll 'd: its length, or 0; with any_case also in capitals, and the long s. */
static size_t contraction(const char *s, size_t n, bool any_case, size_t *chars)
{
        static const char *const ends[] = {"s", "t", "re", "ve", "m", "ll", "d"};
        const int small = any_case ? 0x20 : 0;

        if (s[0] != '\'')
                return 0;
        if (any_case && n > 2 && memcmp(s + 1, "\xc5\xbf", 2) == 0) {
                *chars = 2;
                return 3;
        }
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                size_t length = strlen(ends[i]), k = 0;
                while (k < length && 1 + k < n && (s[1 + k] | small) == ends[i][k])
                        k++;
                if (k == length) {
                        *chars = 1 + length;
                        return 1 + length;
                }
        }
        return 0;
}

/* The regular expression of GPT-2,
 *      's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * is: a contraction; else letters, numbers, or characters that are neither nor white space, with a
 * space before them if there is one; else white space, of which the last one is left to the word
 * behind it, unless it is the only one. */
size_t ran_gpt2_word(const char *text, size_t n, size_t *chars)
{
        size_t length, next, last = 0, pos = contraction(text, n, false, chars);

        if (pos > 0)
                return pos;
        enum kind kind = first_kind(text, n, &length);
        *chars = 1;
        pos = length;
        if (text[0] == ' ' && n > 1) {
                enum kind second = first_kind(text + 1, n - 1, &next);
                if (second != KIND_SPACE && second != KIND_BAD) {
                        kind = second;
                        pos += next;
                        ++*chars;
                }
        }
        if (kind == KIND_BAD)
                return 0;
        for (; pos < n && first_kind(text + pos, n - pos, &next) == kind; pos += next) {
                last = pos;
                ++*chars;
        }
        if (kind == KIND_SPACE && last > 0 && pos < n) {
                pos = last;
                --*chars;
        }
        return pos;
}

/* The end of a run of `most` characters of a kind at most, from pos on. */
static size_t run_of(enum kind kind, const char *text, size_t n, size_t pos, size_t most,
                     size_t *chars)
{
        size_t next;

        for (; most > 0 && pos < n && first_kind(text + pos, n - pos, &next) == kind; most--) {
                pos += next;
                ++*chars;
        }
        return pos;
}

/* ---- words of GPT-4 -------------------------------------------------------------------------- */

static bool is_feed(char c)
{
        return c == '\r' || c == '\n';
}

/* White space: up to its last line end; otherwise without its last character, which belongs to
 * the next word, unless nothing follows or it is the only one. */
static size_t white_space(const char *text, size_t n, size_t *chars)
{
        size_t pos = 0, last = 0, feed = 0, feed_chars = 0, next;

        for (; pos < n && first_kind(text + pos, n - pos, &next) == KIND_SPACE; pos += next) {
                last = pos;
                ++*chars;
                if (is_feed(text[pos])) {
                        feed = pos + 1;
                        feed_chars = *chars;
                }
        }
        if (feed > 0) {
                *chars = feed_chars;
                return feed;
        }
        if (pos == n || last == 0)
                return pos;
        --*chars;
        return last;
}

/* The regular expression of GPT-4,
 *      (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
 *       ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * is: a contraction; else letters, with any character before them but a number or the end of a
 * line; else a few digits; else what is none of these, with a space before it and ends of lines
 * behind it; else white space. */
size_t ran_gpt4_word(const char *text, size_t n, size_t digits, size_t *chars)
{
        size_t length, next, pos = contraction(text, n, true, chars);

        if (pos > 0)
                return pos;
        *chars = 0;
        enum kind kind = first_kind(text, n, &length), second = KIND_BAD;
        if (kind == KIND_BAD)
                return 0;
        if (length < n)
                second = first_kind(text + length, n - length, &next);
        if (kind == KIND_LETTER ||
            (second == KIND_LETTER && kind != KIND_NUMBER && !is_feed(text[0]))) {
                *chars = 1;
                return run_of(KIND_LETTER, text, n, length, SIZE_MAX, chars);
        }
        if (kind == KIND_NUMBER)
                return run_of(KIND_NUMBER, text, n, 0, digits, chars);
        if (kind == KIND_OTHER || (text[0] == ' ' && second == KIND_OTHER)) {
                *chars = 1;
                pos = run_of(KIND_OTHER, text, n, length, SIZE_MAX, chars);
                for (; pos < n && is_feed(text[pos]); pos++)
                        ++*chars;
                return pos;
        }
        return white_space(text, n, chars);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Bytes that are visible characters of Latin-1 represent themselves; the others, those below '!',
 * from DEL to U+00A0, and the soft hyphen, are U+0100 and up. */
enum { HIDDEN = 0x100, FROM_DEL = HIDDEN + '!', SOFT_HYPHEN = FROM_DEL + 0xa1 - 0x7f };

int32_t ran_gpt2_char(unsigned char byte)
{
        if (byte < '!')
                return HIDDEN + byte;
        if (byte >= 0x7f && byte < 0xa1)
                return FROM_DEL + (byte - 0x7f);
        return byte == 0xad ? SOFT_HYPHEN : byte;
}

int ran_gpt2_byte(int32_t c)
{
        const int32_t byte = c < HIDDEN        ? c
                             : c < FROM_DEL    ? c - HIDDEN
                             : c < SOFT_HYPHEN ? c - FROM_DEL + 0x7f
                                               : 0xad;

        return byte >= 0 && ran_gpt2_char((unsigned char)byte) == c ? byte : -1;
}

bool ran_gpt2_bytes(const char *token, size_t n, struct ran_buf *out)
{
        size_t before = out != NULL ? out->len : 0;

        for (size_t pos = 0, length; pos < n; pos += length) {
                int byte = ran_gpt2_byte(ran_unicode_get(token + pos, n - pos, &length));
                if (byte < 0) {
                        if (out != NULL)
                                out->len = before;
                        return false;
                }
                if (out != NULL)
                        ran_buf_char(out, (char)byte);
        }
        return true;
}
