/* quote.c - text as a JSON string, for vocabularies, reports and records. */
#include "ran/base.h"
#include "base/utf8.h"

#include <string.h>

static bool is_plain(unsigned char c)
{
        return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
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
                        return 1;
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

void ran_buf_json(struct ran_buf *b, const char *s, size_t n)
{
        size_t pos = 0;

        ran_buf_char(b, '"');
        while (pos < n) {
                size_t begin = pos;
                while (pos < n && is_plain((unsigned char)s[pos]))
                        pos++;
                ran_buf_add(b, s + begin, pos - begin);
                if (pos < n)
                        pos += add_special(b, s + pos, n - pos);
        }
        ran_buf_char(b, '"');
}
