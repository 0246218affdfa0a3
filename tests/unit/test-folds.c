/* Folds, out-of-fold probabilities, and the labels that they call wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "training.h"

/* ---- labels that are probably wrong ---------------------------------------------------------- */

/* Two labels; the third of C has no document. By hand: t = {mean of .9 .8 .1, mean of .6 .8}. */
TEST(suspects_are_ordered_and_counted_by_the_thresholds_of_labels)
{
        static const float p[] = {0.9f,  0.1f, 0,    0.8f, 0.15f, 0.05f, 0.1f, 0.75f,
                                  0.15f, 0.4f, 0.6f, 0,    0.2f,  0.8f,  0};
        static const uint32_t label[] = {0, 0, 0, 1, 1};
        struct ran_suspects found;
        struct ran_error err = {0};

        REQUIRE(CHECK_OK(ran_suspects_find(&found, p, NULL, label, 5, 3, &err), err));
        const struct ran_suspect *s = found.suspect;
        const double *threshold = found.threshold;
        REQUIRE(CHECK_SIZE(found.n, 5));
        CHECK_NEAR(threshold[0], 0.6, 1e-6);
        CHECK_NEAR(threshold[1], 0.7, 1e-6);
        CHECK(isinf(threshold[2]));
        CHECK_SIZE(s[0].document, 2);
        CHECK_SIZE(s[0].label, 0);
        CHECK_SIZE(s[0].suggested, 1);
        CHECK_NEAR(s[0].margin, 0.65, 1e-6);
        CHECK_SIZE(s[1].document, 3); /* 0.6 */
        CHECK_SIZE(s[4].document, 0);
        CHECK_SIZE(found.wrong, 1); /* of label 0, all three are counted, one for label 1 */
        ran_suspects_release(&found);
}

