/* What the linear model learns: the optimum of its problem, whoever helps and however it is
 * ordered.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "dice.h"
#include "doubles.h"
#include "part/linear/linear-model.h"
#include "test.h"
#include "part/linear/cross-validate.h"
#include "gradient/plan.h"

enum { BUCKETS = 200, C = CORPUS_C };

struct bench {
        struct ran_config c;
        struct ran_dataset d;
        struct ran_feature_lists lists;
        struct ran_features features;
        struct ran_svm k;
        size_t documents; /* that the matrix has, the first ones */
        size_t *document;
        double cost, tolerance;
        size_t keep;
        float idf[BUCKETS], weight[BUCKETS * C], bias[C];
};

static void bench_init(struct bench *b, size_t documents, bool several)
{
        struct ran_error err = {0};

        memset(b, 0, sizeof *b);
        b->c = (struct ran_config){
                .linear.wide = BUCKETS, .linear.ngrams = 2, .classify.multilabel = several};
        corpus_make(&b->d, documents, 1, 30, several, 3);
        b->document = ran_alloc(documents, sizeof *b->document, &err);
        for (size_t i = 0; i < documents; i++)
                b->document[i] = i;
        b->documents = documents;
        b->cost = 0.7;
        b->tolerance = 1e-5;
        b->k = (struct ran_svm){.d = &b->d,
                                .features = &b->features,
                                .document = b->document,
                                .row = b->document,
                                .n = documents,
                                .ratios = true,
                                .seed = 5};
}

static void bench_release(struct bench *b)
{
        ran_dataset_release(&b->d);
        ran_feature_lists_release(&b->lists);
        ran_features_release(&b->features);
        free(b->document);
}

/* The matrix of the data set as it is now. */
static void make_features(struct bench *b)
{
        struct ran_error err = {0};

        ran_feature_lists_release(&b->lists);
        ran_features_release(&b->features);
        CHECK_OK(ran_feature_lists_read(&b->lists, &b->c, &b->d, NULL, b->keep, b->k.pool, &err),
                 err);
        ran_feature_lists_idf(&b->lists, &b->c, b->document, b->documents, b->idf);
        CHECK_OK(ran_features_make(&b->features, &b->lists, &b->c, b->document, b->documents,
                                   b->idf, NULL, NULL, b->keep, b->k.pool, &err),
                 err);
}

static struct ran_svm_solver *solver_of(struct bench *b)
{
        struct ran_error err = {0};

        make_features(b);
        struct ran_svm_solver *s = ran_svm_solver_new(&b->k, b->weight, b->bias, &err);
        CHECK(s != NULL);
        return s;
}

/* Returns the number of passes. */
static size_t solve(struct ran_svm_solver *s, double cost, double tolerance)
{
        size_t passes = 1;

        ran_svm_solver_begin(s, cost, tolerance, 1000);
        while (!ran_svm_solver_pass(s))
                passes++;
        return passes;
}

static void learn(struct bench *b)
{
        struct ran_svm_solver *s = solver_of(b);

        solve(s, b->cost, b->tolerance);
        ran_svm_solver_store(s, b->weight, b->bias);
        ran_svm_solver_free(s);
}

static void forget(struct bench *b)
{
        memset(b->weight, 0, sizeof b->weight);
        memset(b->bias, 0, sizeof b->bias);
}

/* ---- the same by other means ---------------------------------------------------------------- */

/* Features of all documents (B, BUCKETS), and of each class what r² is: by counting. */
static double *features(const struct bench *b)
{
        double *x = doubles(b->d.B * BUCKETS), having[BUCKETS] = {0};

        for (size_t d = 0; d < b->d.B; d++) {
                const uint32_t *ids = b->d.ids + b->d.first[d];
                size_t L = b->d.first[d + 1] - b->d.first[d];

                for (size_t t = 0; t < L; t++)
                        for (size_t n = 1; n <= 2 && t + n <= L; n++)
                                x[d * BUCKETS + ran_linear_model_bucket(ids + t, n, BUCKETS)]++;
        }
        for (size_t i = 0; i < b->documents; i++)
                for (size_t g = 0; g < BUCKETS; g++)
                        having[g] += x[b->document[i] * BUCKETS + g] > 0;
        for (size_t d = 0; d < b->d.B; d++) {
                double squares = 0, *row = x + d * BUCKETS;

                for (size_t g = 0; g < BUCKETS; g++) {
                        double idf =
                                having[g] < 2
                                        ? 0
                                        : 1 + log((1 + (double)b->documents) / (1 + having[g]));

                        row[g] = row[g] > 0 ? (1 + log(row[g])) * idf : 0;
                        squares += row[g] * row[g];
                }
                for (size_t g = 0; g < BUCKETS && squares > 0; g++)
                        row[g] /= sqrt(squares);
        }
        return x;
}

/* Whether document d is of class c, from 0 to 1. */
static double is_of(const struct bench *b, size_t d, size_t c)
{
        if (b->d.soft_first != NULL && b->d.soft_first[d + 1] > b->d.soft_first[d]) {
                for (size_t i = b->d.soft_first[d]; i < b->d.soft_first[d + 1]; i++)
                        if (b->d.soft_labels[i] == c)
                                return (double)b->d.soft[i];
                return 0;
        }
        for (size_t i = b->d.label_first[d]; i < b->d.label_first[d + 1]; i++)
                if (b->d.labels[i] == c)
                        return 1;
        return 0;
}

