/* simd.c - vector kernels, compiled once an instruction set with -DRAN_SIMD=name and -DRAN_LANES=
 * floats in a vector. See simd.h.
 *
 * Written with the vector extensions of GCC and clang, and intrinsics only where those have no word
 * for it (fused multiply-add, masked tails). Each use of fma is chosen: the file is compiled with
 * -ffp-contract=off like all others.
 */
#include "math/simd.h"
#include "base/random.h"
#include "math/elementary.h"

#include <math.h>
#include <string.h>

#if RAN_LANES > 4
#include <immintrin.h>
#endif

#define VL RAN_LANES
#if VL == 16
#define MR 14 /* a tile of 14 x 32 uses 28 + 2 of the 32 registers */
#elif VL == 8
#define MR 6 /* 6 x 16: 12 + 2 of 16 registers */
#else
#define MR 4 /* 4 x 8: 8 + 2 of 16 registers */
#endif
#if VL == 4 || defined(RAN_PLAIN) /* the same on every processor: see gemm.c */
#define FMA(x, y, z) ((x) * (y) + (z))
#elif VL == 8
#define FMA(x, y, z) ((vf)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#else
#define FMA(x, y, z) ((vf)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#endif
#define NR (2 * VL)

typedef float vf __attribute__((vector_size(VL * 4), may_alias));
typedef int32_t vi __attribute__((vector_size(VL * 4), may_alias));
typedef float vf_any __attribute__((vector_size(VL * 4), may_alias, aligned(4)));

static inline vf load(const float *p)
{
        return *(const vf_any *)p;
}

static inline void store(float *p, vf v)
{
        *(vf_any *)p = v;
}

static inline vf splat(float x)
{
        return x - (vf){0}; /* x - 0 keeps -0 and NaN, and compiles to one broadcast */
}

