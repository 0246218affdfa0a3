/* sha256-x86.c - SHA-256 with the instructions that x86 processors have for it. */
#include "base/sha256.h"

#ifdef RAN_HAVE_X86

#include <cpuid.h>
#include <immintrin.h>

bool ran_sha256_x86_runs(void)
{
        unsigned a, b, c, d;
        const unsigned ssse3 = 1u << 9, sse41 = 1u << 19, sha = 1u << 29;

        if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (ssse3 | sse41)) != (ssse3 | sse41))
                return false;
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & sha) != 0;
}

#define TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* The next four words of the schedule, from the last sixteen (6.2.2, step 1). */
TARGET static inline __m128i next_words(__m128i w16, __m128i w12, __m128i w8, __m128i w4)
{
        __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w16, w12), _mm_alignr_epi8(w4, w8, 4));

        return _mm_sha256msg2_epu32(sum, w4);
}

/* The instructions want the working variables as a b e f and c d g h, the first one highest. */
TARGET void ran_sha256_x86(uint32_t state[8], const unsigned char *block, size_t blocks)
{
        const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
        __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
        __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
        __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

        for (; blocks > 0; blocks--, block += 64) {
                __m128i abef_before = abef, cdgh_before = cdgh, w[4];
                for (int i = 0; i < 4; i++)
                        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)),
                                                big_endian);
#pragma GCC unroll 16
                for (int i = 0; i < 16; i++) {
                        const __m128i *k = (const __m128i *)(ran_sha256_k + 4 * i);
                        __m128i wk = _mm_add_epi32(w[i % 4], _mm_loadu_si128(k));
                        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
                        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
                        w[i % 4] = next_words(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4],
                                              w[(i + 3) % 4]);
                }
                abef = _mm_add_epi32(abef, abef_before);
                cdgh = _mm_add_epi32(cdgh, cdgh_before);
        }
        __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
        _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
        _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#endif
