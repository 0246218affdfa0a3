/* simd-attention.c - attention over single keys, and rotary positions. See simd.h. */
#include "math/simd-vector.h"

#if defined(RAN_PLAIN) || defined(RAN_ALIKE)
/* Its sums are base's, whose vectors have four lanes everywhere. */
void RAN_KERNEL(similarity)(int how, float *out, const float *x, size_t ldx, const float *y,
                            size_t ldy, size_t N, size_t d)
{
        ran_simd_base.similarity(how, out, x, ldx, y, ldy, N, d);
}
#else
static inline vf similarity_add(int how, vf x, vf y, vf sum)
{
        vf difference = x - y;

        if (how == RAN_ROWS_DOT)
                return FMA(x, y, sum);
        if (how == RAN_ROWS_SQUARED)
                return FMA(difference, difference, sum);
        return sum + (vf)((vi)difference & INT32_MAX);
}

/* vectors: of a row that has only whole ones, where that is known; else 0. */
static inline __attribute__((always_inline)) vf
row_similarity(int how, const float *x, const float *y, size_t d, size_t vectors)
{
        vf part = {0};
        size_t c = 0, whole = vectors > 0 ? vectors * VL : d / VL * VL;

#pragma GCC unroll 8
        for (; c < whole; c += VL)
                part = similarity_add(how, load(x + c), load(y + c), part);
        if (vectors == 0 && c < d)
                part = similarity_add(how, get(x + c, d - c), get(y + c, d - c), part);
        return part;
}

/* `how` and `vectors` are constants where this is called. */
static inline __attribute__((always_inline)) void similarity_as(int how, float *out, const float *x,
                                                                size_t ldx, const float *y,
                                                                size_t ldy, size_t N, size_t d,
                                                                size_t vectors)
{
        for (; N >= VL; N -= VL, out += VL) {
                vf part[VL];

#pragma GCC unroll 16
                for (size_t r = 0; r < VL; r++, x += ldx, y += ldy)
                        part[r] = row_similarity(how, x, y, d, vectors);
                for (size_t r = 0; r < VL; r += 4) {
                        const vf four = four_sums(part + r);

                        memcpy(out + r, &four, 4 * sizeof *out);
                }
        }
        for (; N > 0; N--, x += ldx, y += ldy)
                *out++ = sum(row_similarity(how, x, y, d, vectors));
}

void RAN_KERNEL(similarity)(int how, float *out, const float *x, size_t ldx, const float *y,
                            size_t ldy, size_t N, size_t d)
{
        if (how == RAN_ROWS_SQUARED)
                similarity_as(RAN_ROWS_SQUARED, out, x, ldx, y, ldy, N, d, 0);
        else if (how == RAN_ROWS_ABSOLUTE)
                similarity_as(RAN_ROWS_ABSOLUTE, out, x, ldx, y, ldy, N, d, 0);
        else if (d == 32)
                similarity_as(RAN_ROWS_DOT, out, x, ldx, y, ldy, N, d, 32 / VL);
        else if (d == 64)
                similarity_as(RAN_ROWS_DOT, out, x, ldx, y, ldy, N, d, 64 / VL);
        else
                similarity_as(RAN_ROWS_DOT, out, x, ldx, y, ldy, N, d, 0);
}
#endif

/* y += sum over lines of p x, `vectors` vectors of a row, or with `rest` not 0 one of so many
 * elements. p: ldp apart; x: a row of each line, `at` further on. */
static inline __attribute__((always_inline)) void
weighted_sum_part(float *y, const float *p, size_t ldp, const float *const *x, size_t at,
                  size_t lines, size_t vectors, size_t rest)
{
        vf part[4];

#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
                part[v] = rest > 0 ? get(y, rest) : load(y + v * VL);
        for (size_t l = 0; l < lines; l++) {
                vf s = splat(p[l * ldp]);
                const float *row = x[l] + at;

#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                        part[v] = FMA(s, rest > 0 ? get(row, rest) : load(row + v * VL), part[v]);
        }
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
                put(y + v * VL, part[v], rest > 0 ? rest : VL);
}

void RAN_KERNEL(weighted_sum)(float *y, size_t ldy, const float *p, size_t ldp,
                              const float *const *x, size_t ldx, size_t lines, size_t N, size_t d)
{
        for (size_t i = 0; i < N; i++, y += ldy, p++) {
                size_t c = 0;

                for (; c + 4 * VL <= d; c += 4 * VL)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 4, 0);
                for (; c + 2 * VL <= d; c += 2 * VL)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 2, 0);
                for (; c + VL <= d; c += VL)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 1, 0);
                if (c < d)
                        weighted_sum_part(y + c, p, ldp, x, i * ldx + c, lines, 1, d - c);
        }
}

static inline vf sign(vf x)
{
        const vf one = splat(1.0f);

        return (vf)((x > 0.0f) & (vi)one) - (vf)((x < 0.0f) & (vi)one);
}

void RAN_KERNEL(weighted_difference)(int how, float *y, size_t ldy, const float *p, const float *x,
                                     size_t ldx, const float *c, size_t ldc, size_t N, size_t d)
{
        for (size_t i = 0; i < N; i++, x += ldx, y += ldy, c += ldc) {
                vf s = splat(p[i]);

                EACH(j, k, d)
                {
                        vf v = get(x + j, k) - get(c + j, k);

                        if (how == RAN_ROWS_ABSOLUTE)
                                v = sign(v);
                        put(y + j, FMA(s, v, get(y + j, k)), k);
                }
        }
}

void RAN_KERNEL(online_max)(float *top, const float *x, size_t n)
{
        EACH(i, k, n)
        put(top + i, max(get(top + i, k), get(x + i, k)), k);
}

void RAN_KERNEL(online_exp)(float *x, float *sum, const float *top, float scale, size_t n)
{
        vf s = splat(scale);

        EACH(i, k, n)
        {
                vf e = vexp((get(x + i, k) - get(top + i, k)) * s);

                put(x + i, e, k);
                put(sum + i, get(sum + i, k) + e, k);
        }
}

void RAN_KERNEL(online_softmax_bwd)(float *p, float *dp, const float *log_sum, const float *delta,
                                    float scale, size_t n)
{
        vf s = splat(scale);

        EACH(i, k, n)
        {
                vf e = vexp(get(p + i, k) * s - get(log_sum + i, k));

                put(p + i, e, k);
                put(dp + i, e * (get(dp + i, k) - get(delta + i, k)), k);
        }
}

void RAN_KERNEL(rotary)(float *x, size_t ld, const float *table, float sign, size_t N, size_t h,
                        size_t d)
{
        for (size_t r = 0; r < N; r++, x += ld, table += 2 * d)
                for (size_t j = 0; j < h; j++) {
                        float *restrict q = x + j * d;
                        const float *restrict c = table, *restrict s = table + d;

                        for (size_t i = 0; i < d; i += 2) {
                                float u = q[i], v = q[i + 1];

                                q[i] = u * c[i] + sign * (v * s[i]);
                                q[i + 1] = v * c[i + 1] + sign * (u * s[i + 1]);
                        }
                }
}
