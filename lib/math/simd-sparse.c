/* simd-sparse.c - sparse rows times a matrix. See simd.h. Most of the time goes into waiting for
 * rows of the matrix, so those some features ahead are fetched into the cache. */
#include "math/simd-vector.h"

enum { AHEAD = 12, BLOCK = 6, PAIR = 2 }; /* vectors at a time, held in registers: of sums; of a */

/* ---- sums of rows -----------------------------------------------------------------------------
 */

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

/* Rows of one kind, the others are NULL. In fewer bits, a vector at the end of a row may reach into
 * the next one, whose lanes are not used; not beyond `end`. */
struct rows {
        const float *f32;
        const uint16_t *f16;
        const int8_t *i8;
        size_t ld, end;
};

static inline vf row_get(const struct rows *w, size_t at, size_t n)
{
        const size_t some = at + VL <= w->end ? VL : n;

        if (w->f32 != NULL)
                return get(w->f32 + at, n);
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
        return __builtin_convertvector(__builtin_convertvector(c, vi), vf);
}

static inline void fetch(const void *from, size_t bytes)
{
        const char *p = from;

        for (size_t i = 0; i < bytes; i += 64)
                __builtin_prefetch(p + i);
        __builtin_prefetch(p + bytes - 1);
}

static inline void row_fetch(const struct rows *w, size_t at, size_t n)
{
        if (w->f32 != NULL)
                fetch(w->f32 + at, n * sizeof *w->f32);
        else if (w->f16 != NULL)
                fetch(w->f16 + at, n * sizeof *w->f16);
        else
                fetch(w->i8 + at, n);
}

/* n columns from `from` on in `vectors` vectors; called with a constant `vectors`, so that the sums
 * stay in registers. */
static inline __attribute__((always_inline)) void sum_block(float *y, const float *x,
                                                            const float *scale, const uint32_t *row,
                                                            size_t K, struct rows w, size_t from,
                                                            size_t n, size_t vectors)
{
        const size_t rest = n - (vectors - 1) * VL;
        vf s[BLOCK];

        for (size_t i = 0; i < vectors; i++)
                s[i] = get(y + i * VL, i + 1 < vectors ? VL : rest);
        for (size_t k = 0; k < K; k++) {
                const size_t at = row[k] * w.ld + from;
                const vf v = splat(scale != NULL ? x[k] * scale[row[k]] : x[k]);

                if (k + AHEAD < K) {
                        row_fetch(&w, row[k + AHEAD] * w.ld + from, n);
                        if (scale != NULL)
                                __builtin_prefetch(scale + row[k + AHEAD]);
                }
                for (size_t i = 0; i < vectors; i++)
                        s[i] = FMA(v, row_get(&w, at + i * VL, i + 1 < vectors ? VL : rest), s[i]);
        }
        for (size_t i = 0; i < vectors; i++)
                put(y + i * VL, s[i], i + 1 < vectors ? VL : rest);
}

static inline __attribute__((always_inline)) void sum_rows(float *y, const float *x,
                                                           const float *scale, const uint32_t *row,
                                                           size_t K, struct rows w, size_t N)
{
        for (size_t from = 0, n; from < N; from += n) {
                n = ran_least(N - from, BLOCK * VL);
                switch ((n + VL - 1) / VL) {
#define CASE(vectors)                                                       \
        case (vectors):                                                     \
                sum_block(y + from, x, scale, row, K, w, from, n, vectors); \
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

void RAN_KERNEL(sparse_sum)(float *y, const float *x, const uint32_t *row, size_t K, const float *w,
                            size_t ld, size_t N)
{
        sum_rows(y, x, NULL, row, K, (struct rows){.f32 = w, .ld = ld}, N);
}

void RAN_KERNEL(sparse_sum_f16)(float *y, const float *x, const uint32_t *row, size_t K,
                                const uint16_t *w, size_t ld, size_t end, size_t N)
{
        sum_rows(y, x, NULL, row, K, (struct rows){.f16 = w, .ld = ld, .end = end}, N);
}

void RAN_KERNEL(sparse_sum_i8)(float *y, const float *x, const uint32_t *row, size_t K,
                               const int8_t *w, const float *scale, size_t ld, size_t end, size_t N)
{
        sum_rows(y, x, scale, row, K, (struct rows){.i8 = w, .ld = ld, .end = end}, N);
}

/* ---- additions to rows ------------------------------------------------------------------------
 */

/* Called as sum_block, and with a constant `scaled`. */
static inline __attribute__((always_inline)) void add_block(float *w, const float *s, size_t ld,
                                                            const float *x, const uint32_t *row,
                                                            size_t K, const float *a, bool scaled,
                                                            size_t n, size_t vectors)
{
        const size_t rest = n - (vectors - 1) * VL;
        vf v[PAIR];

        for (size_t i = 0; i < vectors; i++)
                v[i] = get(a + i * VL, i + 1 < vectors ? VL : rest);
        for (size_t k = 0; k < K; k++) {
                float *to = w + row[k] * ld;
                const float *by = s + (scaled ? row[k] * ld : 0);

                if (k + AHEAD < K) {
                        fetch(w + row[k + AHEAD] * ld, n * sizeof *w);
                        if (scaled)
                                fetch(s + row[k + AHEAD] * ld, n * sizeof *s);
                }
                for (size_t i = 0; i < vectors; i++) {
                        const size_t some = i + 1 < vectors ? VL : rest;
                        vf c = splat(x[k]);

                        if (scaled)
                                c *= get(by + i * VL, some);
                        put(to + i * VL, FMA(c, v[i], get(to + i * VL, some)), some);
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
        for (size_t i = 0, n; i < N; i += n) {
                n = ran_least(N - i, PAIR * VL);
                if (all_zero(a + i, n))
                        continue;
                if (s != NULL && n > VL)
                        add_block(w + i, s + i, ld, x, row, K, a + i, true, n, 2);
                else if (s != NULL)
                        add_block(w + i, s + i, ld, x, row, K, a + i, true, n, 1);
                else if (n > VL)
                        add_block(w + i, a, ld, x, row, K, a + i, false, n, 2);
                else
                        add_block(w + i, a, ld, x, row, K, a + i, false, n, 1);
        }
}
