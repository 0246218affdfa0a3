/* simd-gemm.c - the matrix product of one instruction set. See simd.h. */
#include "math/panels.h"
#include "math/simd-vector.h"

#if VL == 16
#define MR 14 /* a tile of 14 x 32 uses 28 + 2 of the 32 registers */
#elif VL == 8
#define MR 6 /* 6 x 16: 12 + 2 of 16 registers */
#else
#define MR 4 /* 4 x 8: 8 + 2 of 16 registers */
#endif
#define NR (2 * VL)
/* Lower tiles, for the last rows: those of a short document are a good part of all. */
#define MR_MOST (MR * 5 / 7)
#define MR_HALF (MR / 2)
#define MR_FEW  (MR * 2 / 7)

/* Blocks: a panel of B of KC x NC floats stays in the second-level cache, one of A of MC x KC
 * beside it. KC is a constant, so that the order of a sum depends on K alone. */
enum { KC = 320, NC = 512, MC = MR * 8 };
_Static_assert((size_t)MC *KC <= RAN_PANEL_A && (size_t)NC * KC <= RAN_PANEL_B, "room for them");

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

/* Groups of four lanes: row i of x, and those four rows on, four on again, ... */
static inline vf every_fourth(const float *x, size_t stride)
{
#if VL == 16
        typedef float v8 __attribute__((vector_size(32)));
        const float *far = x + 8 * stride;
        v8 ab = __builtin_shufflevector(*(const v4 *)x, *(const v4 *)(x + 4 * stride), 0, 1, 2, 3,
                                        4, 5, 6, 7);
        v8 cd = __builtin_shufflevector(*(const v4 *)far, *(const v4 *)(far + 4 * stride), 0, 1, 2,
                                        3, 4, 5, 6, 7);

        return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                       15);
#elif VL == 8
        return __builtin_shufflevector(*(const v4 *)x, *(const v4 *)(x + 4 * stride), 0, 1, 2, 3, 4,
                                       5, 6, 7);
#else
        (void)stride;
        return load(x);
#endif
}

/* Pairs of a and b, in each group of four lanes: (a0, b0, a1, b1), and those of the upper halves.
 */
#if VL == 16
#define LOW(a, b) \
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH(a, b) \
        __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#elif VL == 8
#define LOW(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#else
#define LOW(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

/* VL rows of K elements, K a multiple of four: out[k][i] = x[i][k]. Rows 0, 4, 8, ... lie in one
 * vector, so that four vectors are transposed as four rows of four are. */
static inline void transpose_rows(float *out, size_t wide, const float *x, size_t stride, size_t K)
{
        for (size_t k = 0; k < K; k += 4, out += 4 * wide) {
                vf a = every_fourth(x + k, stride), b = every_fourth(x + k + stride, stride);
                vf c = every_fourth(x + k + 2 * stride, stride),
                   d = every_fourth(x + k + 3 * stride, stride);
                vf ac = LOW(a, c), bd = LOW(b, d), AC = HIGH(a, c), BD = HIGH(b, d);

                store(out, LOW(ac, bd));
                store(out + wide, HIGH(ac, bd));
                store(out + 2 * wide, LOW(AC, BD));
                store(out + 3 * wide, HIGH(AC, BD));
        }
}

