/* embed.c - vectors of documents to compare documents by: whitened means of rows of an embedding.
 *
 *   v = L^-1 (Σ_t a_t x_t / Σ_t a_t - m)        x_t the row of token t, a_t = a / (a + p_t)
 *   L L^T = Σ_id p_id a_id² (x_id - m)(x_id - m)^T,  m = Σ_id p_id x_id
 *
 * with p_id how often the model's language has a token, which the weights of tokens tell
 * (document-vector.h). Without m all documents are alike, and without L the few directions in which
 * most rows differ decide what is near: halves of the same news article, post or review find each
 * other twice as often with it. A token that stands for whatever the vocabulary does not know has
 * no meaning to compare: it counts nothing, and of a text of such tokens v = 0. No encoder runs:
 * its outputs, averaged, tell documents apart less well than the rows. Only an encoder that was
 * trained to make vectors of documents runs, and its vectors are taken as they are. So are means of
 * the rows that a distillation made for it (task embed), all a_t = 1.
 */
#include "infer/infer.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "part/vectors/document-vector.h"
#include "nn/part.h"
#include "file/model.h"
#include "ran/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The smoothing of the weights; that of a model's own is larger (document-vector.c). */
static const double smooth = 1e-4;
/* Added to the diagonal, as a part of its mean: rows may span fewer than D dimensions. */
static const double ridge = 1e-3;
/* Wider embeddings are not whitened: that takes D³ operations, and a file may say any width. */
enum { WIDEST = 2048 };

struct ran_embedder {
        const struct ran_model *m;
        float *weight;  /* (V) */
        float *mean;    /* (D) */
        double *whiten; /* (D, D) the lower triangle L; NULL: not whitened */
};

/* Whether the encoder makes the vectors. */
static bool encodes(const struct ran_embedder *e)
{
        return ran_config_has_vector(&e->m->config);
}

/* Whether the rows were made to be averaged as they are (task embed, encoder static). */
static bool averages(const struct ran_embedder *e)
{
        return e->m->config.task == RAN_TASK_EMBED;
}

size_t ran_embedder_width(const struct ran_embedder *e)
{
        return encodes(e) ? ran_document_vector_width(&e->m->config) : e->m->config.dim;
}

void ran_embedder_free(struct ran_embedder *e)
{
        if (e == NULL)
                return;
        free(e->weight);
        free(e->mean);
        free(e->whiten);
        free(e);
}

/* From weights of the model to frequencies; 1 each if it has none. They may be any numbers. The
 * caller frees them. */
static double *make_frequencies(const struct ran_embedder *e)
{
        const size_t V = e->m->V;
        double *p = ran_new(V, sizeof *p), sum = 0;

        for (size_t id = 0; id < V; id++) {
                const double weight = (double)e->weight[id];

                p[id] = weight > 0 && weight < 1 ? ran_document_vector_smooth * (1 / weight - 1)
                                                 : 0;
                sum += p[id];
        }
        for (size_t id = 0; id < V; id++)
                p[id] = sum > 0 ? p[id] / sum : 1 / (double)V;
        return p;
}

/* The covariance of rows (lower triangle), by what documents have of them: a block of rows at a
 * time in a product, blocks in double. */
enum { BLOCK = 512 };

static void make_covariance(struct ran_embedder *e, const double *p)
{
        const size_t D = e->m->config.dim, V = e->m->V;
        float *x = ran_new_floats(BLOCK * D), *product = ran_new_floats(D * D);

        for (size_t from = 0; from < V; from += BLOCK) {
                const size_t n = V - from < BLOCK ? V - from : BLOCK;

                for (size_t i = 0; i < n; i++) {
                        const size_t id = from + i;
                        const double by = sqrt(p[id]) * (double)e->weight[id];

                        for (size_t d = 0; d < D; d++)
                                x[i * D + d] =
                                        (float)(by * ((double)e->m->params.embed[id * D + d] -
                                                      (double)e->mean[d]));
                }
                ran_gemm(product, D, x, 1, D, x, D, 1, D, D, n, false);
                for (size_t i = 0; i < D * D; i++)
                        e->whiten[i] += (double)product[i];
        }
        free(x);
        free(product);
}

/* Cholesky's decomposition of a (D, D), in place; a row without variance is one of the unit matrix.
 */
static void decompose(double *a, size_t D)
{
        double trace = 0;

        for (size_t i = 0; i < D; i++)
                trace += a[i * D + i];
        for (size_t i = 0; i < D; i++) {
                a[i * D + i] += ridge * trace / (double)D;
                for (size_t j = 0; j <= i; j++) {
                        double sum = a[i * D + j];

                        for (size_t k = 0; k < j; k++)
                                sum -= a[i * D + k] * a[j * D + k];
                        if (i == j)
                                a[i * D + i] = sum > 0 ? sqrt(sum) : 1;
                        else
                                a[i * D + j] = sum / a[j * D + j];
                }
        }
}

static void set_weights(struct ran_embedder *e)
{
        ran_model_token_weights(e->m, e->weight);
        if (!averages(e)) {
                const size_t D = e->m->config.dim;
                double *p = make_frequencies(e);

                for (size_t id = 0; id < e->m->V; id++) {
                        e->weight[id] = (float)(smooth / (smooth + p[id]));
                        ran_simd->axpy(e->mean, (float)p[id], e->m->params.embed + id * D, D);
                }
                if (e->whiten != NULL) {
                        make_covariance(e, p);
                        decompose(e->whiten, D);
                }
                free(p);
        }
        const struct ran_tokenizer *t = ran_model_tokenizer(e->m);
        const uint32_t unknown = t != NULL ? ran_tokenizer_unknown(t) : RAN_NO_ID;
        if (unknown < e->m->V)
                e->weight[unknown] = 0;
}

