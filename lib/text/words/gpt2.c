/* gpt2.c - words and bytes of GPT-2. */
#include "text/words/words.h"

#include <string.h>
#include <utf8proc.h>

#include "text/words/unicode.h"

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

/* 's 't 're 've 'm 'll 'd: its length, or 0. */
static size_t contraction(const char *s, size_t n)
{
        static const char *const ends[] = {"s", "t", "re", "ve", "m", "ll", "d"};

        for (size_t i = 0; s[0] == '\'' && i < sizeof(ends) / sizeof(ends[0]); i++) {
                const size_t length = strlen(ends[i]);

                if (length < n && memcmp(s + 1, ends[i], length) == 0)
                        return 1 + length;
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
        size_t length, next, last = 0, pos = contraction(text, n);

        *chars = pos;
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
