/* explain.c - attribution: how each token of a document influences the model's outputs, by backward
 * passes through the whole document; exact at any distance.
 *
 * A row of the Jacobian takes one pass, the whole Jacobian one for each output. Here few passes are
 * enough: the gradient of one number, or sums of rows with random signs, whose squares are
 * unbiased. Where all that a linear model reads of the encoder is a sum over tokens, as of a frozen
 * one, a token's part in the logits needs no gradient, and no more memory than scoring.
 */
#include "math/elementary.h"
#include "math/simd.h"
#include "nn/part.h"
#include "infer/infer.h"
#include "part/linear/linear-model.h"
#include "part/linear/linear-words.h"
#include "part/vectors/document-vector.h"
#include "ran/model.h"
#include "ran/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ran_explainer {
        const struct ran_model *m;
        struct ran_workspace workspace;
        struct ran_packed packed;
        struct ran_params none; /* no gradient of a weight is wanted */
        bool moved;    /* the workspace holds another point of the path, not the document */
        float *logits; /* (C) of the output in question */
        float *weight; /* (2, C), and (F) of features */
        struct ran_document words; /* for predictors of words: the current document */
};

struct ran_explainer *ran_explainer_new(const struct ran_model *m, struct ran_pool *pool)
{
        struct ran_explainer *e = ran_new(1, sizeof *e);

        e->m = m;
        e->logits = ran_new_floats(m->C);
        e->weight = ran_new_floats(2 * m->C + ran_parts_features(&m->config));
        ran_params_none(&e->none, &m->config);
        ran_workspace_init(&e->workspace, &m->config, !ran_document_vector_adds_up(&m->config),
                           pool);
        e->workspace.explains = true;
        return e;
}

void ran_explainer_free(struct ran_explainer *e)
{
        if (e == NULL)
                return;
        ran_workspace_release(&e->workspace);
        ran_packed_release(&e->packed);
        ran_params_release(&e->none);
        free(e->logits);
        free(e->weight);
        free(e);
}

/* ---- the document --------------------------------------------------------------------------- */

/* Runs the model on the token rows at w->x[0]. */
static void forward(struct ran_explainer *e)
{
        struct ran_workspace *w = &e->workspace;

        ran_encode_rows(w, &e->m->params);
        if (!ran_task_is_tied(w->c) && w->size.outputs > 0)
                ran_head(w, &e->m->params, e->m->C);
}

static void restore_document(struct ran_explainer *e)
{
        if (!e->moved)
                return;
        ran_encode_embed(&e->workspace, &e->m->params);
        e->workspace.linear_weight = 1;
        forward(e);
        e->moved = false;
}

int ran_explain_read(struct ran_explainer *e, const struct ran_document *d, size_t sources,
                     struct ran_error *err)
{
        const struct ran_config *c = &e->m->config;
        bool words = ran_task_of(c)->output == RAN_OUTPUT_WORD && d->words > 0;

        ran_packed_clear(&e->packed);
        if (d->L == 0 || sources > d->L)
                return ran_fail(err, RAN_EINVAL, "a document of %zu tokens, %zu of them source",
                                d->L, sources);
        RAN_TRY(ran_model_check_document(e->m, d, err));
        if (words)
                RAN_TRY(ran_model_check_positions(d, err));
        ran_packed_add(&e->packed, c, d->ids, d->L, 0);
        if (c->spelling > 0)
                ran_packed_spell(&e->packed, d->spelling);
        if (words)
                ran_packed_positions(&e->packed, d->positions, d->words);
        const int rc = ran_workspace_fit(&e->workspace, &e->packed, e->m->C, err);
        if (rc != RAN_OK) {
                ran_packed_clear(&e->packed);
                return rc;
        }
        e->words = *d;
        e->packed.sources[0] = sources;
        e->moved = true;
        return RAN_OK;
}

/* ---- passes backward ------------------------------------------------------------------------ */

/* The gradient of log(p / (1 - p)) by the logits (C), p being the probability of c. */
static void odds_bwd(const struct ran_config *config, float *dlogits, const float *logits, size_t C,
                     size_t c)
{
        double most = -INFINITY, sum = 0;

        for (size_t i = 0; i < C; i++)
                most = i != c && (double)logits[i] > most ? (double)logits[i] : most;
        for (size_t i = 0; i < C; i++)
                sum += i != c ? ran_exp((double)logits[i] - most) : 0;
        for (size_t i = 0; i < C && !config->classify.multilabel; i++)
                dlogits[i] = (float)(-ran_exp((double)logits[i] - most) / sum);
        dlogits[c] = 1;
}