static void ratios(const struct bench *b, const double *x, size_t c, double r2[BUCKETS])
{
        double p[BUCKETS] = {0}, q[BUCKETS] = {0}, P = 0, Q = 0, length = 0, weight = 0;

        for (size_t i = 0; i < b->k.n; i++)
                for (size_t g = 0; g < BUCKETS; g++) {
                        size_t d = b->document[i];
                        double v = (double)b->d.weight[d] * x[d * BUCKETS + g];

                        p[g] += is_of(b, d, c) * v;
                        q[g] += (1 - is_of(b, d, c)) * v;
                }
        for (size_t g = 0; g < BUCKETS; g++) {
                P += p[g] + q[g] > 0 ? 0.03 + p[g] : 0;
                Q += p[g] + q[g] > 0 ? 0.03 + q[g] : 0;
        }
        for (size_t g = 0; g < BUCKETS; g++)
                r2[g] = p[g] + q[g] > 0 ? fabs(log((0.03 + p[g]) / P) - log((0.03 + q[g]) / Q)) : 0;
        for (size_t i = 0; i < b->k.n; i++) {
                size_t d = b->document[i];

                weight += (double)b->d.weight[d];
                for (size_t g = 0; g < BUCKETS; g++)
                        length += (double)b->d.weight[d] * r2[g] * pow(x[d * BUCKETS + g], 2);
        }
        for (size_t g = 0; g < BUCKETS; g++)
                r2[g] = b->k.ratios ? r2[g] * weight / length : 1;
}

/* At the optimum the gradient of the problem by u and b is 0, and u is the weighted sum of errors:
 * w_g / r² = Σ 2 cost y x max(0, 1 - y score). Returns how far it is off, beside its size. */
static double off(const struct bench *b, const double *x, size_t c)
{
        double r2[BUCKETS], weighted_sum[BUCKETS] = {0}, bias = 0, distance = 0, size = 0;

        ratios(b, x, c, r2);
        for (size_t i = 0; i < b->k.n; i++) {
                size_t d = b->document[i];
                double t = is_of(b, d, c), cost = b->cost * (double)b->d.weight[d];
                double score = (double)b->bias[c], error;

                if (b->k.class_weight != NULL)
                        cost *= b->k.class_weight[b->d.labels[b->d.label_first[d]]];
                for (size_t g = 0; g < BUCKETS; g++)
                        score += x[d * BUCKETS + g] * (double)b->weight[g * C + c];
                error = 2 * cost * (t * fmax(0, 1 - score) - (1 - t) * fmax(0, 1 + score));
                bias += error;
                for (size_t g = 0; g < BUCKETS; g++)
                        weighted_sum[g] += error * x[d * BUCKETS + g];
        }
        for (size_t g = 0; g < BUCKETS; g++) {
                distance +=
                        r2[g] *
                        pow((double)b->weight[g * C + c] / fmax(r2[g], 1e-9) - weighted_sum[g], 2);
                size += r2[g] * weighted_sum[g] * weighted_sum[g];
        }
        distance += pow((double)b->bias[c] - bias, 2);
        size += bias * bias;
        return sqrt(distance / size);
}

static void check_optimum(const struct bench *b)
{
        double *x = features(b);

        for (size_t c = 0; c < C; c++)
                CHECK_NEAR(off(b, x, c), 0, 1e-3);
        free(x);
}

TEST(svm_fit_is_where_errors_and_size_balance)
{
        for (int kind = 0; kind < 4; kind++) {
                const bool several = kind % 2;
                double balance[C];
                struct bench b;

                bench_init(&b, 120, several);
                b.k.ratios = kind < 2;
                for (size_t d = 0; d < b.d.B; d++)
                        b.d.weight[d] = d % 3 == 0 ? 2 : 0.5f;
                learn(&b);
                check_optimum(&b);
                b.documents = 100; /* the matrix of some documents only, */
                b.k.n = 80;        /* and rows of some of them, as in a fold */
                forget(&b);
                if (!several)
                        b.k.class_weight = balance;
                for (size_t c = 0; c < C; c++)
                        balance[c] = 1 + (double)c;
                learn(&b);
                check_optimum(&b);
                bench_release(&b);
        }
}

/* Probabilities count for both sides. */
TEST(svm_fit_of_soft_targets)
{
        struct bench b;
        struct ran_dataset soft = {0};
        struct ran_error err = {0};

        bench_init(&b, 100, false);
        CHECK_OK(ran_dataset_set_classes(&soft, b.d.names, C, &err), err);
        for (size_t d = 0; d < b.d.B; d++) {
                const struct ran_document one = ran_dataset_document(&b.d, d);
                const uint32_t label = b.d.labels[b.d.label_first[d]], other = (label + 1) % C;
                const uint32_t both[] = {label < other ? label : other,
                                         label < other ? other : label};
                const float p[] = {both[0] == label ? 0.7f : 0.3f, both[0] == label ? 0.3f : 0.7f};

                CHECK_OK(ran_dataset_add(&soft, one.ids, one.L, &label, 1, 1, &err), err);
                CHECK_OK(ran_dataset_soft_target(&soft, both, p, d % 4 == 0 ? 0 : 2, false, &err),
                         err);
        }
        CHECK_OK(ran_dataset_finish(&soft, &err), err);
        ran_dataset_release(&b.d);
        b.d = soft;
        learn(&b);
        check_optimum(&b);
        bench_release(&b);
}

