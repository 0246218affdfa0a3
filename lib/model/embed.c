/* embed.c - vectors of documents to compare documents by: means of rows of an embedding.
 *
 *   v = Σ_t a_t (x_t - m) / Σ_t a_t        x_t the row of token t, a_t its weight
 *
 * Weights are a / (a + p) for a token of frequency p (document-vector.h), which give p back; m is the
 * mean of all rows by p, without which all documents would be alike. No encoder runs: what it adds
 * is the same direction for all documents, and made halves of the same document harder to find.
 */
#include "base/error.h"
#include "math/simd.h"
#include "model/document-vector.h"
#include "model/model-check.h"
#include "model/model.h"
#include "model/score.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

struct ran_embedder {
        const struct ran_model *m;
        float *weight; /* (V) */
        float *mean;   /* (D) */
};

size_t ran_embedder_width(const struct ran_embedder *e)
{
        return e->m->config.dim;
}

void ran_embedder_free(struct ran_embedder *e)
{
        if (e == NULL)
                return;
        free(e->weight);
        free(e->mean);
        free(e);
}

/* The mean of all rows, by how often their tokens occur; 0 if that is unknown. */
static int make_mean(struct ran_embedder *e, struct ran_error *err)
{
        const size_t D = e->m->config.dim;
        double *sum = ran_alloc(D, sizeof *sum, err), all = 0;

        if (sum == NULL)
                return RAN_ENOMEM;
        for (size_t id = 0; id < e->m->V; id++) {
                const double weight = (double)e->weight[id], p = weight > 0 ? 1 / weight - 1 : 0;
                const float *row = e->m->params.embed + id * D;

                for (size_t d = 0; d < D && p > 0; d++)
                        sum[d] += p * (double)row[d];
                all += p > 0 ? p : 0;
        }
        for (size_t d = 0; d < D && all > 0; d++)
                e->mean[d] = (float)(sum[d] / all);
        free(sum);
        return RAN_OK;
}

struct ran_embedder *ran_embedder_new(const struct ran_model *m, struct ran_error *err)
{
        struct ran_embedder *e;

        err = ran_error_or_spare(err);
        if (!ran_config_has_encoder(&m->config)) {
                ran_fail(err, RAN_EINVAL,
                         "the model has no encoder, and so no embedding of a document");
                return NULL;
        }
        e = ran_alloc(1, sizeof *e, err);
        if (e == NULL)
                return NULL;
        e->m = m;
        e->weight = ran_alloc_floats(m->V, err);
        e->mean = ran_alloc_floats(m->config.dim, err);
        if (e->weight == NULL || e->mean == NULL) {
                ran_embedder_free(e);
                return NULL;
        }
        ran_model_token_weights(m, e->weight);
        if (make_mean(e, err) != RAN_OK) {
                ran_embedder_free(e);
                return NULL;
        }
        return e;
}

int ran_embed(const struct ran_embedder *e, const struct ran_document *d, float *v,
              struct ran_error *err)
{
        const size_t D = e->m->config.dim;
        double sum = 0;

        err = ran_error_or_spare(err);
        RAN_TRY(ran_model_check_document(e->m, d, err));
        if (d->L == 0)
                return ran_fail(err, RAN_EINVAL, "a document without tokens");
        memset(v, 0, D * sizeof *v);
        for (size_t t = 0; t < d->L; t++) {
                const float weight = e->weight[d->ids[t]];

                ran_simd->axpy(v, weight, e->m->params.embed + d->ids[t] * D, D);
                sum += (double)weight;
        }
        for (size_t i = 0; i < D; i++)
                v[i] = (float)((sum > 0 ? (double)v[i] / sum : 0) - (double)e->mean[i]);
        return ran_score_check_result(v, D, err);
}
