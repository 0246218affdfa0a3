/* integer-kernels.c - products of rows in eight bits, for one kind of processor. See integer.h.
 *
 * It is compiled once a kind, with -DRAN_INTEGER=name and -DRAN_LANES=sums in a vector. A kind adds
 * up the products of GROUP neighbours in each lane by one instruction:
 *
 *   four of eight bits   AVX-512 VNNI, AVX-VNNI (one factor has no sign: the weights, plus 128),
 *                        the dot product of NEON
 *   two of 16 bits       everywhere else: no sum of two is beyond 32 bits
 */
#include "math/integer.h"
#include "math/panels.h"
#include "math/simd.h"
#include "ran/base.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(RAN_DOT)
#include <arm_neon.h>
#endif

#define VL RAN_LANES
typedef int32_t vi __attribute__((vector_size(VL * 4), may_alias));
typedef int32_t vi_any __attribute__((vector_size(VL * 4), may_alias, aligned(4)));
typedef float vf __attribute__((vector_size(VL * 4), may_alias));
typedef float vf_any __attribute__((vector_size(VL * 4), may_alias, aligned(4)));

#if defined(RAN_VNNI) || defined(RAN_DOT)
enum { GROUP = 4 };
typedef int8_t element;
#else
enum { GROUP = 2 };
typedef int16_t element;
#endif
/* What is added to a weight's code, and so 128 times too often to the sum of a row. */
#ifdef RAN_VNNI
enum { OFFSET = 128 };
#else
enum { OFFSET = 0 };
#endif

/* sum + the products of w and x, GROUP in each lane */
static inline vi dot(vi sum, vi w, vi x)
{
#if defined(RAN_VNNI) && VL == 16
        return (vi)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)w, (__m512i)x);
#elif defined(RAN_VNNI)
        return (vi)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)w, (__m256i)x);
#elif defined(RAN_DOT)
        return vdotq_s32(sum, (int8x16_t)w, (int8x16_t)x);
#elif VL == 16
        return sum + (vi)_mm512_madd_epi16((__m512i)w, (__m512i)x);
#elif VL == 8
        return sum + (vi)_mm256_madd_epi16((__m256i)w, (__m256i)x);
#elif defined(__SSE2__)
        return sum + (vi)_mm_madd_epi16((__m128i)w, (__m128i)x);
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return sum + (w << 16 >> 16) * (x << 16 >> 16) + (w >> 16) * (x >> 16);
#else
#error "lanes of two numbers are taken apart as little-endian machines have them"
#endif
}

/* Rows of a tile, and columns of a panel. */
#if VL == 16
enum { MR = 14 };
#elif VL == 8
enum { MR = 6 };
#else
enum { MR = 4 };
#endif
enum { NR = 2 * VL, MR_HALF = MR / 2, MR_FEW = 2 };
/* K is filled up with zeros to a multiple of the most groups that a tile takes in a step. */
enum { MOST_STEPS = 4, DEEP = MOST_STEPS * GROUP };

