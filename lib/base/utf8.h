/* utf8.h - well-formed UTF-8, and control characters in it. */
#ifndef RAN_BASE_UTF8_H
#define RAN_BASE_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the well-formed sequence at s, of which n >= 1 bytes may be read; 0 when there
 * is none: a stray or missing continuation, an overlong form, a surrogate, more than U+10FFFF
 * (Unicode, table 3-7: only the second byte has a range that depends on the first). */
static inline size_t ran_utf8_sequence(const unsigned char *s, size_t n)
{
        unsigned char lead = s[0];
        unsigned char low = 0x80, high = 0xbf;
        size_t length;

        if (lead < 0x80)
                return 1;
        if (lead < 0xc2 || lead > 0xf4)
                return 0;
        if (lead < 0xe0) {
                length = 2;
        } else if (lead < 0xf0) {
                length = 3;
                low = lead == 0xe0 ? 0xa0 : 0x80;
                high = lead == 0xed ? 0x9f : 0xbf;
        } else {
                length = 4;
                low = lead == 0xf0 ? 0x90 : 0x80;
                high = lead == 0xf4 ? 0x8f : 0xbf;
        }
        if (n < length || s[1] < low || s[1] > high)
                return 0;
        for (size_t i = 2; i < length; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        }
        return length;
}

/* Bytes of the control character that the n > 0 bytes at s begin with: C0 controls, DEL and the
 * UTF-8 form of the C1 controls (C2 80 to C2 9F). 0: they begin with none. */
static inline size_t ran_utf8_control(const char *s, size_t n)
{
        unsigned char c = (unsigned char)s[0], next = n > 1 ? (unsigned char)s[1] : 0;

        if (c < 0x20 || c == 0x7f)
                return 1;
        return c == 0xc2 && next >= 0x80 && next <= 0x9f ? 2 : 0;
}

#endif
