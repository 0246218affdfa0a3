/* gemm.h - the matrix product, and the linear layer. */
#ifndef RAN_MATH_GEMM_H
#define RAN_MATH_GEMM_H

#include "ran/base.h"

/* C (M,N) = A (M,K) B (K,N), or += with add; single-threaded. C is row-major, ldc apart. A and B
 * may be transposed by their strides: element (i,k) of A is a[i*ras + k*cas], (k,j) of B is b[k*rbs
 * + j*cbs], and in each one of the two strides is 1. The engine (our kernels or OpenBLAS) is a
 * function of the processor and of M, N and K alone. */
void ran_gemm(float *c, size_t ldc, const float *a, size_t ras, size_t cas, const float *b,
              size_t rbs, size_t cbs, size_t M, size_t N, size_t K, bool add);

/* Whether a row of C is the same, bit for bit, for any M above RAN_FEW_ROWS: OpenBLAS does not
 * promise that. */
bool ran_gemm_rows_stand_alone(void);

/* y (N,O) = x (N,I) w (O,I)^T + b (O), or without b if that is NULL. Rows are ldy and ldx apart.
 * The pool computes it in parts that depend on N, I and O alone. */
void ran_gemm_linear(struct ran_pool *pool, float *y, size_t ldy, const float *x, size_t ldx,
                     const float *w, const float *b, size_t N, size_t I, size_t O);
/* The same, bit for bit, with the panels of weights that do not change; kept NULL: there are none.
 * Panels serve many rows, and where our kernels multiply. */
struct ran_kept_panels;
void ran_gemm_linear_kept(struct ran_pool *pool, struct ran_kept_panels *kept, float *y, size_t ldy,
                          const float *x, size_t ldx, const float *w, const float *b, size_t N,
                          size_t I, size_t O);
/* The same with each row as if it were alone: N of any size has the bits of N calls. For few rows:
 * it takes RAN_FEW_ROWS of them at a time, unless they are multiplied as integers. */
void ran_gemm_linear_alone(struct ran_pool *pool, struct ran_kept_panels *kept, float *y,
                           size_t ldy, const float *x, size_t ldx, const float *w, const float *b,
                           size_t N, size_t I, size_t O);
/* Adjoint of ran_gemm_linear. Any of dx, dw, db may be NULL; db needs dw.
 *   dx = dy w, or += with add      dw += dy^T x      db += sum over N of dy */
void ran_gemm_linear_bwd(struct ran_pool *pool, float *dx, size_t lddx, bool add, float *dw,
                         float *db, const float *dy, size_t lddy, const float *x, size_t ldx,
                         const float *w, size_t N, size_t I, size_t O);

#endif