/* In the dual it begins with no errors at all: what was there stays, but for the weighted sum of
 * errors. */
TEST(svm_fit_begins_with_what_is_there)
{
        struct bench b;
        float most = 0;

        bench_init(&b, 60, false);
        learn(&b);
        float weight[BUCKETS * C], bias[C];
        memcpy(weight, b.weight, sizeof weight);
        memcpy(bias, b.bias, sizeof bias);
        b.cost = 1e-6; /* errors cost next to nothing */
        learn(&b);
        for (size_t i = 0; i < BUCKETS * C; i++)
                most = fmaxf(most, fabsf(weight[i] - b.weight[i]));
        CHECK(most < 1e-3f && most > 0);
        forget(&b);
        learn(&b);
        most = 0;
        for (size_t i = 0; i < BUCKETS * C; i++)
                most = fmaxf(most, fabsf(b.weight[i]));
        CHECK(most < 1e-3f);
        bench_release(&b);
}

static int stop_at(void *arg, size_t passes, double share)
{
        CHECK(share >= 0 && share <= 1);
        return passes == *(const size_t *)arg;
}

static int count_pass(void *arg, size_t passes, double share)
{
        CHECK(share >= 0 && share <= 1);
        *(size_t *)arg = passes;
        return 0;
}

/* With a larger cost it is sooner there from where it was, and at the same place. */
TEST(svm_solver_goes_on_from_a_smaller_cost)
{
        struct bench b;

        bench_init(&b, 120, true);
        b.cost = 0.8;
        struct ran_svm_solver *s = solver_of(&b);
        size_t anew = solve(s, 0.8, b.tolerance);
        ran_svm_solver_free(s);
        s = solver_of(&b);
        solve(s, 0.7, b.tolerance);
        size_t on = solve(s, 0.8, b.tolerance);
        ran_svm_solver_store(s, b.weight, b.bias);
        ran_svm_solver_free(s);
        check_optimum(&b);
        CHECK(on < anew);
        bench_release(&b);
}

/* Scores of rows in any order, by the features that were counted above. */
TEST(svm_score_is_features_times_weights)
{
        static const size_t row[] = {7, 3, 11};
        float logits[3 * C];
        struct bench b;

        bench_init(&b, 60, false);
        struct ran_svm_solver *s = solver_of(&b);
        solve(s, b.cost, b.tolerance);
        ran_svm_solver_store(s, b.weight, b.bias);
        double *x = features(&b);
        ran_svm_solver_score(s, row, 3, logits);
        for (size_t i = 0; i < 3; i++)
                for (size_t c = 0; c < C; c++) {
                        double score = (double)b.bias[c];

                        for (size_t g = 0; g < BUCKETS; g++)
                                score += x[row[i] * BUCKETS + g] * (double)b.weight[g * C + c];
                        CHECK_NEAR((double)logits[i * C + c], score, 1e-4);
                }
        free(x);
        ran_svm_solver_free(s);
        bench_release(&b);
}

/* The problem of class c, without ratios. */
static double objective(const struct bench *b, const double *x, size_t c)
{
        double sum = 0.5 * pow((double)b->bias[c], 2);

        for (size_t g = 0; g < BUCKETS; g++)
                sum += 0.5 * pow((double)b->weight[g * C + c], 2);
        for (size_t d = 0; d < b->k.n; d++) {
                double score = (double)b->bias[c], y = 2 * is_of(b, d, c) - 1;

                for (size_t g = 0; g < BUCKETS; g++)
                        score += x[d * BUCKETS + g] * (double)b->weight[g * C + c];
                sum += b->cost * pow(fmax(0, 1 - y * score), 2);
        }
        return sum;
}

/* Rows that were shrunk away too early come back before the end: with the usual tolerance the
 * problem is solved as well as with the least. */
TEST(svm_shrinking_changes_nothing_beyond_the_tolerance)
{
        for (int several = 0; several < 2; several++) {
                struct bench b;
                double best[C];

                bench_init(&b, 200, several);
                b.k.ratios = false;
                b.cost = 4;
                learn(&b);
                double *x = features(&b);
                for (size_t c = 0; c < C; c++)
                        best[c] = objective(&b, x, c);
                forget(&b);
                b.tolerance = ran_svm_tolerance;
                learn(&b);
                for (size_t c = 0; c < C; c++) {
                        double found = objective(&b, x, c);

                        CHECK(found >= 0.99999 * best[c] && found < 1.02 * best[c]);
                }
                free(x);
                bench_release(&b);
        }
}

/* ---- two classes ----------------------------------------------------------------------------- */

/* Two of the three classes become one. */
static void merge_classes(struct bench *b, bool multilabel)
{
        struct ran_dataset two = {.multilabel = multilabel};
        struct ran_error err = {0};

        CHECK_OK(ran_dataset_set_classes(&two, b->d.names, 2, &err), err);
        for (size_t d = 0; d < b->d.B; d++) {
                const struct ran_document one = ran_dataset_document(&b->d, d);
                const uint32_t label = b->d.labels[b->d.label_first[d]] > 0;

                CHECK_OK(ran_dataset_add(&two, one.ids, one.L, &label, 1, 1, &err), err);
        }
        CHECK_OK(ran_dataset_finish(&two, &err), err);
        ran_dataset_release(&b->d);
        b->d = two;
}