static size_t up_to(size_t n, size_t whole)
{
        return (n + whole - 1) / whole * whole;
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* max |x|; NaN if a number is not finite. The bits of numbers without their sign are in the order
 * of the numbers. */
static float largest(const float *x, size_t n)
{
        int32_t most = 0;
        float max;

        for (size_t i = 0; i < n; i++) {
                int32_t bits;

                memcpy(&bits, x + i, sizeof bits);
                bits &= INT32_MAX;
                most = bits > most ? bits : most;
        }
        memcpy(&max, &most, sizeof max);
        return max + max * 0; /* infinity, too, becomes NaN */
}

/* Adding 1.5 2^23 rounds to a whole number, which then is in the lowest bits. */
static inline int32_t code_of(float x, float inverse)
{
        const float shifted = x * inverse + 12582912.0f;
        uint32_t bits;

        memcpy(&bits, &shifted, sizeof bits);
        return (int32_t)(bits - 0x4b400000);
}

/* code (n) of x; returns the sum of them. hold, a constant to the compiler: to 127, beyond which no
 * code is at the inverse of the largest number. */
static inline int32_t round_row(element *code, const float *x, size_t n, float inverse, bool hold)
{
        int32_t sum = 0;

        for (size_t i = 0; i < n; i++) {
                int32_t c = code_of(x[i], inverse);

                if (hold)
                        c = c > 127 ? 127 : c < -127 ? -127 : c;
                code[i] = (element)c;
                sum += c;
        }
        return sum;
}

static int32_t squares_of(const element *code, size_t n)
{
        int32_t sum = 0;

        for (size_t i = 0; i < n; i++) {
                const int16_t c = code[i];

                sum += c * c;
        }
        return sum;
}

/* What a row is as codes. */
struct rounded {
        float scale;
        float inverse; /* of the scale, in rows with outliers; else 0 */
        int32_t sum;   /* of the codes */
};

/* code (n) of x. Without `outliers` the limit is the largest number. */
static struct rounded round_to_codes(element *code, const float *x, size_t n, bool outliers)
{
        const float max = largest(x, n);
        float limit = max;

        if (!(max >= RAN_INTEGER_LEAST)) {
                memset(code, 0, n * sizeof *code);
                return (struct rounded){.scale = 0 * max}; /* 0, or NaN */
        }
        const int32_t sum = round_row(code, x, n, 127 / max, false);
        if (outliers)
                limit = RAN_INTEGER_OUTLIER * sqrtf((float)squares_of(code, n) / (float)n) *
                        (max / 127);
        if (!(limit < max))
                return (struct rounded){max / 127, 0, sum};
        return (struct rounded){limit / 127, 127 / limit, round_row(code, x, n, 127 / limit, true)};
}

/* ---- panels ---------------------------------------------------------------------------------- */

/* The scales of all columns come first, those of the last panel filled up with zeros; then panel
 * after panel, groups of each below one another. */
static size_t bring_into_panels(void *panels, const float *w, size_t N, size_t K)
{
        const size_t wide = up_to(N, RAN_PANEL_COLUMNS), deep = up_to(K, DEEP);
        const size_t bytes = wide * (sizeof(float) + deep * sizeof(element));

        if (panels == NULL)
                return bytes;
        float *scale = panels;
        element *all = (element *)(scale + wide), code[RAN_INTEGER_MOST];
        memset(panels, 0, bytes);
        for (size_t n = 0; n < wide; n++) {
                element *panel = all + n / NR * NR * deep + n % NR * GROUP;

                memset(code, 0, deep * sizeof *code);
                if (n < N)
                        scale[n] = round_to_codes(code, w + n * K, K, false).scale;
                for (size_t k = 0; k < deep; k++)
                        panel[k / GROUP * NR * GROUP + k % GROUP] = (element)(code[k] ^ -OFFSET);
        }
        return bytes;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* The first n <= VL numbers; a copy of a size that is not known is slow. */
static inline vf load(const float *x, size_t n)
{
        vf v = {0};

        if (n == VL)
                return *(const vf_any *)x;
        memcpy(&v, x, n * sizeof(float));
        return v;
}

static inline void store(float *x, vf v, size_t n)
{
        if (n == VL)
                *(vf_any *)x = v;
        else
                memcpy(x, &v, n * sizeof(float));
}

/* Rows of a, as codes. Handed on by address: on the stack it would be read in vectors of another
 * width than those that have just written it, which waits for all that is to be written before. */
struct rows {
        const element *code; /* each `ld` after the one before */
        size_t ld;
        const float *scale;
        const int32_t *offset; /* what OFFSET added to their sums */
};

/* R rows by V vectors of columns; rows <= R are stored, and cols <= V VL columns. In so small a
 * tile that its sums would wait for each other, STEPS groups have sums of their own. R, V and STEPS
 * are constants to the compiler, which keeps the sums in registers. */
static inline __attribute__((always_inline)) void
tile(size_t R, size_t V, size_t STEPS, float *restrict y, size_t ldy, const struct rows *a,
     const element *restrict panel, const float *w_scale, const float *bias, size_t groups,
     size_t rows, size_t cols)
{
        const element *row[(MR + 2) / 3]; /* each three rows: the next are 1 and 2 ld on */
        vi sum[MOST_STEPS][MR][2], w[2];

        for (size_t s = 0; s < STEPS; s++)
#pragma GCC unroll 16
                for (size_t i = 0; i < R; i++)
#pragma GCC unroll 2
                        for (size_t j = 0; j < V; j++)
                                sum[s][i][j] = (vi){0} - (s == 0 ? a->offset[i] : 0);
#pragma GCC unroll 16
        for (size_t i = 0; i < R; i += 3)
                row[i / 3] = a->code + i * a->ld;
        for (size_t g = 0; g < groups; g += STEPS)
#pragma GCC unroll 4
                for (size_t s = 0; s < STEPS; s++, panel += NR * GROUP) {
#pragma GCC unroll 2
                        for (size_t j = 0; j < V; j++)
                                w[j] = *(const vi *)(const void *)(panel + j * VL * GROUP);
#pragma GCC unroll 16
                        for (size_t i = 0; i < R; i++) {
                                int32_t group;

                                memcpy(&group, row[i / 3] + i % 3 * a->ld, sizeof group);
                                const vi x = (vi){0} + group;
#pragma GCC unroll 2
                                for (size_t j = 0; j < V; j++)
                                        sum[s][i][j] = dot(sum[s][i][j], w[j], x);
                        }
#pragma GCC unroll 16
                        for (size_t i = 0; i < R; i += 3)
                                row[i / 3] += GROUP;
                }
#pragma GCC unroll 16
        for (size_t i = 0; i < R; i++) {
                if (i == rows)
                        return;
#pragma GCC unroll 2
                for (size_t j = 0; j < V; j++) {
                        const size_t n = ran_least(VL, cols - j * VL);
                        const vf scale = *(const vf_any *)(w_scale + j * VL);
                        vf b = {0};

                        for (size_t s = 1; s < STEPS; s++)
                                sum[0][i][j] += sum[s][i][j];
                        if (bias != NULL)
                                b = load(bias + j * VL, n);
                        b += __builtin_convertvector(sum[0][i][j], vf) * (scale * a->scale[i]);
                        store(y + i * ldy + j * VL, b, n);
                }
        }
}

#define TILE(name, R, V, STEPS)                                                         \
        static __attribute__((noinline)) void name(                                     \
                float *restrict y, size_t ldy, const struct rows *a,                    \
                const element *restrict panel, const float *w_scale, const float *bias, \
                size_t groups, size_t rows, size_t cols)                                \
        {                                                                               \
                tile(R, V, STEPS, y, ldy, a, panel, w_scale, bias, groups, rows, cols); \
        }
TILE(whole_wide, MR, 2, 1)
TILE(whole_narrow, MR, 1, 1)
TILE(half_wide, MR_HALF, 2, 1)
TILE(half_narrow, MR_HALF, 1, 1)
TILE(few_wide, MR_FEW, 2, 2)
TILE(few_narrow, MR_FEW, 1, 4)
TILE(one_wide, 1, 2, 4)
TILE(one_narrow, 1, 1, 4)

/* The lowest tile for so many rows. */
static __typeof__(whole_wide) *tile_of(size_t rows, bool wide)
{
        if (rows > MR_HALF)
                return wide ? whole_wide : whole_narrow;
        if (rows > MR_FEW)
                return wide ? half_wide : half_narrow;
        if (rows > 1)
                return wide ? few_wide : few_narrow;
        return wide ? one_wide : one_narrow;
}

/* ---- outliers -------------------------------------------------------------------------------- */

/* The codes of column k of a panel: b of its group. */
static inline vi column_of(const element *group, size_t b)
{
        const vi all = *(const vi *)(const void *)group;
        const int bits = 32 / GROUP, shift = bits * (int)b;

        if (OFFSET > 0)
                return (all >> shift & 255) - OFFSET;
        return all << (32 - bits - shift) >> (32 - bits);
}

/* The sum of squares of a row's codes lets no more of them be outliers. */
enum { OUTLIERS = RAN_INTEGER_MOST / 25 + 1 };

/* What a code is beyond 127, of either sign. */
static inline int32_t beyond(int32_t c)
{
        return c - (c > 127 ? 127 : c < -127 ? -127 : c);
}

/* Codes that are looked at together: most have no outlier among them. */
enum { BLOCK = 64 };

/* y (columns [from, from + cols)) += what the codes of x leave beyond 127. */
static void add_outliers(float *y, const float *x, float inverse, float scale,
                         const element *panels, const float *w_scale, size_t groups, size_t K,
                         size_t from, size_t cols)
{
        size_t place[OUTLIERS + 1], n_outliers = 0;
        int32_t rest[OUTLIERS + 1];

        for (size_t from_k = 0; from_k < K; from_k += BLOCK) {
                const size_t end = ran_least(from_k + BLOCK, K);
                int32_t any = 0;

                for (size_t k = from_k; k < end; k++)
                        any |= beyond(code_of(x[k], inverse));
                for (size_t k = from_k; k < end && any != 0 && n_outliers < OUTLIERS; k++) {
                        place[n_outliers] = k;
                        rest[n_outliers] = beyond(code_of(x[k], inverse));
                        n_outliers += rest[n_outliers] != 0;
                }
        }
        for (size_t n = from; n < from + cols; n += VL) {
                const element *panel = panels + n / NR * NR * groups * GROUP + n % NR * GROUP;
                const size_t now = ran_least(VL, from + cols - n);
                vi sum = {0};

                for (size_t i = 0; i < n_outliers; i++)
                        sum += column_of(panel + place[i] / GROUP * NR * GROUP, place[i] % GROUP) *
                               rest[i];
                store(y + n,
                      load(y + n, now) + __builtin_convertvector(sum, vf) *
                                                 (*(const vf_any *)(w_scale + n) * scale),
                      now);
        }
}

/* ---- the product ----------------------------------------------------------------------------- */

/* Rows that pass all panels before the next: their codes stay in the first cache beside a panel. At
 * least PASS_LEAST, since each pass reads all panels again. */
enum { PASS_BYTES = 24 << 10, PASS_LEAST = 2 * MR, PASS_MOST = 16 * MR };

static void multiply(float *y, size_t ldy, const float *a, size_t lda, const void *panels,
                     const float *bias, size_t M, size_t N, size_t K, size_t from, size_t cols)
{
        const size_t wide = up_to(N, RAN_PANEL_COLUMNS), groups = up_to(K, DEEP) / GROUP;
        const float *w_scale = panels;
        const element *panel = (const element *)(w_scale + wide);
        /* Rows are an odd number of cache lines apart, so that those of a tile do not share the
         * same few places of the first cache. */
        const size_t line = 64 / sizeof(element), ld = (up_to(K, line) / line | 1) * line;
        const size_t fit = PASS_BYTES / (ld * sizeof(element)) / MR * MR;
        const size_t pass = fit < PASS_LEAST ? PASS_LEAST : ran_least(fit, PASS_MOST);
        float scale[PASS_MOST + MR] = {0}, *const memory = ran_panels();
        float inverse[PASS_MOST]; /* of rows with outliers, else 0 */
        int32_t offset[PASS_MOST + MR] = {0};
        element *const code = (element *)memory;

        _Static_assert((PASS_LEAST + MR) * (RAN_INTEGER_MOST + 64) * sizeof(element) <=
                               (RAN_PANEL_A + RAN_PANEL_B) * sizeof(float),
                       "room for a pass and the rows that a tile reads behind its last ones");
        _Static_assert(PASS_BYTES + MR * (RAN_INTEGER_MOST + 64) * sizeof(element) <=
                               (RAN_PANEL_A + RAN_PANEL_B) * sizeof(float),
                       "room for a pass");
        for (size_t m = 0; m < M; m += pass) {
                const size_t rows = ran_least(pass, M - m);

                for (size_t i = 0; i < rows; i++) {
                        const struct rounded row =
                                round_to_codes(code + i * ld, a + (m + i) * lda, K, true);

                        memset(code + i * ld + K, 0, (groups * GROUP - K) * sizeof *code);
                        scale[i] = row.scale;
                        inverse[i] = row.inverse;
                        offset[i] = OFFSET * row.sum;
                }
                for (size_t n = from; n < from + cols; n += NR) {
                        const size_t now = ran_least(NR, from + cols - n);

                        for (size_t i = 0; i < rows; i += MR)
                                tile_of(rows - i, now > VL)(
                                        y + (m + i) * ldy + n, ldy,
                                        &(struct rows){code + i * ld, ld, scale + i, offset + i},
                                        panel + n * groups * GROUP, w_scale + n,
                                        bias != NULL ? bias + n : NULL, groups,
                                        ran_least(MR, rows - i), now);
                }
                for (size_t i = 0; i < rows; i++)
                        if (inverse[i] > 0)
                                add_outliers(y + (m + i) * ldy, a + (m + i) * lda, inverse[i],
                                             scale[i], panel, w_scale, groups, K, from, cols);
        }
}

#define TEXT_(a)  #a
#define TEXT(a)   TEXT_(a)
#define TABLE_(a) ran_integer_##a
#define TABLE(a)  TABLE_(a)

const struct ran_integer TABLE(RAN_INTEGER) = {
        .name = TEXT(RAN_INTEGER),
        .panels = bring_into_panels,
        .multiply = multiply,
};
