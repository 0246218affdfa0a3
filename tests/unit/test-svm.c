/* What the linear model learns: the optimum of its problem, whoever helps and however it is
 * ordered.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "doubles.h"
#include "part/linear/linear-model.h"
#include "svm-bench.h"
#include "test.h"
#include "gradient/plan.h"

enum { C = CORPUS_C };

static struct ran_svm_solver *solver_of(struct svm_bench *b)
{
        struct ran_error err = {0};

        svm_bench_features(b);
        struct ran_svm_solver *s = ran_svm_solver_new(&b->k, b->weight, b->bias, &err);
        CHECK(s != NULL);
        return s;
}

static void learn(struct svm_bench *b)
{
        struct ran_svm_solver *s = solver_of(b);

        svm_bench_solve(s, b->cost, b->tolerance);
        ran_svm_solver_store(s, b->weight, b->bias);
        ran_svm_solver_free(s);
}

static void forget(struct svm_bench *b)
{
        memset(b->weight, 0, sizeof b->weight);
        memset(b->bias, 0, sizeof b->bias);
}

/* ---- the same by other means ---------------------------------------------------------------- */

/* Features of all documents (B, SVM_BUCKETS), and of each class what r² is: by counting. */
static double *features(const struct svm_bench *b)
{
        double *x = doubles(b->d.B * SVM_BUCKETS), having[SVM_BUCKETS] = {0};

        for (size_t d = 0; d < b->d.B; d++) {
                const uint32_t *ids = b->d.ids + b->d.first[d];
                size_t L = b->d.first[d + 1] - b->d.first[d];

                for (size_t t = 0; t < L; t++)
                        for (size_t n = 1; n <= 2 && t + n <= L; n++)
                                x[d * SVM_BUCKETS +
                                  ran_linear_model_bucket(ids + t, n, SVM_BUCKETS)]++;
        }
        for (size_t i = 0; i < b->documents; i++)
                for (size_t g = 0; g < SVM_BUCKETS; g++)
                        having[g] += x[b->document[i] * SVM_BUCKETS + g] > 0;
        for (size_t d = 0; d < b->d.B; d++) {
                double squares = 0, *row = x + d * SVM_BUCKETS;

                for (size_t g = 0; g < SVM_BUCKETS; g++) {
                        double idf =
                                having[g] < 2
                                        ? 0
                                        : 1 + log((1 + (double)b->documents) / (1 + having[g]));

                        row[g] = row[g] > 0 ? (1 + log(row[g])) * idf : 0;
                        squares += row[g] * row[g];
                }
                for (size_t g = 0; g < SVM_BUCKETS && squares > 0; g++)
                        row[g] /= sqrt(squares);
        }
        return x;
}

static void ratios(const struct svm_bench *b, const double *x, size_t c, double r2[SVM_BUCKETS])
{
        double p[SVM_BUCKETS] = {0}, q[SVM_BUCKETS] = {0}, P = 0, Q = 0, length = 0, weight = 0;

        for (size_t i = 0; i < b->k.n; i++)
                for (size_t g = 0; g < SVM_BUCKETS; g++) {
                        size_t d = b->document[i];
                        double v = (double)b->d.weight[d] * x[d * SVM_BUCKETS + g];

                        p[g] += svm_bench_is_of(b, d, c) * v;
                        q[g] += (1 - svm_bench_is_of(b, d, c)) * v;
                }
        for (size_t g = 0; g < SVM_BUCKETS; g++) {
                P += p[g] + q[g] > 0 ? 0.03 + p[g] : 0;
                Q += p[g] + q[g] > 0 ? 0.03 + q[g] : 0;
        }
        for (size_t g = 0; g < SVM_BUCKETS; g++)
                r2[g] = p[g] + q[g] > 0 ? fabs(log((0.03 + p[g]) / P) - log((0.03 + q[g]) / Q)) : 0;
        for (size_t i = 0; i < b->k.n; i++) {
                size_t d = b->document[i];

                weight += (double)b->d.weight[d];
                for (size_t g = 0; g < SVM_BUCKETS; g++)
                        length += (double)b->d.weight[d] * r2[g] * pow(x[d * SVM_BUCKETS + g], 2);
        }
        for (size_t g = 0; g < SVM_BUCKETS; g++)
                r2[g] = b->k.ratios ? r2[g] * weight / length : 1;
}