/* The second class is not solved; but where each is a problem of its own, it comes out as that. */
TEST(svm_two_classes_are_mirror_images)
{
        for (int ratios = 0; ratios < 2; ratios++) {
                struct bench mirrored, both;

                bench_init(&mirrored, 120, false);
                bench_init(&both, 120, false);
                merge_classes(&mirrored, false);
                merge_classes(&both, true);
                mirrored.k.ratios = both.k.ratios = ratios;
                learn(&mirrored);
                learn(&both);
                for (size_t i = 0; i < BUCKETS; i++)
                        CHECK(mirrored.weight[2 * i] == -mirrored.weight[2 * i + 1]);
                for (size_t i = 0; i < 2 * BUCKETS; i++)
                        CHECK_NEAR((double)mirrored.weight[i], (double)both.weight[i], 1e-4);
                CHECK(mirrored.bias[0] == -mirrored.bias[1] && mirrored.bias[0] != 0);
                CHECK_NEAR((double)mirrored.bias[1], (double)both.bias[1], 1e-4);
                bench_release(&mirrored);
                bench_release(&both);
        }
}

/* Which rows of weights are 0 does not depend on who added 0 to them. */
TEST(svm_zeros_are_positive)
{
        for (int two = 0; two < 2; two++) {
                struct bench b;

                bench_init(&b, 60, false);
                if (two)
                        merge_classes(&b, false);
                for (size_t i = 0; i < BUCKETS * C; i++)
                        b.weight[i] = -0.0f;
                struct ran_svm_solver *s = solver_of(&b);
                forget(&b);
                ran_svm_solver_store(s, b.weight, b.bias);
                ran_svm_solver_free(s);
                for (size_t i = 0; i < BUCKETS * C; i++)
                        CHECK(b.weight[i] == 0 && !signbit(b.weight[i]));
                bench_release(&b);
        }
}

/* A start that is no mirror image: both are solved from there. */
TEST(svm_two_classes_that_begin_apart_stay_apart)
{
        struct bench b;

        bench_init(&b, 60, false);
        merge_classes(&b, false);
        make_features(&b);
        b.weight[2 * (size_t)b.features.bucket[0]] = 5;
        b.cost = 1e-6;
        learn(&b);
        CHECK_NEAR((double)b.weight[2 * (size_t)b.features.bucket[0]], 5, 1e-3);
        CHECK_NEAR((double)b.weight[2 * (size_t)b.features.bucket[0] + 1], 0, 1e-3);
        bench_release(&b);
}

/* ---- features -------------------------------------------------------------------------------- */

/* Row by row and feature by feature what a model reads. */
TEST(features_equal_those_of_the_model)
{
        uint32_t row[200], times[200], spare[200];
        float x[200];
        const struct ran_linear_features read = {row, times, x};
        struct bench b;
        size_t features = 0;

        bench_init(&b, 80, false);
        b.documents = 50;
        make_features(&b);
        const struct ran_features *f = &b.features;
        const struct ran_linear_params p = {.idf = b.idf};
        CHECK_SIZE(f->n, 50);
        for (size_t i = 0; i < f->n; i++) {
                const struct ran_document d = ran_dataset_document(&b.d, i);
                size_t n = ran_linear_model_read(read, spare, &b.c, &p, b.d.C, d.ids, d.L);

                REQUIRE(n == f->first[i + 1] - f->first[i]);
                for (size_t g = 0; g < n; g++) {
                        CHECK_SIZE(f->bucket[f->column[f->first[i] + g]], row[g]);
                        CHECK(f->x[f->first[i] + g] == x[g]);
                }
                features += n;
        }
        CHECK(features > 500);
        for (size_t g = 1; g < f->columns; g++) /* the frequent ones first */
                CHECK(b.idf[f->bucket[g - 1]] <= b.idf[f->bucket[g]]);
        for (size_t g = 0, counted = 0; g < BUCKETS; g++) {
                counted += b.idf[g] > 0;
                if (g == BUCKETS - 1)
                        CHECK_SIZE(f->columns, counted);
        }
        bench_release(&b);
}

/* Beyond what may stay in memory they are in files, and the same. */
TEST(features_may_be_larger_than_memory)
{
        float weight[BUCKETS * C];

        for (size_t keep = 0; keep <= 1; keep++) {
                struct bench b;

                bench_init(&b, 3000, false); /* several blocks of hashing */
                b.keep = keep;
                b.tolerance = 0.1;
                learn(&b);
                CHECK(b.lists.spool.mapped == (keep == 1));
                CHECK(b.features.x_spool.mapped == (keep == 1));
                if (keep == 0)
                        memcpy(weight, b.weight, sizeof weight);
                else
                        CHECK(memcmp(weight, b.weight, sizeof weight) == 0);
                bench_release(&b);
        }
}

/* ---- little to learn from -------------------------------------------------------------------- */

/* No feature that counts, no rows, a single label, documents of one class: the bias alone says it.
 */
TEST(svm_fit_of_next_to_nothing)
{
        struct ran_error err = {0};
        struct bench b;

        bench_init(&b, 40, false);
        b.documents = b.k.n = 1; /* nothing occurs twice */
        learn(&b);
        CHECK_SIZE(b.features.columns, 0);
        for (size_t c = 0; c < C; c++)
                CHECK((b.bias[c] > 0) == (is_of(&b, 0, c) > 0));
        b.k.n = 0;
        forget(&b);
        b.bias[1] = 3;
        CHECK_OK(ran_svm_fit(&b.k, 1, b.weight, b.bias, NULL, NULL, &err), err);
        CHECK(b.bias[0] == 0 && b.bias[1] == 3);
        b.documents = b.k.n = 40;
        for (size_t d = 0; d < b.d.B; d++)
                b.d.labels[b.d.label_first[d]] = 2;
        forget(&b);
        learn(&b);
        check_optimum(&b);
        CHECK(b.bias[0] < 0 && b.bias[2] > 0);
        bench_release(&b);
}

