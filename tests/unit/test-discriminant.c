/* test-discriminant.c - linear discriminants (part/linear/discriminant.c) beside their definition.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "part/linear/discriminant.h"
#include "test.h"

enum { F = 7, C = CORPUS_C, B = 60 };

struct bench {
        struct ran_dataset d;
        struct ran_dense dense;
        struct ran_dense_frame frame;
        size_t document[B];
        float v[B * F], weight[F * C], bias[C];
        double class_weight[C];
        struct ran_discriminant k;
};

/* Vectors of noise, and a little of their labels. */
static void init(struct bench *b, bool several)
{
        struct dice dice = {.key = 21};

        memset(b, 0, sizeof *b);
        corpus_make(&b->d, B, 1, 9, several, 3);
        for (size_t i = 0; i < B; i++) {
                b->document[i] = i;
                b->d.weight[i] = i % 3 == 0 ? 2 : 1;
                for (size_t f = 0; f < F; f++)
                        b->v[i * F + f] = (float)dice_size(&dice, 0, 99) / (float)(20 + 10 * f);
                for (size_t j = b->d.label_first[i]; j < b->d.label_first[i + 1]; j++)
                        b->v[i * F + b->d.labels[j] % F] += 1;
        }
        for (size_t c = 0; c < C; c++)
                b->class_weight[c] = 1 + (double)c / 4;
        b->dense = (struct ran_dense){.B = B, .F = F, .v = b->v};
        ran_dense_frame_init(&b->frame, &b->dense, b->document, B, true);
        b->k = (struct ran_discriminant){.d = &b->d,
                                         .dense = &b->dense,
                                         .frame = &b->frame,
                                         .document = b->document,
                                         .n = B,
                                         .class_weight = several ? NULL : b->class_weight};
}

static void release(struct bench *b)
{
        ran_dense_frame_release(&b->frame);
        ran_dataset_release(&b->d);
}

static double x_of(const struct bench *b, size_t i, size_t f)
{
        return b->frame.factor[f] * ((double)b->v[i * F + f] - b->frame.mean[f]);
}

static bool has(const struct bench *b, size_t i, size_t c)
{
        for (size_t j = b->d.label_first[i]; j < b->d.label_first[i + 1]; j++)
                if (b->d.labels[j] == c)
                        return true;
        return false;
}

/* What document i counts in the mean of those that have label c, or have it not. */
static double count(const struct bench *b, size_t i, size_t c, bool with)
{
        const double by = b->k.class_weight != NULL ? b->k.class_weight[c] : 1;

        return has(b, i, c) == with ? by * (double)b->d.weight[i] : 0;
}

static double mean_of(const struct bench *b, size_t c, bool with, double mean[F])
{
        double n = 0;

        memset(mean, 0, F * sizeof *mean);
        for (size_t i = 0; i < B; i++) {
                n += count(b, i, c, with);
                for (size_t f = 0; f < F; f++)
                        mean[f] += count(b, i, c, with) * x_of(b, i, f);
        }
        for (size_t f = 0; f < F; f++)
                mean[f] /= n > 0 ? n : 1;
        return n;
}

/* S by its definition: deviations from the mean of one's label, or of all. */
static void covariance(const struct bench *b, double s[F][F], double *trace)
{
        double all = 0, mean[F];

        memset(s, 0, F * F * sizeof **s);
        if (b->d.multilabel) {
                double total = 0, of_all[F] = {0};

                for (size_t i = 0; i < B; i++) {
                        total += (double)b->d.weight[i];
                        for (size_t f = 0; f < F; f++)
                                of_all[f] += (double)b->d.weight[i] * x_of(b, i, f);
                }
                for (size_t i = 0; i < B; i++)
                        for (size_t f = 0; f < F; f++)
                                for (size_t g = 0; g < F; g++)
                                        s[f][g] += (double)b->d.weight[i] / total *
                                                   (x_of(b, i, f) - of_all[f] / total) *
                                                   (x_of(b, i, g) - of_all[g] / total);
                all = 1;
        }
        for (size_t c = 0; c < C && !b->d.multilabel; c++) {
                all += mean_of(b, c, true, mean);
                for (size_t i = 0; i < B; i++)
                        for (size_t f = 0; f < F; f++)
                                for (size_t g = 0; g < F; g++)
                                        s[f][g] += count(b, i, c, true) *
                                                   (x_of(b, i, f) - mean[f]) *
                                                   (x_of(b, i, g) - mean[g]);
        }
        *trace = 0;
        for (size_t f = 0; f < F; f++) {
                for (size_t g = 0; g < F; g++)
                        s[f][g] /= all;
                *trace += s[f][f];
        }
}