/* The first n <= VL elements; the others read as 0 and are not written. */
static inline vf get(const float *p, size_t n)
{
        vf v = {0};

        if (n == VL)
                return load(p);
#if VL == 16
        v = (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
        memcpy(&v, p, n * sizeof *p);
#endif
        return v;
}

static inline void put(float *p, vf v, size_t n)
{
        if (n == VL) {
                store(p, v);
                return;
        }
#if VL == 16
        _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#else
        memcpy(p, &v, n * sizeof *p);
#endif
}

/* v in its first n lanes, other in the rest */
static inline vf pick(vf v, vf other, size_t n)
{
        vi lane, take;

        if (n == VL)
                return v;
        for (int i = 0; i < VL; i++)
                lane[i] = i;
        take = lane < (int32_t)n;
        return (vf)(((vi)v & take) | ((vi)other & ~take));
}

/* Vectors over n elements: i is where one begins, k <= VL how many elements it has. First the whole
 * ones, for which k is a constant, then what is left; the compiler makes two loops of it. */
#define EACH(i, k, n)                                                                            \
        _Pragma("GCC unroll 2") for (size_t end_ = (n), rest_ = end_ % VL, part_ = 0; part_ < 2; \
                                     part_++) for (size_t i = part_ ? end_ - rest_ : 0,          \
                                                   k = part_ ? rest_ : VL;                       \
                                                   i < end_ - (part_ ? 0 : rest_); i += VL)

static inline size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

/* b where a is not larger (smaller), so that a NaN in b comes through. */
static inline vf max(vf a, vf b)
{
#if VL == 16
        return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif VL == 8
        return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
        vi take = a > b;

        return (vf)(((vi)a & take) | ((vi)b & ~take));
#endif
}

static inline vf min(vf a, vf b)
{
#if VL == 16
        return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif VL == 8
        return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
        return -max(-a, -b);
#endif
}

/* The lanes n on, those at the end first. */
#if VL == 16
#define TURN(v, n)                                                                                \
        __builtin_shufflevector(v, v, (n), (n) + 1, ((n) + 2) % 16, ((n) + 3) % 16,               \
                                ((n) + 4) % 16, ((n) + 5) % 16, ((n) + 6) % 16, ((n) + 7) % 16,   \
                                ((n) + 8) % 16, ((n) + 9) % 16, ((n) + 10) % 16, ((n) + 11) % 16, \
                                ((n) + 12) % 16, ((n) + 13) % 16, ((n) + 14) % 16,                \
                                ((n) + 15) % 16)
#elif VL == 8
#define TURN(v, n)                                                                   \
        __builtin_shufflevector(v, v, (n), (n) + 1, (n) + 2, (n) + 3, ((n) + 4) % 8, \
                                ((n) + 5) % 8, ((n) + 6) % 8, ((n) + 7) % 8)
#else
#define TURN(v, n) __builtin_shufflevector(v, v, (n), (n) + 1, ((n) + 2) % 4, ((n) + 3) % 4)
#endif

/* Pairwise, so that the order is the same for every caller. */
static inline float sum(vf v)
{
#if VL == 16
        v += TURN(v, 8);
#endif
#if VL >= 8
        v += TURN(v, 4);
#endif
        v += TURN(v, 2);
        return v[0] + v[1];
}

static inline float largest(vf v)
{
#if VL == 16
        v = max(TURN(v, 8), v);
#endif
#if VL >= 8
        v = max(TURN(v, 4), v);
#endif
        v = max(TURN(v, 2), v);
        return v[0] > v[1] ? v[0] : v[1];
}

/* exp(x) = 2^n exp(r), |r| <= ln(2)/2: n by adding 1.5 2^23 + 127, which leaves the exponent of 2^n
 * in the lowest bits, r in two parts (Cody and Waite),
 * exp(r) by a polynomial of degree 6 that is exact to rounding. x is held to [-87.3, 88], where 2^n
 * is an ordinary number; NaN stays NaN, so that what diverges is seen. */
static inline vf vexp(vf x)
{
        const vf magic = splat(12582912.0f + 127.0f);
        vf t, n, r, p;

        x = min(splat(88.0f), max(splat(-87.3f), x));
        t = FMA(x, splat(1.44269504f), magic);
        n = t - magic;
        r = FMA(n, splat(-0.693359375f), x);
        r = FMA(n, splat(2.12194440e-4f), r);
        p = splat(1.9875691500e-4f);
        p = FMA(p, r, splat(1.3981999507e-3f));
        p = FMA(p, r, splat(8.3334519073e-3f));
        p = FMA(p, r, splat(4.1665795894e-2f));
        p = FMA(p, r, splat(1.6666665459e-1f));
        p = FMA(p, r, splat(5.0000001201e-1f));
        p = FMA(p * r, r, r + 1.0f);
        return p * (vf)((vi)t << 23);
}

/* 1 / (1 + exp(-x)). By Newton's method from an estimate of 14 bits, where there is such: within
 * 2 ulp, and a division takes as long as all else. */
static inline vf vsigmoid(vf x)
{
        vf y = 1.0f + vexp(-x);
#if VL == 16 && !defined(RAN_PLAIN)
        vf r = (vf)_mm512_rcp14_ps((__m512)y);

        return FMA(r, FMA(-y, r, splat(1.0f)), r);
#else
        return 1.0f / y;
#endif
}

/* ---- matrix product ---- */

/* Blocks: a panel of B of KC x NC floats stays in the second-level cache, one of A of MC x KC
 * beside it. KC is a constant, so that the order of a sum depends on K alone. */
enum { KC = 320, NC = 512, MC = MR * 8 };
static _Thread_local float packed_a[MC * KC] __attribute__((aligned(64)));
static _Thread_local float packed_b[NC * KC] __attribute__((aligned(64)));

typedef float v4 __attribute__((vector_size(16), may_alias, aligned(4)));

/* Four rows of four elements: out[k][i] = x[i][k]. */
static inline void transpose4(float *out, size_t wide, const float *x, size_t stride)
{
        v4 a = *(const v4 *)x, b = *(const v4 *)(x + stride);
        v4 c = *(const v4 *)(x + 2 * stride), d = *(const v4 *)(x + 3 * stride);
        v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
           cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        v4 AB = __builtin_shufflevector(a, b, 2, 6, 3, 7),
           CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);

        *(v4 *)out = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        *(v4 *)(out + wide) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        *(v4 *)(out + 2 * wide) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
        *(v4 *)(out + 3 * wide) = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}

/* One panel of rows: out[k][i] = x[i*stride + k] for i < have, zeros up to `wide`: MR or NR. */
static void pack_rows(float *out, const float *x, size_t stride, size_t have, size_t wide, size_t K)
{
        size_t k4 = K / 4 * 4;

        if (have < wide)
                memset(out, 0, K * wide * sizeof *out);
        for (size_t i = 0; i < have && have >= 4; i += 4) {
                size_t first = least(i, have - 4); /* the last ones: some once more */
                const float *row = x + first * stride;

                for (size_t k = 0; k < k4; k += 4)
                        transpose4(out + k * wide + first, wide, row + k, stride);
                for (size_t k = k4; k < K; k++)
                        for (size_t j = 0; j < 4; j++)
                                out[k * wide + first + j] = row[j * stride + k];
        }
        for (size_t k = 0; k < K && have < 4; k++)
                for (size_t i = 0; i < have; i++)
                        out[k * wide + i] = x[i * stride + k];
}

