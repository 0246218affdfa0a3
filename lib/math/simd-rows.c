/* simd-rows.c - layer norms and softmax over rows. See simd.h. */
#include "math/elementary.h"
#include "math/simd-vector.h"

#include <math.h>

/* Divided by the deviation, or with `raw` by the root of the mean square. */
static inline void norm(const bool raw, float *y, size_t ldy, float *stat, const float *x,
                        size_t ldx, const float *w, const float *b, double eps, size_t N, size_t D)
{
        for (size_t r = 0; r < N; r++, x += ldx, y += ldy, stat += 2) {
                struct lanes total = {0}, square = {0};
                vf mean, rstd;

                EACH(i, k, D)
                LANE(total, i) += get(x + i, k);
                mean = splat(sum_lanes(total) / (float)D);
                EACH(i, k, D)
                {
                        vf c = raw ? get(x + i, k) : pick(get(x + i, k) - mean, (vf){0}, k);

                        LANE(square, i) = FMA(c, c, LANE(square, i));
                }
                stat[0] = mean[0];
                stat[1] = (float)(1.0 / sqrt((double)sum_lanes(square) / (double)D + eps));
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

/* With xhat = (x - mean) rstd and g = dy w:  dx = rstd (g - mean(g) - xhat mean(g xhat)), raw:
 * rstd (g - mean(g) - x rstd mean(g xhat)). */
static inline void norm_bwd(const bool raw, float *dx, size_t lddx, float *dw, float *db,
                            const float *dy, size_t lddy, const float *x, size_t ldx,
                            const float *stat, const float *w, size_t N, size_t D)
{
        const vf one = splat(1.0f);

        for (size_t r = 0; r < N; r++, x += ldx, dy += lddy, dx += lddx, stat += 2) {
                vf mean = splat(stat[0]), rstd = splat(stat[1]), g_mean, gx_mean;
                struct lanes g_sum = {0}, gx_sum = {0};

                EACH(i, k, D)
                {
                        vf d = get(dy + i, k), xhat = (get(x + i, k) - mean) * rstd;
                        vf g = d * (w ? get(w + i, k) : one);

                        LANE(g_sum, i) += g; /* missing lanes have d = 0, and so g = 0 */
                        LANE(gx_sum, i) = FMA(g, xhat, LANE(gx_sum, i));
                        if (dw) {
                                put(dw + i, FMA(d, xhat, get(dw + i, k)), k);
                                put(db + i, get(db + i, k) + d, k);
                        }
                }
                g_mean = splat(sum_lanes(g_sum) / (float)D);
                gx_mean = splat(sum_lanes(gx_sum) / (float)D);
                if (raw)
                        mean = splat(0.0f);
                EACH(i, k, D)
                {
                        vf xhat = (get(x + i, k) - mean) * rstd;
                        vf g = get(dy + i, k) * (w ? get(w + i, k) : one);

                        put(dx + i, rstd * (g - g_mean - xhat * gx_mean), k);
                }
        }
}

void RAN_KERNEL(norm)(float *y, size_t ldy, float *stat, const float *x, size_t ldx, const float *w,
                      const float *b, double eps, size_t N, size_t D)
{
        norm(false, y, ldy, stat, x, ldx, w, b, eps, N, D);
}

void RAN_KERNEL(norm_bwd)(float *dx, size_t lddx, float *dw, float *db, const float *dy,
                          size_t lddy, const float *x, size_t ldx, const float *stat,
                          const float *w, size_t N, size_t D)
{
        norm_bwd(false, dx, lddx, dw, db, dy, lddy, x, ldx, stat, w, N, D);
}

void RAN_KERNEL(raw_norm)(float *y, size_t ldy, float *stat, const float *x, size_t ldx,
                          const float *w, const float *b, double eps, size_t N, size_t D)
{
        norm(true, y, ldy, stat, x, ldx, w, b, eps, N, D);
}

void RAN_KERNEL(raw_norm_bwd)(float *dx, size_t lddx, float *dw, float *db, const float *dy,
                              size_t lddy, const float *x, size_t ldx, const float *stat,
                              const float *w, size_t N, size_t D)
{
        norm_bwd(true, dx, lddx, dw, db, dy, lddy, x, ldx, stat, w, N, D);
}

/* Vectors of columns that are passed at once. */
enum { COLUMNS = 8 };

/* V vectors of columns side by side, of k elements each: rows are read once, as they lie. */
static inline __attribute__((always_inline)) void
max_columns(size_t V, float *top, uint32_t *at, const float *x, size_t ld, size_t N, size_t k)
{
        vf most[COLUMNS], v;
        vi first[COLUMNS], row = {0}, more;

#pragma GCC unroll 8
        for (size_t j = 0; j < V; j++) {
                most[j] = get(x + j * VL, k);
                first[j] = (vi){0};
        }
        for (size_t r = 1; r < N; r++) {
                row += 1;
#pragma GCC unroll 8
                for (size_t j = 0; j < V; j++) {
                        v = get(x + r * ld + j * VL, k);
                        more = v > most[j];
                        first[j] = (row & more) | (first[j] & ~more);
                        most[j] = max(v, most[j]);
                }
        }
#pragma GCC unroll 8
        for (size_t j = 0; j < V; j++) {
                put(top + j * VL, most[j], k);
                put((float *)at + j * VL, (vf)first[j], k);
        }
}

void RAN_KERNEL(max_rows)(float *top, uint32_t *at, const float *x, size_t ld, size_t N, size_t D)
{
        size_t i = 0;

        for (; i + COLUMNS * VL <= D; i += COLUMNS * VL)
                max_columns(COLUMNS, top + i, at + i, x + i, ld, N, VL);
        for (; i + VL <= D; i += VL)
                max_columns(1, top + i, at + i, x + i, ld, N, VL);
        if (i < D)
                max_columns(1, top + i, at + i, x + i, ld, N, D - i);
}

void RAN_KERNEL(softmax)(float *x, float scale, size_t n, double *log_sum)
{
        vf top = splat(x[0]), other = top, s = splat(scale);
        struct lanes total = {0};
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

                LANE(total, i) += pick(e, (vf){0}, k);
                put(x + i, e, k);
        }
        float all = sum_lanes(total);
        s = splat(1.0f / all);
        EACH(i, k, n)
        put(x + i, get(x + i, k) * s, k);
        if (log_sum != NULL)
                *log_sum = (double)scale * (double)top[0] + ran_log((double)all);
}

void RAN_KERNEL(softmax_bwd)(float *dp, const float *p, float scale, size_t n)
{
        vf mean = splat(vector_dot(dp, p, n)), s = splat(scale);

        EACH(i, k, n)
        put(dp + i, s * get(p + i, k) * (get(dp + i, k) - mean), k);
}
