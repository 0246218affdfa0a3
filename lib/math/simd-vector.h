/* simd-vector.h - the kernels of one instruction set: their names, and vectors to write them with.
 * Only simd.c and simd-*.c include it; they are compiled once an instruction set with
 * -DRAN_SIMD=name and -DRAN_LANES=floats in a vector.
 *
 * Written with the vector extensions of GCC and clang; with intrinsics only where those have no
 * word (fused multiply-add, masked tails). Each use of fma is chosen: the kernels are compiled with
 * -ffp-contract=off like all other files. RAN_PLAIN has none (what portable computes, in wider
 * vectors); RAN_ALIKE gives the same bits in vectors of any width, with fma.
 */
#ifndef RAN_MATH_SIMD_VECTOR_H
#define RAN_MATH_SIMD_VECTOR_H

#include "math/simd.h"
#include "ran/base.h"

#include <string.h>

#if RAN_LANES > 4
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* All kernels, once: from this list come their declarations and the table in simd.c. */
// clang-format off
#define RAN_KERNELS(X)                                                                     \
        X(gemm) X(gemm_panels) X(gemm_paneled) X(bias) X(bias_bwd) X(silu) X(silu_bwd)     \
        X(gelu) X(gelu_bwd) X(glu_add) X(glu_bwd) X(norm) X(norm_bwd) X(raw_norm)          \
        X(raw_norm_bwd) X(max_rows) X(softmax) X(softmax_bwd) X(similarity)                \
        X(weighted_sum) X(weighted_difference) X(online_max) X(online_exp)                 \
        X(online_softmax_bwd) X(rotary) X(add) X(axpy) X(dot) X(mul) X(mul_add)            \
        X(sparse_sum) X(sparse_add) X(sparse_sum_f16) X(sparse_sum_i8) X(dropout) X(adam)
// clang-format on

/* RAN_KERNEL(gemm) is ran_simd_avx2_gemm where RAN_SIMD is avx2. */
#define RAN_SIMD_JOIN_(isa, kernel) ran_simd_##isa##_##kernel
#define RAN_SIMD_JOIN(isa, kernel)  RAN_SIMD_JOIN_(isa, kernel)
#define RAN_KERNEL(kernel)          RAN_SIMD_JOIN(RAN_SIMD, kernel)
#define X(kernel)                   __typeof__(*((struct ran_kernels *)0)->kernel) RAN_KERNEL(kernel);
RAN_KERNELS(X)
#undef X

#define VL RAN_LANES
#if VL == 4 && defined(RAN_ALIKE)
#define FMA(x, y, z) fused(x, y, z)
#elif VL == 4 || defined(RAN_PLAIN)
#define FMA(x, y, z) ((x) * (y) + (z))
#elif VL == 8
#define FMA(x, y, z) ((vf)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#else
#define FMA(x, y, z) ((vf)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#endif

typedef float vf __attribute__((vector_size(VL * 4), may_alias));
typedef int32_t vi __attribute__((vector_size(VL * 4), may_alias));
typedef float vf_any __attribute__((vector_size(VL * 4), may_alias, aligned(4)));

#if VL == 4 && defined(RAN_ALIKE)
/* x y + z, rounded once, as the instruction of wider vectors has it. In double the product is
 * exact, and the sum is rounded to odd by what it has lost, so that the last rounding sees which
 * side it is on (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008). */
static inline vf fused(vf x, vf y, vf z)
{
#ifdef __aarch64__
        return (vf)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
#else
        typedef double vd __attribute__((vector_size(32)));
        typedef int64_t vl __attribute__((vector_size(32)));
        const vd product = __builtin_convertvector(x, vd) * __builtin_convertvector(y, vd);
        const vd added = __builtin_convertvector(z, vd);
        vd sum = product + added;
        const vd part = sum - product, lost = (product - (sum - part)) + (added - part);
        const vl inexact = (lost > 0) | (lost < 0), even = ((vl)sum & 1) - 1;
        const vl away = ~((lost > 0) ^ (sum > 0)); /* from 0, or else towards it */

        sum = (vd)((vl)sum + (inexact & even & (-2 * away - 1)));
        return __builtin_convertvector(sum, vf);
#endif
}
#endif

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
        if (n == VL)
                return load(p);
#if VL == 16
        return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif VL == 8
        return (vf)_mm256_maskload_ps(p, (__m256i)((vi){0, 1, 2, 3, 4, 5, 6, 7} < (int32_t)n));
#else
        return (vf){n > 0 ? p[0] : 0, n > 1 ? p[1] : 0, n > 2 ? p[2] : 0};
#endif
}

static inline void put(float *p, vf v, size_t n)
{
        if (n == VL) {
                store(p, v);
                return;
        }
#if VL == 16
        _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#elif VL == 8
        _mm256_maskstore_ps(p, (__m256i)((vi){0, 1, 2, 3, 4, 5, 6, 7} < (int32_t)n), (__m256)v);
#else
#pragma GCC unroll 3
        for (size_t i = 0; i < 3; i++)
                if (i < n)
                        p[i] = v[i];
#endif
}

/* v in its first n lanes, other in the rest */
static inline vf pick(vf v, vf other, size_t n)
{
        vi lane = {0}, take;

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

/* Sums over a row. Kernels that are alike have 16 lanes of them, whatever a vector has: element i
 * of a row goes to lane i % 16. */
#ifdef RAN_ALIKE
enum { SUM_PARTS = 16 / VL };
#else
enum { SUM_PARTS = 1 };
#endif
struct lanes {
        vf part[SUM_PARTS];
};
#define LANE(s, i) ((s).part[(i) / VL % SUM_PARTS])

static inline float sum_lanes(struct lanes s)
{
#pragma GCC unroll 2
        for (size_t half = SUM_PARTS / 2; half > 0; half /= 2)
#pragma GCC unroll 2
                for (size_t i = 0; i < half; i++)
                        s.part[i] += s.part[i + half];
        return sum(s.part[0]);
}

/* Adds the two halves of each group of lanes, 2n of them; two vectors become one. */
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

/* Adds up each of four vectors, as sum does: the first four elements of the result. */
static inline vf four_sums(vf *x)
{
#if VL == 16
        FOLD(8, x, 4);
        FOLD(4, x, 2);
        x[1] = x[0];
        FOLD(2, x, 2);
        x[1] = x[0];
#elif VL == 8
        FOLD(4, x, 4);
        FOLD(2, x, 2);
        x[1] = x[0];
#else
        FOLD(2, x, 4);
#endif
        FOLD(1, x, 2);
        return x[0];
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
#if VL == 16 && !defined(RAN_PLAIN) && !defined(RAN_ALIKE)
        vf r = (vf)_mm512_rcp14_ps((__m512)y);

        return FMA(r, FMA(-y, r, splat(1.0f)), r);
#else
        return 1.0f / y;
#endif
}

/* y += x, and the dot product: kernels themselves, and parts of others. */
static inline void vector_add(float *y, const float *x, size_t n)
{
        EACH(i, k, n)
        put(y + i, get(y + i, k) + get(x + i, k), k);
}

static inline float vector_dot(const float *x, const float *y, size_t n)
{
        struct lanes s = {0};

        EACH(i, k, n)
        LANE(s, i) = FMA(get(x + i, k), get(y + i, k), LANE(s, i));
        return sum_lanes(s);
}

#endif
