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

size_t ran_utf8_character(const char *s, size_t n)
{
        unsigned char low, high;
        size_t length = ran_utf8_lead((unsigned char)s[0], &low, &high), taken = 1;

        while (taken < length && taken < n && (unsigned char)s[taken] >= low &&
               (unsigned char)s[taken] <= high) {
                taken++;
                low = 0x80;
                high = 0xbf;
        }
        return taken;
}

/* Controls; the soft hyphen; marks, embeddings, overrides and isolates of bidirectional text;
 * spaces without width; separators of lines and paragraphs; annotations; tags. Joiners are no part
 * of it: Persian and emoji need them. */
static const struct {
        uint32_t from, to;
} unseen[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

size_t ran_utf8_unseen(const char *s, size_t n, uint32_t *c)
{
        const unsigned char *u = (const unsigned char *)s;
        size_t length = ran_utf8_sequence(u, n);

        if (length == 0)
                return 0;
        *c = length == 1 ? u[0] : u[0] & (0xffu >> (length + 1));
        for (size_t i = 1; i < length; i++)
                *c = *c << 6 | (u[i] & 0x3f);
        for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
                if (*c >= unseen[i].from && *c <= unseen[i].to)
                        return length;
        return 0;
}

size_t ran_utf8_code(char *s, uint32_t c)
{
        return (size_t)snprintf(s, RAN_UTF8_CODE, "<U+%04X>", (unsigned)(c & 0xfffff));
}
