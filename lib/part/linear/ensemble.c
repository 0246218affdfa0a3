/* ensemble.c - see ensemble.h. Newton's method; in double, because the sums decide when it ends. */
#include "part/linear/ensemble.h"
#include "math/elementary.h"
#include "part/crf/crf.h"
#include "part/linear/linear-words.h"
#include "data/loss.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 50, HALVINGS = 30 };

/* Constants of a fit. The prior has the curvature of about so many documents. */
struct terms {
        double prior_weight;
        double least; /* weight of the linear model */
        double tolerance;
};

static const struct terms of_validation = {.prior_weight = 2, .least = 0, .tolerance = 1e-9};
/* Settings are compared: the prior must not favour one. Where labels say nothing, all would be
 * equally good at 0, hence the least weight of rows. */
static const struct terms of_rows = {.prior_weight = 0.01, .tolerance = 1e-5};
/* Vectors beside n-grams, each times what suits it alone: n-grams say less that is new. With 100
 * documents the loss alone decides badly; 30 and 100 documents for the prior were equally good on
 * eight collections. */
static const struct terms of_vectors = {.prior_weight = 30, .least = 0.01, .tolerance = 1e-9};
static const struct ran_ensemble prior_of_vectors = {.encoder = 1, .linear = 0.3};

const struct ran_ensemble ran_ensemble_default = {.encoder = 0.3, .linear = 2},
                          ran_ensemble_default_words = {.encoder = 0.5, .linear = 0.5};

/* The variables, in the order of struct ran_ensemble. */
enum { ENCODER, LINEAR, OFFSET, VARIABLES };

/* The loss, its gradient, and its second derivatives. */
struct slope {
        double loss, g[VARIABLES], h[VARIABLES][VARIABLES];
};

/* What is to be found. */
struct problem {
        double prior[VARIABLES], prior_weight;
        double tolerance; /* ends when a step gains no more than this part of the loss */
        void (*slope)(const void *arg, const struct ran_ensemble *at, struct slope *s);
        const void *arg;
        bool fixed[VARIABLES]; /* stays what it is in the prior */
        double least[VARIABLES];
        bool differences; /* are the second derivatives; slope is 0 */
};

struct fit {
        const struct ran_dataset *d;
        const size_t *row, *document; /* row (n): logits i are of document[row[i]]; NULL: of i */
        size_t n;
        const float *encoder, *linear; /* (n, C) */
        float *logits, *p;             /* (C) of a document, side by side: free logits */
};

static struct fit fit_of(const struct ran_dataset *d, size_t n, const float *encoder,
                         const float *linear)
{
        float *scratch = ran_new_floats(2 * d->C);

        return (struct fit){.d = d,
                            .n = n,
                            .encoder = encoder,
                            .linear = linear,
                            .logits = scratch,
                            .p = scratch + d->C};
}

void ran_ensemble_scale(float *x, size_t n, double by)
{
        for (size_t i = 0; i < n; i++)
                x[i] = (float)(by * (double)x[i]);
}

void ran_ensemble_add(float *to, const struct ran_ensemble *ensemble, const float *encoder,
                      const float *linear, size_t n)
{
        for (size_t i = 0; i < n; i++)
                to[i] = (float)(ensemble->encoder * (double)encoder[i] +
                                ensemble->linear * (double)linear[i] + ensemble->offset);
}

/* The document of logits i. */
static size_t document_of(const struct fit *k, size_t i)
{
        return k->row != NULL ? k->document[k->row[i]] : i;
}

/* Training documents count as much here as in training. */
static double weight_of(const struct fit *k, size_t b)
{
        return k->row != NULL ? (double)k->d->weight[b] : 1;
}

/* The second derivatives of one label are the covariances of the logits over the classes, those of
 * several a sum over the labels. */
static void add_document(const struct fit *k, const struct ran_ensemble *at, size_t i,
                         struct slope *s)
{
        const size_t C = k->d->C, b = document_of(k, i);
        const bool several = k->d->multilabel;
        const double share = weight_of(k, b);
        const float *u = k->encoder + i * C, *v = k->linear + i * C;
        const struct ran_target target = ran_loss_target(k->d, b);
        double mean[VARIABLES] = {0};

