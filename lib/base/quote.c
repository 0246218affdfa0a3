/* quote.c - text as a JSON string, for vocabularies, reports and records. */
#include "ran/base.h"
#include "base/utf8.h"

#include <string.h>

static bool is_plain(unsigned char c)
{
        return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* On to a character that is not plain. Eight bytes at a time; a byte above one that is not plain
 * may be taken for such (subtraction borrows), and is then looked at by itself. */
static size_t skip_plain(const char *s, size_t n, size_t pos)
{
        uint64_t x;

        for (; n - pos >= sizeof x; pos += sizeof x) {
                memcpy(&x, s + pos, sizeof x);
                uint64_t quote = (x ^ EACH_BYTE('"')) - EACH_BYTE(1);
                uint64_t backslash = (x ^ EACH_BYTE('\\')) - EACH_BYTE(1);
                if (((x | quote | backslash | (x - EACH_BYTE(0x20))) & EACH_BYTE(0x80)) != 0)
                        break;
        }
        while (pos < n && is_plain((unsigned char)s[pos]))
                pos++;
        return pos;
}

/* One character of s that may not stand as it is; returns how many bytes it took. */
static size_t add_special(struct ran_buf *b, const char *s, size_t n)
{
        static const char bytes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
        unsigned char c = (unsigned char)*s;

        if (c >= 0x80) {
                size_t length = ran_utf8_sequence((const unsigned char *)s, n);
                if (length == 0) {
                        ran_buf_str(b, "\xef\xbf\xbd"); /* U+FFFD, so that the output stays UTF-8 */
                        return ran_utf8_character(s, n);
                }
                ran_buf_add(b, s, length);
                return length;
        }
        const char *known = c != 0 ? strchr(bytes, c) : NULL;
        if (known != NULL) {
                ran_buf_char(b, '\\');
                ran_buf_char(b, letters[known - bytes]);
        } else {
                ran_buf_printf(b, "\\u%04x", c);
        }
        return 1;
}

void ran_buf_json_part(struct ran_buf *b, const char *s, size_t n)
{
        size_t pos = 0;

        while (pos < n) {
                size_t begin = pos;
                pos = skip_plain(s, n, pos);
                ran_buf_add(b, s + begin, pos - begin);
                if (pos < n)
                        pos += add_special(b, s + pos, n - pos);
        }
}

void ran_buf_json(struct ran_buf *b, const char *s, size_t n)
{
        ran_buf_char(b, '"');
        ran_buf_json_part(b, s, n);
        ran_buf_char(b, '"');
}
