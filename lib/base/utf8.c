/* utf8.c - see utf8.h and ran/base.h. */
#include "base/utf8.h"
#include "ran/base.h"

#include <string.h>

/* Texts are mostly ASCII: eight bytes at a time. */
static size_t skip_ascii(const char *s, size_t n, size_t pos)
{
        uint64_t x;

        for (; n - pos >= sizeof x; pos += sizeof x) {
                memcpy(&x, s + pos, sizeof x);
                if ((x & UINT64_C(0x8080808080808080)) != 0)
                        break;
        }
        return pos;
}

size_t ran_utf8_valid(const char *s, size_t n)
{
        size_t pos = 0;

        while ((pos = skip_ascii(s, n, pos)) < n) {
                size_t length = ran_utf8_sequence((const unsigned char *)s + pos, n - pos);
                if (length == 0)
                        break;
                pos += length;
        }
        return pos;
}

size_t ran_utf8_mark(const char *s, size_t n)
{
        return n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
