/* attention.c - the vector of a document as a weighted mean of its windows' vectors: see upper.h.
 */
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "part/upper/upper.h"

#include <math.h>
#include <string.h>

/* The same number on every processor. */
static float tangent(float x)
{
        const double e = ran_exp(-2 * fabs((double)x));

        return (float)copysign((1 - e) / (1 + e), (double)x);
}

/* α of n windows in place of their scores. */
static void soften(float *weight, size_t n)
{
        double most = (double)weight[0], sum = 0;

        for (size_t i = 1; i < n; i++)
                most = fmax(most, (double)weight[i]);
        for (size_t i = 0; i < n; i++) {
                weight[i] = (float)ran_exp((double)weight[i] - most);
                sum += (double)weight[i];
        }
        for (size_t i = 0; i < n; i++)
                weight[i] = (float)((double)weight[i] / sum);
}

/* Document by document, so that products have the rows that they have for one alone. */
static void attend(struct ran_workspace *w, const struct ran_params *p, size_t b)
{
        const struct ran_upper_memory *own = ran_upper_memory_of(w);
        const size_t D = w->D, A = w->c->upper.dim, at = own->first[b], n = own->first[b + 1] - at;
        const float *x = own->x + at * D;
        float *key = own->rows.key + at * A, *weight = own->rows.weight + at;
        float *h = w->head.head + b * D;

        ran_gemm_linear(w->pool, key, A, x, D, ran_upper_of(p)->key_w, ran_upper_of(p)->key_b, n, D,
                        A);
        for (size_t i = 0; i < n * A; i++)
                key[i] = tangent(key[i]);
        for (size_t i = 0; i < n; i++)
                weight[i] = ran_simd->dot(key + i * A, ran_upper_of(p)->query, A);
        soften(weight, n);
        memset(h, 0, D * sizeof *h);
        for (size_t i = 0; i < n; i++)
                ran_simd->axpy(h, weight[i], x + i * D, D);
}

void ran_upper_attend(struct ran_workspace *w, const struct ran_params *p)
{
        for (size_t b = 0; b < w->packed->B; b++)
                attend(w, p, b);
}

/* With s the scores: ds = α (dα - Σ α dα); and on to q and what tanh reads. */
static void attend_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                       size_t b, float *dx)
{
        const struct ran_upper_memory *own = ran_upper_memory_of(w);
        const size_t D = w->D, A = w->c->upper.dim, at = own->first[b], n = own->first[b + 1] - at;
        const float *x = own->x + at * D, *dh = w->head.dhead + b * D;
        const float *key = own->rows.key + at * A, *weight = own->rows.weight + at;
        float *dkey = own->rows.dkey + at * A, *dweight = own->rows.dweight + at;
        double mean = 0;

        for (size_t i = 0; i < n; i++) {
                dweight[i] = ran_simd->dot(dh, x + i * D, D);
                mean += (double)weight[i] * (double)dweight[i];
                ran_simd->axpy(dx + i * D, weight[i], dh, D);
        }
        for (size_t i = 0; i < n; i++) {
                const float ds = (float)((double)weight[i] * ((double)dweight[i] - mean));

                if (ran_upper_of(dp)->query != NULL)
                        ran_simd->axpy(ran_upper_of(dp)->query, ds, key + i * A, A);
                for (size_t a = 0; a < A; a++)
                        dkey[i * A + a] = ds * ran_upper_of(p)->query[a] *
                                          (1 - key[i * A + a] * key[i * A + a]);
        }
        ran_gemm_linear_bwd(w->pool, dx, D, true, ran_upper_of(dp)->key_w, ran_upper_of(dp)->key_b,
                            dkey, A, x, D, ran_upper_of(p)->key_w, n, D, A);
}

void ran_upper_attend_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dx)
{
        for (size_t b = 0; b < w->packed->B; b++)
                attend_bwd(w, p, dp, b, dx + ran_upper_memory_of(w)->first[b] * w->D);
}