TEST(suspects_that_are_alike_keep_their_order_and_one_label_has_none)
{
        static const float p[] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
        static const uint32_t label[] = {0, 1, 0}, same[] = {1, 1, 1};
        struct ran_suspects found;
        struct ran_error err = {0};

        REQUIRE(CHECK_OK(ran_suspects_find(&found, p, NULL, label, 3, 2, &err), err));
        for (size_t i = 0; i < 3; i++)
                CHECK_SIZE(found.suspect[i].document, i);
        ran_suspects_release(&found);
        CHECK(ran_suspects_find(&found, p, NULL, same, 3, 2, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "all documents have one label: nothing tells which is wrong");
        ran_suspects_release(&found);
}

/* Labels 0 and 1, by hand: documents 0, 1 and 4 have the first, 1 and 2 the second, none the third.
 * t of the first: has mean of .9 .8 .1, lacks mean of .7 .9; of the second: has mean of .9 .2,
 * lacks mean of .95 .9 .4. */
TEST(suspects_of_several_labels_are_to_be_added_or_removed)
{
        static const float p[] = {0.9f, 0.05f, 0,    0.8f, 0.9f, 0,    0.3f, 0.2f,
                                  0,    0.1f,  0.1f, 0,    0.1f, 0.6f, 0.5f};
        static const size_t first[] = {0, 1, 3, 4, 4, 5};
        static const uint32_t label[] = {0, 1, 0, 1, 0};
        struct ran_suspects found;
        struct ran_error err = {0};

        REQUIRE(CHECK_OK(ran_suspects_find(&found, p, first, label, 5, 3, &err), err));
        const struct ran_suspect *s = found.suspect;
        const double *threshold = found.threshold;
        CHECK_NEAR(threshold[0], 0.6, 1e-6);
        CHECK_NEAR(threshold[1], 0.55, 1e-6);
        CHECK(isinf(threshold[2]));
        REQUIRE(CHECK_SIZE(found.n, 3));
        CHECK_SIZE(s[0].document, 4);
        CHECK_SIZE(s[0].label, 0);
        CHECK_SIZE(s[0].suggested, RAN_NO_LABEL);
        CHECK_NEAR(s[0].margin, 0.8, 1e-6);
        CHECK_SIZE(s[1].document, 2); /* .8 speak against it, .75 on average for those without */
        CHECK_SIZE(s[1].label, 1);
        CHECK_SIZE(s[2].document, 4);
        CHECK_SIZE(s[2].label, RAN_NO_LABEL);
        CHECK_SIZE(s[2].suggested, 1);
        CHECK_NEAR(s[2].own, 0.4, 1e-6);
        CHECK_NEAR(s[2].order, 0.4 / 0.75, 1e-6);
        CHECK_NEAR(s[0].order, 0.1 / 0.6, 1e-6);
        /* first, has: 1 of 3; second, has: 1 of 2, lacks: 1 of 3 */
        CHECK_SIZE(found.wrong, 3);
        ran_suspects_release(&found);
}

/* Nobody gives the first label to the only document that has it. */
TEST(suspects_of_several_labels_may_be_impossible)
{
        static const float p[] = {0, 0.9f, 0.1f, 0.2f};
        static const size_t first[] = {0, 1, 2};
        static const uint32_t label[] = {0, 1};
        struct ran_suspects found;
        struct ran_error err = {0};

        REQUIRE(CHECK_OK(ran_suspects_find(&found, p, first, label, 2, 2, &err), err));
        const struct ran_suspect *s = found.suspect;
        REQUIRE(CHECK_SIZE(found.n, 3));
        CHECK_NEAR(s[0].order, 0, 0);
        CHECK_SIZE(s[0].label, 0);
        CHECK(s[1].order > 0 && s[1].order <= s[2].order);
        ran_suspects_release(&found);
}

/* ---- thresholds ------------------------------------------------------------------------------ */

TEST(threshold_reaches_a_recall_or_a_precision)
{
        static const float p[] = {0.9f, 0.8f, 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.1f};
        static const bool positive[] = {true, true, false, false, true, false, true, false};
        static const bool none[8] = {false};
        static const struct {
                bool precision;
                double wanted;
                float threshold; /* 0: none reaches it */
                size_t found, right;
        } want[] = {{false, 0.25, 0.9f, 1, 1}, {false, 0.5, 0.8f, 3, 2}, {false, 0.75, 0.6f, 5, 3},
                    {false, 0.76, 0.4f, 7, 4}, {false, 1, 0.4f, 7, 4},   {true, 1, 0.9f, 1, 1},
                    {true, 0.6, 0.6f, 5, 3},   {true, 0.55, 0.4f, 7, 4}, {true, 0.5, 0.1f, 8, 4}};
        struct ran_threshold t;
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
                REQUIRE(CHECK_OK(ran_threshold_find(&t, p, positive, 8, want[i].precision,
                                                    want[i].wanted, &err),
                                 err));
                CHECK_NEAR(t.threshold, want[i].threshold, 2e-5);
                CHECK(t.threshold < want[i].threshold);
                CHECK_SIZE(t.found, want[i].found);
                CHECK_SIZE(t.right, want[i].right);
                CHECK_SIZE(t.positives, 4);
                CHECK_NEAR(t.recall, (double)want[i].right / 4, 1e-12);
                CHECK_NEAR(t.precision, (double)want[i].right / (double)want[i].found, 1e-12);
                CHECK(t.recall_interval.low < t.recall && t.recall <= t.recall_interval.high);
        }
        CHECK(ran_threshold_find(&t, p, none, 8, false, 0.5, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "no threshold reaches a recall of 0.5");
        CHECK(ran_threshold_find(&t, p + 2, positive + 2, 6, true, 0.9, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "no threshold reaches a precision of 0.9");
}

/* ---- folds ----------------------------------------------------------------------------------- */

TEST(folds_have_as_many_documents_of_each_class)
{
        struct ran_dataset d = {0};
        uint32_t fold[103], other[103];
        size_t of[5] = {0}, of_class[5][CORPUS_C] = {{0}}, classes[CORPUS_C] = {0}, moved = 0;

        corpus_make(&d, 103, 1, 5, false, 3);
        ran_dataset_folds(&d, 5, 1, fold);
        for (size_t b = 0; b < d.B; b++) {
                REQUIRE(fold[b] < 5);
                of[fold[b]]++;
                of_class[fold[b]][d.labels[b]]++;
                classes[d.labels[b]]++;
        }
        for (size_t f = 0; f < 5; f++) {
                CHECK(of[f] == 20 || of[f] == 21);
                for (size_t c = 0; c < CORPUS_C; c++)
                        CHECK(of_class[f][c] >= classes[c] / 5 &&
                              of_class[f][c] <= classes[c] / 5 + 1);
        }
        ran_dataset_folds(&d, 5, 2, other);
        for (size_t b = 0; b < d.B; b++)
                moved += fold[b] != other[b];
        CHECK(moved > 20);
        ran_dataset_release(&d);
}

TEST(folds_keep_groups_and_leave_out_guessed_labels)
{
        struct ran_dataset d = {0}, rest = {0};
        struct ran_error err = {0};
        uint32_t fold[60];
        bool left_out[60];
        size_t none = 0, kept = 0;
        const uint32_t class[] = {0};
        const float certain[] = {1};
        char *names[] = {"a", "b"};

        REQUIRE(CHECK_OK(ran_dataset_set_classes(&d, names, 2, &err), err));
        for (uint32_t b = 0; b < 60; b++) {
                const uint32_t label = b / 2 % 2;
                const char group[] = {(char)('0' + b % 20)};

                CHECK_OK(ran_dataset_add(&d, &b, 1, &label, 1, 1, &err), err);
                CHECK_OK(
                        ran_dataset_soft_target(&d, class, certain, b % 20 == 3, b % 20 == 3, &err),
                        err);
                CHECK_OK(ran_dataset_group(&d, group, 1, &err), err);
        }
        REQUIRE(CHECK_OK(ran_dataset_finish(&d, &err), err));
        ran_dataset_folds(&d, 4, 1, fold);
        for (size_t b = 0; b < 60; b++) {
                none += fold[b] == RAN_NO_FOLD;
                CHECK(b % 20 == 3 ? fold[b] == RAN_NO_FOLD : fold[b] < 4);
                CHECK(fold[b] == fold[b % 20]);
                left_out[b] = fold[b] == 0;
        }
        CHECK_SIZE(none, 3);
        REQUIRE(CHECK_OK(ran_dataset_without(&d, left_out, &rest, &err), err));
        for (size_t b = 0; b < 60; b++) {
                if (left_out[b])
                        continue;
                REQUIRE(kept < rest.B);
                CHECK_SIZE(rest.ids[kept], b);
                CHECK_SIZE(rest.labels[kept], b / 2 % 2);
                CHECK(rest.group[kept] == d.group[b]);
                CHECK(rest.guessed[kept] == (b % 20 == 3));
                CHECK_SIZE(rest.soft_first[kept + 1] - rest.soft_first[kept], b % 20 == 3);
                kept++;
        }
        CHECK_SIZE(rest.B, kept);
        CHECK_SIZE(rest.C, 2);
        ran_dataset_release(&rest);
        ran_dataset_release(&d);
}

/* ---- probabilities --------------------------------------------------------------------------- */

static int stop_at(void *arg, size_t fold)
{
        return fold == *(const size_t *)arg;
}

/* Of document b by hand: a model of all documents of other folds. */
static void by_hand(struct training *t, const uint32_t *fold, size_t b, float *p)
{
        struct ran_dataset all = t->train, rest = {0};
        struct ran_error err = {0};
        float logits[CORPUS_C];
        bool left_out[40];
        const struct ran_document d = ran_dataset_document(&all, b);

        for (size_t i = 0; i < all.B; i++)
                left_out[i] = fold[i] == fold[b];
        CHECK_OK(ran_dataset_without(&all, left_out, &rest, &err), err);
        t->job.train = &rest;
        t->job.dev = NULL;
        CHECK_OK(training_run(t, 1, &err), err);
        t->job.train = &t->train;
        struct ran_model *m = ran_model_open(t->output, true, &err);
        REQUIRE(m != NULL);
        struct ran_state *state = ran_state_new(m, NULL);
        CHECK_OK(ran_classify(m, state, &d, logits, NULL, &err), err);
        ran_probabilities(&t->c, logits, CORPUS_C, p);
        ran_state_free(state);
        ran_model_free(m);
        ran_dataset_release(&rest);
}

TEST(out_of_fold_probabilities_are_of_models_of_the_other_folds)
{
        struct training t;
        struct ran_error err = {0};
        float p[40 * CORPUS_C], again[40 * CORPUS_C], want[CORPUS_C];
        uint32_t fold[40];
        size_t stop = 1;

        training_init(&t, "folds", 20, false);
        t.c.encoder = RAN_ENCODER_NONE;
        t.c.linear.wide = 100;
        t.s.refit = false;
        REQUIRE(CHECK_OK(ran_train_folds(&t.job, 4, NULL, NULL, p, &err), err));
        t.job.pool = ran_pool_new(3, &err);
        REQUIRE(CHECK_OK(ran_train_folds(&t.job, 4, NULL, NULL, again, &err), err));
        CHECK(memcmp(p, again, sizeof p) == 0);
        CHECK(ran_train_folds(&t.job, 4, stop_at, &stop, again, &err) == RAN_EINTR);
        CHECK_STR(err.text, "stopped before fold 2");
        CHECK(ran_train_folds(&t.job, 41, NULL, NULL, again, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "40 documents do not make 41 folds");
        ran_pool_free(t.job.pool);
        t.job.pool = NULL;
        ran_dataset_folds(&t.train, 4, t.s.seed, fold);
        for (size_t b = 0; b < 40; b += 13) {
                by_hand(&t, fold, b, want);
                CHECK(memcmp(p + b * CORPUS_C, want, sizeof want) == 0);
        }
        training_release(&t);
}
