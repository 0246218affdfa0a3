/* pooling.c - one vector of a document from the outputs of its tokens: see workspace.h. */
#include "nn/part.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

void ran_pooling_lay_out(struct ran_pooling *k, const struct ran_workspace *w,
                         struct ran_arena *arena)
{
        bool pools = ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT;
        const double floats = pools ? (double)w->size.B * (double)w->D : 0;

        k->pooled = ran_arena_take(arena, floats);
        k->dpooled = ran_arena_take(arena, w->training ? floats : 0);
        k->argmax = (uint32_t *)ran_arena_take(arena, floats);
}

static void pool_max(const struct ran_pooling *k, const struct ran_workspace *w, size_t b)
{
        const size_t D = w->D, from = w->packed->doc[b];

        ran_simd->max_rows(k->pooled + b * D, k->argmax + b * D, w->x[w->c->layers] + from * D, D,
                           w->packed->doc[b + 1] - from, D);
}

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

void ran_pooling(struct ran_pooling *k, const struct ran_workspace *w)
{
        for (size_t b = 0; b < w->packed->B; b++)
                if (w->c->pooling == RAN_POOL_MAX)
                        pool_max(k, w, b);
                else
                        ran_pooling_mean(w, w->x[w->c->layers], b, k->pooled + b * w->D);
}

static void pool_bwd(const struct ran_pooling *k, struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        size_t D = w->D, n = packed->doc[b + 1] - packed->doc[b];
        float *dx = w->dx + packed->doc[b] * D;
        const float *dv = k->dpooled + b * D;

        memset(dx, 0, n * D * sizeof *dx);
        if (w->c->pooling == RAN_POOL_MAX)
                for (size_t d = 0; d < D; d++)
                        dx[k->argmax[b * D + d] * D + d] = dv[d];
        else
                ran_pooling_mean_bwd(w, b, dv);
}

void ran_pooling_bwd(const struct ran_pooling *k, struct ran_workspace *w)
{
        for (size_t b = 0; b < w->packed->B; b++)
                pool_bwd(k, w, b);
}
