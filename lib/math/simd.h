/* simd.h - the arithmetic that depends on the processor's vector width.
 *
 * simd.c and simd-*.c are compiled once an instruction set, into one table of kernels for each;
 * isa.c picks a table when a program starts. All kernels are single-threaded, allocate nothing and
 * cannot fail. Outputs come first, then inputs, then sizes. A backward kernel is written beside its
 * forward. Rows are ld apart where a leading dimension is named. Every reduction has a fixed order,
 * so a result is a function of its arguments alone.
 *
 * Accuracy of the vector exp: at most 2 ulp; arguments are held to [-87.3, 88].
 */
#ifndef RAN_MATH_SIMD_H
#define RAN_MATH_SIMD_H

#include "base/portable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of similarity and weighted_difference. */
enum { RAN_ROWS_DOT, RAN_ROWS_SQUARED, RAN_ROWS_ABSOLUTE };

/* With so few rows, copying B into panels does not pay. */
enum { RAN_FEW_ROWS = 4 };

/* A multiple of the columns of a panel, whatever the instruction set. */
enum { RAN_PANEL_COLUMNS = 32 };

struct ran_kernels {
        const char *name; /* what RAN_ISA calls it */

        /* C (M,N) = A (M,K) B (K,N) + bias (N), or += with add; no bias if that is NULL. Element
         * (i,k) of A is a[i*ras + k*cas], of B b[k*rbs + j*cbs], one of the strides of each being
         * 1; C is row-major. */
        void (*gemm)(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
                     size_t rbs, size_t cbs, const float *bias, size_t M, size_t N, size_t K,
                     bool add);

        /* The same bits for A's rows, more than RAN_FEW_ROWS, times a matrix w (N,K) transposed
         * that has been brought into panels before: columns [from, from + cols) of C, `from` a
         * multiple of RAN_PANEL_COLUMNS. gemm_panels returns their floats, and fills `panels`
         * unless that is NULL. */
        size_t (*gemm_panels)(float *panels, const float *w, size_t N, size_t K);
        void (*gemm_paneled)(float *c, size_t ldc, const float *a, size_t lda, const float *panels,
                             const float *bias, size_t M, size_t N, size_t K, size_t from,
                             size_t cols);

        /* x (N,O) += b (O) in every row */
        void (*bias)(float *x, size_t ld, const float *b, size_t N, size_t O);
        /* db (O) += sum of dy (N,O) over N */
        void (*bias_bwd)(float *db, const float *dy, size_t ld, size_t N, size_t O);

        /* y = x sigmoid(x), n elements; y may be x.   dx = dy silu'(x); dx may be dy. */
        void (*silu)(float *y, const float *x, size_t n);
        void (*silu_bwd)(float *dx, const float *x, const float *dy, size_t n);
        /* y = x Phi(x), Phi the normal distribution function (the exact GELU, erf within 3e-7);
         * dx = dy (Phi(x) + x phi(x)). y may be x, dx may be dy. */
        void (*gelu)(float *y, const float *x, size_t n);
        void (*gelu_bwd)(float *dx, const float *x, const float *dy, size_t n);
        /* y += value sigmoid(gate).   Adjoint: dvalue, dgate overwritten. */
        void (*glu_add)(float *y, const float *value, const float *gate, size_t n);
        void (*glu_bwd)(float *dvalue, float *dgate, const float *dy, const float *value,
                        const float *gate, size_t n);

        /* y = (x - mean) / sqrt(var + eps) w + b over each row of D, population variance; w, b
         * NULL: 1 and 0. stat (N,2) receives mean and 1/sqrt(var + eps); y may be x. */
        void (*norm)(float *y, size_t ldy, float *stat, const float *x, size_t ldx, const float *w,
                     const float *b, double eps, size_t N, size_t D);
        /* Adjoint: dx overwritten (may be dy); dw, db += (NULL with w NULL, or when not wanted). */
        void (*norm_bwd)(float *dx, size_t lddx, float *dw, float *db, const float *dy, size_t lddy,
                         const float *x, size_t ldx, const float *stat, const float *w, size_t N,
                         size_t D);
        /* The same with the mean of x² in place of the variance, so that y depends on the mean. */
        void (*raw_norm)(float *y, size_t ldy, float *stat, const float *x, size_t ldx,
                         const float *w, const float *b, double eps, size_t N, size_t D);
        void (*raw_norm_bwd)(float *dx, size_t lddx, float *dw, float *db, const float *dy,
                             size_t lddy, const float *x, size_t ldx, const float *stat,
                             const float *w, size_t N, size_t D);

        /* top (D) = the maximum of each column of x (N, D), N from 1 to INT32_MAX; at: the first
         * row that has it. What is no number is not larger than any other. */
        void (*max_rows)(float *top, uint32_t *at, const float *x, size_t ld, size_t N, size_t D);

