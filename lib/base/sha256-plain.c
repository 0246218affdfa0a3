/* sha256-plain.c - the compression of SHA-256 for any processor, and its constants. */
#include "base/sha256.h"

#include <string.h>

/* 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const uint32_t ran_sha256_k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
        return x >> n | x << (32 - n);
}

/* 6.2.2: one block of 64 bytes. The eight working variables live in v[]; instead of moving all of
 * them down one place a round, the place that counts as `a` moves. */
static void compress(uint32_t state[8], const unsigned char *block)
{
        uint32_t w[64], v[8];

        for (int t = 0; t < 16; t++, block += 4)
                w[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
                       (uint32_t)block[2] << 8 | block[3];
        for (int t = 16; t < 64; t++) {
                uint32_t x = w[t - 15], y = w[t - 2];
                uint32_t s0 = rotate(x, 7) ^ rotate(x, 18) ^ x >> 3;
                uint32_t s1 = rotate(y, 17) ^ rotate(y, 19) ^ y >> 10;

                w[t] = w[t - 16] + s0 + w[t - 7] + s1;
        }
        memcpy(v, state, sizeof(v));
        for (int t = 0; t < 64; t++) {
#define V(i) v[((i)-t) & 7]
                uint32_t a = V(0), e = V(4);
                uint32_t choose = (e & V(5)) ^ (~e & V(6));
                uint32_t majority = (a & V(1)) ^ (a & V(2)) ^ (V(1) & V(2));
                uint32_t t1 = V(7) + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose +
                              ran_sha256_k[t] + w[t];
                uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;

                V(3) += t1;
                V(7) = t1 + t2;
#undef V
        }
        for (int i = 0; i < 8; i++)
                state[i] += v[i];
}

void ran_sha256_naive(uint32_t state[8], const unsigned char *block, size_t blocks)
{
        for (; blocks > 0; blocks--, block += 64)
                compress(state, block);
}