struct ran_embedder *ran_embedder_new(const struct ran_model *m, struct ran_error *err)
{
        const size_t D = m->config.dim;

        if (!ran_config_has_encoder(&m->config)) {
                ran_fail(err, RAN_EINVAL,
                         "the model has no encoder, and so no embedding of a document");
                return NULL;
        }
        struct ran_embedder *e = ran_new(1, sizeof *e);
        e->m = m;
        if (encodes(e))
                return e;
        e->weight = ran_new_floats(m->V);
        e->mean = ran_new_floats(D);
        if (D <= WIDEST && !averages(e))
                e->whiten = ran_new(D * D, sizeof *e->whiten);
        set_weights(e);
        return e;
}

/* v = L^-1 v, by forward substitution. */
static void whiten(const struct ran_embedder *e, float *v)
{
        const size_t D = e->m->config.dim;

        for (size_t i = 0; e->whiten != NULL && i < D; i++) {
                double x = (double)v[i];

                for (size_t k = 0; k < i; k++)
                        x -= e->whiten[i * D + k] * (double)v[k];
                v[i] = (float)(x / e->whiten[i * D + i]);
        }
}

const float *ran_embedder_weights(const struct ran_embedder *e)
{
        return e->weight;
}

void ran_embedder_fold(const struct ran_embedder *e, float *w, double *bias)
{
        const size_t D = e->m->config.dim;

        *bias = 0;
        if (encodes(e))
                return;
        /* Whitening's transpose, by back substitution. */
        for (size_t i = e->whiten != NULL ? D : 0; i-- > 0;) {
                double x = (double)w[i];

                for (size_t k = i + 1; k < D; k++)
                        x -= e->whiten[k * D + i] * (double)w[k];
                w[i] = (float)(x / e->whiten[i * D + i]);
        }
        *bias = -ran_dot(w, e->mean, D);
}

/* The vector of one document, from the rows of its tokens. */
static int embed_rows(const struct ran_embedder *e, const struct ran_document *d, float *v,
                      struct ran_error *err)
{
        const size_t D = e->m->config.dim;
        double sum = 0;

        RAN_TRY(ran_model_check_document(e->m, d, err));
        if (d->L == 0)
                return ran_fail(err, RAN_EINVAL, "a document without tokens");
        memset(v, 0, D * sizeof *v);
        for (size_t t = 0; t < d->L; t++) {
                const float weight = e->weight[d->ids[t]];

                ran_simd->axpy(v, weight, e->m->params.embed + d->ids[t] * D, D);
                sum += (double)weight;
        }
        if (sum <= 0) {
                memset(v, 0, D * sizeof *v);
                return RAN_OK;
        }
        for (size_t i = 0; i < D; i++)
                v[i] = (float)((double)v[i] / sum - (double)e->mean[i]);
        whiten(e, v);
        return ran_score_check(v, D, -FLT_MAX, err);
}

int ran_embed_each(const struct ran_embedder *e, struct ran_state *s, const struct ran_document *d,
                   size_t n, float *v, struct ran_error *err)
{
        const size_t width = ran_embedder_width(e);

        err = ran_error_or_spare(err);
        for (size_t i = 0; i < n && !encodes(e); i++)
                RAN_TRY(embed_rows(e, &d[i], v + i * width, err));
        if (!encodes(e))
                return RAN_OK;
        for (size_t i = 0; i < n; i++)
                RAN_TRY(ran_model_check_document(e->m, &d[i], err));
        for (size_t i = 0, k; i < n; i += k) {
                k = ran_score_abreast(s, d + i, n - i);
                RAN_TRY(ran_score_vectors(s, d + i, k, v + i * width, err));
        }
        return ran_score_check(v, n * width, -FLT_MAX, err);
}

/* Tensors between the encoder and the last linear layer. */
static bool is_between(const char *name)
{
        return strncmp(name, "classify.", 9) == 0 && strncmp(name + 9, "out", 3) != 0;
}

void ran_embedding_digest(const struct ran_model *m, char hex[65])
{
        float *weight = ran_new_floats(m->V);
        struct ran_layout layout;
        struct ran_sha256 sha;

        ran_encoder_digest(hex, &m->config, &m->params, m->V);
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, hex, 64);
        ran_model_token_weights(m, weight);
        ran_sha256_add(&sha, weight, m->V * sizeof *weight);
        ran_layout_init(&layout, &m->config, m->C, NULL); /* it has been read with that */
        for (size_t i = 0; i < layout.n; i++)
                if (is_between(layout.spec[i].name))
                        ran_sha256_add(&sha, m->params.block + layout.spec[i].offset,
                                       (layout.spec[i].rows > 0 ? layout.spec[i].rows : 1) *
                                               layout.spec[i].cols * sizeof(float));
        ran_sha256_hex(&sha, hex);
        ran_layout_release(&layout);
        free(weight);
}

int ran_embed(const struct ran_embedder *e, struct ran_state *s, const struct ran_document *d,
              float *v, struct ran_error *err)
{
        return ran_embed_each(e, s, d, 1, v, err);
}
