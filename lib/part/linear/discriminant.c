/* discriminant.c - see discriminant.h. In double; sums go in the order of rows, whatever the number
 * of threads. */
#include "part/linear/discriminant.h"
#include "data/loss.h"
#include "math/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From one for few documents to one for many; the loss has one valley. */
static const double shrinkages[] = {0.95, 0.8, 0.6, 0.4, 0.2, 0.05};
enum { SHRINKAGES = sizeof shrinkages / sizeof *shrinkages };
const double ran_discriminant_shrinkage = 0.95;

/* Added to the count of each label: one that no row has is rare, not impossible. */
static const double unseen = 1;
/* Documents that a description counts for: at least, at most, and where nothing tells. */
static const double k_least = 2, k_most = 32, k_unknown = 8;
/* With descriptions, fewer documents a label say nothing about λ. */
enum { ENOUGH_OF_LABEL = 16 };
/* Where descriptions give the labels; on eight collections three rounds of 0.2 to 0.95 were alike,
 * and ten rounds worse on two. */
static const double shrinkage_of_guesses = 0.5;
enum { ROUNDS = 3 };

/* Sums over rows, each times what it counts. */
struct sums {
        double rows;    /* what all count */
        double *of;     /* (C) those of a label */
        double *x;      /* (C + 1, F) of x: of a label; of all */
        double *square; /* (F, F) of x xᵀ, above the diagonal and on it */
};

