/* simd-sparse.c - sparse rows times a matrix. See simd.h. Most of the time goes into waiting for
 * rows of the matrix, so those some features ahead are fetched into the cache. */
#include "math/simd-vector.h"

enum { AHEAD = 12, BLOCK = 6, PAIR = 2 }; /* vectors at a time, held in registers: of sums; of a */

/* Some of a vector's first lanes: as get and put of simd-vector.h, but quick where that many are
 * taken again and again. */
#if VL == 16
typedef __mmask16 vector_part;

static inline vector_part part_of(size_t n)
{
        return (vector_part)((1u << n) - 1);
}

static inline vf part_get(const float *p, vector_part part)
{
        return (vf)_mm512_maskz_loadu_ps(part, p);
}

static inline void part_put(float *p, vf v, vector_part part)
{
        _mm512_mask_storeu_ps(p, part, (__m512)v);
}
#elif VL == 8
typedef __m256i vector_part;

static inline vector_part part_of(size_t n)
{
        const vi lane = {0, 1, 2, 3, 4, 5, 6, 7};

        return (__m256i)(lane < (int32_t)n);
}

static inline vf part_get(const float *p, vector_part part)
{
        return (vf)_mm256_maskload_ps(p, part);
}

static inline void part_put(float *p, vf v, vector_part part)
{
        _mm256_maskstore_ps(p, part, (__m256)v);
}
#else
typedef size_t vector_part;

static inline vector_part part_of(size_t n)
{
        return n;
}

static inline vf part_get(const float *p, vector_part part)
{
        vf v = {p[0]};

        for (size_t i = 1; i < part; i++)
                v[i] = p[i];
        return v;
}

static inline void part_put(float *p, vf v, vector_part part)
{
        for (size_t i = 0; i < part; i++)
                p[i] = v[i];
}
#endif

static inline void fetch(const float *p, size_t n)
{
        for (size_t i = 0; i < n; i += 16)
                __builtin_prefetch(p + i);
        __builtin_prefetch(p + n - 1);
}

/* `whole` vectors and `rest` lanes; called with a constant `whole` and `parted`, so that the sums
 * stay in registers. */
static inline __attribute__((always_inline)) void sum_block(float *y, const float *x,
                                                            const uint32_t *row, size_t K,
                                                            const float *w, size_t ld, size_t whole,
                                                            bool parted, size_t rest)
{
        const vector_part part = part_of(rest);
        vf s[BLOCK + 1];

        for (size_t i = 0; i < whole; i++)
                s[i] = load(y + i * VL);
        if (parted)
                s[whole] = part_get(y + whole * VL, part);
        for (size_t k = 0; k < K; k++) {
                const float *from = w + row[k] * ld;
                const vf v = splat(x[k]);

                if (k + AHEAD < K)
                        fetch(w + row[k + AHEAD] * ld, whole * VL + (parted ? rest : 0));
                for (size_t i = 0; i < whole; i++)
                        s[i] = FMA(v, load(from + i * VL), s[i]);
                if (parted)
                        s[whole] = FMA(v, part_get(from + whole * VL, part), s[whole]);
        }
        for (size_t i = 0; i < whole; i++)
                store(y + i * VL, s[i]);
        if (parted)
                part_put(y + whole * VL, s[whole], part);
}

void RAN_KERNEL(sparse_sum)(float *y, const float *x, const uint32_t *row, size_t K, const float *w,
                            size_t ld, size_t N)
{
        if (N == 0)
                return;
        for (; N >= (BLOCK + 1) * VL; N -= BLOCK * VL, y += BLOCK * VL, w += BLOCK * VL)
                sum_block(y, x, row, K, w, ld, BLOCK, false, 0);
        switch (N / VL * 2 + (N % VL > 0)) {
#define CASE(whole)                                                  \
        case 2 * (whole):                                            \
                sum_block(y, x, row, K, w, ld, whole, false, 0);     \
                break;                                               \
        case 2 * (whole) + 1:                                        \
                sum_block(y, x, row, K, w, ld, whole, true, N % VL); \
                break;
                CASE(0) /* a part */
                CASE(1)
                CASE(2)
                CASE(3)
                CASE(4)
                CASE(5)
                CASE(6)
#undef CASE
        }
}

/* Called as sum_block, and with a constant `scaled`. */
static inline __attribute__((always_inline)) void add_block(float *w, const float *s, size_t ld,
                                                            const float *x, const uint32_t *row,
                                                            size_t K, const float *a, bool scaled,
                                                            size_t whole, bool parted, size_t rest)
{
        const size_t n = whole * VL + (parted ? rest : 0);
        const vector_part part = part_of(rest);
        vf v[PAIR + 1];

        for (size_t i = 0; i < whole; i++)
                v[i] = load(a + i * VL);
        if (parted)
                v[whole] = part_get(a + whole * VL, part);
        for (size_t k = 0; k < K; k++) {
                float *to = w + row[k] * ld;
                const float *by = s + (scaled ? row[k] * ld : 0);
                const vf xk = splat(x[k]);

                if (k + AHEAD < K) {
                        fetch(w + row[k + AHEAD] * ld, n);
                        if (scaled)
                                fetch(s + row[k + AHEAD] * ld, n);
                }
                for (size_t i = 0; i < whole; i++) {
                        vf c = xk;

                        if (scaled)
                                c *= load(by + i * VL);
                        store(to + i * VL, FMA(c, v[i], load(to + i * VL)));
                }
                if (parted) {
                        vf c = xk;

                        if (scaled)
                                c *= part_get(by + whole * VL, part);
                        part_put(to + whole * VL, FMA(c, v[whole], part_get(to + whole * VL, part)),
                                 part);
                }
        }
}

static inline bool all_zero(const float *a, size_t n)
{
        size_t i = 0;

        while (i < n && a[i] == 0)
                i++;
        return i == n;
}

void RAN_KERNEL(sparse_add)(float *w, const float *s, size_t ld, const float *x,
                            const uint32_t *row, size_t K, const float *a, size_t N)
{
        const bool scaled = s != NULL;

        for (size_t i = 0, n; i < N; i += n) {
                const float *by = scaled ? s + i : a;

                n = least(N - i, PAIR * VL);
                if (all_zero(a + i, n))
                        continue;
                switch (n / VL * 4 + (n % VL > 0 ? 2 : 0) + scaled) {
#define ADD(whole, parted, scaled)                                                         \
        case 4 * (whole) + 2 * (parted) + (scaled):                                        \
                add_block(w + i, by, ld, x, row, K, a + i, scaled, whole, parted, n % VL); \
                break;
                        ADD(0, 1, 0)
                        ADD(0, 1, 1)
                        ADD(1, 0, 0)
                        ADD(1, 0, 1)
                        ADD(1, 1, 0)
                        ADD(1, 1, 1)
                        ADD(2, 0, 0)
                        ADD(2, 0, 1)
#undef ADD
                }
        }
}
