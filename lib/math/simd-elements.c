/* simd-elements.c - sums, products and activations element by element. See simd.h. */
#include "math/simd-vector.h"

void RAN_KERNEL(add)(float *y, const float *x, size_t n)
{
        vector_add(y, x, n);
}

void RAN_KERNEL(axpy)(float *y, float a, const float *x, size_t n)
{
        vf s = splat(a);

        EACH(i, k, n)
        put(y + i, FMA(s, get(x + i, k), get(y + i, k)), k);
}

float RAN_KERNEL(dot)(const float *x, const float *y, size_t n)
{
        return vector_dot(x, y, n);
}

void RAN_KERNEL(mul)(float *y, const float *a, const float *b, size_t n)
{
        EACH(i, k, n)
        put(y + i, get(a + i, k) * get(b + i, k), k);
}

void RAN_KERNEL(mul_add)(float *y, const float *a, const float *b, size_t n)
{
        EACH(i, k, n)
        put(y + i, FMA(get(a + i, k), get(b + i, k), get(y + i, k)), k);
}

void RAN_KERNEL(bias)(float *x, size_t ld, const float *b, size_t N, size_t O)
{
        for (size_t r = 0; r < N; r++)
                vector_add(x + r * ld, b, O);
}

void RAN_KERNEL(bias_bwd)(float *db, const float *dy, size_t ld, size_t N, size_t O)
{
        for (size_t r = 0; r < N; r++)
                vector_add(db, dy + r * ld, O);
}

void RAN_KERNEL(silu)(float *y, const float *x, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k);

                put(y + i, v * vsigmoid(v), k);
        }
}

void RAN_KERNEL(silu_bwd)(float *dx, const float *x, const float *dy, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k), s = vsigmoid(v);

                put(dx + i, get(dy + i, k) * s * (1.0f + v * (1.0f - s)), k);
        }
}

/* Phi(x), given e = exp(-x^2 / 2): erf by 7.1.26 of Abramowitz and Stegun, for |x|, and its
 * symmetry.
 */
static inline vf vnormal(vf x, vf e)
{
        vf a = max(x, -x), t = 1.0f / FMA(a, splat(0.3275911f * 0.70710678f), splat(1.0f));
        vf p = splat(1.061405429f), half;

        p = FMA(p, t, splat(-1.453152027f));
        p = FMA(p, t, splat(1.421413741f));
        p = FMA(p, t, splat(-0.284496736f));
        p = FMA(p, t, splat(0.254829592f));
        half = 0.5f - 0.5f * p * t * e; /* Phi(|x|) - 1/2, which takes the sign of x */
        return 0.5f + (vf)((vi)half | ((vi)x & (vi)splat(-0.0f)));
}

void RAN_KERNEL(gelu)(float *y, const float *x, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k);

                put(y + i, v * vnormal(v, vexp(-0.5f * v * v)), k);
        }
}

void RAN_KERNEL(gelu_bwd)(float *dx, const float *x, const float *dy, size_t n)
{
        EACH(i, k, n)
        {
                vf v = get(x + i, k), e = vexp(-0.5f * v * v);

                put(dx + i, get(dy + i, k) * (vnormal(v, e) + 0.39894228f * v * e), k);
        }
}

void RAN_KERNEL(glu_add)(float *y, const float *value, const float *gate, size_t n)
{
        EACH(i, k, n)
        put(y + i, get(y + i, k) + get(value + i, k) * vsigmoid(get(gate + i, k)), k);
}

void RAN_KERNEL(glu_bwd)(float *dvalue, float *dgate, const float *dy, const float *value,
                         const float *gate, size_t n)
{
        EACH(i, k, n)
        {
                vf d = get(dy + i, k), v = get(value + i, k), s = vsigmoid(get(gate + i, k));

                put(dvalue + i, d * s, k);
                put(dgate + i, d * v * s * (1.0f - s), k);
        }
}