TEST(svm_fit_of_a_single_label)
{
        struct bench b;

        bench_init(&b, 60, true);
        size_t classes = b.d.C;
        double *x;
        b.d.C = 1;
        for (size_t d = 0; d < b.d.B; d++) /* those of the first class come first */
                if (b.d.label_first[d + 1] > b.d.label_first[d] &&
                    b.d.labels[b.d.label_first[d]] > 0)
                        b.d.labels[b.d.label_first[d]] = RAN_LABEL_UNKNOWN;
        float weight[BUCKETS], bias = 0;
        memset(weight, 0, sizeof weight);
        make_features(&b);
        struct ran_error err = {0};
        struct ran_svm_solver *s = ran_svm_solver_new(&b.k, weight, &bias, &err);
        REQUIRE(s != NULL);
        solve(s, b.cost, b.tolerance);
        ran_svm_solver_store(s, weight, &bias);
        ran_svm_solver_free(s);
        b.d.C = classes;
        for (size_t g = 0; g < BUCKETS; g++)
                b.weight[g * C] = weight[g];
        b.bias[0] = bias;
        x = features(&b);
        CHECK_NEAR(off(&b, x, 0), 0, 1e-3);
        free(x);
        bench_release(&b);
}

/* ---- cross-validation ------------------------------------------------------------------------ */

static double chosen(struct bench *b, double cost, int ratios)
{
        struct ran_error err = {0};

        make_features(b);
        CHECK_OK(ran_cross_validate(&b->k, &cost, ratios, b->weight, b->bias, NULL, NULL, &err),
                 err);
        return cost;
}

static bool chosen_ratios(struct bench *b)
{
        chosen(b, 0, RAN_RATIOS_AUTO);
        return b->k.ratios;
}

/* Labels that say nothing are best believed least; those that tokens decide, most. */
TEST(cross_validation_follows_what_labels_are_worth)
{
        struct bench b;
        struct dice dice = {.key = 9};

        bench_init(&b, 300, false);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO) > 0.5);
        CHECK(chosen_ratios(&b));
        for (size_t d = 0; d < b.d.B; d++)
                b.d.labels[b.d.label_first[d]] = (uint32_t)dice_size(&dice, 0, C - 1);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO) == 0.25);
        CHECK(!chosen_ratios(&b));
        bench_release(&b);
}

/* The scale of the logits is 1/2 for labels that say nothing and larger for those that tokens
 * decide; where nothing is tried it is unknown. */
TEST(cross_validation_finds_the_scale_of_the_logits)
{
        struct bench b;
        struct dice dice = {.key = 9};

        bench_init(&b, 300, false);
        chosen(&b, 0.5, RAN_RATIOS_NO);
        CHECK(b.k.ensemble.linear == 0);
        chosen(&b, 0, RAN_RATIOS_NO);
        CHECK(b.k.ensemble.linear >= 2 && b.k.ensemble.linear < 12);
        CHECK(b.k.ensemble.offset == 0);
        for (size_t d = 0; d < b.d.B; d++)
                b.d.labels[b.d.label_first[d]] = (uint32_t)dice_size(&dice, 0, C - 1);
        chosen(&b, 0, RAN_RATIOS_NO);
        CHECK(b.k.ensemble.linear < 1);
        bench_release(&b);
}

/* Loss of a fold at the best of ten scales, in double. */
static double fold_loss(const struct bench *b, const size_t *row, size_t n, const float *logits)
{
        double least = INFINITY;

        for (int i = 0; i < 10; i++) {
                double scale = 0.5 * pow(2, 0.5 * i), loss = 0;

                for (size_t j = 0; j < n; j++) {
                        double sum = 0;

                        for (size_t c = 0; c < C; c++)
                                sum += exp(scale * (double)logits[j * C + c]);
                        for (size_t c = 0; c < C; c++)
                                loss -= is_of(b, row[j], c) *
                                        log(exp(scale * (double)logits[j * C + c]) / sum);
                }
                least = fmin(least, loss);
        }
        return least;
}

/* Each setting fitted anew in each fold, to the end. */
static double brute_force(struct bench *b, const size_t *order, double cost, bool ratios)
{
        struct ran_error err = {0};
        size_t n = b->k.n;
        size_t *row = ran_alloc(n, sizeof *row, &err);
        float *logits = ran_alloc_floats(n * C, &err);
        double loss = 0;

        for (size_t f = 0; f < 5; f++) {
                size_t from = f * n / 5, to = (f + 1) * n / 5;
                struct ran_svm k = b->k;

                memcpy(row, order, from * sizeof *row);
                memcpy(row + from, order + to, (n - to) * sizeof *row);
                k.row = row;
                k.n = n - (to - from);
                k.ratios = ratios;
                struct ran_svm_solver *s = ran_svm_solver_new(&k, NULL, NULL, &err);
                CHECK(s != NULL);
                solve(s, cost, 1e-3);
                ran_svm_solver_score(s, order + from, to - from, logits);
                loss += fold_loss(b, order + from, to - from, logits);
                ran_svm_solver_free(s);
        }
        free(row);
        free(logits);
        return loss;
}

