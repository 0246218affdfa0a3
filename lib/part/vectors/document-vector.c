/* document-vector.c - see document-vector.h. */
#include "part/vectors/document-vector.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "nn/part.h"

#include <math.h>
#include <string.h>

/* A vector has means of D numbers: of the rows of the embedding, and of the last layer's outputs.
 */
enum { PARTS = 2 };

size_t ran_document_vector_width(const struct ran_config *c)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        if (ran_config_has_vector(c))
                return encoder->vector_width(c);
        return ran_config_has_token_outputs(c) ? (ran_config_has_layers(c) ? PARTS : 1) * c->dim
                                               : 0;
}

/* This is the value of Arora, Liang and Ma (2017), who call it smooth inverse frequency. */
const double ran_document_vector_smooth = 1e-3;

/* log Σ exp(x), of n numbers and the z that there is. */
static double log_sum(const float *x, size_t n, double z)
{
        float largest = -INFINITY;
        double most, sum;

        for (size_t i = 0; i < n; i++)
                largest = fmaxf(largest, x[i]);
        most = fmax(z, (double)largest);
        sum = z > -INFINITY ? ran_exp(z - most) : 0;
        for (size_t i = 0; i < n; i++)
                sum += ran_exp((double)x[i] - most);
        return most + ran_log(sum);
}

/* By the biases alone: log p = bias + shift. */
static void weigh(float *weight, const float *bias, size_t n, double shift)
{
        const double a = ran_document_vector_smooth;

        for (size_t i = 0; i < n; i++)
                weight[i] = (float)(a / (a + ran_exp((double)bias[i] + shift)));
}

void ran_document_vector_weights(float *weight, const struct ran_config *c,
                                 const struct ran_head_params *head, size_t V)
{
        const size_t first = ran_lm_first(c, V), tails = ran_lm_tails(c, V);
        double z = log_sum(head->b, first, -INFINITY);

        if (tails > 0)
                z = log_sum(head->tail_b, tails, z);
        weigh(weight, head->b, first, -z);
        for (size_t k = 0; k < tails; k++) {
                const struct ran_lm_group g = ran_lm_tail(c, V, k);
                const float *bias = head->b + g.from;
                const size_t n = g.end - g.from;

                weigh(weight + g.from, bias, n,
                      (double)head->tail_b[k] - z - log_sum(bias, n, -INFINITY));
        }
}

float ran_document_vector_weight(const struct ran_params *p, size_t id)
{
        const struct ran_document_vector_params *own = ran_document_vector_of(p);

        return own != NULL && own->token_weight != NULL ? own->token_weight[id] : 1;
}

/* The weight of token t of the packed batch. */
static float weight_of(const struct ran_workspace *w, const struct ran_params *p, size_t t)
{
        return ran_document_vector_weight(p, w->packed->ids[t]);
}

/* 1 over the weights of document b. A file may have weights of 0. */
static float share_of(const struct ran_workspace *w, const struct ran_params *p, size_t b)
{
        double sum = 0;

        for (size_t t = w->packed->doc[b]; t < w->packed->doc[b + 1]; t++)
                sum += (double)weight_of(w, p, t);
        return sum > 0 ? (float)(1 / sum) : 0;
}

/* Scoring leaves the outputs in place of the rows (part/ran/prenorm-memory.c): these are then taken
 * from the table. An explainer has both, and may have moved the rows. */
static void add_rows(const struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        const struct ran_packed *packed = w->packed;
        const bool moved = !ran_config_has_layers(w->c) || w->x[0] != w->x[w->c->layers];

        for (size_t t = packed->doc[b]; t < packed->doc[b + 1]; t++)
                ran_simd->axpy(v, weight_of(w, p, t),
                               moved ? w->x[0] + t * w->D : p->embed + packed->ids[t] * w->D, w->D);
}

void ran_document_vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        const bool before = ran_params_portable(p);
        const size_t D = w->D, F = ran_document_vector_width(w->c);

        if (ran_config_has_vector(w->c)) {
                w->parts.encoder->vector(w, p, b, v);
        } else {
                const float share = share_of(w, p, b);

                memset(v, 0, F * sizeof *v);
                add_rows(w, p, b, v);
                for (size_t t = w->packed->doc[b]; t < w->packed->doc[b + 1] && F > D; t++)
                        ran_simd->axpy(v + D, weight_of(w, p, t), w->x[w->c->layers] + t * D, D);
                for (size_t f = 0; f < F; f++)
                        v[f] *= share;
        }
        ran_portable = before;
}

static void add_mean_bwd(struct ran_workspace *w, const struct ran_params *p, const float *dv)
{
        const size_t D = w->D, L = w->packed->L;
        const float share = share_of(w, p, 0);

        for (size_t t = 0; t < L; t++)
                ran_simd->axpy(w->dx + t * D, share * weight_of(w, p, t), dv, D);
}

void ran_document_vector_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp, float *dv)
{
        const struct ran_part *encoder = w->parts.encoder;

        if (ran_config_has_vector(w->c)) {
                encoder->vector_bwd(w, p, dp, dv);
                return;
        }
        memset(w->dx, 0, w->packed->L * w->D * sizeof *w->dx);
        memset(w->dlast, 0, w->packed->B * w->D * sizeof *w->dlast);
        if (ran_config_has_layers(w->c))
                add_mean_bwd(w, p, dv + w->D);
}

bool ran_document_vector_adds_up(const struct ran_config *c)
{
        return c->frozen && ran_config_has_token_outputs(c) &&
               (!ran_config_has_vector(c) || ran_encoder_of(c)->vector_parts != NULL);
}

void ran_document_vector_parts(struct ran_workspace *w, const struct ran_params *p, const float *g,
                               double *value)
{
        const size_t D = w->D, L = w->packed->L;

        if (ran_config_has_vector(w->c)) {
                w->parts.encoder->vector_parts(w, p, g, value);
                return;
        }
        const double share = (double)share_of(w, p, 0);
        for (size_t t = 0; t < L && ran_document_vector_width(w->c) > D; t++)
                value[t] += share * (double)weight_of(w, p, t) *
                            ran_dot(g + D, w->x[w->c->layers] + t * D, D);
        ran_encode_embed(w, p); /* scoring has the outputs in their place */
        for (size_t t = 0; t < L; t++)
                value[t] += share * (double)weight_of(w, p, t) * ran_dot(g, w->x[0] + t * D, D);
}

void ran_document_vector_rows_bwd(struct ran_workspace *w, const struct ran_params *p,
                                  const float *dv)
{
        if (!ran_config_has_vector(w->c))
                add_mean_bwd(w, p, dv);
}
