/* sha256.c - SHA-256 as in FIPS 180-4, whose sections are cited below. */
#include <string.h>

#include "base/sha256.h"
#include "ran/base.h"

static void (*take_blocks)(uint32_t state[8], const unsigned char *block,
                           size_t blocks) = ran_sha256_naive;

__attribute__((constructor)) static void choose(void)
{
#ifdef RAN_HAVE_X86
        if (ran_sha256_x86_runs())
                take_blocks = ran_sha256_x86;
#endif
}

void ran_sha256_init(struct ran_sha256 *s)
{
        /* 5.3.3 */
        static const uint32_t initial[8] = {
                0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
        };

        memset(s, 0, sizeof(*s));
        memcpy(s->state, initial, sizeof(initial));
}

void ran_sha256_add(struct ran_sha256 *s, const void *bytes, size_t n)
{
        const unsigned char *p = bytes;
        size_t buffered = s->length % sizeof(s->block);

        if (n == 0)
                return;
        s->length += n;
        if (buffered > 0) {
                size_t take = sizeof(s->block) - buffered < n ? sizeof(s->block) - buffered : n;

                memcpy(s->block + buffered, p, take);
                p += take;
                n -= take;
                if (buffered + take < sizeof(s->block))
                        return;
                take_blocks(s->state, s->block, 1);
        }
        take_blocks(s->state, p, n / sizeof(s->block));
        if (n % sizeof(s->block) > 0)
                memcpy(s->block, p + n / sizeof(s->block) * sizeof(s->block), n % sizeof(s->block));
}

void ran_sha256_hex(struct ran_sha256 *s, char hex[65])
{
        uint64_t bits = s->length * 8;
        unsigned char end[8];

        /* 5.1.1: a one bit, zeros up to 8 bytes before a block's end, the length in bits. */
        ran_sha256_add(s, "\x80", 1);
        while (s->length % sizeof(s->block) != sizeof(s->block) - sizeof(end))
                ran_sha256_add(s, "\0", 1);
        for (int i = 0; i < 8; i++)
                end[i] = (unsigned char)(bits >> (56 - 8 * i));
        ran_sha256_add(s, end, sizeof(end));

        for (int i = 0; i < 64; i++)
                hex[i] = "0123456789abcdef"[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
        hex[64] = '\0';
}
