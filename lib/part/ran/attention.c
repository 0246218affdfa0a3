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

struct ran_attention_heads ran_attention_heads_of(const struct ran_workspace *w, size_t i,
                                                  const float *qkv)
{
        const struct ran_packed *packed = w->packed;
        size_t b = packed->window_doc[i], t = packed->window[i],
               end = packed->doc[b] + packed->sources[b], n = packed->row[i + 1] - packed->row[i];

        return (struct ran_attention_heads){
                .qkv = qkv,
                .n = n,
                .E = w->E,
                .h = w->h,
                .d_k = w->d_k,
                .mask = w->c->mask,
                .sources = end > t ? ran_least(end - t, n - 1) : 0,
        };
}

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

/* score (end - first, n) = softmax(q k^T / sqrt(d_k)), the weights of head j; 0 where masked. */
static void weigh(float *score, const struct ran_attention_heads *x, size_t j, size_t first,
                  size_t end)
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

void ran_attention(float *a, const struct ran_attention_heads *x, size_t first, size_t end,
                   float *score)
{
        size_t ld = 3 * x->E;

        for (size_t j = 0; j < x->h; j++) {
                const float *v = x->qkv + 2 * x->E + j * x->d_k;

                weigh(score, x, j, first, end);
                ran_gemm(a + j * x->d_k, x->E, score, x->n, 1, v, ld, 1, end - first, x->d_k, x->n,
                         false);
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
                const float *d = da + j * x->d_k;

                weigh(score, x, j, first, end);
                ran_gemm(dv, ld, score, 1, n, d, x->E, 1, n, x->d_k, rows, add);
                ran_gemm(dscore, n, d, x->E, 1, v, 1, ld, rows, n, x->d_k, false);
                for (size_t i = 0; i < rows; i++)
                        ran_simd->softmax_bwd(dscore + i * n, score + i * n, scale_of(x), n);
                ran_gemm(dq + first * ld, ld, dscore, n, 1, k, ld, 1, rows, x->d_k, n, add);
                ran_gemm(dk, ld, dscore, 1, n, q + first * ld, ld, 1, n, x->d_k, rows, add);
        }
}

void ran_attention_probe(struct ran_probe *k, size_t l, size_t at,
                         const struct ran_attention_heads *x, float *score)
{
        size_t head, heads, from, to;
        float scale = ran_probe_heads(k, x->h, &head, &heads);

        if (!ran_probe_matches(k, RAN_PROBE_HEADS, l) ||
            !ran_probe_queries(k, at, x->n, &from, &to))
                return;
        for (size_t j = head; j < heads; j++) {
                weigh(score, x, j, from, to);
                for (size_t r = from; r < to; r++)
                        ran_probe_add(k, at + r, at, score + (r - from) * x->n, x->n, scale);
        }
}