/* Leaves in w->dx the gradient of the log odds of class c in output `row` by the token rows. */
static void differentiate(struct ran_explainer *e, size_t row, size_t c)
{
        struct ran_workspace *w = &e->workspace;
        size_t C = e->m->C;

        memcpy(e->logits, w->head.logits + row * C, C * sizeof *e->logits);
        if (ran_has_linear_words(w->c))
                ran_linear_words_score_one(w, &e->m->params, &e->words, C, row, w->linear_weight,
                                           e->logits);
        memset(w->head.dlogits, 0, w->size.outputs * C * sizeof(float));
        odds_bwd(w->c, w->head.dlogits + row * C, e->logits, C, c);
        if (w->parts.encoder == NULL)
                return;
        ran_head_bwd(w, &e->m->params, &e->none, C);
        ran_encode_bwd(w, &e->m->params, &e->none);
        if (w->parts.features > 0)
                ran_linear_model_rows_bwd(w, &e->m->params);
}

/* ---- token to label ------------------------------------------------------------------------- */

/* The document at the point u of the path. */
static void move_to(struct ran_explainer *e, double u)
{
        struct ran_workspace *w = &e->workspace;

        ran_encode_embed(w, &e->m->params);
        for (size_t t = 0; t < e->packed.L; t++) {
                float *x = w->x[0] + t * w->D;
                double scale, speed;

                ran_parts_path(w->c, x, w->D, u, &scale, &speed);
                for (size_t d = 0; d < w->D; d++)
                        x[d] = (float)(scale * (double)x[d]);
        }
        w->linear_weight = (float)u; /* evenly, as the rest */
        forward(e);
        e->moved = true;
}

/* The logits of predictors grow evenly along the path, so their adjoints weight each token's
 * contribution. */
static void add_predictors(const struct ran_explainer *e, size_t row, const float *weight,
                           double share, double *value)
{
        const struct ran_workspace *w = &e->workspace;
        const struct ran_params *p = &e->m->params;

        if (ran_has_linear_model(w->c))
                ran_linear_model_explain(w, p, e->m->C, weight, share, value);
        if (ran_has_linear_words(w->c))
                ran_linear_words_explain(w, p, &e->words, e->m->C, row, weight, share, value);
}

/* Adds to value the tokens' contributions to the log odds on a part of the path around u. */
static void add_point(struct ran_explainer *e, size_t row, double u, double part, double *value)
{
        struct ran_workspace *w = &e->workspace;

        ran_encode_embed(w, &e->m->params); /* later backward passes do not read it */
        for (size_t t = 0; t < e->packed.L; t++) {
                const float *x = w->x[0] + t * w->D;
                double scale, speed;

                ran_parts_path(w->c, x, w->D, u, &scale, &speed);
                value[t] += part * speed * ran_dot(w->dx + t * w->D, x, w->D);
        }
        add_predictors(e, row, w->head.dlogits + row * e->m->C, part, value);
}

/* In e->weight: the mean gradient of the log odds on the straight way from 0 to the document's
 * logits. With these weights, the logits add up to what the log odds have more than without them.
 */
static void average_odds(struct ran_explainer *e, size_t c)
{
        enum { PARTS = 256 };
        const float *end = e->workspace.head.logits;
        const size_t C = e->m->C;
        float *here = e->weight + C;

        memset(e->weight, 0, 2 * C * sizeof *e->weight);
        for (size_t i = 0; i < PARTS; i++) {
                const float u = ((float)i + 0.5f) / PARTS;

                for (size_t k = 0; k < C; k++)
                        e->logits[k] = u * end[k];
                odds_bwd(&e->m->config, here, e->logits, C, c);
                ran_simd->axpy(e->weight, 1.0f / PARTS, here, C);
        }
}

/* The tokens' parts in the logits, which are sums over tokens. A vector counts by how it differs
 * from the mean of the training documents, and the biases have what the mean comes to
 * (data/dense.h): so each token has its share of them. */
static void add_up(struct ran_explainer *e, size_t c, double *value)
{
        const size_t C = e->m->C;
        float *g = e->weight + 2 * C;

        restore_document(e);
        average_odds(e, c);
        add_predictors(e, 0, e->weight, 1, value);
        for (size_t f = 0; f < e->workspace.parts.features; f++)
                g[f] = (float)ran_dot(e->weight, ran_linear_of(&e->m->params)->dense + f * C, C);
        ran_document_vector_parts(&e->workspace, &e->m->params, g, value);
        const double bias = ran_dot(e->weight, ran_linear_of(&e->m->params)->bias, C);
        for (size_t t = 0; t < e->packed.L; t++)
                value[t] += bias / (double)e->packed.L;
        e->moved = true; /* its outputs are gone */
}

