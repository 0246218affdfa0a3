/* ensemble.c - see ensemble.h. Newton's method; in double, because the sums decide when it ends. */
#include "train/ensemble.h"
#include "math/elementary.h"
#include "model/tagger.h"
#include "train/crf-train.h"
#include "train/loss.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 50, HALVINGS = 30 };

/* The prior has the curvature of about this many documents. */
static const double prior_weight = 2;

const struct ran_ensemble ran_ensemble_default = {.encoder = 0.3, .linear = 2},
                          ran_ensemble_default_words = {.encoder = 0.5, .linear = 0.5};

/* The loss, its gradient, and its second derivatives: by encoder, linear, and both. */
struct slope {
        double loss, g[2], h[3];
};

/* What is to be found. */
struct problem {
        struct ran_ensemble prior;
        double tolerance; /* ends when a step gains no more than this part of the loss */
        void (*slope)(const void *arg, const struct ran_ensemble *at, struct slope *s);
        const void *arg;
        bool alone;       /* the linear model: encoder stays 0 */
        bool differences; /* are the second derivatives; slope is 0 */
};

struct fit {
        const struct ran_dataset *d;
        const float *encoder, *linear;
        float *logits, *p; /* (C) of a document */
};

void ran_ensemble_add(float *to, const struct ran_ensemble *ensemble, const float *encoder,
                      const float *linear, size_t n)
{
        for (size_t i = 0; i < n; i++)
                to[i] = (float)(ensemble->encoder * (double)encoder[i] +
                                ensemble->linear * (double)linear[i]);
}

/* One label: the variance of u over the classes. Several: the sum over the classes. */
static void add_document(const struct fit *k, const struct ran_ensemble *at, size_t b,
                         struct slope *s)
{
        const size_t C = k->d->C;
        const bool several = k->d->multilabel;
        const float *u = k->encoder + b * C, *v = k->linear + b * C;
        const struct ran_target target = ran_loss_target(k->d, b);
        double mean[2] = {0}, square[3] = {0}, share = several ? 1.0 / (double)C : 1;

        ran_ensemble_add(k->logits, at, u, v, C);
        s->loss += ran_loss_classify(k->p, k->logits, C, &target, several, 0, 1);
        for (size_t c = 0; c < C; c++) {
                s->g[0] += (double)k->p[c] * (double)u[c];
                s->g[1] += (double)k->p[c] * (double)v[c];
        }
        ran_probabilities(&(const struct ran_config){.multilabel = several}, k->logits, C, k->p);
        for (size_t c = 0; c < C; c++) {
                double p = (double)k->p[c], x = (double)u[c], y = (double)v[c];
                double weight = several ? share * p * (1 - p) : p;

                mean[0] += p * x;
                mean[1] += p * y;
                square[0] += weight * x * x;
                square[1] += weight * y * y;
                square[2] += weight * x * y;
        }
        if (several)
                mean[0] = mean[1] = 0;
        s->h[0] += square[0] - mean[0] * mean[0];
        s->h[1] += square[1] - mean[1] * mean[1];
        s->h[2] += square[2] - mean[0] * mean[1];
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

        for (size_t i = 0; i < k->d->B; i++)
                if (is_known(k->d, i))
                        add_document(k, at, i, s);
}

/* ---- Newton's method ------------------------------------------------------------------------ */

static struct slope slope_of(const struct problem *k, const struct ran_ensemble *at)
{
        double a = at->encoder - k->prior.encoder, b = at->linear - k->prior.linear;
        struct slope s = {.loss = prior_weight / 2 * (a * a + b * b),
                          .g = {prior_weight * a, prior_weight * b},
                          .h = {prior_weight, prior_weight, 0}};

        k->slope(k->arg, at, &s);
        return s;
}

