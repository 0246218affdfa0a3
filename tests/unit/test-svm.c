/* What the linear model learns: the optimum of its problem, whoever helps and however it is
 * ordered.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "dice.h"
#include "doubles.h"
#include "model/linear-model.h"
#include "test.h"
#include "train/cross-validate.h"

enum { BUCKETS = 200, C = CORPUS_C };

struct bench {
        struct ran_config c;
        struct ran_dataset d;
        struct ran_svm k;
        size_t *document;
        float idf[BUCKETS], weight[BUCKETS * C], bias[C];
};

static void bench_init(struct bench *b, size_t documents, bool several)
{
        struct ran_error err = {0};

        memset(b, 0, sizeof *b);
        b->c = (struct ran_config){.wide = BUCKETS, .ngrams = 2, .multilabel = several};
        corpus_make(&b->d, documents, 1, 30, several, 3);
        b->document = ran_alloc(documents, sizeof *b->document, &err);
        for (size_t i = 0; i < documents; i++)
                b->document[i] = i;
        b->k = (struct ran_svm){.c = &b->c,
                                .d = &b->d,
                                .document = b->document,
                                .n = documents,
                                .cost = 0.7,
                                .ratios = true,
                                .tolerance = 1e-5,
                                .passes = 1000,
                                .seed = 5};
}

static void bench_release(struct bench *b)
{
        ran_dataset_release(&b->d);
        free(b->document);
}

static void learn(struct bench *b)
{
        struct ran_error err = {0};

        CHECK_OK(ran_svm_idf(&b->k, b->idf, &err), err);
        CHECK_OK(ran_svm_fit(&b->k, b->idf, b->weight, b->bias, &err), err);
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
        for (size_t i = 0; i < b->k.n; i++)
                for (size_t g = 0; g < BUCKETS; g++)
                        having[g] += x[b->document[i] * BUCKETS + g] > 0;
        for (size_t d = 0; d < b->d.B; d++) {
                double squares = 0, *row = x + d * BUCKETS;

                for (size_t g = 0; g < BUCKETS; g++) {
                        double idf =
                                having[g] < 2 ? 0 : 1 + log((1 + (double)b->k.n) / (1 + having[g]));

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

/* At the optimum the gradient of the problem by u and b is 0, and u is what the errors
 * weighted_sum: w_g / r² = Σ 2 cost y x max(0, 1 - y score). Returns how far it is off, beside its
 * size. */
static double off(const struct bench *b, const double *x, size_t c)
{
        double r2[BUCKETS], weighted_sum[BUCKETS] = {0}, bias = 0, distance = 0, size = 0;

        ratios(b, x, c, r2);
        for (size_t i = 0; i < b->k.n; i++) {
                size_t d = b->document[i];
                double t = is_of(b, d, c), cost = b->k.cost * (double)b->d.weight[d];
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

TEST(linear_fit_is_where_errors_and_size_balance)
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
                b.k.n = 80; /* of some documents only, and none of the others */
                memset(b.weight, 0, sizeof b.weight);
                memset(b.bias, 0, sizeof b.bias);
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
TEST(linear_fit_of_soft_targets)
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

/* In the dual it begins with no errors at all, and what was there stays but for what they
 * weighted_sum. */
TEST(linear_fit_begins_with_what_is_there)
{
        struct bench b;
        float most = 0;

        bench_init(&b, 60, false);
        learn(&b);
        float weight[BUCKETS * C], bias[C];
        memcpy(weight, b.weight, sizeof weight);
        memcpy(bias, b.bias, sizeof bias);
        b.k.cost = 1e-6; /* errors cost next to nothing */
        learn(&b);
        for (size_t i = 0; i < BUCKETS * C; i++)
                most = fmaxf(most, fabsf(weight[i] - b.weight[i]));
        CHECK(most < 1e-3f && most > 0);
        memset(b.weight, 0, sizeof b.weight);
        learn(&b);
        most = 0;
        for (size_t i = 0; i < BUCKETS * C; i++)
                most = fmaxf(most, fabsf(b.weight[i]));
        CHECK(most < 1e-3f);
        bench_release(&b);
}

static int stop_at(void *arg, size_t passes)
{
        return passes == *(const size_t *)arg;
}

static int count_pass(void *arg, size_t passes)
{
        *(size_t *)arg = passes;
        return 0;
}

/* With another cost it converges sooner from the last weights, and reaches the same weights. */
TEST(linear_fit_continues_from_another_cost)
{
        struct ran_error err = {0};
        struct bench b;
        size_t anew, on;

        bench_init(&b, 120, true);
        b.k.pass = count_pass;
        b.k.arg = &anew;
        b.k.cost = 0.8;
        learn(&b);
        memset(b.weight, 0, sizeof b.weight);
        memset(b.bias, 0, sizeof b.bias);
        b.k.alpha = ran_alloc_floats(b.d.B * C * ran_svm_sides(&b.d), &err);
        b.k.cost = 0.7;
        learn(&b);
        b.k.cost = 0.8;
        b.k.arg = &on;
        learn(&b);
        check_optimum(&b);
        CHECK(on < anew);
        free(b.k.alpha);
        bench_release(&b);
}

/* Scores of documents in any order, by the features that were counted above. */
TEST(linear_score_is_features_times_weights)
{
        static const size_t document[] = {7, 3, 11};
        struct ran_error err = {0};
        float logits[3 * C];
        struct bench b;

        bench_init(&b, 60, false);
        learn(&b);
        double *x = features(&b);
        CHECK_OK(ran_svm_score(&b.k, document, 3, b.idf, b.weight, b.bias, logits, &err), err);
        for (size_t i = 0; i < 3; i++)
                for (size_t c = 0; c < C; c++) {
                        double score = (double)b.bias[c];

                        for (size_t g = 0; g < BUCKETS; g++)
                                score += x[document[i] * BUCKETS + g] * (double)b.weight[g * C + c];
                        CHECK_NEAR((double)logits[i * C + c], score, 1e-4);
                }
        free(x);
        bench_release(&b);
}

/* ---- which cost, and ratios or none --------------------------------------------------------- */

static struct ran_svm chosen(struct bench *b, double cost, int ratios)
{
        struct ran_error err = {0};

        b->k.cost = cost;
        CHECK_OK(ran_svm_idf(&b->k, b->idf, &err), err);
        CHECK_OK(ran_cross_validate(&b->k, ratios, b->idf, b->weight, b->bias, &err), err);
        return b->k;
}

/* Labels that say nothing are best believed least; those that tokens decide, most. */
TEST(linear_choose_follows_what_labels_are_worth)
{
        struct bench b;
        struct dice dice = {.key = 9};

        bench_init(&b, 300, false);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO).cost == 8);
        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO).ratios);
        for (size_t d = 0; d < b.d.B; d++)
                b.d.labels[b.d.label_first[d]] = (uint32_t)dice_size(&dice, 0, C - 1);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO).cost == 0.5);
        CHECK(!chosen(&b, 0, RAN_RATIOS_AUTO).ratios);
        bench_release(&b);
}