/* Makes room for backward passes. */
static int differentiable(struct ran_explainer *e, struct ran_error *err)
{
        struct ran_workspace *w = &e->workspace;
        struct ran_pool *pool = w->pool;

        if (w->training)
                return RAN_OK;
        ran_workspace_release(w);
        ran_workspace_init(w, &e->m->config, true, pool);
        w->explains = e->moved = true;
        if (ran_workspace_fit(w, &e->packed, e->m->C, err) == RAN_OK)
                return RAN_OK;
        ran_packed_clear(&e->packed);
        return RAN_ENOMEM;
}

/* Points of the path: enough for the order of the values. */
enum { STEPS = 4 };

int ran_explain_label(struct ran_explainer *e, size_t row, size_t c, size_t steps, double *value,
                      struct ran_error *err)
{
        struct ran_workspace *w = &e->workspace;
        size_t rows = e->packed.L > 0 ? w->size.outputs : 0;

        if (!ran_task_has_labels(w->c->task))
                return ran_fail(err, RAN_EINVAL, "the model gives no labels to explain");
        if (row >= rows || c >= e->m->C)
                return ran_fail(err, RAN_EINVAL,
                                "no label %zu of output %zu: there are %zu and %zu", c, row,
                                e->m->C, rows);
        memset(value, 0, e->packed.L * sizeof *value);
        if (steps == RAN_EXPLAIN_BEST && ran_document_vector_adds_up(w->c)) {
                add_up(e, c, value);
                return RAN_OK;
        }
        steps = steps == RAN_EXPLAIN_BEST ? STEPS : steps;
        RAN_TRY(differentiable(e, err));
        if (steps == 0) {
                restore_document(e);
                differentiate(e, row, c);
                for (size_t t = 0; t < e->packed.L; t++)
                        value[t] = ran_dot(w->dx + t * w->D, w->x[0] + t * w->D, w->D);
                add_predictors(e, row, w->head.dlogits + row * e->m->C, 1, value);
        }
        for (size_t i = 0; i < steps; i++) {
                double u = ((double)i + 0.5) / (double)steps;

                move_to(e, u);
                differentiate(e, row, c);
                add_point(e, row, u, 1 / (double)steps, value);
        }
        return RAN_OK;
}

/* ---- token to token ------------------------------------------------------------------------- */

/* Random signs in the rows [from, to) of the output's adjoint, nothing elsewhere. */
static void spread_signs(struct ran_explainer *e, size_t from, size_t to, size_t number)
{
        struct ran_workspace *w = &e->workspace;
        uint64_t key = ran_random_key(0, RAN_FOR_HUTCHINSON, 0, number);

        memset(w->dlast, 0, w->D * sizeof *w->dlast);
        memset(w->dx, 0, e->packed.L * w->D * sizeof *w->dx);
        for (size_t i = from * w->D; i < to * w->D; i++)
                w->dx[i] = ran_random_draw(key, i) >> 63 != 0 ? 1.0f : -1.0f;
        ran_encode_bwd(w, &e->m->params, &e->none);
}

int ran_explain_tokens(struct ran_explainer *e, size_t from, size_t to, size_t samples,
                       double *value, struct ran_error *err)
{
        struct ran_workspace *w = &e->workspace;
        size_t L = e->packed.L, D = w->D;

        if (!ran_config_has_layers(w->c))
                return ran_fail(err, RAN_EINVAL,
                                "the model has no layers, in which tokens influence each other");
        if (!ran_config_has_token_outputs(w->c))
                return ran_fail(err, RAN_EINVAL,
                                "a Contextualizer outputs one vector for the document and none for "
                                "a token: there is no output to explain");
        if (from >= to || to > L || samples == 0)
                return ran_fail(err, RAN_EINVAL,
                                "rows %zu to %zu by %zu samples: of %zu tokens there are none",
                                from, to, samples, L);
        RAN_TRY(differentiable(e, err));
        restore_document(e);
        memset(value, 0, L * sizeof *value);
        for (size_t i = 0; i < samples; i++) {
                spread_signs(e, from, to, i);
                for (size_t t = 0; t < L; t++)
                        value[t] += ran_dot(w->dx + t * D, w->dx + t * D, D);
        }
        for (size_t t = 0; t < L; t++)
                value[t] *= ran_dot(w->x[0] + t * D, w->x[0] + t * D, D) / (double)(samples * D);
        return RAN_OK;
}