/* At the optimum the gradient of the problem by u and b is 0, and u is the weighted sum of errors:
 * w_g / r² = Σ 2 cost y x max(0, 1 - y score). Returns how far it is off, beside its size. */
static double off(const struct svm_bench *b, const double *x, size_t c)
{
        double r2[SVM_BUCKETS], weighted_sum[SVM_BUCKETS] = {0}, bias = 0, distance = 0, size = 0;

        ratios(b, x, c, r2);
        for (size_t i = 0; i < b->k.n; i++) {
                size_t d = b->document[i];
                double t = svm_bench_is_of(b, d, c), cost = b->cost * (double)b->d.weight[d];
                double score = (double)b->bias[c], error;

                if (b->k.class_weight != NULL)
                        cost *= b->k.class_weight[b->d.labels[b->d.label_first[d]]];
                for (size_t g = 0; g < SVM_BUCKETS; g++)
                        score += x[d * SVM_BUCKETS + g] * (double)b->weight[g * C + c];
                error = 2 * cost * (t * fmax(0, 1 - score) - (1 - t) * fmax(0, 1 + score));
                bias += error;
                for (size_t g = 0; g < SVM_BUCKETS; g++)
                        weighted_sum[g] += error * x[d * SVM_BUCKETS + g];
        }
        for (size_t g = 0; g < SVM_BUCKETS; g++) {
                distance +=
                        r2[g] *
                        pow((double)b->weight[g * C + c] / fmax(r2[g], 1e-9) - weighted_sum[g], 2);
                size += r2[g] * weighted_sum[g] * weighted_sum[g];
        }
        distance += pow((double)b->bias[c] - bias, 2);
        size += bias * bias;
        return sqrt(distance / size);
}

static void check_optimum(const struct svm_bench *b)
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
                struct svm_bench b;

                svm_bench_init(&b, 120, several);
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
                svm_bench_release(&b);
        }
}

/* Probabilities count for both sides. */
TEST(svm_fit_of_soft_targets)
{
        struct svm_bench b;
        struct ran_dataset soft = {0};
        struct ran_error err = {0};

        svm_bench_init(&b, 100, false);
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
        svm_bench_release(&b);
}

/* In the dual it begins with no errors at all: what was there stays, but for the weighted sum of
 * errors. */
TEST(svm_fit_begins_with_what_is_there)
{
        struct svm_bench b;
        float most = 0;

        svm_bench_init(&b, 60, false);
        learn(&b);
        float weight[SVM_BUCKETS * C], bias[C];
        memcpy(weight, b.weight, sizeof weight);
        memcpy(bias, b.bias, sizeof bias);
        b.cost = 1e-6; /* errors cost next to nothing */
        learn(&b);
        for (size_t i = 0; i < SVM_BUCKETS * C; i++)
                most = fmaxf(most, fabsf(weight[i] - b.weight[i]));
        CHECK(most < 1e-3f && most > 0);
        forget(&b);
        learn(&b);
        most = 0;
        for (size_t i = 0; i < SVM_BUCKETS * C; i++)
                most = fmaxf(most, fabsf(b.weight[i]));
        CHECK(most < 1e-3f);
        svm_bench_release(&b);
}

