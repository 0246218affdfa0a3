/* pooling.c - one vector of a document from the outputs of its tokens: see workspace.h. */
#include "nn/part.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

void ran_pooling_mean(const struct ran_workspace *w, const float *x, size_t b, float *v)
{
        const size_t D = w->D, from = w->packed->doc[b], n = w->packed->doc[b + 1] - from;

        memset(v, 0, D * sizeof *v);
        ran_simd->bias_bwd(v, x + from * D, D, n, D);
        for (size_t d = 0; d < D; d++)
                v[d] /= (float)n;
}

void ran_pooling_mean_bwd(struct ran_workspace *w, size_t b, const float *dv)
{
        const size_t D = w->D, from = w->packed->doc[b], end = w->packed->doc[b + 1];

        for (size_t t = from; t < end; t++)
                ran_simd->axpy(w->dx + t * D, 1.0f / (float)(end - from), dv, D);
}

void ran_pooling(const struct ran_workspace *w, float *v, uint32_t *argmax)
{
        const size_t D = w->D, *doc = w->packed->doc;
        const float *x = w->x[w->c->layers];

        for (size_t b = 0; b < w->packed->B; b++, v += D, argmax += D)
                if (w->c->pooling == RAN_POOL_MAX)
                        ran_simd->max_rows(v, argmax, x + doc[b] * D, D, doc[b + 1] - doc[b], D);
                else
                        ran_pooling_mean(w, x, b, v);
}

void ran_pooling_bwd(struct ran_workspace *w, const float *dv, const uint32_t *argmax)
{
        const size_t D = w->D, *doc = w->packed->doc;

        memset(w->dx, 0, w->packed->L * D * sizeof *w->dx);
        for (size_t b = 0; b < w->packed->B; b++, dv += D, argmax += D)
                if (w->c->pooling == RAN_POOL_MAX)
                        for (size_t d = 0; d < D; d++)
                                w->dx[(doc[b] + argmax[d]) * D + d] = dv[d];
                else
                        ran_pooling_mean_bwd(w, b, dv);
}