/* S_λ w_c is the difference of means, and b_c as defined. */
static void check_solution(const struct bench *b, double shrinkage)
{
        double s[F][F], trace, total = 0;

        covariance(b, s, &trace);
        for (size_t c = 0; c < C; c++)
                for (size_t i = 0; i < B; i++)
                        total += count(b, i, c, true);
        for (size_t c = 0; c < C; c++) {
                double with[F], without[F] = {0}, bias;
                const double n = mean_of(b, c, true, with);
                const double others = b->d.multilabel ? mean_of(b, c, false, without) : 0;

                bias = b->d.multilabel ? log((n + 1) / (others + 1)) : log((n + 1) / (total + C));
                for (size_t f = 0; f < F; f++) {
                        double sum = shrinkage * trace / F * (double)b->weight[f * C + c];

                        for (size_t g = 0; g < F; g++)
                                sum += (1 - shrinkage) * s[f][g] * (double)b->weight[g * C + c];
                        CHECK_NEAR(sum, with[f] - without[f], 1e-5);
                        bias -= (double)b->weight[f * C + c] * (with[f] + without[f]) / 2;
                }
                CHECK_NEAR((double)b->bias[c], bias, 1e-4);
        }
}

TEST(discriminants_solve_their_equations)
{
        static const double shrinkages[] = {1, 0.6, 0.05};
        struct bench b;

        for (int several = 0; several < 2; several++)
                for (size_t i = 0; i < sizeof shrinkages / sizeof *shrinkages; i++) {
                        init(&b, several);
                        ran_discriminant_fit(&b.k, shrinkages[i], b.weight, b.bias);
                        check_solution(&b, shrinkages[i]);
                        release(&b);
                }
}

/* Folds of every third document. */
static void make_folds(struct ran_held_out *h, size_t *row)
{
        *h = (struct ran_held_out){.n = B, .folds = 3, .row = row};
        for (size_t fold = 0, at = 0; fold < 3; fold++) {
                for (size_t i = fold; i < B; i += 3)
                        row[at++] = i;
                h->begin[fold + 1] = at;
        }
}

TEST(discriminants_say_of_a_fold_what_the_other_documents_say)
{
        float logits[B * C];
        size_t row[B], rest[B];
        struct ran_held_out h;
        double shrinkage = 0, loss = 0;
        struct bench b;

        for (int several = 0; several < 2; several++) {
                init(&b, several);
                make_folds(&h, row);
                loss = ran_discriminant_choose(&b.k, &h, &shrinkage, logits);
                CHECK(loss > 0);
                CHECK(shrinkage > 0 && shrinkage < 1);
                for (size_t fold = 0; fold < 3; fold++) {
                        size_t n = 0;

                        for (size_t i = 0; i < B; i++)
                                if (i % 3 != fold)
                                        rest[n++] = i;
                        b.k.document = rest;
                        b.k.n = n;
                        ran_discriminant_fit(&b.k, shrinkage, b.weight, b.bias);
                        for (size_t i = h.begin[fold]; i < h.begin[fold + 1]; i++)
                                for (size_t c = 0; c < C; c++) {
                                        double sum = (double)b.bias[c];

                                        for (size_t f = 0; f < F; f++)
                                                sum += x_of(&b, row[i], f) *
                                                       (double)b.weight[f * C + c];
                                        CHECK_NEAR((double)logits[i * C + c], sum,
                                                   1e-3 * (1 + fabs(sum)));
                                }
                }
                release(&b);
        }
}

TEST(discriminants_are_the_same_for_any_threads)
{
        struct ran_error err = {0};
        float one[F * C];
        struct bench b;

        for (size_t threads = 1; threads <= 7; threads += 3) {
                init(&b, false);
                b.k.pool = ran_pool_new(threads, &err);
                ran_discriminant_fit(&b.k, 0.4, b.weight, b.bias);
                if (threads == 1)
                        memcpy(one, b.weight, sizeof one);
                CHECK(memcmp(one, b.weight, sizeof one) == 0);
                ran_pool_free(b.k.pool);
                release(&b);
        }
}