/* Panels of columns, side by side: a row of all of them at a time, for the next may be far away. */
static void pack_columns(float *out, const float *x, size_t kstride, size_t n, size_t wide,
                         size_t K)
{
        size_t whole = n - n % wide;

        for (size_t k = 0; k < K; k++, x += kstride, out += wide) {
                if (wide == NR)
                        for (size_t i = 0; i < whole; i += NR)
                                memcpy(out + i * K, x + i, NR * sizeof *out);
                else
                        for (size_t i = 0; i < whole; i += MR)
                                memcpy(out + i * K, x + i, MR * sizeof *out);
                for (size_t i = whole; i < n; i++)
                        out[whole * K + i - whole] = x[i];
                for (size_t i = n; i < whole + (n > whole) * wide; i++)
                        out[whole * K + i - whole] = 0.0f;
        }
}

/* n lines of x in panels of `wide`: element k of line i is x[i*stride + k*kstride]. */
static void pack(float *out, const float *x, size_t stride, size_t kstride, size_t n, size_t wide,
                 size_t K)
{
        if (stride == 1)
                pack_columns(out, x, kstride, n, wide, K);
        else
                for (size_t i = 0; i < n; i += wide)
                        pack_rows(out + i * K, x + i * stride, stride, least(wide, n - i), wide, K);
}

/* Where a tile's A lies: row after row, element (i,k) at a[i*stride + k]; or column after column,
 * at a[i + k*stride], as in a panel (stride MR). */
enum { A_ROWS, A_COLUMNS };

/* A tile of C: rows <= R, cols <= V vectors, B in a panel. R and V are constants to the compiler,
 * which keeps the sums in registers. */
static inline __attribute__((always_inline)) void
tile(size_t R, size_t V, int how, float *restrict c, size_t ldc, const float *restrict a,
     size_t stride, const float *restrict b, size_t rbs, const float *bias, size_t K, size_t rows,
     size_t cols, bool add)
{
        const float *row[(MR + 2) / 3]; /* each three rows: the next are 1 and 2 strides on */
        vf acc[MR][2], x, y[2];

#pragma GCC unroll 2
        for (size_t j = 0; j < V; j++) {
                y[j] = (vf){0};
                if (bias != NULL && j * VL < cols)
                        y[j] = get(bias + j * VL, least(VL, cols - j * VL));
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
                        acc[i][j] = y[j];
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < R; i += 3)
                row[i / 3] = a + i * stride;
        for (size_t k = 0; k < K; k++, b += rbs) {
#pragma GCC unroll 2
                for (size_t j = 0; j < V; j++)
                        y[j] = load(b + j * VL);
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++) {
                        x = splat(how == A_ROWS ? row[i / 3][i % 3 * stride] : a[i]);
#pragma GCC unroll 2
                        for (size_t j = 0; j < V; j++)
                                acc[i][j] = FMA(x, y[j], acc[i][j]);
                }
                if (how == A_COLUMNS) {
                        a += stride;
                        continue;
                }
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i += 3)
                        row[i / 3]++;
        }
        if (rows == R && cols == V * VL) {
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
#pragma GCC unroll 2
                        for (size_t j = 0; j < V; j++) {
                                float *p = c + i * ldc + j * VL;

                                if (add)
                                        acc[i][j] += load(p);
                                store(p, acc[i][j]);
                        }
                return;
        }
        {
                float out[MR][NR];

#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
#pragma GCC unroll 2
                        for (size_t j = 0; j < V; j++)
                                store(&out[i][j * VL], acc[i][j]);
                for (size_t i = 0; i < rows; i++)
                        for (size_t j = 0; j < cols; j++)
                                c[i * ldc + j] = add ? c[i * ldc + j] + out[i][j] : out[i][j];
        }
}

#define TILE(name, R, V, how)                                                                  \
        static __attribute__((noinline)) void name(                                            \
                float *restrict c, size_t ldc, const float *restrict a, size_t stride,         \
                const float *restrict b, size_t rbs, const float *bias, size_t K, size_t rows, \
                size_t cols, bool add)                                                         \
        {                                                                                      \
                tile(R, V, how, c, ldc, a, stride, b, rbs, bias, K, rows, cols, add);          \
        }

TILE(rows_wide, MR, 2, A_ROWS)
TILE(rows_narrow, MR, 1, A_ROWS)
TILE(columns_wide, MR, 2, A_COLUMNS)
TILE(columns_narrow, MR, 1, A_COLUMNS)
TILE(few_wide, MR / 2, 2, A_COLUMNS)
TILE(few_narrow, MR / 2, 1, A_COLUMNS)

/* A is read where it lies, but for its last rows, and for columns that many tiles would read: those
 * are far apart in memory. So are rows of B, but for its last columns; its columns are copied. */
enum { COPY_COLUMNS = 2 * NR };