struct work {
        const struct ran_discriminant *k;
        size_t F, C;
        float *x;           /* (n, F) */
        double *counts;     /* (n) what a row counts */
        struct sums all;    /* of all rows, */
        struct sums fold;   /* and of those that are held out */
        double *covariance; /* (F, F) S, */
        double *factor;     /* (F, F) and L, lower, of S_λ = L Lᵀ */
        double *described;  /* (C, F) t; NULL: there are no descriptions */
        double *mu;         /* (C, F) means of labels */
        double *mean;       /* (2, F) of a label, and of the others */
        float *weight;      /* (F, C) */
        float *bias;        /* (C) */
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void sums_init(struct sums *s, size_t F, size_t C)
{
        s->of = ran_new(C, sizeof *s->of);
        s->x = ran_new((C + 1) * F, sizeof *s->x);
        s->square = ran_new(F * F, sizeof *s->square);
}

static void sums_release(struct sums *s)
{
        free(s->of);
        free(s->x);
        free(s->square);
}

static void release(struct work *w)
{
        sums_release(&w->all);
        sums_release(&w->fold);
        free(w->x);
        free(w->counts);
        free(w->covariance);
        free(w->factor);
        free(w->described);
        free(w->mu);
        free(w->mean);
        free(w->weight);
        free(w->bias);
}

/* What row i counts with label j of its target. */
static double count_of(const struct work *w, size_t i, const struct ran_target *t, size_t j)
{
        const double *by = w->k->class_weight;

        return (double)w->k->d->weight[w->k->document[i]] * (t->p != NULL ? (double)t->p[j] : 1) *
               (by != NULL ? by[t->label[j]] : 1);
}

static void read_row(void *arg, size_t i)
{
        struct work *w = arg;
        const struct ran_dense_frame *frame = w->k->frame;
        const size_t b = w->k->document[i];
        const float *v = w->k->dense->v + b * w->F;
        const struct ran_target t = ran_loss_target(w->k->d, b);

        for (size_t f = 0; f < w->F; f++)
                w->x[i * w->F + f] = (float)(frame->factor[f] * ((double)v[f] - frame->mean[f]));
        if (w->k->d->multilabel)
                w->counts[i] = (double)w->k->d->weight[b];
        for (size_t j = 0; j < t.n && !w->k->d->multilabel; j++)
                w->counts[i] += count_of(w, i, &t, j);
}

/* t as x has it. */
static void describe(struct work *w)
{
        const struct ran_dense_frame *frame = w->k->frame;
        const size_t F = w->F, C = w->C;
        const float *e = w->k->label_vectors;

        w->described = ran_new(C * F, sizeof *w->described);
        for (size_t f = 0; f < F; f++) {
                double mean = 0;

                for (size_t c = 0; c < C; c++)
                        mean += (double)e[c * F + f] / (double)C;
                for (size_t c = 0; c < C; c++)
                        w->described[c * F + f] = frame->factor[f] * ((double)e[c * F + f] - mean);
        }
}

/* No product of sizes overflows: the data set has (n, F) numbers, the model (F, C), and F is a
 * width that its configuration checks. */
static void init(struct work *w, const struct ran_discriminant *k)
{
        const size_t F = k->dense->F, C = k->d->C;

        *w = (struct work){.k = k,
                           .F = F,
                           .C = C,
                           .x = ran_new_floats(k->n * F),
                           .counts = ran_new(k->n, sizeof *w->counts),
                           .covariance = ran_new(F * F, sizeof *w->covariance),
                           .factor = ran_new(F * F, sizeof *w->factor),
                           .mu = ran_new(C * F, sizeof *w->mu),
                           .mean = ran_new(2 * F, sizeof *w->mean),
                           .weight = ran_new_floats(F * C),
                           .bias = ran_new_floats(C)};
        sums_init(&w->all, F, C);
        sums_init(&w->fold, F, C);
        if (k->label_vectors != NULL)
                describe(w);
        ran_parallel(k->pool, k->n, read_row, w);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* A thread adds to so many rows of x xᵀ. */
enum { STRIP = 16 };

struct squares {
        const struct work *w;
        double *square;
        const size_t *row; /* (n), or NULL: all */
        size_t n;
};

static void add_strip(void *arg, size_t strip)
{
        const struct squares *s = arg;
        const size_t F = s->w->F, from = strip * STRIP, end = ran_least(F, from + STRIP);

        for (size_t i = 0; i < s->n; i++) {
                const size_t row = s->row != NULL ? s->row[i] : i;
                const float *x = s->w->x + row * F;

                for (size_t f = from; f < end; f++) {
                        const double by = s->w->counts[row] * (double)x[f];
                        double *to = s->square + f * F;

                        for (size_t g = f; g < F; g++)
                                to[g] += by * (double)x[g];
                }
        }
}

static void add_x(double *to, double by, const float *x, size_t F)
{
        for (size_t f = 0; f < F; f++)
                to[f] += by * (double)x[f];
}

/* Of n rows; row NULL: of all. */
static void sum_rows(const struct work *w, struct sums *s, const size_t *row, size_t n)
{
        const size_t F = w->F, C = w->C;
        struct squares squares = {w, s->square, row, n};

        s->rows = 0;
        memset(s->of, 0, C * sizeof *s->of);
        memset(s->x, 0, (C + 1) * F * sizeof *s->x);
        memset(s->square, 0, F * F * sizeof *s->square);
        ran_parallel(w->k->pool, (F + STRIP - 1) / STRIP, add_strip, &squares);
        for (size_t i = 0; i < n; i++) {
                const size_t at = row != NULL ? row[i] : i;
                const float *x = w->x + at * F;
                const struct ran_target t = ran_loss_target(w->k->d, w->k->document[at]);

                s->rows += w->counts[at];
                add_x(s->x + C * F, w->counts[at], x, F);
                for (size_t j = 0; j < t.n; j++) {
                        const double by = count_of(w, at, &t, j);

                        s->of[t.label[j]] += by;
                        add_x(s->x + t.label[j] * F, by, x, F);
                }
        }
}

/* What the sums of all rows have without those of the fold: in place of the fold's. */
static void leave_out(struct work *w)
{
        struct sums *s = &w->fold;
        const struct sums *all = &w->all;

        s->rows = all->rows - s->rows;
        for (size_t c = 0; c < w->C; c++)
                s->of[c] = all->of[c] - s->of[c];
        for (size_t i = 0; i < (w->C + 1) * w->F; i++)
                s->x[i] = all->x[i] - s->x[i];
        for (size_t i = 0; i < w->F * w->F; i++)
                s->square[i] = all->square[i] - s->square[i];
}

/* ---- the solution ---------------------------------------------------------------------------- */

static double product(const double *a, const double *b, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += a[i] * b[i];
        return sum;
}

/* s: the regression of documents on their descriptions. */
static double find_slope(const struct work *w, const struct sums *s)
{
        double along = 0, squares = 0;

        for (size_t c = 0; c < w->C; c++) {
                const double *t = w->described + c * w->F;

                along += product(s->x + c * w->F, t, w->F);
                squares += s->of[c] * product(t, t, w->F);
        }
        return squares > 0 ? fmax(0, along / squares) : 0;
}

/* k, given t̂ in w->mu. */
static double find_k(const struct work *w, const struct sums *s)
{
        const size_t F = w->F;
        double labels = 0, n = 0, within = 0, around = 0;

        for (size_t f = 0; f < F; f++)
                within += s->square[f * F + f];
        for (size_t c = 0; c < w->C; c++) {
                const double *x = s->x + c * F, *t = w->mu + c * F;

                if (s->of[c] <= 0)
                        continue;
                labels++;
                n += s->of[c];
                within -= product(x, x, F) / s->of[c];
                around += product(x, x, F) / s->of[c] - 2 * product(x, t, F) +
                          s->of[c] * product(t, t, F);
        }
        if (n <= labels || within <= 0)
                return k_unknown;
        within /= n - labels;
        around = (around - (labels - 1) * within) / n;
        return fmin(k_most, fmax(k_least, within / fmax(around, 1e-9)));
}

/* μ. */
static void find_means(struct work *w, const struct sums *s)
{
        const size_t F = w->F;
        double k = 0, slope = 0;

        memset(w->mu, 0, w->C * F * sizeof *w->mu);
        if (w->described != NULL) {
                slope = find_slope(w, s);
                for (size_t i = 0; i < w->C * F; i++)
                        w->mu[i] = slope * w->described[i];
                k = find_k(w, s);
        }
        for (size_t c = 0; c < w->C; c++)
                for (size_t f = 0; f < F && s->of[c] + k > 0; f++)
                        w->mu[c * F + f] =
                                (s->x[c * F + f] + k * w->mu[c * F + f]) / (s->of[c] + k);
}

/* S around the means, lower half and diagonal; returns its trace. */
static double find_covariance(struct work *w, const struct sums *s)
{
        const size_t F = w->F, C = w->C;
        const double all = s->rows > 0 ? s->rows : 1;
        double trace = 0;

        for (size_t f = 0; f < F; f++)
                for (size_t g = 0; g <= f; g++)
                        w->covariance[f * F + g] = s->square[g * F + f];
        for (size_t c = 0; c < C && !w->k->d->multilabel; c++) {
                const double n = s->of[c], *x = s->x + c * F, *mu = w->mu + c * F;

                for (size_t f = 0; f < F && n > 0; f++)
                        for (size_t g = 0; g <= f; g++)
                                w->covariance[f * F + g] -=
                                        x[f] * mu[g] + mu[f] * x[g] - n * mu[f] * mu[g];
        }
        for (size_t f = 0; f < F && w->k->d->multilabel; f++)
                for (size_t g = 0; g <= f; g++)
                        w->covariance[f * F + g] -= s->x[C * F + f] / all * s->x[C * F + g];
        for (size_t f = 0; f < F; f++) {
                for (size_t g = 0; g <= f; g++)
                        w->covariance[f * F + g] /= all;
                trace += w->covariance[f * F + f];
        }
        return trace;
}

/* L of S_λ (Cholesky). Where documents do not differ at all, S_λ is the unit matrix. */
static void factorise(struct work *w, double trace, double shrinkage)
{
        const size_t F = w->F;
        const double mean = trace / (double)F, floor = mean > 0 ? mean * 1e-9 : 1;
        double *l = w->factor;

        for (size_t f = 0; f < F; f++)
                for (size_t g = 0; g <= f; g++) {
                        double sum = (1 - shrinkage) * w->covariance[f * F + g];

                        if (f == g)
                                sum += shrinkage * mean;
                        for (size_t k = 0; k < g; k++)
                                sum -= l[f * F + k] * l[g * F + k];
                        l[f * F + g] = f == g ? sqrt(fmax(sum, floor)) : sum / l[g * F + g];
                }
}

/* x (F) becomes S_λ⁻¹ x. */
static void solve(const struct work *w, double *x)
{
        const size_t F = w->F;
        const double *l = w->factor;

        for (size_t f = 0; f < F; f++) {
                for (size_t g = 0; g < f; g++)
                        x[f] -= l[f * F + g] * x[g];
                x[f] /= l[f * F + f];
        }
        for (size_t f = F; f-- > 0;) {
                x[f] /= l[f * F + f];
                for (size_t g = 0; g < f; g++)
                        x[g] -= l[f * F + g] * x[f];
        }
}

/* w_c and b_c. */
static void find_label(struct work *w, const struct sums *s, size_t c)
{
        const size_t F = w->F, C = w->C;
        const bool several = w->k->d->multilabel;
        const double mine = s->of[c], others = several ? fmax(0, s->rows - mine) : 0;
        const double *mu = w->mu + c * F;
        double *x = w->mean, *against = w->mean + F, bias = 0;

        for (size_t f = 0; f < F; f++) {
                against[f] = others > 0 ? (s->x[C * F + f] - s->x[c * F + f]) / others : 0;
                x[f] = mu[f] - against[f];
        }
        solve(w, x);
        for (size_t f = 0; f < F; f++) {
                w->weight[f * C + c] = (float)x[f];
                bias -= x[f] * (mu[f] + against[f]) / 2;
        }
        w->bias[c] =
                (float)(bias + ran_log((mine + unseen) /
                                       (several ? others + unseen : s->rows + unseen * (double)C)));
}

static void find_labels(struct work *w, const struct sums *s, double trace, double shrinkage)
{
        factorise(w, trace, shrinkage);
        for (size_t c = 0; c < w->C; c++)
                find_label(w, s, c);
}

/* All labels, by all rows. */
static void fit_all(struct work *w, double shrinkage)
{
        sum_rows(w, &w->all, NULL, w->k->n);
        find_means(w, &w->all);
        find_labels(w, &w->all, find_covariance(w, &w->all), shrinkage);
}

void ran_discriminant_fit(const struct ran_discriminant *k, double shrinkage, float *weight,
                          float *bias)
{
        struct work w;

        init(&w, k);
        fit_all(&w, shrinkage);
        memcpy(weight, w.weight, w.F * w.C * sizeof *weight);
        memcpy(bias, w.bias, w.C * sizeof *bias);
        release(&w);
}

/* ---- λ --------------------------------------------------------------------------------------- */

static void score(const struct work *w, size_t row, float *logits)
{
        const float *x = w->x + row * w->F;

        for (size_t c = 0; c < w->C; c++) {
                double sum = (double)w->bias[c];

                for (size_t f = 0; f < w->F; f++)
                        sum += (double)x[f] * (double)w->weight[f * w->C + c];
                logits[c] = (float)sum;
        }
}

/* to (n; h->n, C): logits of the held-out rows with each of the first n λ. */
static void score_folds(struct work *w, const struct ran_held_out *h, size_t n, float *to)
{
        sum_rows(w, &w->all, NULL, w->k->n);
        for (size_t fold = 0; fold < h->folds; fold++) {
                const size_t from = h->begin[fold], end = h->begin[fold + 1];

                sum_rows(w, &w->fold, h->row + from, end - from);
                leave_out(w);
                find_means(w, &w->fold);
                const double trace = find_covariance(w, &w->fold);
                for (size_t s = 0; s < n; s++) {
                        find_labels(w, &w->fold, trace, shrinkages[s]);
                        for (size_t i = from; i < end; i++)
                                score(w, h->row[i], to + (s * h->n + i) * w->C);
                }
        }
}

static bool are_few(const struct ran_discriminant *k)
{
        return k->n / ENOUGH_OF_LABEL < k->d->C;
}

double ran_discriminant_choose(const struct ran_discriminant *k, const struct ran_held_out *h,
                               double *shrinkage, float *logits)
{
        const size_t n = k->label_vectors != NULL && are_few(k) ? 1 : SHRINKAGES;
        const size_t numbers = h->n * k->d->C;
        const struct ran_ensemble_rows rows = {
                .d = k->d, .document = k->document, .row = h->row, .n = h->n};
        float *all = ran_new_floats(n * numbers);
        double least = INFINITY;
        struct work w;

        init(&w, k);
        score_folds(&w, h, n, all);
        for (size_t s = 0; s < n; s++) {
                struct ran_ensemble alone;
                const double sum = ran_ensemble_fit_rows(&alone, NULL, &rows, all + s * numbers);

                if (sum < least) {
                        least = sum;
                        *shrinkage = shrinkages[s];
                        memcpy(logits, all + s * numbers, numbers * sizeof *logits);
                }
        }
        free(all);
        release(&w);
        return least;
}

/* ---- documents without labels ---------------------------------------------------------------- */

struct guesses {
        struct work w;
        struct ran_discriminant k;
        struct ran_dataset d; /* each document has all labels, with probabilities */
        float *logits;        /* (n, C) */
        bool first;           /* one label a document, the nearest */
};

/* At first every document has label 0: each counts its weight, as later. */
static void init_guesses(struct guesses *g, const struct ran_discriminant *k)
{
        const size_t B = k->d->B, C = k->d->C;

        if (C > SIZE_MAX / sizeof *g->d.soft_labels / (B + 1))
                ran_out_of_memory(B, C);
        g->k = *k;
        g->k.d = &g->d;
        g->k.class_weight = NULL;
        g->d = (struct ran_dataset){.B = B,
                                    .C = C,
                                    .weight = k->d->weight,
                                    .soft_labels = ran_new(B * C, sizeof *g->d.soft_labels),
                                    .soft = ran_new_floats(B * C),
                                    .soft_first = ran_new(B + 1, sizeof *g->d.soft_first)};
        g->logits = ran_new_floats(k->n * C);
        g->d.label_first = g->d.soft_first;
        for (size_t i = 0; i < B * C; i++) {
                g->d.soft_labels[i] = (uint32_t)(i % C);
                g->d.soft[i] = i % C == 0;
        }
        for (size_t b = 0; b <= B; b++)
                g->d.soft_first[b] = b * C;
        init(&g->w, &g->k);
}

/* The cosine with t_c, but for the length of x. */
static void weigh_descriptions(struct work *w)
{
        for (size_t c = 0; c < w->C; c++) {
                const double *t = w->described + c * w->F;
                const double length = sqrt(product(t, t, w->F));

                w->bias[c] = 0;
                for (size_t f = 0; f < w->F; f++)
                        w->weight[f * w->C + c] = (float)(length > 0 ? t[f] / length : 0);
        }
}

static size_t largest(const float *x, size_t n)
{
        size_t at = 0;

        for (size_t i = 1; i < n; i++)
                at = x[i] > x[at] ? i : at;
        return at;
}

/* Probabilities of the labels of row i. */
static void guess(void *arg, size_t i)
{
        struct guesses *g = arg;
        const size_t C = g->w.C;
        float *logits = g->logits + i * C, *p = g->d.soft + g->k.document[i] * C;

        score(&g->w, i, logits);
        const size_t best = largest(logits, C);
        const double sum = ran_log_sum_exp(logits, C);
        for (size_t c = 0; c < C; c++)
                p[c] = g->first ? (float)(c == best) : (float)ran_exp((double)logits[c] - sum);
}

double ran_discriminant_spread(const float *logits, size_t n, size_t C)
{
        double squares = 0;

        for (size_t i = 0; i < n; i++) {
                double sum = 0, own = 0;

                for (size_t c = 0; c < C; c++) {
                        sum += (double)logits[i * C + c];
                        own += (double)logits[i * C + c] * (double)logits[i * C + c];
                }
                squares += own - sum * sum / (double)C;
        }
        return n > 0 ? sqrt(fmax(0, squares) / (double)(n * C)) : 0;
}

void ran_discriminant_guess(const struct ran_discriminant *k, uint32_t *label, float *weight,
                            float *bias, double *shrinkage, double *spread)
{
        struct guesses g = {.first = true};
        struct work *w = &g.w;

        init_guesses(&g, k);
        *shrinkage = are_few(k) ? ran_discriminant_shrinkage : shrinkage_of_guesses;
        weigh_descriptions(w);
        ran_parallel(k->pool, k->n, guess, &g);
        g.first = false;
        for (size_t round = 0; round < ROUNDS; round++) {
                fit_all(w, *shrinkage);
                ran_parallel(k->pool, k->n, guess, &g);
        }
        for (size_t i = 0; i < k->n; i++)
                label[k->document[i]] = (uint32_t)largest(g.logits + i * w->C, w->C);
        *spread = ran_discriminant_spread(g.logits, k->n, w->C);
        memcpy(weight, w->weight, w->F * w->C * sizeof *weight);
        memcpy(bias, w->bias, w->C * sizeof *bias);
        release(w);
        free(g.d.soft_labels);
        free(g.d.soft);
        free(g.d.soft_first);
        free(g.logits);
}
