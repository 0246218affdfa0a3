/* simd-training.c - dropout, and a step of Adam. See simd.h. */
#include "math/simd-vector.h"

#include <math.h>

/* One draw serves four positions, 16 bits each. */
void RAN_KERNEL(dropout)(float *x, size_t n, uint64_t key, uint64_t at, double p)
{
        enum { DRAWS = 16 };
        uint32_t limit = (uint32_t)(p * 65536.0 + 0.5);
        float keep = (float)(1.0 / (1.0 - p));

        for (size_t i = 0; i < n;) {
                size_t skip = (at + i) % 4, end = ran_least(n - i, 4 * DRAWS - skip);
                uint64_t draw[DRAWS];
                uint32_t bits[4 * DRAWS];

                for (size_t d = 0; d < DRAWS; d++)
                        draw[d] = ran_random_draw(key, (at + i) / 4 + d);
                for (size_t d = 0; d < DRAWS; d++)
                        for (size_t lane = 0; lane < 4; lane++)
                                bits[4 * d + lane] = (draw[d] >> (16 * lane)) & 0xffff;
                for (size_t j = 0; j < end; j++)
                        x[i + j] = bits[skip + j] < limit ? 0.0f : x[i + j] * keep;
                i += end;
        }
}

void RAN_KERNEL(adam)(float *w, float *m, float *v, const float *g, size_t n, float gscale,
                      float beta1, float beta2, float rate, float root, float eps, float decay)
{
        for (size_t i = 0; i < n; i++) {
                float d = g[i] * gscale;

                m[i] = beta1 * m[i] + (1.0f - beta1) * d;
                v[i] = beta2 * v[i] + (1.0f - beta2) * d * d;
                w[i] = w[i] * decay - rate * m[i] / (sqrtf(v[i] * root) + eps);
        }
}
