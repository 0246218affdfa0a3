/* attention.c - window attention, equation (3): all heads of one window.
 *
 * The backward pass computes the scores again: that costs less than to keep them.
 */
#include "part/ran/layer.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

/* The query of row r sees this many rows, from the first on. */
static size_t sees(const struct ran_attention_heads *x, size_t r)
{
        if (x->mask == RAN_MASK_NONE || r == 0)
                return x->n;
        return r < x->sources + 1 ? x->sources + 1 : r + 1;
}

static float scale_of(const struct ran_attention_heads *x)
{
        return (float)(1.0 / sqrt((double)x->d_k));
}

void ran_attention_weights(float *score, const struct ran_attention_heads *x, size_t j,
                           size_t first, size_t end)
{
        const float *q = x->qkv + j * x->d_k, *k = q + x->E;
        size_t ld = 3 * x->E;

        ran_gemm(score, x->n, q + first * ld, ld, 1, k, 1, ld, end - first, x->n, x->d_k, false);
        for (size_t r = first; r < end; r++, score += x->n) {
                size_t n = sees(x, r);

                ran_simd->softmax(score, scale_of(x), n, NULL);
                if (n < x->n)
                        memset(score + n, 0, (x->n - n) * sizeof *score);
        }
}

void ran_attention(const struct ran_attention_heads *x, size_t first, size_t end, float *score)
{
        size_t ld = 3 * x->E;

        for (size_t j = 0; j < x->h; j++) {
                const float *v = x->qkv + 2 * x->E + j * x->d_k;

                ran_attention_weights(score, x, j, first, end);
                ran_gemm(x->a + first * x->E + j * x->d_k, x->E, score, x->n, 1, v, ld, 1,
                         end - first, x->d_k, x->n, false);
        }
}

/* With P the probabilities: dV = P^T dA, dP = dA V^T, dS = scale P (dP - rowsum(dP P)),
 * dQ = dS K, dK = dS^T Q. */
void ran_attention_bwd(float *dqkv, const float *da, const struct ran_attention_heads *x,
                       size_t first, size_t end, bool add, float *score)
{
        size_t ld = 3 * x->E, n = x->n, rows = end - first;
        float *dscore = score + n * n;

        for (size_t j = 0; j < x->h; j++) {
                const float *q = x->qkv + j * x->d_k, *k = q + x->E, *v = k + x->E;
                float *dq = dqkv + j * x->d_k, *dk = dq + x->E, *dv = dk + x->E;
                const float *d = da + first * x->E + j * x->d_k;

                ran_attention_weights(score, x, j, first, end);
                ran_gemm(dv, ld, score, 1, n, d, x->E, 1, n, x->d_k, rows, add);
                ran_gemm(dscore, n, d, x->E, 1, v, 1, ld, rows, n, x->d_k, false);
                for (size_t i = 0; i < rows; i++)
                        ran_simd->softmax_bwd(dscore + i * n, score + i * n, scale_of(x), n);
                ran_gemm(dq + first * ld, ld, dscore, n, 1, k, ld, 1, rows, x->d_k, n, add);
                ran_gemm(dk, ld, dscore, 1, n, q + first * ld, ld, 1, n, x->d_k, rows, add);
        }
}