/* One panel of rows: out[k][i] = x[i*stride + k] for i < have, zeros up to `wide`: MR or NR. */
static void pack_rows(float *out, const float *x, size_t stride, size_t have, size_t wide, size_t K)
{
        size_t k4 = K / 4 * 4, i = 0;

        if (have < wide)
                memset(out, 0, K * wide * sizeof *out);
        for (; i + VL <= have; i += VL)
                transpose_rows(out + i, wide, x + i * stride, stride, k4);
        for (size_t k = k4; k < K; k++)
                for (size_t j = 0; j < i; j++)
                        out[k * wide + j] = x[j * stride + k];
        for (; i < have && have >= 4; i += 4) {
                size_t first = ran_least(i, have - 4); /* the last ones: some once more */
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
                for (size_t i = whole; n > whole && i < whole + wide; i += VL)
                        put(out + whole * K + i - whole,
                            get(x + ran_least(i, n), ran_least(VL, n - ran_least(i, n))),
                            ran_least(VL, whole + wide - i));
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
                        pack_rows(out + i * K, x + i * stride, stride, ran_least(wide, n - i), wide,
                                  K);
}

/* Where a tile's A lies: row after row, element (i,k) at a[i*stride + k]; or column after column,
 * at a[i + k*stride], as in a panel (stride MR). */
enum { A_ROWS, A_COLUMNS };

/* Rows of B that lie in place are too far apart for the processor to see what comes next: it is
 * told AHEAD rows before. A cache line has LINE floats. */
enum { AHEAD = 8, LINE = 16 };

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
                        y[j] = get(bias + j * VL, ran_least(VL, cols - j * VL));
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
#pragma GCC unroll 2
                for (size_t j = 0; j < V; j++)
                        if (j * VL % LINE == 0)
                                __builtin_prefetch(b + AHEAD * rbs + j * VL);
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
#pragma GCC unroll 16
        for (size_t i = 0; i < R; i++) {
                if (i == rows)
                        return;
#pragma GCC unroll 2
                for (size_t j = 0; j < V; j++) {
                        size_t n = ran_least(VL, cols - j * VL);
                        float *p = c + i * ldc + j * VL;

                        if (add)
                                acc[i][j] += get(p, n);
                        put(p, acc[i][j], n);
                }
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
TILE(most_wide, MR_MOST, 2, A_COLUMNS)
TILE(most_narrow, MR_MOST, 1, A_COLUMNS)
TILE(half_wide, MR_HALF, 2, A_COLUMNS)
TILE(half_narrow, MR_HALF, 1, A_COLUMNS)
TILE(few_wide, MR_FEW, 2, A_COLUMNS)
TILE(few_narrow, MR_FEW, 1, A_COLUMNS)

/* A is read where it lies, but for its last rows, and for columns that many tiles would read: those
 * are far apart in memory. So are rows of B, but for its last columns; its columns are copied. Rows
 * of A are copied, too, where they are a multiple of 2 KB apart, as with heads of 1,024 numbers in
 * all: those of a tile would share one or two sets of the first cache. */
enum { COPY_COLUMNS = 2 * NR, COLLIDE = 512 };

/* The lowest tile for so many packed rows. */
static __typeof__(columns_wide) *tile_of(size_t rows, bool wide)
{
        if (rows > MR_MOST)
                return wide ? columns_wide : columns_narrow;
        if (rows > MR_HALF)
                return wide ? most_wide : most_narrow;
        if (rows > MR_FEW)
                return wide ? half_wide : half_narrow;
        return wide ? few_wide : few_narrow;
}

/* All rows of a block by NR columns of B. */
static void tiles(float *c, size_t ldc, int how, const float *packed_a, bool in_place,
                  const float *a, size_t ras, size_t cas, const float *b, size_t rbs,
                  const float *bias, size_t rows, size_t cols, size_t K, bool add)
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
                size_t n = ran_least(MR, rows - i);

                tile_of(n, wide)(c + i * ldc, ldc, packed_a + i * K, MR, b, rbs, bias, K, n, cols,
                                 add);
        }
}

/* Slices of K are even. */
static size_t slice_of(size_t K)
{
        const size_t slices = (K + KC - 1) / KC;

        return K > KC ? (K + slices - 1) / slices : KC;
}

static void gemm_blocked(float *c, size_t ldc, const float *a, size_t ras, size_t cas,
                         const float *b, size_t rbs, size_t cbs, const float *bias, size_t M,
                         size_t N, size_t K, bool add)
{
        size_t slice = slice_of(K);
        int how = cas == 1 ? A_ROWS : A_COLUMNS;
        bool in_place = (how == A_ROWS && ras % COLLIDE != 0) || N <= COPY_COLUMNS;

        float *packed_a = ran_panels(), *packed_b = packed_a + RAN_PANEL_A;
        for (size_t k0 = 0; k0 == 0 || k0 < K; k0 += slice) {
                size_t kn = ran_least(slice, K - k0);
                const float *start = k0 == 0 ? bias : NULL;
                bool plus = add || k0 > 0;

                for (size_t j0 = 0; j0 < N; j0 += NC) {
                        size_t jn = ran_least(NC, N - j0), lies = cbs == 1 ? jn - jn % NR : 0;
                        const float *bj = b + k0 * rbs + j0 * cbs;

                        pack(packed_b + lies * kn, bj + lies * cbs, cbs, rbs, jn - lies, NR, kn);
                        for (size_t i0 = 0; i0 < M; i0 += MC) {
                                size_t in = ran_least(MC, M - i0);
                                const float *ai = a + i0 * ras + k0 * cas;
                                size_t there = in_place ? in - in % MR : 0;

                                pack(packed_a + there * kn, ai + there * ras, ras, cas, in - there,
                                     MR, kn);
                                for (size_t j = 0; j < jn; j += NR)
                                        tiles(c + i0 * ldc + j0 + j, ldc, how, packed_a, in_place,
                                              ai, ras, cas, j < lies ? bj + j : packed_b + j * kn,
                                              j < lies ? rbs : NR,
                                              start != NULL ? start + j0 + j : NULL, in,
                                              ran_least(NR, jn - j), kn, plus);
                        }
                }
        }
}

/* ---- B in panels already -------------------------------------------------------------------- */

/* Slice after slice, as above, so that sums have the same order; and of each panel after panel, the
 * last one filled up with zeros. */
size_t RAN_KERNEL(gemm_panels)(float *out, const float *w, size_t N, size_t K)
{
        const size_t wide = (N + NR - 1) / NR * NR, slice = slice_of(K);

        for (size_t k = 0; out != NULL && k < K; k += slice)
                pack(out + k * wide, w + k, K, 1, N, NR, ran_least(slice, K - k));
        return wide * K;
}

/* Rows of A that go through all slices before the next: they and their rows of C stay in the
 * second-level cache while the panels pass. */
enum { PASS = MR * 16 };