/* The second derivatives, by differences. */
static void second_derivatives(const struct problem *k, const struct ran_ensemble *at,
                               struct slope *s)
{
        const double little = 1e-3;
        struct slope right = slope_of(
                             k, &(const struct ran_ensemble){at->encoder + little, at->linear}),
                     up = slope_of(k,
                                   &(const struct ran_ensemble){at->encoder, at->linear + little});

        s->h[0] = (right.g[0] - s->g[0]) / little;
        s->h[1] = (up.g[1] - s->g[1]) / little;
        s->h[2] = (right.g[1] - s->g[1] + up.g[0] - s->g[0]) / (2 * little);
}

/* Takes the fraction `size` of Newton's step. No weight falls below 0: one that would stays at 0
 * while the other moves. */
static struct ran_ensemble step(const struct problem *k, const struct ran_ensemble *at,
                                const struct slope *s, double size)
{
        double det = s->h[0] * s->h[1] - s->h[2] * s->h[2];
        double a = (s->h[1] * s->g[0] - s->h[2] * s->g[1]) / det;
        double b = (s->h[0] * s->g[1] - s->h[2] * s->g[0]) / det;

        if (k->alone || (at->encoder == 0 && s->g[0] > 0))
                a = 0, b = s->g[1] / s->h[1];
        else if (at->linear == 0 && s->g[1] > 0)
                b = 0, a = s->g[0] / s->h[0];
        return (struct ran_ensemble){fmax(0, at->encoder - size * a),
                                     fmax(0, at->linear - size * b)};
}

static struct ran_ensemble solve(const struct problem *k)
{
        struct ran_ensemble at = k->prior;
        struct slope s = slope_of(k, &at);

        for (int i = 0; i < STEPS; i++) {
                double size = 1, before = s.loss;

                if (k->differences)
                        second_derivatives(k, &at, &s);
                for (int halvings = 0; halvings < HALVINGS; halvings++) {
                        struct ran_ensemble next = step(k, &at, &s, size);
                        struct slope there = slope_of(k, &next);

                        if (there.loss < s.loss) {
                                at = next;
                                s = there;
                                break;
                        }
                        size /= 2;
                }
                if (!(before - s.loss > k->tolerance * before))
                        break;
        }
        return at;
}

static int fit_init(struct fit *k, struct ran_error *err)
{
        k->logits = ran_alloc_floats(k->d->C, err);
        k->p = ran_alloc_floats(k->d->C, err);
        return k->logits != NULL && k->p != NULL ? RAN_OK : RAN_ENOMEM;
}

static void fit_release(struct fit *k)
{
        free(k->logits);
        free(k->p);
}

/* The weights for the documents of k; alone: of the linear model alone. */
static struct ran_ensemble solve_documents(const struct fit *k, struct ran_ensemble prior,
                                           bool alone)
{
        const struct problem problem = {.prior = {alone ? 0 : prior.encoder, prior.linear},
                                        .tolerance = 1e-9,
                                        .slope = add_documents,
                                        .arg = k,
                                        .alone = alone};

        return solve(&problem);
}

static int fit_documents(struct ran_ensemble *ensemble, struct ran_ensemble prior, bool alone,
                         struct fit *k, struct ran_error *err)
{
        int rc = fit_init(k, err);

        if (rc == RAN_OK)
                *ensemble = solve_documents(k, prior, alone);
        fit_release(k);
        return rc;
}

int ran_ensemble_fit(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                     const struct ran_dataset *d, const float *encoder, const float *linear,
                     struct ran_error *err)
{
        struct fit k = {.d = d, .encoder = encoder, .linear = linear};

        return fit_documents(ensemble, prior, false, &k, err);
}

int ran_ensemble_fit_linear(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                            const struct ran_dataset *d, const float *encoder, const float *linear,
                            struct ran_error *err)
{
        struct fit k = {.d = d, .encoder = encoder, .linear = linear};

        return fit_documents(ensemble, prior, true, &k, err);
}

