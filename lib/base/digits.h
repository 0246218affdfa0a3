/* digits.h - whole numbers as text: printf is too slow for four of them a word. */
#ifndef RAN_BASE_DIGITS_H
#define RAN_BASE_DIGITS_H

#include <stddef.h>
#include <string.h>

enum { RAN_DIGITS_MAX = 3 * sizeof(size_t) };

static inline size_t ran_digits_count(size_t x)
{
        size_t n = 1;

        for (; x >= 10000; x /= 10000)
                n += 4;
        return n + (x >= 10) + (x >= 100) + (x >= 1000);
}

/* Writes the digits of x at s, which has room for RAN_DIGITS_MAX; returns how many. Two at a time:
 * a division takes longer than all else. */
static inline size_t ran_digits_put(char *s, size_t x)
{
        static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                    "25262728293031323334353637383940414243444546474849"
                                    "50515253545556575859606162636465666768697071727374"
                                    "75767778798081828384858687888990919293949596979899";
        size_t n = ran_digits_count(x), at = n;

        for (; x >= 100; x /= 100)
                memcpy(s + (at -= 2), pairs + 2 * (x % 100), 2);
        if (x >= 10)
                memcpy(s, pairs + 2 * x, 2);
        else
                s[0] = (char)('0' + x);
        return n;
}

#endif