/* All rows of a block by NR columns of B. */
static void tiles(float *c, size_t ldc, int how, bool in_place, const float *a, size_t ras,
                  size_t cas, const float *b, size_t rbs, const float *bias, size_t rows,
                  size_t cols, size_t K, bool add)
{
        size_t stride = how == A_ROWS ? ras : cas, i = 0;
        bool wide = cols > VL;

        for (; in_place && i + MR <= rows; i += MR)
                if (how == A_ROWS)
                        (wide ? rows_wide : rows_narrow)(c + i * ldc, ldc, a + i * ras, stride, b,
                                                         rbs, bias, K, MR, cols, add);
                else
                        (wide ? columns_wide : columns_narrow)(c + i * ldc, ldc, a + i, stride, b,
                                                               rbs, bias, K, MR, cols, add);
        for (; i < rows; i += MR) {
                size_t n = least(MR, rows - i);

                if (n > MR / 2)
                        (wide ? columns_wide : columns_narrow)(c + i * ldc, ldc, packed_a + i * K,
                                                               MR, b, rbs, bias, K, n, cols, add);
                else
                        (wide ? few_wide : few_narrow)(c + i * ldc, ldc, packed_a + i * K, MR, b,
                                                       rbs, bias, K, n, cols, add);
        }
}

static void gemm_blocked(float *c, size_t ldc, const float *a, size_t ras, size_t cas,
                         const float *b, size_t rbs, size_t cbs, const float *bias, size_t M,
                         size_t N, size_t K, bool add)
{
        size_t slices = (K + KC - 1) / KC, slice = K > KC ? (K + slices - 1) / slices : KC;
        int how = cas == 1 ? A_ROWS : A_COLUMNS;
        bool in_place = how == A_ROWS || N <= COPY_COLUMNS;

        for (size_t k0 = 0; k0 == 0 || k0 < K; k0 += slice) {
                size_t kn = least(slice, K - k0);
                const float *start = k0 == 0 ? bias : NULL;
                bool plus = add || k0 > 0;

                for (size_t j0 = 0; j0 < N; j0 += NC) {
                        size_t jn = least(NC, N - j0), lies = cbs == 1 ? jn - jn % NR : 0;
                        const float *bj = b + k0 * rbs + j0 * cbs;

                        pack(packed_b + lies * kn, bj + lies * cbs, cbs, rbs, jn - lies, NR, kn);
                        for (size_t i0 = 0; i0 < M; i0 += MC) {
                                size_t in = least(MC, M - i0);
                                const float *ai = a + i0 * ras + k0 * cas;
                                size_t there = in_place ? in - in % MR : 0;

                                pack(packed_a + there * kn, ai + there * ras, ras, cas, in - there,
                                     MR, kn);
                                for (size_t j = 0; j < jn; j += NR)
                                        tiles(c + i0 * ldc + j0 + j, ldc, how, in_place, ai, ras,
                                              cas, j < lies ? bj + j : packed_b + j * kn,
                                              j < lies ? rbs : NR,
                                              start != NULL ? start + j0 + j : NULL, in,
                                              least(NR, jn - j), kn, plus);
                        }
                }
        }
}

/* One row of A, B's columns contiguous (a transposed weight): four dot products at a time. */
static void row_by_columns(float *c, const float *a, const float *b, size_t cbs, const float *bias,
                           size_t N, size_t K, bool add)
{
        for (size_t j = 0; j < N; j += 4) {
                size_t n = least(4, N - j);
                const float *col[4];
                vf acc[4] = {{0}, {0}, {0}, {0}};

                for (size_t q = 0; q < 4; q++)
                        col[q] = b + (j + least(q, n - 1)) * cbs;
                EACH(i, k, K)
                {
                        vf x = get(a + i, k);

#pragma GCC unroll 4
                        for (size_t q = 0; q < 4; q++)
                                acc[q] = FMA(x, get(col[q] + i, k), acc[q]);
                }
                for (size_t q = 0; q < n; q++)
                        c[j + q] = sum(acc[q]) + (bias != NULL ? bias[j + q] : 0.0f) +
                                   (add ? c[j + q] : 0.0f);
        }
}

/* One row of A, B's rows contiguous: a sum of rows, four vectors of the result at a time. */
static void row_by_rows(float *c, const float *a, const float *b, size_t rbs, const float *bias,
                        size_t N, size_t K, bool add)
{
        size_t j = 0;

        for (size_t i = 0; i < N && bias != NULL; i++)
                c[i] = add ? c[i] + bias[i] : bias[i];
        add = add || bias != NULL;

        for (; j + 4 * VL <= N; j += 4 * VL) {
                vf acc[4];

#pragma GCC unroll 4
                for (size_t q = 0; q < 4; q++)
                        acc[q] = add ? (vf)load(c + j + q * VL) : (vf){0};
                for (size_t k = 0; k < K; k++) {
                        vf x = splat(a[k]);

#pragma GCC unroll 4
                        for (size_t q = 0; q < 4; q++)
                                acc[q] = FMA(x, load(b + k * rbs + j + q * VL), acc[q]);
                }
#pragma GCC unroll 4
                for (size_t q = 0; q < 4; q++)
                        store(c + j + q * VL, acc[q]);
        }
        if (j < N && !add)
                memset(c + j, 0, (N - j) * sizeof *c);
        for (size_t k = 0; k < K && j < N; k++)
                EACH(i, n, N - j)
        put(c + j + i, FMA(splat(a[k]), get(b + k * rbs + j + i, n), get(c + j + i, n)), n);
}