/* ---- its loss ------------------------------------------------------------------------------- */

static double loss_of(const struct fit *k, const struct ran_ensemble *at, size_t b)
{
        size_t C = k->d->C;
        const struct ran_target target = ran_loss_target(k->d, b);

        ran_ensemble_add(k->logits, at, k->encoder + b * C, k->linear + b * C, C);
        return ran_loss_classify(k->p, k->logits, C, &target, k->d->multilabel, 0, 1);
}

int ran_ensemble_loss(double *loss, const struct ran_ensemble *at, const struct ran_dataset *d,
                      const float *encoder, const float *linear, struct ran_error *err)
{
        struct fit k = {.d = d, .encoder = encoder, .linear = linear};
        int rc = fit_init(&k, err);

        *loss = 0;
        for (size_t b = 0; b < d->B && rc == RAN_OK; b++)
                if (is_known(d, b))
                        *loss += loss_of(&k, at, b);
        fit_release(&k);
        return rc;
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

static double product(const float *a, const float *b, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n && b != NULL; i++)
                sum += (double)a[i] * (double)b[i];
        return sum;
}

/* Derivative of the loss by an ensemble weight: over a sentence, or over the crf. */
static double by_crf(const float *dcrf, const struct ran_crf *crf, size_t C)
{
        return product(dcrf, crf->start, C) + product(dcrf + C, crf->end, C) +
               product(dcrf + 2 * C, crf->transition, C * C);
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
        const struct ran_crf_grad grad = ran_crf_train_grad_view(k->floats > 0 ? k->dcrf : NULL, C);

        for (size_t i = 0; i < n; i++)
                if (k->d->labels[from + i] == RAN_LABEL_UNKNOWN)
                        return;
        ran_ensemble_add(k->score, at, u, v, n * C);
        s->loss += ran_crf_loss(k->score, &grad, k->score, crf, k->d->labels + from, n, C, 1,
                                k->scratch);
        s->g[0] += product(k->score, u, n * C);
        s->g[1] += product(k->score, v, n * C);
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
        s->g[0] += by_crf(k->dcrf, &k->encoder->crf, C);
        s->g[1] += by_crf(k->dcrf, &k->linear->crf, C);
}

static size_t longest_sentence(const struct ran_dataset *d)
{
        size_t n = d->label_first[d->B], longest = 0;

        for (size_t from = 0, end; from < n; from = end) {
                end = ran_crf_sentence_end(d->begins, from, n);
                longest = end - from > longest ? end - from : longest;
        }
        return longest;
}

int ran_ensemble_fit_words(struct ran_ensemble *ensemble, struct ran_ensemble prior,
                           const struct ran_dataset *d, const struct ran_tag_scores *encoder,
                           const struct ran_tag_scores *linear, bool alone, struct ran_error *err)
{
        size_t C = d->C, longest = longest_sentence(d);
        struct words k = {.d = d, .encoder = encoder, .linear = linear};
        const struct problem problem = {.prior = {alone ? 0 : prior.encoder, prior.linear},
                                        .tolerance = 1e-6,
                                        .slope = add_sentences,
                                        .arg = &k,
                                        .alone = alone,
                                        .differences = true}; /* those of all paths cost more */
        int rc = RAN_ENOMEM;

        k.floats = encoder->crf.start != NULL ? ran_crf_train_floats(C) : 0;
        k.scratch = ran_alloc(ran_crf_scratch(k.floats > 0, longest, C), sizeof *k.scratch, err);
        k.score = k.scratch != NULL ? ran_alloc_floats(longest * C, err) : NULL;
        k.crf = ran_alloc_floats(2 * k.floats, err);
        if (k.score != NULL && k.crf != NULL) {
                k.dcrf = k.crf + k.floats;
                *ensemble = solve(&problem);
                rc = RAN_OK;
        }
        free(k.scratch);
        free(k.score);
        free(k.crf);
        return rc;
}
