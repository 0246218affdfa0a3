/* Cross-validation of the linear model: what it chooses, against brute force, and what it leaves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "gradient/plan.h"
#include "part/linear/svm.h"
#include "svm-bench.h"
#include "test.h"

enum { C = CORPUS_C };

static double chosen(struct svm_bench *b, double cost, int ratios)
{
        struct ran_error err = {0};

        svm_bench_features(b);
        CHECK_OK(ran_cross_validate(&b->k, &cost, ratios, b->weight, b->bias, NULL, NULL, NULL,
                                    &err),
                 err);
        return cost;
}

static bool chosen_ratios(struct svm_bench *b)
{
        chosen(b, 0, RAN_RATIOS_AUTO);
        return b->k.ratios;
}

/* Labels that say nothing are best believed least; those that tokens decide, most. */
TEST(cross_validation_follows_what_labels_are_worth)
{
        struct svm_bench b;
        struct dice dice = {.key = 9};

        svm_bench_init(&b, 300, false);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO) > 0.5);
        CHECK(chosen_ratios(&b));
        for (size_t d = 0; d < b.d.B; d++)
                b.d.labels[b.d.label_first[d]] = (uint32_t)dice_size(&dice, 0, C - 1);
        CHECK(chosen(&b, 0, RAN_RATIOS_NO) == 0.25);
        CHECK(!chosen_ratios(&b));
        svm_bench_release(&b);
}

/* The scale of the logits is 1/2 for labels that say nothing and larger for those that tokens
 * decide; where nothing is tried it is unknown. */
TEST(cross_validation_finds_the_scale_of_the_logits)
{
        struct svm_bench b;
        struct dice dice = {.key = 9};

        svm_bench_init(&b, 300, false);
        chosen(&b, 0.5, RAN_RATIOS_NO);
        CHECK(b.k.ensemble.linear == 0);
        chosen(&b, 0, RAN_RATIOS_NO);
        CHECK(b.k.ensemble.linear >= 2 && b.k.ensemble.linear < 12);
        CHECK(b.k.ensemble.offset == 0);
        for (size_t d = 0; d < b.d.B; d++)
                b.d.labels[b.d.label_first[d]] = (uint32_t)dice_size(&dice, 0, C - 1);
        chosen(&b, 0, RAN_RATIOS_NO);
        CHECK(b.k.ensemble.linear < 1);
        svm_bench_release(&b);
}

/* Loss of a fold at the best of ten scales, in double. */
static double fold_loss(const struct svm_bench *b, const size_t *row, size_t n, const float *logits)
{
        double least = INFINITY;

        for (int i = 0; i < 10; i++) {
                double scale = 0.5 * pow(2, 0.5 * i), loss = 0;

                for (size_t j = 0; j < n; j++) {
                        double sum = 0;

                        for (size_t c = 0; c < C; c++)
                                sum += exp(scale * (double)logits[j * C + c]);
                        for (size_t c = 0; c < C; c++)
                                loss -= svm_bench_is_of(b, row[j], c) *
                                        log(exp(scale * (double)logits[j * C + c]) / sum);
                }
                least = fmin(least, loss);
        }
        return least;
}

/* Each setting fitted anew in each fold, to the end. */
static double brute_force(struct svm_bench *b, const size_t *order, double cost, bool ratios)
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
                svm_bench_solve(s, cost, 1e-3);
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
                struct svm_bench b;

                svm_bench_init(&b, 200, false);
                for (size_t d = 0; d < b.d.B; d++)
                        if (dice_size(&dice, 0, 99) < noise)
                                b.d.labels[b.d.label_first[d]] =
                                        (uint32_t)dice_size(&dice, 0, C - 1);
                svm_bench_features(&b);
                ran_random_shuffle(order, b.document, b.k.n, b.k.seed, RAN_SHUFFLE_FOLDS);
                for (int ratios = 0; ratios < 2; ratios++)
                        for (size_t i = 0; i < 4; i++) {
                                double loss = brute_force(&b, order, costs[i], ratios);

                                least = fmin(least, loss);
                        }
                const double cost = chosen(&b, 0, RAN_RATIOS_AUTO);
                CHECK(brute_force(&b, order, cost, b.k.ratios) <= 1.05 * least);
                svm_bench_release(&b);
        }
}

/* Ten equal documents have one label, by chance. Where each is predicted from the others, that
 * pays; where they are in one fold nothing is worth learning, and logits are believed least. */
TEST(cross_validation_keeps_groups_together)
{
        struct svm_bench b;
        struct ran_error err = {0};
        struct dice dice = {.key = 9};

        svm_bench_init(&b, 300, false);
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
        svm_bench_release(&b);
}

/* Where tokens decide, settings are out after the first of four folds of 300 documents; of five of
 * 240 all leave out each: fewer documents take more passes. */
TEST(cross_validation_drops_what_is_surely_worse)
{
        struct ran_error err = {0};
        size_t passes[2] = {0};

        for (size_t i = 0; i < 2; i++) {
                double cost = 0;
                struct svm_bench b;

                svm_bench_init(&b, i == 0 ? 1500 : 1200, false);
                svm_bench_features(&b);
                CHECK_OK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, NULL, NULL, NULL,
                                            svm_bench_count, &passes[i], &err),
                         err);
                CHECK(cost > 0 && passes[i] > 0);
                svm_bench_release(&b);
        }
        CHECK(passes[0] < passes[1]);
}