/* With a larger cost it is sooner there from where it was, and at the same place. */
TEST(svm_solver_goes_on_from_a_smaller_cost)
{
        struct svm_bench b;

        svm_bench_init(&b, 120, true);
        b.cost = 0.8;
        struct ran_svm_solver *s = solver_of(&b);
        size_t anew = svm_bench_solve(s, 0.8, b.tolerance);
        ran_svm_solver_free(s);
        s = solver_of(&b);
        svm_bench_solve(s, 0.7, b.tolerance);
        size_t on = svm_bench_solve(s, 0.8, b.tolerance);
        ran_svm_solver_store(s, b.weight, b.bias);
        ran_svm_solver_free(s);
        check_optimum(&b);
        CHECK(on < anew);
        svm_bench_release(&b);
}

/* Scores of rows in any order, by the features that were counted above. */
TEST(svm_score_is_features_times_weights)
{
        static const size_t row[] = {7, 3, 11};
        float logits[3 * C];
        struct svm_bench b;

        svm_bench_init(&b, 60, false);
        struct ran_svm_solver *s = solver_of(&b);
        svm_bench_solve(s, b.cost, b.tolerance);
        ran_svm_solver_store(s, b.weight, b.bias);
        double *x = features(&b);
        ran_svm_solver_score(s, row, 3, logits);
        for (size_t i = 0; i < 3; i++)
                for (size_t c = 0; c < C; c++) {
                        double score = (double)b.bias[c];

                        for (size_t g = 0; g < SVM_BUCKETS; g++)
                                score += x[row[i] * SVM_BUCKETS + g] * (double)b.weight[g * C + c];
                        CHECK_NEAR((double)logits[i * C + c], score, 1e-4);
                }
        free(x);
        ran_svm_solver_free(s);
        svm_bench_release(&b);
}

/* The problem of class c, without ratios. */
static double objective(const struct svm_bench *b, const double *x, size_t c)
{
        double sum = 0.5 * pow((double)b->bias[c], 2);

        for (size_t g = 0; g < SVM_BUCKETS; g++)
                sum += 0.5 * pow((double)b->weight[g * C + c], 2);
        for (size_t d = 0; d < b->k.n; d++) {
                double score = (double)b->bias[c], y = 2 * svm_bench_is_of(b, d, c) - 1;

                for (size_t g = 0; g < SVM_BUCKETS; g++)
                        score += x[d * SVM_BUCKETS + g] * (double)b->weight[g * C + c];
                sum += b->cost * pow(fmax(0, 1 - y * score), 2);
        }
        return sum;
}

/* Rows that were shrunk away too early come back before the end: with the usual tolerance the
 * problem is solved as well as with the least. */
TEST(svm_shrinking_changes_nothing_beyond_the_tolerance)
{
        for (int several = 0; several < 2; several++) {
                struct svm_bench b;
                double best[C];

                svm_bench_init(&b, 200, several);
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
                svm_bench_release(&b);
        }
}

/* ---- two classes ----------------------------------------------------------------------------- */

/* Two of the three classes become one. */
static void merge_classes(struct svm_bench *b, bool multilabel)
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
                struct svm_bench mirrored, both;

                svm_bench_init(&mirrored, 120, false);
                svm_bench_init(&both, 120, false);
                merge_classes(&mirrored, false);
                merge_classes(&both, true);
                mirrored.k.ratios = both.k.ratios = ratios;
                learn(&mirrored);
                learn(&both);
                for (size_t i = 0; i < SVM_BUCKETS; i++)
                        CHECK(mirrored.weight[2 * i] == -mirrored.weight[2 * i + 1]);
                for (size_t i = 0; i < 2 * SVM_BUCKETS; i++)
                        CHECK_NEAR((double)mirrored.weight[i], (double)both.weight[i], 1e-4);
                CHECK(mirrored.bias[0] == -mirrored.bias[1] && mirrored.bias[0] != 0);
                CHECK_NEAR((double)mirrored.bias[1], (double)both.bias[1], 1e-4);
                svm_bench_release(&mirrored);
                svm_bench_release(&both);
        }
}