        ran_ensemble_add(k->logits, at, u, v, C);
        s->loss += ran_loss_classify(k->p, k->logits, C, &target, several, 0, share);
        for (size_t c = 0; c < C; c++) {
                const double slope = (double)k->p[c];

                s->g[ENCODER] += slope * (double)u[c];
                s->g[LINEAR] += slope * (double)v[c];
                s->g[OFFSET] += slope;
        }
        ran_probabilities(&(const struct ran_config){.classify.multilabel = several}, k->logits, C,
                          k->p);
        for (size_t c = 0; c < C; c++) {
                const double p = (double)k->p[c], x[] = {(double)u[c], (double)v[c], 1};
                const double weight = share * (several ? p * (1 - p) / (double)C : p);

                for (int l = 0; l < VARIABLES; l++) {
                        mean[l] += several ? 0 : p * x[l];
                        for (int j = 0; j <= l; j++)
                                s->h[l][j] += weight * x[l] * x[j];
                }
        }
        for (int l = 0; l < VARIABLES; l++)
                for (int j = 0; j <= l; j++)
                        s->h[l][j] -= share * mean[l] * mean[j];
}

static bool is_known(const struct ran_dataset *d, size_t b)
{
        for (size_t i = d->label_first[b]; i < d->label_first[b + 1]; i++)
                if (d->labels[i] == RAN_LABEL_UNKNOWN)
                        return false;
        return true;
}

static void add_documents(const void *arg, const struct ran_ensemble *at, struct slope *s)
{
        const struct fit *k = arg;

        for (size_t i = 0; i < k->n; i++)
                if (is_known(k->d, document_of(k, i)))
                        add_document(k, at, i, s);
}

/* ---- Newton's method ------------------------------------------------------------------------ */

static struct ran_ensemble from_numbers(const double *x)
{
        return (struct ran_ensemble){x[ENCODER], x[LINEAR], x[OFFSET]};
}

static struct slope slope_of(const struct problem *k, const double *x)
{
        const struct ran_ensemble at = from_numbers(x);
        struct slope s = {0};

        for (int i = 0; i < VARIABLES; i++) {
                const double away = x[i] - k->prior[i];

                s.loss += k->prior_weight / 2 * away * away;
                s.g[i] = k->prior_weight * away;
                s.h[i][i] = k->prior_weight;
        }
        k->slope(k->arg, &at, &s);
        return s;
}

/* The second derivatives, by differences. */
static void second_derivatives(const struct problem *k, const double *x, struct slope *s)
{
        const double little = 1e-3;
        double h[VARIABLES][VARIABLES] = {0};

        for (int i = 0; i < VARIABLES; i++) {
                double moved[VARIABLES];

                if (k->fixed[i])
                        continue;
                memcpy(moved, x, sizeof moved);
                moved[i] += little;
                const struct slope there = slope_of(k, moved);
                for (int j = 0; j < VARIABLES; j++)
                        h[i][j] = (there.g[j] - s->g[j]) / little;
        }
        for (int i = 0; i < VARIABLES; i++)
                for (int j = 0; j <= i; j++)
                        s->h[i][j] = k->fixed[j] ? 0 : (h[i][j] + h[j][i]) / 2;
}

/* Whether a step moves variable i: one at its least that would fall stays there. */
static bool moves(const struct problem *k, const double *x, const struct slope *s, int i)
{
        return !k->fixed[i] && (x[i] > k->least[i] || s->g[i] < 0);
}

/* d: Newton's step, h d = g, of the variables that move; 0 of the others. By elimination, from the
 * last variable: h is positive definite. */
static void direction(const struct problem *k, const double *x, const struct slope *s, double *d)
{
        struct slope left = *s;

        for (int i = VARIABLES - 1; i >= 0; i--)
                for (int j = 0; j < i && moves(k, x, s, i); j++) {
                        const double factor = left.h[i][j] / left.h[i][i];

                        left.g[j] -= factor * left.g[i];
                        for (int l = 0; l <= j; l++)
                                left.h[j][l] -= factor * left.h[i][l];
                }
        for (int i = 0; i < VARIABLES; i++) {
                d[i] = left.g[i];
                for (int j = 0; j < i; j++)
                        d[i] -= left.h[i][j] * d[j];
                d[i] = moves(k, x, s, i) ? d[i] / left.h[i][i] : 0;
        }
}