TEST(cross_validation_leaves_what_is_given)
{
        struct ran_error err = {0};
        struct svm_bench b;
        size_t passes = 0;
        double cost = 3;

        svm_bench_init(&b, 100, true);
        svm_bench_features(&b);
        for (int ratios = RAN_RATIOS_AUTO; ratios <= RAN_RATIOS_NO; ratios++) {
                passes = 0;
                CHECK_OK(ran_cross_validate(&b.k, &cost, ratios, b.weight, b.bias, NULL,
                                            svm_bench_count, &passes, &err),
                         err);
                CHECK(cost == 3 && (passes > 0) == (ratios == RAN_RATIOS_AUTO));
                CHECK(ratios == RAN_RATIOS_AUTO || b.k.ratios == (ratios == RAN_RATIOS_YES));
        }
        CHECK(chosen(&b, 0, RAN_RATIOS_NO) > 0 && !b.k.ratios);
        CHECK(chosen(&b, 0, RAN_RATIOS_YES) > 0 && b.k.ratios);
        for (size_t i = 0; i < SVM_BUCKETS * C; i++)
                CHECK(b.weight[i] == 0);
        svm_bench_release(&b);
}

/* Affixes that tell nothing get less; those that tell all keep their weight. */
TEST(cross_validation_chooses_the_scale_of_affixes)
{
        struct svm_bench b;
        struct dice dice = {.key = 12};
        struct ran_error err = {0};
        double cost = 0;

        for (int noise = 0; noise < 2; noise++) {
                svm_bench_init(&b, 300, false);
                svm_bench_features(&b);
                b.features.affixes = SVM_BUCKETS;
                for (size_t g = 0; g < b.features.columns; g++)
                        if (g % 2 == 0)
                                b.features.bucket[g] += SVM_BUCKETS;
                for (size_t i = 0; i < b.features.first[b.features.n] && noise; i++)
                        if (b.features.column[i] % 2 == 0)
                                b.features.x[i] = (float)dice_size(&dice, 0, 9) / 10;
                for (size_t i = 0; i < b.features.first[b.features.n] && !noise; i++)
                        if (b.features.column[i] % 2 == 1)
                                b.features.x[i] = (float)dice_size(&dice, 0, 9) / 10;
                CHECK_OK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, NULL, NULL, NULL, NULL,
                                            NULL, &err),
                         err);
                CHECK_NEAR(b.k.affixes, noise ? 0.4 : 1, 0);
                cost = 0;
                svm_bench_release(&b);
        }
}

/* Each row of the folds once, with the logits of a fit without its fold. */
TEST(cross_validation_keeps_what_it_says_of_rows_held_out)
{
        struct ran_error err = {0};
        const size_t documents = 300;
        struct ran_held_out h = {0};
        struct svm_bench b;
        double cost = 0;
        size_t *rest = ran_alloc(documents, sizeof *rest, &err);
        float *logits = ran_alloc_floats(documents * C, &err);
        bool seen[300] = {0};

        REQUIRE(rest != NULL && logits != NULL);
        svm_bench_init(&b, documents, false);
        svm_bench_features(&b);
        CHECK_OK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, NULL, NULL, &h, NULL, NULL, &err),
                 err);
        CHECK_SIZE(h.folds, RAN_FOLDS);
        CHECK_SIZE(h.n, documents);
        CHECK_SIZE(h.begin[h.folds], h.n);
        for (size_t i = 0; i < h.n; i++) {
                CHECK(!seen[h.row[i]]);
                seen[h.row[i]] = true;
        }
        for (size_t fold = 0; fold < h.folds; fold++) {
                const size_t from = h.begin[fold], n = h.begin[fold + 1] - from;
                struct ran_svm k = b.k;

                memcpy(rest, h.row, from * sizeof *rest);
                memcpy(rest + from, h.row + from + n, (h.n - from - n) * sizeof *rest);
                k.row = rest;
                k.n = h.n - n;
                struct ran_svm_solver *s = ran_svm_solver_new(&k, NULL, NULL, &err);
                REQUIRE(s != NULL);
                svm_bench_solve(s, cost, 1e-5);
                ran_svm_solver_score(s, h.row + from, n, logits);
                ran_svm_solver_free(s);
                for (size_t i = 0; i < n * C; i++)
                        CHECK_NEAR((double)h.logits[from * C + i], (double)logits[i], 0.3);
        }
        ran_held_out_release(&h);
        free(rest);
        free(logits);
        svm_bench_release(&b);
}

/* A handful of documents is not divided; and documents that are left out are neither predicted nor
 * learned from. */
TEST(cross_validation_of_few)
{
        struct svm_bench b;

        svm_bench_init(&b, 40, false);
        for (size_t n = 0; n < 9; n++) {
                b.k.n = n;
                CHECK(chosen(&b, 0, RAN_RATIOS_AUTO) > 0);
        }
        svm_bench_release(&b);
}

TEST(cross_validation_can_be_stopped)
{
        struct ran_error err = {0};
        size_t at = 4;
        double cost = 0;
        struct svm_bench b;

        svm_bench_init(&b, 60, false);
        svm_bench_features(&b);
        CHECK(ran_cross_validate(&b.k, &cost, RAN_RATIOS_AUTO, b.weight, b.bias, NULL,
                                 svm_bench_stop, &at, &err) == RAN_EINTR);
        CHECK(cost == 0 && b.k.ratios);
        svm_bench_release(&b);
}

TEST(cross_validation_chooses_the_same_for_any_threads)
{
        struct ran_error err = {0};
        double cost = 0;

        for (size_t threads = 1; threads <= 7; threads += 3) {
                struct svm_bench b;

                svm_bench_init(&b, 3000, false); /* several blocks of hashing */
                b.k.pool = ran_pool_new(threads, &err);
                if (threads == 1)
                        cost = chosen(&b, 0, RAN_RATIOS_AUTO);
                else
                        CHECK(chosen(&b, 0, RAN_RATIOS_AUTO) == cost);
                ran_pool_free(b.k.pool);
                svm_bench_release(&b);
        }
}