TEST(cross_validation_chooses_what_brute_force_chooses)
{
        static const double costs[] = {0.25, 0.5, 2, 8};
        struct dice dice = {.key = 4};

        for (size_t noise = 0; noise <= 40; noise += 20) {
                double least = INFINITY;
                size_t order[200];
                struct bench b;

                bench_init(&b, 200, false);
                for (size_t d = 0; d < b.d.B; d++)
                        if (dice_size(&dice, 0, 99) < noise)
                                b.d.labels[b.d.label_first[d]] =
                                        (uint32_t)dice_size(&dice, 0, C - 1);
                make_features(&b);
                ran_random_shuffle(order, b.document, b.k.n, b.k.seed, RAN_SHUFFLE_FOLDS);
                for (int ratios = 0; ratios < 2; ratios++)
                        for (size_t i = 0; i < 4; i++) {
                                double loss = brute_force(&b, order, costs[i], ratios);

                                least = fmin(least, loss);
                        }
                const double cost = chosen(&b, 0, RAN_RATIOS_AUTO);
                CHECK(brute_force(&b, order, cost, b.k.ratios) <= 1.05 * least);
                bench_release(&b);
        }
}

/* Ten equal documents have one label, by chance. Where each is predicted from the others, that
 * pays; where they are in one fold nothing is worth learning, and logits are believed least. */
TEST(cross_validation_keeps_groups_together)
{
        struct bench b;
        struct ran_error err = {0};
        struct dice dice = {.key = 9};

        bench_init(&b, 300, false);
        b.d.group = ran_alloc(b.d.B, sizeof *b.d.group, &err);
        uint64_t *group = b.d.group;
        for (size_t d = 0; d < b.d.B; d++) {
                size_t of = d - d % 10, at = b.d.first[of];

                group[d] = of;
                for (size_t t = b.d.first[d], n = 0; t < b.d.first[d + 1]; t++, n++)
                        b.d.ids[t] = b.d.ids[at + n % (b.d.first[of + 1] - at)];
                b.d.labels[b.d.label_first[d]] = d != of ? b.d.labels[b.d.label_first[of]]
                                                         : (uint32_t)dice_size(&dice, 0, C - 1);
        }
        chosen(&b, 0, RAN_RATIOS_AUTO);
        const double scale = b.k.ensemble.linear;
        b.d.group = NULL;
        chosen(&b, 0, RAN_RATIOS_AUTO);
        CHECK(scale < 1 && b.k.ensemble.linear > 2);
        /* A group beside little else, and one that is all there is. */
        for (size_t d = 0; d < b.d.B; d++)
                group[d] = d < 10 ? d : 10;
        b.d.group = group;
        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO) > 0);
        for (size_t d = 0; d < b.d.B; d++)
                group[d] = 7;
        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO) > 0);
        b.d.group = NULL;
        free(group);
        bench_release(&b);
}

/* Where tokens decide, settings are out after the first of four folds of 300 documents; of five of
 * 240 all leave out each: fewer documents take more passes. */
TEST(cross_validation_drops_what_is_surely_worse)
{
        struct ran_error err = {0};
        size_t passes[2] = {0};

        for (size_t i = 0; i < 2; i++) {
                double cost = 0;
                struct bench b;

                bench_init(&b, i == 0 ? 1500 : 1200, false);
                make_features(&b);
                CHECK_OK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, NULL, NULL, count_pass,
                                            &passes[i], &err),
                         err);
                CHECK(cost > 0 && passes[i] > 0);
                bench_release(&b);
        }
        CHECK(passes[0] < passes[1]);
}

TEST(cross_validation_leaves_what_is_given)
{
        struct ran_error err = {0};
        struct bench b;
        size_t passes = 0;
        double cost = 3;

        bench_init(&b, 100, true);
        make_features(&b);
        for (int ratios = RAN_RATIOS_AUTO; ratios <= RAN_RATIOS_NO; ratios++) {
                passes = 0;
                CHECK_OK(ran_cross_validate(&b.k, &cost, ratios, b.weight, b.bias, count_pass,
                                            &passes, &err),
                         err);
                CHECK(cost == 3 && (passes > 0) == (ratios == RAN_RATIOS_AUTO));
                CHECK(ratios == RAN_RATIOS_AUTO || b.k.ratios == (ratios == RAN_RATIOS_YES));
        }
        CHECK(chosen(&b, 0, RAN_RATIOS_NO) > 0 && !b.k.ratios);
        CHECK(chosen(&b, 0, RAN_RATIOS_YES) > 0 && b.k.ratios);
        for (size_t i = 0; i < BUCKETS * C; i++)
                CHECK(b.weight[i] == 0);
        bench_release(&b);
}

/* What buckets say beside each other: the last half of them is called affixes. With r of 0.4 the
 * optimum is that of the matrix whose affixes are so much smaller. */
