/* fingerprint.c - a number by which a text is known again, and from which it cannot be restored. */
#include "ran/base.h"

#include <stdlib.h>

void ran_fingerprint_add(struct ran_sha256 *s, const char *text, size_t n)
{
        char folded[512];
        size_t k = 0;

        for (size_t i = 0; i < n; i++) {
                const char c = text[i];

                if (c == ' ' || (c >= '\t' && c <= '\r'))
                        continue;
                folded[k++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
                if (k == sizeof folded) {
                        ran_sha256_add(s, folded, k);
                        k = 0;
                }
        }
        if (k > 0)
                ran_sha256_add(s, folded, k);
}

uint32_t ran_fingerprint_end(struct ran_sha256 *s)
{
        char hex[65];

        ran_sha256_hex(s, hex);
        hex[8] = '\0';
        return (uint32_t)strtoul(hex, NULL, 16);
}