void RAN_KERNEL(gemm_paneled)(float *c, size_t ldc, const float *a, size_t lda, const float *panels,
                              const float *bias, size_t M, size_t N, size_t K, size_t from,
                              size_t cols)
{
        const size_t wide = (N + NR - 1) / NR * NR, slice = slice_of(K);
        float *packed_a = ran_panels();

        for (size_t i = 0; i < M; i += PASS) {
                const size_t rows = ran_least(PASS, M - i), whole = rows - rows % MR;

                for (size_t k = 0; k < K; k += slice) {
                        const size_t kn = ran_least(slice, K - k);
                        const float *ai = a + i * lda + k;

                        pack(packed_a + whole * kn, ai + whole * lda, lda, 1, rows - whole, MR, kn);
                        for (size_t j = from; j < from + cols; j += NR)
                                tiles(c + i * ldc + j, ldc, A_ROWS, packed_a, true, ai, lda, 1,
                                      panels + k * wide + j * kn, NR,
                                      k == 0 && bias != NULL ? bias + j : NULL, rows,
                                      ran_least(NR, from + cols - j), kn, k > 0);
                }
        }
}

/* ---- few rows ------------------------------------------------------------------------------- */

#if defined(RAN_PLAIN) || defined(RAN_ALIKE)
/* Their sums are base's, whose vectors have four lanes everywhere. */
void RAN_KERNEL(gemm)(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                      size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K,
                      bool add)
{
        if (M > RAN_FEW_ROWS)
                gemm_blocked(c, ldc, a, ras, cas, b, rbs, cbs, bias, M, N, K, add);
        else
                ran_simd_base.gemm(c, ldc, a, ras, cas, b, rbs, cbs, bias, M, N, K, add);
}
#else
/* Rows that B's columns pass at once: their sums stay in registers. */
enum { ABREAST = VL == 16 ? 4 : 2 };

/* R rows of A, B's columns contiguous (a transposed weight): dot products with four of them at a
 * time. R is a constant to the compiler; a row's result does not depend on it. */
static inline __attribute__((always_inline)) void
rows_by_columns(size_t R, float *c, size_t ldc, const float *a, size_t ras, const float *b,
                size_t cbs, const float *bias, size_t N, size_t K, bool add)
{
        for (size_t j = 0; j < N; j += 4) {
                size_t n = ran_least(4, N - j);
                const float *col[4];
                vf acc[ABREAST][4], y[4];

#pragma GCC unroll 4
                for (size_t q = 0; q < 4; q++)
                        col[q] = b + (j + ran_least(q, n - 1)) * cbs;
#pragma GCC unroll 16
                for (size_t s = 0; s < R * 4; s++)
                        acc[s / 4][s % 4] = (vf){0};
                EACH(i, k, K)
                {
#pragma GCC unroll 4
                        for (size_t q = 0; q < 4; q++)
                                y[q] = get(col[q] + i, k);
#pragma GCC unroll 4
                        for (size_t r = 0; r < R; r++) {
                                vf x = get(a + r * ras + i, k);

#pragma GCC unroll 4
                                for (size_t q = 0; q < 4; q++)
                                        acc[r][q] = FMA(x, y[q], acc[r][q]);
                        }
                }
#pragma GCC unroll 4
                for (size_t r = 0; r < R; r++) {
                        vf total = four_sums(acc[r]);
                        float *p = c + r * ldc + j;

                        for (size_t q = 0; q < n; q++)
                                p[q] = total[q] + (bias != NULL ? bias[j + q] : 0.0f) +
                                       (add ? p[q] : 0.0f);
                }
        }
}

#define ROWS(name, R)                                                                         \
        static __attribute__((noinline)) void name(                                           \
                float *c, size_t ldc, const float *a, size_t ras, const float *b, size_t cbs, \
                const float *bias, size_t N, size_t K, bool add)                              \
        {                                                                                     \
                rows_by_columns(R, c, ldc, a, ras, b, cbs, bias, N, K, add);                  \
        }

ROWS(one_by_columns, 1)
ROWS(two_by_columns, 2)
#if VL == 16
ROWS(three_by_columns, 3)
ROWS(four_by_columns, 4)
#endif
static __typeof__(one_by_columns) *const by_columns[] = {
        one_by_columns,
        two_by_columns,
#if VL == 16
        three_by_columns,
        four_by_columns,
#endif
};

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

void RAN_KERNEL(gemm)(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                      size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K,
                      bool add)
{
        if (M > RAN_FEW_ROWS || cas != 1 || K == 0) {
                gemm_blocked(c, ldc, a, ras, cas, b, rbs, cbs, bias, M, N, K, add);
                return;
        }
        for (size_t i = 0, n; i < M; i += n) {
                n = rbs == 1 ? ran_least(ABREAST, M - i) : 1;
                if (rbs == 1)
                        by_columns[n - 1](c + i * ldc, ldc, a + i * ras, ras, b, cbs, bias, N, K,
                                          add);
                else
                        row_by_rows(c + i * ldc, a + i * ras, b, rbs, bias, N, K, add);
        }
}
#endif
