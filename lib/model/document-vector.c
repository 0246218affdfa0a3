/* document-vector.c - see document-vector.h. */
#include "model/document-vector.h"
#include "math/simd.h"
#include "model/encoder.h"

#include <string.h>

/* Of D numbers: the rows of the embedding, and the outputs of the last layer. */
enum { PARTS = 2 };

/* Where rows are not changed there is one part. */
static bool has_outputs(const struct ran_config *c)
{
        return c->encoder != RAN_ENCODER_STATIC;
}

size_t ran_document_vector_width(const struct ran_config *c)
{
        return ran_encoder_of(c)->per_token ? (has_outputs(c) ? PARTS : 1) * c->dim : 0;
}

static void divide(float *v, size_t D, size_t n)
{
        for (size_t d = 0; d < D; d++)
                v[d] /= (float)n;
}

/* Scoring leaves the outputs in place of the rows (layer-memory.c): these are then taken from the
 * table. An explainer has both, and may have moved the rows. */
static void add_rows(const struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        const struct ran_packed *packed = w->packed;
        const bool moved = !has_outputs(w->c) || w->x[0] != w->x[w->c->layers];

        for (size_t t = packed->doc[b]; t < packed->doc[b + 1]; t++)
                ran_simd->add(v, moved ? w->x[0] + t * w->D : p->embed + packed->ids[t] * w->D,
                              w->D);
}

void ran_document_vector(const struct ran_workspace *w, const struct ran_params *p, size_t b,
                         float *v)
{
        const size_t D = w->D, from = w->packed->doc[b], n = w->packed->doc[b + 1] - from;
        const size_t F = ran_document_vector_width(w->c);

        memset(v, 0, F * sizeof *v);
        add_rows(w, p, b, v);
        for (size_t t = from; t < from + n && F > D; t++)
                ran_simd->add(v + D, w->x[w->c->layers] + t * D, D);
        divide(v, F, n);
}

static void add_mean_bwd(struct ran_workspace *w, const float *dv)
{
        const size_t D = w->D, L = w->packed->L;

        for (size_t t = 0; t < L; t++)
                ran_simd->axpy(w->dx + t * D, 1.0f / (float)L, dv, D);
}

void ran_document_vector_bwd(struct ran_workspace *w, const float *dv)
{
        memset(w->dx, 0, w->packed->L * w->D * sizeof *w->dx);
        memset(w->dlast, 0, w->packed->B * w->D * sizeof *w->dlast);
        if (has_outputs(w->c))
                add_mean_bwd(w, dv + w->D);
}

void ran_document_vector_rows_bwd(struct ran_workspace *w, const float *dv)
{
        add_mean_bwd(w, dv);
}