TEST(svm_scales_affixes)
{
        struct ran_error err = {0};
        struct bench b, scaled;
        const double r = 0.4, norm = 2 / (1 + r * r);

        bench_init(&b, 80, false);
        bench_init(&scaled, 80, false);
        b.k.ratios = scaled.k.ratios = false;
        make_features(&b);
        make_features(&scaled);
        b.features.affixes = BUCKETS / 2;
        b.k.affixes = r;
        for (size_t i = 0; i < scaled.features.first[scaled.features.n]; i++)
                scaled.features.x[i] *=
                        (float)(sqrt(norm) *
                                (scaled.features.bucket[scaled.features.column[i]] >= BUCKETS / 2
                                         ? r
                                         : 1));
        struct bench *both[] = {&b, &scaled};
        float logits[2][80 * C];
        for (size_t i = 0; i < 2; i++) {
                struct ran_svm_solver *s = ran_svm_solver_new(&both[i]->k, NULL, NULL, &err);

                REQUIRE(s != NULL);
                solve(s, 1, 1e-5);
                ran_svm_solver_score(s, b.document, 80, logits[i]);
                ran_svm_solver_free(s);
        }
        for (size_t i = 0; i < 80 * C; i++)
                CHECK_NEAR((double)logits[0][i], (double)logits[1][i], 1e-3);
        bench_release(&b);
        bench_release(&scaled);
}

/* Affixes that tell nothing get less; those that tell all keep their weight. */
TEST(cross_validation_chooses_the_scale_of_affixes)
{
        struct bench b;
        struct dice dice = {.key = 12};
        struct ran_error err = {0};
        double cost = 0;

        for (int noise = 0; noise < 2; noise++) {
                bench_init(&b, 300, false);
                make_features(&b);
                b.features.affixes = BUCKETS;
                for (size_t g = 0; g < b.features.columns; g++)
                        if (g % 2 == 0)
                                b.features.bucket[g] += BUCKETS;
                for (size_t i = 0; i < b.features.first[b.features.n] && noise; i++)
                        if (b.features.column[i] % 2 == 0)
                                b.features.x[i] = (float)dice_size(&dice, 0, 9) / 10;
                for (size_t i = 0; i < b.features.first[b.features.n] && !noise; i++)
                        if (b.features.column[i] % 2 == 1)
                                b.features.x[i] = (float)dice_size(&dice, 0, 9) / 10;
                CHECK_OK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, NULL, NULL, NULL, NULL,
                                            &err),
                         err);
                CHECK_NEAR(b.k.affixes, noise ? 0.4 : 1, 0);
                cost = 0;
                bench_release(&b);
        }
}

enum { F = 20 };

/* Dense features of each document: noise, or its label in the first C. */
static void add_dense(struct bench *b, bool tell)
{
        struct ran_error err = {0};
        struct dice dice = {.key = 14};
        float *v = ran_alloc_floats(b->d.B * F, &err);
        const struct ran_dense dense = {.B = b->d.B, .F = F, .v = v};
        struct ran_dense_frame frame = {0};

        REQUIRE(v != NULL);
        for (size_t d = 0; d < b->d.B; d++) {
                const uint32_t label = b->d.labels[b->d.label_first[d]];

                for (size_t f = 0; f < F; f++)
                        v[d * F + f] = tell ? label == f : (float)dice_size(&dice, 0, 99);
        }
        CHECK_OK(ran_dense_frame_init(&frame, &dense, b->document, b->documents, false, &err), err);
        make_features(b);
        ran_features_release(&b->features);
        CHECK_OK(ran_features_make(&b->features, &b->lists, &b->c, b->document, b->documents,
                                   b->idf, &dense, &frame, b->keep, b->k.pool, &err),
                 err);
        ran_dense_frame_release(&frame);
        free(v);
}

/* The same matrix with dense features among the sparse ones. */
static void make_sparse(struct ran_features *f)
{
        struct ran_error err = {0};
        uint32_t *column = ran_alloc(f->first[f->n], sizeof *column, &err);

        REQUIRE(column != NULL);
        for (size_t d = 0; d < f->n; d++) {
                const size_t end = f->first[d + 1], dense = end - f->dense;

                for (size_t i = f->first[d]; i < end; i++)
                        column[i] = i < dense ? ran_features_columns(f, d)[i - f->first[d]]
                                              : (uint32_t)(f->columns - (end - i));
        }
        ran_spool_reserve(&f->column_spool, f->first[f->n], sizeof *column, &err);
        f->column = f->column_spool.data;
        memcpy(f->column, column, f->first[f->n] * sizeof *column);
        f->dense = 0;
        free(column);
}

/* Dense features are features: with r of 0.5 the optimum is that of a matrix where they are half as
 * large, and sparse. */
TEST(svm_scales_dense_features)
{
        struct ran_error err = {0};
        float logits[2][80 * C];
        struct bench b;

        for (size_t ratios = 0; ratios < 2; ratios++) {
                bench_init(&b, 80, false);
                add_dense(&b, false);
                b.k.ratios = ratios == 1;
                b.k.dense = 0.5;
                for (size_t i = 0; i < 2; i++) {
                        struct ran_svm_solver *s = ran_svm_solver_new(&b.k, NULL, NULL, &err);

                        REQUIRE(s != NULL);
                        solve(s, 1, 1e-5);
                        ran_svm_solver_score(s, b.document, 80, logits[i]);
                        ran_svm_solver_free(s);
                        /* ratios would weigh them as sparse ones: then scaled in another way */
                        for (size_t d = 0; d < 80; d++)
                                for (size_t f = 1; f <= F; f++)
                                        b.features.x[b.features.first[d + 1] - f] *= 0.5f;
                        if (ratios == 0 && i == 0)
                                make_sparse(&b.features);
                        b.k.dense = 1;
                }
                for (size_t i = 0; i < 80 * C; i++)
                        CHECK_NEAR((double)logits[0][i], (double)logits[1][i], 1e-3);
                bench_release(&b);
        }
}