/* Which rows of weights are 0 does not depend on who added 0 to them. */
TEST(svm_zeros_are_positive)
{
        for (int two = 0; two < 2; two++) {
                struct svm_bench b;

                svm_bench_init(&b, 60, false);
                if (two)
                        merge_classes(&b, false);
                for (size_t i = 0; i < SVM_BUCKETS * C; i++)
                        b.weight[i] = -0.0f;
                struct ran_svm_solver *s = solver_of(&b);
                forget(&b);
                ran_svm_solver_store(s, b.weight, b.bias);
                ran_svm_solver_free(s);
                for (size_t i = 0; i < SVM_BUCKETS * C; i++)
                        CHECK(b.weight[i] == 0 && !signbit(b.weight[i]));
                svm_bench_release(&b);
        }
}

/* A start that is no mirror image: both are solved from there. */
TEST(svm_two_classes_that_begin_apart_stay_apart)
{
        struct svm_bench b;

        svm_bench_init(&b, 60, false);
        merge_classes(&b, false);
        svm_bench_features(&b);
        b.weight[2 * (size_t)b.features.bucket[0]] = 5;
        b.cost = 1e-6;
        learn(&b);
        CHECK_NEAR((double)b.weight[2 * (size_t)b.features.bucket[0]], 5, 1e-3);
        CHECK_NEAR((double)b.weight[2 * (size_t)b.features.bucket[0] + 1], 0, 1e-3);
        svm_bench_release(&b);
}

/* ---- features -------------------------------------------------------------------------------- */

/* Row by row and feature by feature what a model reads. */
TEST(features_equal_those_of_the_model)
{
        uint32_t row[200], times[200], spare[200];
        float x[200];
        const struct ran_linear_features read = {row, times, x};
        struct svm_bench b;
        size_t features = 0;

        svm_bench_init(&b, 80, false);
        b.documents = 50;
        svm_bench_features(&b);
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
        for (size_t g = 0, counted = 0; g < SVM_BUCKETS; g++) {
                counted += b.idf[g] > 0;
                if (g == SVM_BUCKETS - 1)
                        CHECK_SIZE(f->columns, counted);
        }
        svm_bench_release(&b);
}

/* Beyond what may stay in memory they are in files, and the same. */
TEST(features_may_be_larger_than_memory)
{
        float weight[SVM_BUCKETS * C];

        for (size_t keep = 0; keep <= 1; keep++) {
                struct svm_bench b;

                svm_bench_init(&b, 3000, false); /* several blocks of hashing */
                b.keep = keep;
                b.tolerance = 0.1;
                learn(&b);
                CHECK(b.lists.spool.mapped == (keep == 1));
                CHECK(b.features.x_spool.mapped == (keep == 1));
                if (keep == 0)
                        memcpy(weight, b.weight, sizeof weight);
                else
                        CHECK(memcmp(weight, b.weight, sizeof weight) == 0);
                svm_bench_release(&b);
        }
}

/* ---- little to learn from -------------------------------------------------------------------- */

/* No feature that counts, no rows, a single label, documents of one class: the bias alone says it.
 */
TEST(svm_fit_of_next_to_nothing)
{
        struct ran_error err = {0};
        struct svm_bench b;

        svm_bench_init(&b, 40, false);
        b.documents = b.k.n = 1; /* nothing occurs twice */
        learn(&b);
        CHECK_SIZE(b.features.columns, 0);
        for (size_t c = 0; c < C; c++)
                CHECK((b.bias[c] > 0) == (svm_bench_is_of(&b, 0, c) > 0));
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
        svm_bench_release(&b);
}