static void gemm(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                 size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K, bool add)
{
        if (M > RAN_FEW_ROWS || cas != 1 || K == 0) {
                gemm_blocked(c, ldc, a, ras, cas, b, rbs, cbs, bias, M, N, K, add);
                return;
        }
        for (size_t i = 0; i < M; i++)
                if (rbs == 1)
                        row_by_columns(c + i * ldc, a + i * ras, b, cbs, bias, N, K, add);
                else
                        row_by_rows(c + i * ldc, a + i * ras, b, rbs, bias, N, K, add);
}

/* ---- element by element ---- */

static void add(float *y, const float *x, size_t n)
{
        EACH(i, k, n)
        put(y + i, get(y + i, k) + get(x + i, k), k);
}

static void axpy(float *y, float a, const float *x, size_t n)
{
        vf s = splat(a);

        EACH(i, k, n)
        put(y + i, FMA(s, get(x + i, k), get(y + i, k)), k);
}

static float dot(const float *x, const float *y, size_t n)
{
        vf s = {0};

        EACH(i, k, n)
        s = FMA(get(x + i, k), get(y + i, k), s);
        return sum(s);
}

static void mul(float *y, const float *a, const float *b, size_t n)
{
        EACH(i, k, n)
        put(y + i, get(a + i, k) * get(b + i, k), k);
}

static void mul_add(float *y, const float *a, const float *b, size_t n)
{
        EACH(i, k, n)
        put(y + i, FMA(get(a + i, k), get(b + i, k), get(y + i, k)), k);
}

static void bias(float *x, size_t ld, const float *b, size_t N, size_t O)
{
        for (size_t r = 0; r < N; r++)
                add(x + r * ld, b, O);
}

static void bias_bwd(float *db, const float *dy, size_t ld, size_t N, size_t O)
{
        for (size_t r = 0; r < N; r++)
                add(db, dy + r * ld, O);
}

static void silu(float *y, const float *x, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k);

                put(y + i, v * vsigmoid(v), k);
        }
}

static void silu_bwd(float *dx, const float *x, const float *dy, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k), s = vsigmoid(v);

                put(dx + i, get(dy + i, k) * s * (1.0f + v * (1.0f - s)), k);
        }
}

/* Phi(x), given e = exp(-x^2 / 2): erf by 7.1.26 of Abramowitz and Stegun, for |x|, and its
 * symmetry.
 */
static inline vf vnormal(vf x, vf e)
{
        vf a = max(x, -x), t = 1.0f / FMA(a, splat(0.3275911f * 0.70710678f), splat(1.0f));
        vf p = splat(1.061405429f), half;

        p = FMA(p, t, splat(-1.453152027f));
        p = FMA(p, t, splat(1.421413741f));
        p = FMA(p, t, splat(-0.284496736f));
        p = FMA(p, t, splat(0.254829592f));
        half = 0.5f - 0.5f * p * t * e; /* Phi(|x|) - 1/2, which takes the sign of x */
        return 0.5f + (vf)((vi)half | ((vi)x & (vi)splat(-0.0f)));
}

static void gelu(float *y, const float *x, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k);

                put(y + i, v * vnormal(v, vexp(-0.5f * v * v)), k);
        }
}

static void gelu_bwd(float *dx, const float *x, const float *dy, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k), e = vexp(-0.5f * v * v);

                put(dx + i, get(dy + i, k) * (vnormal(v, e) + 0.39894228f * v * e), k);
        }
}

static void glu_add(float *y, const float *value, const float *gate, size_t n)
{
        EACH(i, k, n)
        put(y + i, get(y + i, k) + get(value + i, k) * vsigmoid(get(gate + i, k)), k);
}

static void glu_bwd(float *dvalue, float *dgate, const float *dy, const float *value,
                    const float *gate, size_t n)
{
        EACH(i, k, n)
        {
                vf d = get(dy + i, k), v = get(value + i, k), s = vsigmoid(get(gate + i, k));

                put(dvalue + i, d * s, k);
                put(dgate + i, d * v * s * (1.0f - s), k);
        }
}