/* Those that tell nothing are left out, and those that tell all are not, by a race (1,500
 * documents) or without one. */
TEST(cross_validation_chooses_the_scale_of_dense_features)
{
        struct ran_error err = {0};
        struct dice dice = {.key = 15};

        for (size_t i = 0; i < 4; i++) {
                const bool tell = i % 2 == 1;
                double cost = 0;
                struct bench b;

                bench_init(&b, i < 2 ? 1500 : 300, false);
                for (size_t d = 0; d < b.d.B; d++) /* tokens do not decide all */
                        if (dice_size(&dice, 0, 9) < 3)
                                b.d.labels[b.d.label_first[d]] =
                                        (uint32_t)dice_size(&dice, 0, C - 1);
                add_dense(&b, tell);
                CHECK_OK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, NULL, NULL, NULL, NULL,
                                            &err),
                         err);
                CHECK((b.k.dense > 0) == tell);
                CHECK(b.k.dense <= 1);
                bench_release(&b);
        }
}

/* A handful of documents is not divided; and documents that are left out are neither predicted nor
 * learned from. */
TEST(cross_validation_of_few)
{
        struct bench b;

        bench_init(&b, 40, false);
        for (size_t n = 0; n < 9; n++) {
                b.k.n = n;
                CHECK(chosen(&b, 0, RAN_RATIOS_AUTO) > 0);
        }
        bench_release(&b);
}

/* How many solvers there may be at once, from the bytes for a thread and for many. */
static double solvers(const struct bench *b, const struct ran_cross_validated *k, size_t n)
{
        const double one = ran_svm_bytes(&b->d, n - n / 5, 100, true) + 8 * (double)n +
                           4 * (double)(n / 5 + 1) * (double)b->d.C;

        return 1 + (ran_cross_validate_bytes(k, &b->d, n, 100, 64) -
                    ran_cross_validate_bytes(k, &b->d, n, 100, 1)) /
                           one;
}

/* By hand: paths with ratios and without; two more scales of dense features, and one of affixes.
 * Few documents: all settings, and then those of four folds at once. */
TEST(cross_validation_estimates_the_solvers_of_its_race)
{
        static const struct ran_cross_validated all = {RAN_RATIOS_AUTO, true, true},
                                                plain = {RAN_RATIOS_NO, false, false};
        struct bench b;

        bench_init(&b, 10, false);
        CHECK_NEAR(solvers(&b, &all, 10000), 2, 1e-9);
        CHECK_NEAR(solvers(&b, &all, 2000), 5, 1e-9);
        CHECK_NEAR(solvers(&b, &all, 1000), 28, 1e-9);
        CHECK_NEAR(solvers(&b, &plain, 10000), 1, 1e-9);
        CHECK_NEAR(solvers(&b, &plain, 1000), 4, 1e-9);
        bench_release(&b);
}

TEST(cross_validation_can_be_stopped)
{
        struct ran_error err = {0};
        size_t at = 4;
        double cost = 0;
        struct bench b;

        bench_init(&b, 60, false);
        make_features(&b);
        CHECK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, b.weight, b.bias, stop_at, &at,
                                 &err) == RAN_EINTR);
        CHECK(cost == 0 && b.k.ratios);
        bench_release(&b);
}

/* ---- threads and the end --------------------------------------------------------------------- */

TEST(svm_fit_is_the_same_for_any_threads)
{
        struct ran_error err = {0};
        float weight[BUCKETS * C];
        double cost = 0;

        for (size_t threads = 1; threads <= 7; threads += 3) {
                struct bench b;

                bench_init(&b, 3000, false); /* several blocks of hashing */
                b.k.pool = ran_pool_new(threads, &err);
                b.tolerance = 0.1;
                learn(&b);
                if (threads == 1) {
                        memcpy(weight, b.weight, sizeof weight);
                        cost = chosen(&b, 0, RAN_RATIOS_AUTO);
                } else {
                        CHECK(memcmp(weight, b.weight, sizeof weight) == 0);
                        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO) == cost);
                }
                ran_pool_free(b.k.pool);
                bench_release(&b);
        }
}

/* Passes over few rows count for as much as they visit. */
TEST(svm_solver_ends_after_so_many_visits)
{
        struct bench b;
        size_t passes = 1;

        bench_init(&b, 60, false);
        struct ran_svm_solver *s = solver_of(&b);
        ran_svm_solver_begin(s, 8, 0, 4);
        CHECK(!ran_svm_solver_pass(s));
        CHECK_SIZE(ran_svm_solver_visits(s), 60);
        ran_svm_solver_begin(s, 8, 0, 4);
        while (!ran_svm_solver_pass(s))
                passes++;
        CHECK(ran_svm_solver_visits(s) <= (size_t)4 * 60 && ran_svm_solver_visits(s) > 3 * 60);
        CHECK(passes >= 4);
        ran_svm_solver_free(s);
        bench_release(&b);
}

TEST(svm_fit_that_is_stopped_leaves_what_was_there)
{
        struct ran_error err = {0};
        size_t at = 2;
        struct bench b;

        bench_init(&b, 60, false);
        b.weight[7] = 3;
        make_features(&b);
        CHECK(ran_svm_fit(&b.k, 0.7, b.weight, b.bias, stop_at, &at, &err) == RAN_EINTR);
        for (size_t i = 0; i < BUCKETS * C; i++)
                CHECK(b.weight[i] == (i == 7 ? 3 : 0));
        bench_release(&b);
}