/* Halves Newton's step until it gains. */
static void search_line(const struct problem *k, double *x, struct slope *s)
{
        double d[VARIABLES], size = 1;

        direction(k, x, s, d);
        for (int halvings = 0; halvings < HALVINGS; halvings++) {
                double next[VARIABLES];

                for (int i = 0; i < VARIABLES; i++)
                        next[i] = fmax(k->least[i], x[i] - size * d[i]);
                const struct slope there = slope_of(k, next);
                if (there.loss < s->loss) {
                        memcpy(x, next, sizeof next);
                        *s = there;
                        return;
                }
                size /= 2;
        }
}

static struct ran_ensemble solve(const struct problem *k)
{
        double x[VARIABLES];

        memcpy(x, k->prior, sizeof x);
        struct slope s = slope_of(k, x);
        for (int i = 0; i < STEPS; i++) {
                const double before = s.loss;

                if (k->differences)
                        second_derivatives(k, x, &s);
                search_line(k, x, &s);
                if (!(before - s.loss > k->tolerance * before))
                        break;
        }
        return from_numbers(x);
}

/* The weights for the documents of k; alone: of the linear model alone. */
static struct ran_ensemble solve_documents(const struct fit *k, struct ran_ensemble prior,
                                           bool alone, const struct terms *terms)
{
        /* The loss of several labels is their mean. */
        const double labels = k->d->multilabel ? (double)k->d->C : 1;
        const struct problem problem = {.prior = {[ENCODER] = alone ? 0 : prior.encoder,
                                                  [LINEAR] = prior.linear,
                                                  [OFFSET] = prior.offset},
                                        .prior_weight = terms->prior_weight / labels,
                                        .tolerance = terms->tolerance,
                                        .slope = add_documents,
                                        .arg = k,
                                        .fixed = {[ENCODER] = alone, [OFFSET] = !k->d->multilabel},
                                        .least = {[LINEAR] = terms->least, [OFFSET] = -INFINITY}};

        return solve(&problem);
}

struct ran_ensemble ran_ensemble_fit(struct ran_ensemble prior, const struct ran_dataset *d,
                                     const float *encoder, const float *linear, bool alone)
{
        struct fit k = fit_of(d, d->B, encoder, linear);

        prior = solve_documents(&k, prior, alone, &of_validation);
        free(k.logits);
        return prior;
}

/* ---- its loss ------------------------------------------------------------------------------- */

/* Of logits i. */
static double loss_of(const struct fit *k, const struct ran_ensemble *at, size_t i)
{
        const size_t C = k->d->C, b = document_of(k, i);
        const struct ran_target target = ran_loss_target(k->d, b);

        if (!is_known(k->d, b))
                return 0;
        ran_ensemble_add(k->logits, at, k->encoder + i * C, k->linear + i * C, C);
        return ran_loss_classify(k->p, k->logits, C, &target, k->d->multilabel, 0, weight_of(k, b));
}

double ran_ensemble_loss(const struct ran_ensemble *at, const struct ran_dataset *d,
                         const float *encoder, const float *linear)
{
        struct fit k = fit_of(d, d->B, encoder, linear);
        double loss = 0;

        for (size_t i = 0; i < k.n; i++)
                loss += loss_of(&k, at, i);
        free(k.logits);
        return loss;
}

double ran_ensemble_fit_rows(struct ran_ensemble *ensemble, float *loss,
                             const struct ran_ensemble_rows *rows, const float *linear)
{
        double sum = 0;
        const bool alone = rows->encoder == NULL;
        struct fit k = fit_of(rows->d, rows->n, alone ? linear : rows->encoder, linear);
        struct terms terms = alone ? of_rows : of_vectors;

        k.row = rows->row;
        k.document = rows->document;
        terms.least = fmax(terms.least, rows->least);
        *ensemble =
                solve_documents(&k, alone ? ran_ensemble_default : prior_of_vectors, alone, &terms);
        for (size_t i = 0; i < k.n; i++) {
                const float one = (float)loss_of(&k, ensemble, i);

                if (loss != NULL)
                        loss[i] = one;
                sum += (double)one;
        }
        free(k.logits);
        return sum;
}

/* ---- taggers -------------------------------------------------------------------------------- */

