/* offsets.c - offsets of tokens in bytes or UTF-16 units instead of code points. */
#include <stdlib.h>

#include "ran/text.h"
#include "text/words/words.h"

const char *const ran_unit_names[] = {"codepoint", "byte", "utf16", NULL};

/* The units of a character with this first byte. */
static size_t units(unsigned char first, enum ran_unit unit)
{
        if (unit == RAN_UNIT_UTF16)
                return first >= 0xf0 ? 2 : 1;
        return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

void ran_encoding_convert(struct ran_encoding *e, size_t first, const char *text, size_t n,
                          enum ran_unit unit)
{
        size_t points = 0;

        if (unit == RAN_UNIT_CODEPOINT)
                return;
        size_t *at = ran_new(n + 1, sizeof(*at)); /* where each code point begins */
        for (size_t i = 0; i < n; i++) {
                unsigned char byte = (unsigned char)text[i];
                if ((byte & 0xc0) == 0x80)
                        continue;
                at[points + 1] = at[points] + units(byte, unit);
                points++;
        }
        for (size_t i = first; i < e->n; i++) {
                if (e->start[i] <= points && e->end[i] <= points) {
                        e->start[i] = at[e->start[i]];
                        e->end[i] = at[e->end[i]];
                }
        }
        free(at);
}

void ran_encoding_trim_spaces(struct ran_encoding *e, const char *text, size_t n)
{
        size_t point = 0, at = 0, length;

        for (size_t t = 0; t < e->n; t++) {
                while (at < n && point < e->end[t]) {
                        const int32_t c = ran_unicode_get(text + at, n - at, &length);

                        if (point >= e->start[t] && !ran_unicode_is_space(c))
                                break;
                        e->start[t] += point == e->start[t];
                        point++;
                        at += length;
                }
                if (t + 1 < e->n && e->start[t + 1] == e->start[t] && e->end[t + 1] >= e->end[t])
                        e->end[t] = e->start[t];
        }
}