/* ---- rows ---- */

static void norm(float *y, size_t ldy, float *stat, const float *x, size_t ldx, const float *w,
                 const float *b, double eps, size_t N, size_t D)
{
        for (size_t r = 0; r < N; r++, x += ldx, y += ldy, stat += 2) {
                vf total = {0}, square = {0}, mean, rstd;

                EACH(i, k, D)
                total += get(x + i, k);
                mean = splat(sum(total) / (float)D);
                EACH(i, k, D)
                {
                        vf c = pick(get(x + i, k) - mean, (vf){0}, k);

                        square = FMA(c, c, square);
                }
                stat[0] = mean[0];
                stat[1] = (float)(1.0 / sqrt((double)sum(square) / (double)D + eps));
                rstd = splat(stat[1]);
                EACH(i, k, D)
                {
                        vf v = (get(x + i, k) - mean) * rstd;

                        if (w != NULL)
                                v = FMA(v, get(w + i, k), get(b + i, k));
                        put(y + i, v, k);
                }
        }
}

/* With xhat = (x - mean) rstd and g = dy w:  dx = rstd (g - mean(g) - xhat mean(g xhat)). */
static void norm_bwd(float *dx, size_t lddx, float *dw, float *db, const float *dy, size_t lddy,
                     const float *x, size_t ldx, const float *stat, const float *w, size_t N,
                     size_t D)
{
        const vf one = splat(1.0f);

        for (size_t r = 0; r < N; r++, x += ldx, dy += lddy, dx += lddx, stat += 2) {
                vf mean = splat(stat[0]), rstd = splat(stat[1]), g_sum = {0}, gx_sum = {0};

                EACH(i, k, D)
                {
                        vf d = get(dy + i, k), xhat = (get(x + i, k) - mean) * rstd;
                        vf g = d * (w ? get(w + i, k) : one);

                        g_sum += g; /* missing lanes have d = 0, and so g = 0 */
                        gx_sum = FMA(g, xhat, gx_sum);
                        if (dw) {
                                put(dw + i, FMA(d, xhat, get(dw + i, k)), k);
                                put(db + i, get(db + i, k) + d, k);
                        }
                }
                g_sum = splat(sum(g_sum) / (float)D);
                gx_sum = splat(sum(gx_sum) / (float)D);
                EACH(i, k, D)
                {
                        vf xhat = (get(x + i, k) - mean) * rstd;
                        vf g = get(dy + i, k) * (w ? get(w + i, k) : one);

                        put(dx + i, rstd * (g - g_sum - xhat * gx_sum), k);
                }
        }
}

static void softmax(float *x, float scale, size_t n, double *log_sum)
{
        vf top = splat(x[0]), other = top, total = {0}, s = splat(scale);
        size_t pairs = n - n % (2 * VL);

        for (size_t i = 0; i < pairs; i += 2 * VL) { /* side by side: each waits for its own only */
                top = max(load(x + i), top);
                other = max(load(x + i + VL), other);
        }
        EACH(i, k, n - pairs)
        top = max(pick(get(x + pairs + i, k), top, k), top);
        top = splat(largest(max(top, other)));
        EACH(i, k, n)
        {
                /* the difference first: it is exact near 0, however large the scores */
                vf e = vexp((get(x + i, k) - top) * s);

                total += pick(e, (vf){0}, k);
                put(x + i, e, k);
        }
        float all = sum(total);
        s = splat(1.0f / all);
        EACH(i, k, n)
        put(x + i, get(x + i, k) * s, k);
        if (log_sum != NULL)
                *log_sum = (double)scale * (double)top[0] + ran_log((double)all);
}

static void softmax_bwd(float *dp, const float *p, float scale, size_t n)
{
        vf mean = splat(dot(dp, p, n)), s = splat(scale);

        EACH(i, k, n)
        put(dp + i, s * get(p + i, k) * (get(dp + i, k) - mean), k);
}

/* ---- rows that belong together ---- */

/* Adds up each of VL vectors: element i of the result is the sum of x[i]. A step adds the two
 * halves of each group of lanes, and two vectors become one. */
#if VL == 16
#define LOW8(a, b) \
        __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define HIGH8(a, b) \
        __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
#define LOW4(a, b) \
        __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define HIGH4(a, b) \
        __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#define LOW2(a, b) \
        __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29)
#define HIGH2(a, b) \
        __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31)
#define LOW1(a, b) \
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define HIGH1(a, b) \
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#elif VL == 8
#define LOW4(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH4(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define LOW2(a, b)  __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13)
#define HIGH2(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15)
#define LOW1(a, b)  __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define HIGH1(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#else
#define LOW2(a, b)  __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HIGH2(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define LOW1(a, b)  __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define HIGH1(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#endif
#define FOLD(n, x, have)                                                        \
        _Pragma("GCC unroll 8") for (size_t i = 0; i < (have) / 2; i++)(x)[i] = \
                LOW##n((x)[2 * i], (x)[2 * i + 1]) + HIGH##n((x)[2 * i], (x)[2 * i + 1])

