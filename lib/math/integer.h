/* integer.h - products of rows in eight bits.
 *
 * The weights w (N,K) are rows of codes with a scale each, as a model file stores them
 * (tensors/compact.h). Each row of a (M,K) is rounded to codes and a scale when it is multiplied:
 *
 *   code[k] = x[k] (127 / limit), rounded to nearest, ties to even;   scale = limit / 127
 *   limit = max |x| for weights;   for a row of a at most RAN_INTEGER_OUTLIER times its root mean
 *           square, which is taken of its codes at max |x|: in encoders of the BERT family one or
 *           two columns are so large that the others would have few codes left
 *   y[m][n] = (float)S (a_scale[m] w_scale[n]) + bias[n] + (float)R (a_scale[m] w_scale[n])
 *   S = sum over k of c w_code[n][k], c being a_code[m][k] held to [-127, 127]; R: of what c
 *           leaves of it. Without outliers nothing is added for R.
 *
 * Codes are whole numbers, so that their products add up to the same sum in any order, and each
 * operation on floats is one that IEEE 754 defines to the last bit. Hence y is the same on every
 * processor, for any number of rows and threads. A row of numbers below RAN_INTEGER_LEAST is one of
 * zeros; one with a number that is not finite becomes NaN.
 */
#ifndef RAN_MATH_INTEGER_H
#define RAN_MATH_INTEGER_H

#include <stdbool.h>
#include <stddef.h>

/* The largest K: a sum stays far below 2^31, and a few rows fit into a thread's panels. */
enum { RAN_INTEGER_MOST = 8192 };
#define RAN_INTEGER_LEAST   1e-30f
#define RAN_INTEGER_OUTLIER 6.0f

/* The kernels of one kind of processor. They are single-threaded, allocate nothing and cannot fail.
 */
struct ran_integer {
        const char *name;
        /* Brings weights into panels; returns their bytes, and fills `panels`, aligned to 64 bytes,
         * unless that is NULL. N > 0, 0 < K <= RAN_INTEGER_MOST, all numbers finite. */
        size_t (*panels)(void *panels, const float *w, size_t N, size_t K);
        /* Columns [from, from + cols) of y (M,N), rows ldy apart; `from` is a multiple of
         * RAN_PANEL_COLUMNS. Rows of a are lda apart. bias (N) or NULL. */
        void (*multiply)(float *y, size_t ldy, const float *a, size_t lda, const void *panels,
                         const float *bias, size_t M, size_t N, size_t K, size_t from, size_t cols);
};

extern const struct ran_integer ran_integer_base;
#ifdef RAN_HAVE_X86
extern const struct ran_integer ran_integer_avx2, ran_integer_avxvnni, ran_integer_avx512,
        ran_integer_avx512vnni;
#endif
#ifdef RAN_HAVE_DOT
extern const struct ran_integer ran_integer_dot;
#endif

/* The kernels in use, set before main, and all that this processor runs: the best first, then NULL.
 */
extern const struct ran_integer *ran_integer;
extern const struct ran_integer *ran_integer_all[];
/* Chooses the best that an instruction set of that name has (ran_simd); the best of all where it
 * names none of them. */
void ran_integer_choose(const char *isa);

#endif
