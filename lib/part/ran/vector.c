/* vector.c - vectors of documents that prenorm cells have learned to make (`vector`): of length 1,
 *
 *      u = 1/L Σ_t x_t + W 1/L Σ_t y_t,   v = u / |u|
 *
 * with x_t a row of the embedding and y_t an output.
 *
 * W is zero before any training: a RAN then makes the vectors that its embedding makes alone. Means
 * of all tokens are as good of a document of many windows as of a sentence. */
#include "math/elementary.h"
#include "math/gemm.h"
#include "nn/part.h"
#include "part/ran/prenorm.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

bool ran_prenorm_makes_vectors(const struct ran_config *c)
{
        return c->ran.vector && ran_task_of(c)->output == RAN_OUTPUT_DOCUMENT;
}

/* dx += the adjoint of means, dv (B, D). */
static void mean_bwd(struct ran_workspace *w, const float *dv)
{
        for (size_t b = 0; b < w->packed->B; b++)
                ran_pooling_mean_bwd(w, b, dv + b * w->D);
}

void ran_vectors_take_rows(struct ran_workspace *w)
{
        const struct ran_prenorm_join *own = &ran_prenorm_memory_of(w)->join;

        for (size_t b = 0; b < w->packed->B; b++)
                ran_pooling_mean(w, w->x[0], b, own->rows + b * w->D);
        if (w->training) /* whoever reads the outputs alone has none */
                memset(own->drows, 0, w->packed->B * w->D * sizeof *own->drows);
}

void ran_vectors_take_rows_bwd(struct ran_workspace *w)
{
        mean_bwd(w, ran_prenorm_memory_of(w)->join.drows);
}

void ran_vectors_make(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        const struct ran_prenorm_once *q = p->once;
        const struct ran_prenorm_join *own = &ran_prenorm_memory_of(w)->join;
        const size_t D = w->D;
        float *u = own->sum + b * D, *y = own->outputs + b * D;

        ran_pooling_mean(w, w->x[w->c->layers], b, y);
        memcpy(u, own->rows + b * D, D * sizeof *u);
        ran_gemm(u, D, y, D, 1, q->vector_w, 1, D, 1, D, D, true);
        ran_unit(v, u, D, 1);
}

void ran_vectors_parts(struct ran_workspace *w, const struct ran_params *p, const float *g,
                       double *value)
{
        const struct ran_prenorm_once *q = p->once;
        const struct ran_prenorm_join *own = &ran_prenorm_memory_of(w)->join;
        const size_t D = w->D, L = w->packed->L;
        const double length = sqrt(ran_dot(own->sum, own->sum, D)),
                     share = length > 0 ? 1 / ((double)L * length) : 0;
        float *of_outputs = own->outputs; /* W^T g */

        ran_gemm(of_outputs, D, g, D, 1, q->vector_w, D, 1, 1, D, D, false);
        for (size_t t = 0; t < L; t++)
                value[t] += share * ran_dot(of_outputs, w->x[w->c->layers] + t * D, D);
        ran_encode_embed(w, p); /* scoring has the outputs in their place */
        for (size_t t = 0; t < L; t++)
                value[t] += share * ran_dot(g, w->x[0] + t * D, D);
}

void ran_vectors_make_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dv)
{
        const struct ran_prenorm_once *q = p->once;
        struct ran_prenorm_once *dq = dp->once;
        const struct ran_prenorm_join *own = &ran_prenorm_memory_of(w)->join;
        const size_t D = w->D, B = w->packed->B;

        for (size_t b = 0; b < B; b++)
                ran_unit_bwd(dv + b * D, own->sum + b * D, D, 1);
        memcpy(own->drows, dv, B * D * sizeof *dv);
        ran_gemm_linear_bwd(w->pool, own->doutputs, D, false, dq->vector_w, NULL, dv, D,
                            own->outputs, D, q->vector_w, B, D, D);
        memset(w->dx, 0, w->packed->L * D * sizeof *w->dx);
        memset(w->dlast, 0, B * D * sizeof *w->dlast);
        mean_bwd(w, own->doutputs);
}