/* All documents alike; a label that none has; fewer documents than numbers. */
TEST(discriminants_of_next_to_nothing_are_finite)
{
        struct bench b;

        for (size_t n = 0; n < 3; n++) {
                init(&b, false);
                b.k.n = n;
                for (size_t i = 0; i < B * F && n == 2; i++)
                        b.v[i] = 3;
                ran_discriminant_fit(&b.k, 0.05, b.weight, b.bias);
                for (size_t i = 0; i < F * C; i++)
                        CHECK(isfinite(b.weight[i]));
                for (size_t c = 0; c < C; c++)
                        CHECK(isfinite(b.bias[c]));
                release(&b);
        }
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static double dot(const double *a, const double *b)
{
        double sum = 0;

        for (size_t f = 0; f < F; f++)
                sum += a[f] * b[f];
        return sum;
}

/* μ by its definition, of all documents, which weigh alike. */
static void posterior(const struct bench *b, const float *e, double mu[C][F], double *slope)
{
        double t[C][F], x[C][F], n[C], along = 0, squares = 0, within = 0, around = 0, all = 0,
                                       seen = 0;

        for (size_t c = 0; c < C; c++) {
                n[c] = mean_of(b, c, true, x[c]);
                for (size_t f = 0; f < F; f++) {
                        double mean = 0;

                        for (size_t other = 0; other < C; other++)
                                mean += (double)e[other * F + f] / C;
                        t[c][f] = b->frame.factor[f] * ((double)e[c * F + f] - mean);
                }
                along += n[c] * dot(x[c], t[c]);
                squares += n[c] * dot(t[c], t[c]);
        }
        *slope = fmax(0, along / squares);
        for (size_t c = 0; c < C; c++) {
                for (size_t i = 0; i < B; i++)
                        for (size_t f = 0; f < F && has(b, i, c); f++)
                                within += pow(x_of(b, i, f) - x[c][f], 2);
                for (size_t f = 0; f < F && n[c] > 0; f++)
                        around += n[c] * pow(x[c][f] - *slope * t[c][f], 2);
                all += n[c];
                seen += n[c] > 0;
        }
        within /= all - seen;
        around = (around - (seen - 1) * within) / all;
        const double k = fmin(32, fmax(2, within / fmax(around, 1e-9)));
        for (size_t c = 0; c < C; c++)
                for (size_t f = 0; f < F; f++)
                        mu[c][f] = (n[c] * x[c][f] + k * *slope * t[c][f]) / (n[c] + k);
}

/* With λ of 1 the weights are the means over the mean variance, so they show the means. */
static void check_described(const struct bench *b, const float *e, bool useless)
{
        double mu[C][F], slope, norm = 0, product = 0;

        posterior(b, e, mu, &slope);
        CHECK(!useless || slope == 0);
        CHECK(useless || slope > 0.1);
        for (size_t c = 0; c < C; c++)
                for (size_t f = 0; f < F; f++) {
                        norm += mu[c][f] * mu[c][f];
                        product += mu[c][f] * (double)b->weight[f * C + c];
                }
        for (size_t c = 0; c < C; c++)
                for (size_t f = 0; f < F; f++)
                        CHECK_NEAR((double)b->weight[f * C + c], mu[c][f] * product / norm,
                                   1e-4 * product / norm);
}

/* Descriptions that are near their documents, or on the other side. */
TEST(discriminants_move_means_towards_descriptions_that_say_something)
{
        float e[C * F];
        struct bench b;

        for (int useless = 0; useless < 2; useless++) {
                init(&b, false);
                b.k.class_weight = NULL;
                for (size_t i = 0; i < B; i++)
                        b.d.weight[i] = 1;
                for (size_t c = 0; c < C; c++)
                        for (size_t f = 0; f < F; f++)
                                e[c * F + f] = f == c % F ? (useless ? -1 : 1) : 0;
                b.k.label_vectors = e;
                ran_discriminant_fit(&b.k, 1, b.weight, b.bias);
                check_described(&b, e, useless);
                /* a label without documents is its description */
                b.k.n = 1;
                ran_discriminant_fit(&b.k, 1, b.weight, b.bias);
                for (size_t i = 0; i < F * C; i++)
                        CHECK(isfinite(b.weight[i]));
                release(&b);
        }
}

/* ---- documents without labels ---------------------------------------------------------------- */

/* p by its definition, of documents that weigh alike, with means that lean towards descriptions by
 * 2 documents or more: three rounds, each label's logits by Gaussian elimination. */
struct naive {
        double t[C][F], p[B][C], n[C], mu[C][F], s[F][F], logits[B][C];
};

static void begin_naive(struct naive *q, const struct bench *b, const float *e)
{
        for (size_t c = 0; c < C; c++)
                for (size_t f = 0; f < F; f++) {
                        double mean = 0;

                        for (size_t other = 0; other < C; other++)
                                mean += (double)e[other * F + f] / C;
                        q->t[c][f] = b->frame.factor[f] * ((double)e[c * F + f] - mean);
                }
        for (size_t i = 0; i < B; i++) {
                double best = -INFINITY;
                size_t at = 0;

                for (size_t c = 0; c < C; c++) {
                        double sum = 0;

                        for (size_t f = 0; f < F; f++)
                                sum += x_of(b, i, f) * q->t[c][f];
                        sum /= sqrt(dot(q->t[c], q->t[c]));
                        at = sum > best ? c : at;
                        best = fmax(best, sum);
                }
                for (size_t c = 0; c < C; c++)
                        q->p[i][c] = c == at;
        }
}

static void naive_means(struct naive *q, const struct bench *b)
{
        double along = 0, squares = 0, within = 0, around = 0, seen = 0;

        memset(q->n, 0, sizeof q->n);
        memset(q->mu, 0, sizeof q->mu);
        for (size_t c = 0; c < C; c++) {
                for (size_t i = 0; i < B; i++) {
                        q->n[c] += q->p[i][c];
                        for (size_t f = 0; f < F; f++)
                                q->mu[c][f] += q->p[i][c] * x_of(b, i, f);
                }
                along += dot(q->mu[c], q->t[c]);
                squares += q->n[c] * dot(q->t[c], q->t[c]);
                seen += q->n[c] > 0;
        }
        const double slope = fmax(0, along / squares);
        for (size_t c = 0; c < C; c++)
                for (size_t f = 0; f < F && q->n[c] > 0; f++) {
                        const double mean = q->mu[c][f] / q->n[c];

                        for (size_t i = 0; i < B; i++)
                                within += q->p[i][c] * pow(x_of(b, i, f) - mean, 2);
                        around += q->n[c] * pow(mean - slope * q->t[c][f], 2);
                }
        within /= B - seen;
        const double k = fmin(32, fmax(2, within / fmax((around - (seen - 1) * within) / B, 1e-9)));
        for (size_t c = 0; c < C; c++)
                for (size_t f = 0; f < F; f++)
                        q->mu[c][f] = (q->mu[c][f] + k * slope * q->t[c][f]) / (q->n[c] + k);
}

static void naive_covariance(struct naive *q, const struct bench *b)
{
        double trace = 0;

        memset(q->s, 0, sizeof q->s);
        for (size_t i = 0; i < B; i++)
                for (size_t c = 0; c < C; c++)
                        for (size_t f = 0; f < F; f++)
                                for (size_t g = 0; g < F; g++)
                                        q->s[f][g] += q->p[i][c] / B *
                                                      (x_of(b, i, f) - q->mu[c][f]) *
                                                      (x_of(b, i, g) - q->mu[c][g]);
        for (size_t f = 0; f < F; f++)
                trace += q->s[f][f];
        for (size_t f = 0; f < F; f++)
                for (size_t g = 0; g < F; g++)
                        q->s[f][g] = q->s[f][g] / 2 + (f == g ? trace / F / 2 : 0);
}

/* w becomes S^-1 mu; S is positive definite, so no row need be swapped. */
static void eliminate(const double s[F][F], const double *mu, double *w)
{
        double a[F][F + 1];

        for (size_t f = 0; f < F; f++) {
                memcpy(a[f], s[f], F * sizeof *s[f]);
                a[f][F] = mu[f];
        }
        for (size_t f = 0; f < F; f++)
                for (size_t g = 0; g < F; g++) {
                        const double by = a[g][f] / a[f][f];

                        for (size_t j = f; j <= F && g != f; j++)
                                a[g][j] -= by * a[f][j];
                }
        for (size_t f = 0; f < F; f++)
                w[f] = a[f][F] / a[f][f];
}

static void naive_round(struct naive *q, const struct bench *b)
{
        naive_means(q, b);
        naive_covariance(q, b);
        for (size_t c = 0; c < C; c++) {
                double w[F];

                eliminate((const double(*)[F])q->s, q->mu[c], w);
                for (size_t i = 0; i < B; i++) {
                        q->logits[i][c] = log((q->n[c] + 1) / (B + C)) - dot(w, q->mu[c]) / 2;
                        for (size_t f = 0; f < F; f++)
                                q->logits[i][c] += x_of(b, i, f) * w[f];
                }
        }
        for (size_t i = 0; i < B; i++) {
                double sum = 0;

                for (size_t c = 0; c < C; c++)
                        sum += exp(q->logits[i][c]);
                for (size_t c = 0; c < C; c++)
                        q->p[i][c] = exp(q->logits[i][c]) / sum;
        }
}

static void init_guesses(struct bench *b, float *e)
{
        init(b, false);
        for (size_t i = 0; i < B; i++)
                b->d.weight[i] = 1;
        for (size_t i = 0; i < C * F; i++)
                e[i] = i % F == i / F % F;
        b->k.label_vectors = e;
}

/* The labels of d, which class_weight would weigh, are not looked at. */
TEST(discriminants_guess_labels_by_expectation_maximisation)
{
        static struct naive q;
        float e[C * F];
        uint32_t label[B];
        double shrinkage, spread, squares = 0;
        struct bench b;

        init_guesses(&b, e);
        begin_naive(&q, &b, e);
        for (size_t round = 0; round < 3; round++)
                naive_round(&q, &b);
        ran_discriminant_guess(&b.k, label, b.weight, b.bias, &shrinkage, &spread);
        CHECK(shrinkage == 0.5);
        for (size_t i = 0; i < B; i++) {
                double mean = 0;

                for (size_t c = 0; c < C; c++) {
                        double sum = (double)b.bias[c];

                        for (size_t f = 0; f < F; f++)
                                sum += x_of(&b, i, f) * (double)b.weight[f * C + c];
                        CHECK_NEAR(sum, q.logits[i][c], 1e-3 * (1 + fabs(sum)));
                        CHECK(q.logits[i][label[i]] >= q.logits[i][c] - 1e-3);
                        mean += q.logits[i][c] / C;
                }
                for (size_t c = 0; c < C; c++)
                        squares += pow(q.logits[i][c] - mean, 2) / (B * C);
        }
        CHECK_NEAR(spread, sqrt(squares), 1e-3 * spread);
        release(&b);
}

/* For any threads; of documents that are alike. */
TEST(guesses_are_the_same_for_any_threads_and_finite)
{
        struct ran_error err = {0};
        float e[C * F], one[F * C];
        uint32_t label[B], first[B];
        double shrinkage, spread;
        struct bench b;

        for (size_t threads = 1; threads <= 7; threads += 3) {
                init_guesses(&b, e);
                b.k.pool = ran_pool_new(threads, &err);
                ran_discriminant_guess(&b.k, label, b.weight, b.bias, &shrinkage, &spread);
                if (threads == 1) {
                        memcpy(one, b.weight, sizeof one);
                        memcpy(first, label, sizeof first);
                }
                CHECK(memcmp(one, b.weight, sizeof one) == 0);
                CHECK(memcmp(first, label, sizeof first) == 0);
                ran_pool_free(b.k.pool);
                release(&b);
        }
        init_guesses(&b, e);
        for (size_t i = 0; i < B * F; i++)
                b.v[i] = 3;
        b.k.n = 16 * C - 1; /* few */
        ran_discriminant_guess(&b.k, label, b.weight, b.bias, &shrinkage, &spread);
        for (size_t i = 0; i < F * C; i++)
                CHECK(isfinite(b.weight[i]));
        CHECK(isfinite(spread));
        CHECK(shrinkage == ran_discriminant_shrinkage);
        release(&b);
}