static inline vf sums(vf *x)
{
#if VL == 16
        FOLD(8, x, VL);
#endif
#if VL >= 8
        FOLD(4, x, VL >= 16 ? VL / 2 : VL);
#endif
        FOLD(2, x, 4);
        FOLD(1, x, 2);
        return x[0];
}

static inline vf likeness(int how, vf x, vf y, vf sum)
{
        vf difference = x - y;

        if (how == RAN_ROWS_DOT)
                return FMA(x, y, sum);
        if (how == RAN_ROWS_SQUARED)
                return FMA(difference, difference, sum);
        return sum + (vf)((vi)difference & INT32_MAX);
}

/* vectors: of a row that has only whole ones, where that is known; else 0. */
static inline __attribute__((always_inline)) vf
row_likeness(int how, const float *x, const float *y, size_t d, size_t vectors)
{
        vf part = {0};
        size_t c = 0, whole = vectors > 0 ? vectors * VL : d / VL * VL;

#pragma GCC unroll 8
        for (; c < whole; c += VL)
                part = likeness(how, load(x + c), load(y + c), part);
        if (vectors == 0 && c < d)
                part = likeness(how, get(x + c, d - c), get(y + c, d - c), part);
        return part;
}

/* `how` and `vectors` are constants where this is called. */
static inline __attribute__((always_inline)) void similarity_as(int how, float *out, const float *x,
                                                                size_t ldx, const float *y,
                                                                size_t ldy, size_t N, size_t d,
                                                                size_t vectors)
{
        for (; N >= VL; N -= VL, out += VL) {
                vf part[VL];

#pragma GCC unroll 16
                for (size_t r = 0; r < VL; r++, x += ldx, y += ldy)
                        part[r] = row_likeness(how, x, y, d, vectors);
                store(out, sums(part));
        }
        for (; N > 0; N--, x += ldx, y += ldy)
                *out++ = sum(row_likeness(how, x, y, d, vectors));
}

static void similarity(int how, float *out, const float *x, size_t ldx, const float *y, size_t ldy,
                       size_t N, size_t d)
{
        if (how == RAN_ROWS_SQUARED)
                similarity_as(RAN_ROWS_SQUARED, out, x, ldx, y, ldy, N, d, 0);
        else if (how == RAN_ROWS_ABSOLUTE)
                similarity_as(RAN_ROWS_ABSOLUTE, out, x, ldx, y, ldy, N, d, 0);
        else if (d == 32)
                similarity_as(RAN_ROWS_DOT, out, x, ldx, y, ldy, N, d, 32 / VL);
        else if (d == 64)
                similarity_as(RAN_ROWS_DOT, out, x, ldx, y, ldy, N, d, 64 / VL);
        else
                similarity_as(RAN_ROWS_DOT, out, x, ldx, y, ldy, N, d, 0);
}

/* y += sum over lines of p x, `vectors` vectors of a row, or with `rest` not 0 one of so many
 * elements. p: ldp apart; x: a row of each line, `at` further on. */
static inline __attribute__((always_inline)) void
weighted_sum_part(float *y, const float *p, size_t ldp, const float *const *x, size_t at,
                  size_t lines, size_t vectors, size_t rest)
{
        vf part[4];

#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
                part[v] = rest > 0 ? get(y, rest) : load(y + v * VL);
        for (size_t l = 0; l < lines; l++) {
                vf s = splat(p[l * ldp]);
                const float *row = x[l] + at;

#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                        part[v] = FMA(s, rest > 0 ? get(row, rest) : load(row + v * VL), part[v]);
        }
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
                put(y + v * VL, part[v], rest > 0 ? rest : VL);
}

static void weighted_sum(float *y, size_t ldy, const float *p, size_t ldp, const float *const *x,
                         size_t ldx, size_t lines, size_t N, size_t d)
{
        for (size_t i = 0; i < N; i++, y += ldy, p++) {
                size_t c = 0;

                for (; c + 4 * VL <= d; c += 4 * VL)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 4, 0);
                for (; c + 2 * VL <= d; c += 2 * VL)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 2, 0);
                for (; c + VL <= d; c += VL)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 1, 0);
                if (c < d)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 1, d - c);
        }
}

static inline vf sign(vf x)
{
        const vf one = splat(1.0f);

        return (vf)((x > 0.0f) & (vi)one) - (vf)((x < 0.0f) & (vi)one);
}