struct words {
        const struct ran_dataset *d;
        const struct ran_tag_scores *encoder, *linear;
        float *score;      /* (words, C) of a sentence */
        float *crf, *dcrf; /* (ran_crf_train_floats); NULL without a CRF */
        size_t floats;
        double *scratch;
};

/* Derivative of the loss by an ensemble weight, over the crf, if there is one. */
static double by_crf(const float *dcrf, const struct ran_crf *crf, size_t C)
{
        return crf->start == NULL ? 0
                                  : ran_dot(dcrf, crf->start, C) + ran_dot(dcrf + C, crf->end, C) +
                                            ran_dot(dcrf + 2 * C, crf->transition, C * C);
}

struct ran_crf ran_ensemble_crf(float *to, const struct ran_ensemble *ensemble,
                                const struct ran_crf *encoder, const struct ran_crf *linear,
                                size_t C)
{
        if (encoder->start == NULL || linear->start == NULL)
                return (struct ran_crf){0};
        ran_ensemble_add(to, ensemble, encoder->start, linear->start, C);
        ran_ensemble_add(to + C, ensemble, encoder->end, linear->end, C);
        ran_ensemble_add(to + 2 * C, ensemble, encoder->transition, linear->transition, C * C);
        return ran_crf_train_view(to, C);
}

static void add_sentence(const struct words *k, const struct ran_ensemble *at,
                         const struct ran_crf *crf, size_t from, size_t n, struct slope *s)
{
        size_t C = k->d->C;
        const float *u = k->encoder->logits + from * C, *v = k->linear->logits + from * C;
        const struct ran_crf grad = ran_crf_train_view(k->floats > 0 ? k->dcrf : NULL, C);

        for (size_t i = 0; i < n; i++)
                if (k->d->labels[from + i] == RAN_LABEL_UNKNOWN)
                        return;
        ran_ensemble_add(k->score, at, u, v, n * C);
        s->loss += ran_crf_loss(k->score, &grad, k->score, crf, k->d->labels + from, n, C, 1,
                                k->scratch);
        s->g[ENCODER] += ran_dot(k->score, u, n * C);
        s->g[LINEAR] += ran_dot(k->score, v, n * C);
}

static void add_sentences(const void *arg, const struct ran_ensemble *at, struct slope *s)
{
        const struct words *k = arg;
        const struct ran_dataset *d = k->d;
        size_t C = d->C, n = d->label_first[d->B];
        const struct ran_crf crf =
                ran_ensemble_crf(k->crf, at, &k->encoder->crf, &k->linear->crf, C);

        memset(k->dcrf, 0, k->floats * sizeof *k->dcrf);
        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(d->begins, from, n);
                add_sentence(k, at, &crf, from, end - from, s);
        }
        s->g[ENCODER] += by_crf(k->dcrf, &k->encoder->crf, C);
        s->g[LINEAR] += by_crf(k->dcrf, &k->linear->crf, C);
}

struct ran_ensemble ran_ensemble_fit_words(struct ran_ensemble prior, const struct ran_dataset *d,
                                           const struct ran_tag_scores *encoder,
                                           const struct ran_tag_scores *linear, bool alone)
{
        const size_t C = d->C, n = d->label_first[d->B];
        size_t longest = 0;
        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(d->begins, from, n);
                longest = end - from > longest ? end - from : longest;
        }
        const size_t floats = encoder->crf.start != NULL ? ran_crf_train_floats(C) : 0;
        struct words k = {
                .d = d,
                .encoder = encoder,
                .linear = linear,
                .floats = floats,
                .score = ran_new_floats(longest * C),
                .crf = ran_new_floats(2 * floats),
                .scratch = ran_new(ran_crf_scratch(floats > 0, longest, C), sizeof *k.scratch)};
        const struct problem problem = {
                .prior = {[ENCODER] = alone ? 0 : prior.encoder, [LINEAR] = prior.linear},
                .prior_weight = of_validation.prior_weight,
                .tolerance = 1e-6,
                .slope = add_sentences,
                .arg = &k,
                .fixed = {[ENCODER] = alone, [OFFSET] = true},
                .differences = true}; /* those of all paths cost more */

        k.dcrf = k.crf + floats;
        prior = solve(&problem);
        free(k.scratch);
        free(k.score);
        free(k.crf);
        return prior;
}
