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

/* ---- rows in fewer bits ---------------------------------------------------------------------- */

typedef uint16_t halves __attribute__((vector_size(VL * 2), may_alias));
typedef int8_t codes __attribute__((vector_size(VL), may_alias));

/* See ran_float_of_half (tensors/compact.h). */
static inline vf floats_of_halves(halves h)
{
        const vi bits = __builtin_convertvector(h, vi);
        const vi sign = bits << 16 & INT32_MIN, none = (bits & 0x7c00) == 0x7c00;
        const vf x = (vf)((bits & 0x7fff) << 13) * 0x1p112f;

        return (vf)((vi)x | sign | (none & 0x7f800000));
}

static inline vf floats_of_codes(codes c)
{
        return __builtin_convertvector(__builtin_convertvector(c, vi), vf);
}

/* Rows of either kind: f16 or i8, the other is NULL. A vector at the end of a row may reach into
 * the next one, whose lanes are not used; not beyond `end`. */
struct compact_rows {
        const uint16_t *f16;
        const int8_t *i8;
        size_t ld, end;
};

static inline vf compact_get(const struct compact_rows *w, size_t at, size_t n)
{
        const size_t some = at + VL <= w->end ? VL : n;

        if (w->f16 != NULL) {
                halves h = {0};

                if (some == VL)
                        memcpy(&h, w->f16 + at, sizeof h);
                else
                        memcpy(&h, w->f16 + at, some * sizeof *w->f16);
                return floats_of_halves(h);
        }
        codes c = {0};
        if (some == VL)
                memcpy(&c, w->i8 + at, sizeof c);
        else
                memcpy(&c, w->i8 + at, some);
        return floats_of_codes(c);
}

static inline void compact_fetch(const struct compact_rows *w, size_t at, size_t n)
{
        const size_t width = w->f16 != NULL ? sizeof *w->f16 : sizeof *w->i8;
        const char *p = w->f16 != NULL ? (const char *)(w->f16 + at) : (const char *)(w->i8 + at);

        for (size_t i = 0; i < n * width; i += 64)
                __builtin_prefetch(p + i);
        __builtin_prefetch(p + n * width - 1);
}

/* Called as sum_block: n columns from `from` on in `vectors` vectors. */
static inline __attribute__((always_inline)) void
compact_block(float *y, const float *x, const float *scale, const uint32_t *row, size_t K,
              struct compact_rows w, size_t from, size_t n, size_t vectors)
{
        const size_t rest = n - (vectors - 1) * VL;
        vf s[BLOCK];

        for (size_t i = 0; i < vectors; i++)
                s[i] = get(y + i * VL, i + 1 < vectors ? VL : rest);
        for (size_t k = 0; k < K; k++) {
                const size_t at = row[k] * w.ld + from;
                const vf v = splat(scale != NULL ? x[k] * scale[row[k]] : x[k]);

                if (k + AHEAD < K) {
                        compact_fetch(&w, row[k + AHEAD] * w.ld + from, n);
                        if (scale != NULL)
                                __builtin_prefetch(scale + row[k + AHEAD]);
                }
                for (size_t i = 0; i < vectors; i++)
                        s[i] = FMA(v, compact_get(&w, at + i * VL, i + 1 < vectors ? VL : rest),
                                   s[i]);
        }
        for (size_t i = 0; i < vectors; i++)
                put(y + i * VL, s[i], i + 1 < vectors ? VL : rest);
}

static inline __attribute__((always_inline)) void compact_sum(float *y, const float *x,
                                                              const float *scale,
                                                              const uint32_t *row, size_t K,
                                                              struct compact_rows w, size_t N)
{
        for (size_t from = 0, n; from < N; from += n) {
                n = least(N - from, BLOCK * VL);
                switch ((n + VL - 1) / VL) {
#define CASE(vectors)                                                           \
        case (vectors):                                                         \
                compact_block(y + from, x, scale, row, K, w, from, n, vectors); \
                break;
                        CASE(1)
                        CASE(2)
                        CASE(3)
                        CASE(4)
                        CASE(5)
                        CASE(6)
#undef CASE
                }
        }
}

void RAN_KERNEL(sparse_sum_f16)(float *y, const float *x, const uint32_t *row, size_t K,
                                const uint16_t *w, size_t ld, size_t end, size_t N)
{
        compact_sum(y, x, NULL, row, K, (struct compact_rows){w, NULL, ld, end}, N);
}

void RAN_KERNEL(sparse_sum_i8)(float *y, const float *x, const uint32_t *row, size_t K,
                               const int8_t *w, const float *scale, size_t ld, size_t end, size_t N)
{
        compact_sum(y, x, scale, row, K, (struct compact_rows){NULL, w, ld, end}, N);
}