static void weighted_difference(int how, float *y, size_t ldy, const float *p, const float *x,
                                size_t ldx, const float *c, size_t ldc, size_t N, size_t d)
{
        for (size_t i = 0; i < N; i++, x += ldx, y += ldy, c += ldc) {
                vf s = splat(p[i]);

                EACH(j, k, d)
                {
                        vf v = get(x + j, k) - get(c + j, k);

                        if (how == RAN_ROWS_ABSOLUTE)
                                v = sign(v);
                        put(y + j, FMA(s, v, get(y + j, k)), k);
                }
        }
}

static void online_max(float *top, const float *x, size_t n)
{
        EACH(i, k, n)
        put(top + i, max(get(top + i, k), get(x + i, k)), k);
}

static void online_exp(float *x, float *sum, const float *top, float scale, size_t n)
{
        vf s = splat(scale);

        EACH(i, k, n)
        {
                vf e = vexp((get(x + i, k) - get(top + i, k)) * s);

                put(x + i, e, k);
                put(sum + i, get(sum + i, k) + e, k);
        }
}

static void online_softmax_bwd(float *p, float *dp, const float *log_sum, const float *delta,
                               float scale, size_t n)
{
        vf s = splat(scale);

        EACH(i, k, n)
        {
                vf e = vexp(get(p + i, k) * s - get(log_sum + i, k));

                put(p + i, e, k);
                put(dp + i, e * (get(dp + i, k) - get(delta + i, k)), k);
        }
}

static void rotary(float *x, size_t ld, const float *table, float sign, size_t N, size_t h,
                   size_t d)
{
        for (size_t r = 0; r < N; r++, x += ld, table += 2 * d)
                for (size_t j = 0; j < h; j++) {
                        float *restrict q = x + j * d;
                        const float *restrict c = table, *restrict s = table + d;

                        for (size_t i = 0; i < d; i += 2) {
                                float u = q[i], v = q[i + 1];

                                q[i] = u * c[i] + sign * (v * s[i]);
                                q[i + 1] = v * c[i + 1] + sign * (u * s[i + 1]);
                        }
                }
}

/* ---- training ---- */

/* One draw serves four positions, 16 bits each. */
static void dropout(float *x, size_t n, uint64_t key, uint64_t at, double p)
{
        enum { DRAWS = 16 };
        uint32_t limit = (uint32_t)(p * 65536.0 + 0.5);
        float keep = (float)(1.0 / (1.0 - p));

        for (size_t i = 0; i < n;) {
                size_t skip = (at + i) % 4, end = least(n - i, 4 * DRAWS - skip);
                uint64_t draw[DRAWS];
                uint32_t bits[4 * DRAWS];

                for (size_t d = 0; d < DRAWS; d++)
                        draw[d] = ran_draw_inline(key, (at + i) / 4 + d);
                for (size_t d = 0; d < DRAWS; d++)
                        for (size_t lane = 0; lane < 4; lane++)
                                bits[4 * d + lane] = (draw[d] >> (16 * lane)) & 0xffff;
                for (size_t j = 0; j < end; j++)
                        x[i + j] = bits[skip + j] < limit ? 0.0f : x[i + j] * keep;
                i += end;
        }
}

static void adam(float *w, float *m, float *v, const float *g, size_t n, float gscale, float beta1,
                 float beta2, float rate, float root, float eps, float decay)
{
        for (size_t i = 0; i < n; i++) {
                float d = g[i] * gscale;

                m[i] = beta1 * m[i] + (1.0f - beta1) * d;
                v[i] = beta2 * v[i] + (1.0f - beta2) * d * d;
                w[i] = w[i] * decay - rate * m[i] / (sqrtf(v[i] * root) + eps);
        }
}

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TEXT_(a)    #a
#define TEXT(a)     TEXT_(a)

const struct ran_simd JOIN(ran_simd_, RAN_SIMD) = {
        .name = TEXT(RAN_SIMD),
        .lanes = VL,
        .gemm = gemm,
        .bias = bias,
        .bias_bwd = bias_bwd,
        .silu = silu,
        .silu_bwd = silu_bwd,
        .gelu = gelu,
        .gelu_bwd = gelu_bwd,
        .glu_add = glu_add,
        .glu_bwd = glu_bwd,
        .norm = norm,
        .norm_bwd = norm_bwd,
        .softmax = softmax,
        .softmax_bwd = softmax_bwd,
        .similarity = similarity,
        .weighted_sum = weighted_sum,
        .weighted_difference = weighted_difference,
        .online_max = online_max,
        .online_exp = online_exp,
        .online_softmax_bwd = online_softmax_bwd,
        .rotary = rotary,
        .add = add,
        .axpy = axpy,
        .dot = dot,
        .mul = mul,
        .mul_add = mul_add,
        .dropout = dropout,
        .adam = adam,
};