TEST(svm_fit_of_a_single_label)
{
        struct svm_bench b;

        svm_bench_init(&b, 60, true);
        size_t classes = b.d.C;
        double *x;
        b.d.C = 1;
        for (size_t d = 0; d < b.d.B; d++) /* those of the first class come first */
                if (b.d.label_first[d + 1] > b.d.label_first[d] &&
                    b.d.labels[b.d.label_first[d]] > 0)
                        b.d.labels[b.d.label_first[d]] = RAN_LABEL_UNKNOWN;
        float weight[SVM_BUCKETS], bias = 0;
        memset(weight, 0, sizeof weight);
        svm_bench_features(&b);
        struct ran_error err = {0};
        struct ran_svm_solver *s = ran_svm_solver_new(&b.k, weight, &bias, &err);
        REQUIRE(s != NULL);
        svm_bench_solve(s, b.cost, b.tolerance);
        ran_svm_solver_store(s, weight, &bias);
        ran_svm_solver_free(s);
        b.d.C = classes;
        for (size_t g = 0; g < SVM_BUCKETS; g++)
                b.weight[g * C] = weight[g];
        b.bias[0] = bias;
        x = features(&b);
        CHECK_NEAR(off(&b, x, 0), 0, 1e-3);
        free(x);
        svm_bench_release(&b);
}

/* What buckets say beside each other: the last half of them is called affixes. With r of 0.4 the
 * optimum is that of the matrix whose affixes are so much smaller. */
TEST(svm_scales_affixes)
{
        struct ran_error err = {0};
        struct svm_bench b, scaled;
        const double r = 0.4, norm = 2 / (1 + r * r);

        svm_bench_init(&b, 80, false);
        svm_bench_init(&scaled, 80, false);
        b.k.ratios = scaled.k.ratios = false;
        svm_bench_features(&b);
        svm_bench_features(&scaled);
        b.features.affixes = SVM_BUCKETS / 2;
        b.k.affixes = r;
        for (size_t i = 0; i < scaled.features.first[scaled.features.n]; i++)
                scaled.features.x[i] *=
                        (float)(sqrt(norm) * (scaled.features.bucket[scaled.features.column[i]] >=
                                                              SVM_BUCKETS / 2
                                                      ? r
                                                      : 1));
        struct svm_bench *both[] = {&b, &scaled};
        float logits[2][80 * C];
        for (size_t i = 0; i < 2; i++) {
                struct ran_svm_solver *s = ran_svm_solver_new(&both[i]->k, NULL, NULL, &err);

                REQUIRE(s != NULL);
                svm_bench_solve(s, 1, 1e-5);
                ran_svm_solver_score(s, b.document, 80, logits[i]);
                ran_svm_solver_free(s);
        }
        for (size_t i = 0; i < 80 * C; i++)
                CHECK_NEAR((double)logits[0][i], (double)logits[1][i], 1e-3);
        svm_bench_release(&b);
        svm_bench_release(&scaled);
}

/* ---- threads and the end --------------------------------------------------------------------- */

TEST(svm_fit_is_the_same_for_any_threads)
{
        struct ran_error err = {0};
        float weight[SVM_BUCKETS * C];

        for (size_t threads = 1; threads <= 7; threads += 3) {
                struct svm_bench b;

                svm_bench_init(&b, 3000, false); /* several blocks of hashing */
                b.k.pool = ran_pool_new(threads, &err);
                b.tolerance = 0.1;
                learn(&b);
                if (threads == 1)
                        memcpy(weight, b.weight, sizeof weight);
                else
                        CHECK(memcmp(weight, b.weight, sizeof weight) == 0);
                ran_pool_free(b.k.pool);
                svm_bench_release(&b);
        }
}

/* Passes over few rows count for as much as they visit. */
TEST(svm_solver_ends_after_so_many_visits)
{
        struct svm_bench b;
        size_t passes = 1;

        svm_bench_init(&b, 60, false);
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
        svm_bench_release(&b);
}

TEST(svm_fit_that_is_stopped_leaves_what_was_there)
{
        struct ran_error err = {0};
        size_t at = 2;
        struct svm_bench b;

        svm_bench_init(&b, 60, false);
        b.weight[7] = 3;
        svm_bench_features(&b);
        CHECK(ran_svm_fit(&b.k, 0.7, b.weight, b.bias, svm_bench_stop, &at, &err) == RAN_EINTR);
        for (size_t i = 0; i < SVM_BUCKETS * C; i++)
                CHECK(b.weight[i] == (i == 7 ? 3 : 0));
        svm_bench_release(&b);
}
