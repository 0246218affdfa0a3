/* unicode.c - properties of characters. */
#include "text/words/words.h"

#include <string.h>
#include <utf8proc.h>

bool ran_unicode_is_space(int32_t c)
{
        if (c < 0x80)
                return c == ' ' || (c >= '\t' && c <= '\r');
        return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
               c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool ran_unicode_is_punct(int32_t c)
{
        if (c < 0x80)
                return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') ||
                       (c > 'z' && c < 0x7f);
        utf8proc_category_t category = utf8proc_category(c);
        return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool ran_unicode_is_word(int32_t c)
{
        if (c < 0x80)
                return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       (c >= 'a' && c <= 'z');
        utf8proc_category_t category = utf8proc_category(c);
        if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL)
                return true;
        /* Letters in circles and squares are symbols that count as alphabetic. */
        return category == UTF8PROC_CATEGORY_PC || c == 0x200c || c == 0x200d ||
               (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
               (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
}

bool ran_unicode_is_cjk(int32_t c)
{
        static const struct {
                int32_t first, last;
        } range[] = {
                {0x3400, 0x4dbf},
                {0x4e00, 0x9fff},
                {0xf900, 0xfaff},
                {0x20000, 0x2a6df},
                {0x2a700, 0x2b73f},
                {0x2b740, 0x2b81f},
                /* The block begins at 2B820; Hugging Face's table has 2B920, and files made with it
                 * rely on that. */
                {0x2b920, 0x2ceaf},
                {0x2f800, 0x2fa1f},
        };

        for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
                if (c >= range[i].first && c <= range[i].last)
                        return true;
        }
        return false;
}

bool ran_unicode_is_control(int32_t c)
{
        if (c == '\t' || c == '\n' || c == '\r')
                return false;
        if (c == 0xfffd)
                return true;
        utf8proc_category_t category = utf8proc_category(c);
        return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF;
}

bool ran_unicode_is_number(int32_t c)
{
        if (c < 0x80)
                return c >= '0' && c <= '9';
        utf8proc_category_t category = utf8proc_category(c);
        return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool ran_unicode_is_mark(int32_t c)
{
        utf8proc_category_t category = utf8proc_category(c);

        return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool ran_unicode_may_compose(int32_t c)
{
        /* Marks, and the vowels and final consonants of Hangul. */
        return c >= 0x300 && (ran_unicode_is_mark(c) || (c >= 0x1161 && c <= 0x11c2));
}

unsigned ran_unicode_combining_class(int32_t c)
{
        return (unsigned)utf8proc_get_property(c)->combining_class;
}

size_t ran_unicode_put(char *s, int32_t c)
{
        return (size_t)utf8proc_encode_char(c, (utf8proc_uint8_t *)s);
}

int32_t ran_unicode_get(const char *s, size_t n, size_t *length)
{
        utf8proc_int32_t c;
        utf8proc_ssize_t taken =
                utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &c);

        *length = taken > 0 ? (size_t)taken : 1;
        return taken > 0 ? c : -1;
}

size_t ran_unicode_length(const char *s, size_t n)
{
        size_t length = 1;

        while (length < n && ((unsigned char)s[length] & 0xc0) == 0x80)
                length++;
        return length;
}

size_t ran_unicode_count(const char *s, size_t n)
{
        const uint64_t ones = UINT64_C(0x0101010101010101);
        size_t count = n, i = 0;
        uint64_t x;

        /* Less the bytes that continue a character: bit 7, not 6. */
        for (; n - i >= sizeof x; i += sizeof x) {
                memcpy(&x, s + i, sizeof x);
                count -= (size_t)((x >> 7 & ~x >> 6 & ones) * ones >> 56);
        }
        for (; i < n; i++)
                count -= ((unsigned char)s[i] & 0xc0) == 0x80;
        return count;
}

size_t ran_unicode_last(const char *s, size_t end)
{
        do
                end--;
        while (end > 0 && ((unsigned char)s[end] & 0xc0) == 0x80);
        return end;
}

size_t ran_unicode_space(const char *s, size_t n)
{
        size_t pos = 0, length;

        while (pos < n && ran_unicode_is_space(ran_unicode_get(s + pos, n - pos, &length)))
                pos += length;
        return pos;
}

size_t ran_unicode_trailing_space(const char *s, size_t n)
{
        size_t end = n, length;

        while (end > 0) {
                const size_t pos = ran_unicode_last(s, end);
                if (!ran_unicode_is_space(ran_unicode_get(s + pos, end - pos, &length)))
                        break;
                end = pos;
        }
        return n - end;
}