/* Ten equal ones have one label, by chance. Where each is asked about by the others, that
 * pays; where they are kept together nothing is worth learning, and something else is chosen. */
TEST(linear_choose_keeps_groups_together)
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
        bool ratios = chosen(&b, 0, RAN_RATIOS_AUTO).ratios;
        b.d.group = NULL;
        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO).ratios != ratios);
        /* A group beside little else, and one that is all there is. */
        for (size_t d = 0; d < b.d.B; d++)
                group[d] = d < 10 ? d : 10;
        b.d.group = group;
        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO).cost > 0);
        for (size_t d = 0; d < b.d.B; d++)
                group[d] = 7;
        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO).cost > 0);
        b.d.group = NULL;
        free(group);
        bench_release(&b);
}

TEST(linear_choose_leaves_what_is_given)
{
        struct bench b;
        size_t passes = 0;

        bench_init(&b, 100, true);
        b.k.pass = count_pass;
        b.k.arg = &passes;
        CHECK(chosen(&b, 3, RAN_RATIOS_NO).cost == 3 && !b.k.ratios && passes == 0);
        CHECK(chosen(&b, 3, RAN_RATIOS_YES).cost == 3 && b.k.ratios && passes == 0);
        CHECK(chosen(&b, 3, RAN_RATIOS_AUTO).cost == 3 && passes > 0);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO).cost > 0 && !b.k.ratios);
        CHECK(chosen(&b, 0, RAN_RATIOS_YES).cost > 0 && b.k.ratios);
        for (size_t i = 0; i < BUCKETS * C; i++)
                CHECK(b.weight[i] == 0);
        bench_release(&b);
}

/* Nobody is asked where there are a handful of documents; and documents that are left out are
 * neither asked nor learned from. */
TEST(linear_choose_of_few)
{
        struct bench b;

        bench_init(&b, 40, false);
        for (size_t n = 0; n < 9; n++) {
                b.k.n = n;
                CHECK(chosen(&b, 0, RAN_RATIOS_AUTO).cost > 0);
        }
        bench_release(&b);
}

TEST(linear_choose_can_be_stopped)
{
        struct ran_error err = {0};
        size_t at = 4;
        struct bench b;

        bench_init(&b, 60, false);
        b.k.pass = stop_at;
        b.k.arg = &at;
        b.k.cost = 0;
        CHECK_OK(ran_svm_idf(&b.k, b.idf, &err), err);
        CHECK(ran_cross_validate(&b.k, RAN_RATIOS_AUTO, b.idf, b.weight, b.bias, &err) ==
              RAN_EINTR);
        CHECK(b.k.cost == 0);
        bench_release(&b);
}

TEST(linear_fit_is_the_same_for_any_threads)
{
        struct ran_error err = {0};
        float weight[BUCKETS * C];

        for (size_t threads = 1; threads <= 7; threads += 3) {
                struct bench b;

                bench_init(&b, 3000, false); /* several readings */
                b.k.pool = ran_pool_new(threads, &err);
                learn(&b);
                if (threads == 1)
                        memcpy(weight, b.weight, sizeof weight);
                else
                        CHECK(memcmp(weight, b.weight, sizeof weight) == 0);
                ran_pool_free(b.k.pool);
                bench_release(&b);
        }
}

TEST(linear_fit_ends_after_so_many_passes)
{
        struct bench b;
        size_t passes;

        bench_init(&b, 60, false);
        b.k.pass = count_pass;
        b.k.arg = &passes;
        b.k.passes = 3;
        learn(&b);
        CHECK_SIZE(passes, 3);
        bench_release(&b);
}

TEST(linear_fit_that_is_stopped_leaves_what_was_there)
{
        struct ran_error err = {0};
        size_t at = 2;
        struct bench b;

        bench_init(&b, 60, false);
        b.k.pass = stop_at;
        b.k.arg = &at;
        b.weight[7] = 3;
        CHECK_OK(ran_svm_idf(&b.k, b.idf, &err), err);
        CHECK(ran_svm_fit(&b.k, b.idf, b.weight, b.bias, &err) == RAN_EINTR);
        for (size_t i = 0; i < BUCKETS * C; i++)
                CHECK(b.weight[i] == (i == 7 ? 3 : 0));
        bench_release(&b);
}