        /* x = softmax(scale x) over n >= 1 elements, scale > 0; *log_sum, unless that is NULL, is
         * log(sum(exp(scale x))) */
        void (*softmax)(float *x, float scale, size_t n, double *log_sum);
        /* Adjoint with respect to the unscaled scores: dp = scale p (dp - p . dp), in place */
        void (*softmax_bwd)(float *dp, const float *p, float scale, size_t n);

        /* Attention over single keys (nn/sparse.c): paired rows x_i and y_i (N, d). out_i = x_i
         * . y_i;  sum (x_i - y_i)^2;  sum |x_i - y_i| */
        void (*similarity)(int how, float *out, const float *x, size_t ldx, const float *y,
                           size_t ldy, size_t N, size_t d);
        /* y_i += sum over lines l of p_l,i x_l,i, rows i (N, d): line l of p begins at p + l ldp,
         * that of x at x[l], its rows ldx apart */
        void (*weighted_sum)(float *y, size_t ldy, const float *p, size_t ldp,
                             const float *const *x, size_t ldx, size_t lines, size_t N, size_t d);
        /* y_i += p_i (x_i - c_i);  p_i sign(x_i - c_i): adjoint of the other two similarities */
        void (*weighted_difference)(int how, float *y, size_t ldy, const float *p, const float *x,
                                    size_t ldx, const float *c, size_t ldc, size_t N, size_t d);
        /* top = max(top, x);  x = exp(scale (x - top)) and sum += x: a softmax over lines that come
         * one after another, element by element */
        void (*online_max)(float *top, const float *x, size_t n);
        void (*online_exp)(float *x, float *sum, const float *top, float scale, size_t n);
        /* Adjoint, from the final sums: p = exp(scale p - log_sum), dp = p (dp - delta) */
        void (*online_softmax_bwd)(float *p, float *dp, const float *log_sum, const float *delta,
                                   float scale, size_t n);

        /* Rotates the pairs (2k, 2k+1) of h heads of width d in each of N rows by the angles of
         * table row i: table (N, 2d) holds d cosines, each twice, then d sines, signed - +. A
         * negative `sign` rotates back, which is the adjoint. */
        void (*rotary)(float *x, size_t ld, const float *table, float sign, size_t N, size_t h,
                       size_t d);

        /* y += x;  y += a x;  dot product;  y = a b and y += a b, each by each: y may be a or b */
        void (*add)(float *y, const float *x, size_t n);
        void (*axpy)(float *y, float a, const float *x, size_t n);
        float (*dot)(const float *x, const float *y, size_t n);
        void (*mul)(float *y, const float *a, const float *b, size_t n);
        void (*mul_add)(float *y, const float *a, const float *b, size_t n);

        /* A sparse row times a matrix, and its adjoint: x (K) at the distinct rows `row` (K) of w,
         * which are ld apart. y (N) += sum of x_k w_row[k];  w_row[k] (N) += (x_k s_row[k]) a, s
         * laid out as w, NULL: all 1. The order of sums does not depend on N. */
        void (*sparse_sum)(float *y, const float *x, const uint32_t *row, size_t K, const float *w,
                           size_t ld, size_t N);
        void (*sparse_add)(float *w, const float *s, size_t ld, const float *x, const uint32_t *row,
                           size_t K, const float *a, size_t N);

        /* sparse_sum of rows in fewer bits: w is IEEE 754 binary16; codes, each row times its
         * scale. Rows follow one another, all elements up to w + end may be read. */
        void (*sparse_sum_f16)(float *y, const float *x, const uint32_t *row, size_t K,
                               const uint16_t *w, size_t ld, size_t end, size_t N);
        void (*sparse_sum_i8)(float *y, const float *x, const uint32_t *row, size_t K,
                              const int8_t *w, const float *scale, size_t ld, size_t end, size_t N);

        /* Zeroes element i with probability p where 16 bits of the draw at position at + i say so,
         * scales the others by 1/(1-p). The adjoint is the same call on the gradient. */
        void (*dropout)(float *x, size_t n, uint64_t key, uint64_t at, double p);

        /* One step of Adam with decoupled weight decay (Loshchilov and Hutter 2019): g is scaled by
         * gscale; rate = lr / (1 - beta1^t), root = 1 / (1 - beta2^t), decay = 1 - lr wd. */
        void (*adam)(float *w, float *m, float *v, const float *g, size_t n, float gscale,
                     float beta1, float beta2, float rate, float root, float eps, float decay);
};

/* A table for each instruction set. The plain ones compute what base does, in vectors of
 * some width, but for sums of a row (simd-vector.h): those are the same for all of them. */
extern const struct ran_kernels ran_simd_base, ran_simd_alike4;
#ifdef RAN_HAVE_X86
extern const struct ran_kernels ran_simd_avx512, ran_simd_avx2, ran_simd_plain16, ran_simd_plain8,
        ran_simd_alike16, ran_simd_alike8;
#endif

/* The table in use: the best that this processor runs, or the one that RAN_ISA names. Set before
 * main. Where a thread wants what every processor computes (base/portable.h), the second one. */
extern const struct ran_kernels *ran_simd_in_use[2];
#define ran_simd ran_simd_in_use[ran_portable]

#endif
