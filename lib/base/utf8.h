/* utf8.h - well-formed UTF-8, and characters in it that nobody sees. */
#ifndef RAN_BASE_UTF8_H
#define RAN_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the sequences that begin with `lead`, and the range of their second byte; 0 when none
 * does (Unicode, table 3-7: only the second byte has a range that depends on the first). */
static inline size_t ran_utf8_lead(unsigned char lead, unsigned char *low, unsigned char *high)
{
        *low = 0x80;
        *high = 0xbf;
        if (lead < 0x80)
                return 1;
        if (lead < 0xc2 || lead > 0xf4)
                return 0;
        if (lead < 0xe0)
                return 2;
        if (lead < 0xf0) {
                *low = lead == 0xe0 ? 0xa0 : 0x80;
                *high = lead == 0xed ? 0x9f : 0xbf;
                return 3;
        }
        *low = lead == 0xf0 ? 0x90 : 0x80;
        *high = lead == 0xf4 ? 0x8f : 0xbf;
        return 4;
}

/* Bytes (1 to 4) of the well-formed sequence at s, of which n >= 1 bytes may be read; 0 when there
 * is none: a stray or missing continuation, an overlong form, a surrogate, more than U+10FFFF. */
static inline size_t ran_utf8_sequence(const unsigned char *s, size_t n)
{
        unsigned char low, high;
        size_t length = ran_utf8_lead(s[0], &low, &high);

        if (length <= 1)
                return length;
        if (n < length || s[1] < low || s[1] > high)
                return 0;
        for (size_t i = 2; i < length; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        }
        return length;
}

/* Room for what ran_utf8_code writes. */
enum { RAN_UTF8_CODE = 11 };
/* Writes such a character as a code, "<U+202E>" and a NUL; returns its length. */
size_t ran_utf8_code(char *s, uint32_t c);

#endif
