/* What training learns of itself on development data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "infer/infer.h"
#include "test.h"
#include "toy.h"
#include "data/rates.h"
#include "evaluate/evaluate.h"

/* Each document as if it were scored alone, whoever helps. */
TEST(predict_gives_what_scoring_gives)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        struct ran_dataset d;
        struct ran_state *s;
        struct toy t;
        float *want, *got;

        toy_init(&t, &c, 1, 0.3);
        corpus_make(&d, 30, 1, 300, false, 1);
        want = ran_alloc_floats(d.B * TOY_C, &err);
        got = ran_alloc_floats(d.B * TOY_C, &err);
        s = ran_score_state_new(&t.c, &t.p, TOY_C, NULL);
        for (size_t b = 0; b < d.B; b++) {
                const struct ran_document one = ran_dataset_document(&d, b);

                CHECK_OK(ran_score(s, &one, want + b * TOY_C, NULL, &err), err);
        }
        for (size_t i = 0; i < 4; i++) {
                const size_t threads = (const size_t[]){0, 1, 2, 7}[i];
                struct ran_pool *pool = threads > 0 ? ran_pool_new(threads, &err) : NULL;

                memset(got, 0, d.B * TOY_C * sizeof(*got));
                CHECK_OK(ran_evaluate_predict(&t.c, &t.p, TOY_C, &d, pool, NULL, got, NULL, &err),
                         err);
                CHECK(memcmp(got, want, d.B * TOY_C * sizeof(*got)) == 0);
                ran_pool_free(pool);
        }
        ran_state_free(s);
        ran_dataset_release(&d);
        toy_release(&t);
        free(want);
        free(got);
}

/* The encoder's part does not know of the other, which is what is left of the whole. */
TEST(predict_tells_two_paths_apart)
{
        struct ran_config c = toy_config();
        struct ran_error err = {0};
        struct ran_dataset d;
        struct ran_state *s;
        struct toy t;
        float deep[30 * TOY_C], wide[30 * TOY_C], alone[30 * TOY_C], whole[TOY_C];

        c.linear.wide = 30;
        toy_init(&t, &c, 1, 0.3);
        corpus_make(&d, 30, 1, 40, false, 1);
        CHECK_OK(ran_evaluate_predict(&t.c, &t.p, TOY_C, &d, NULL, NULL, deep, wide, &err), err);
        s = ran_score_state_new(&t.c, &t.p, TOY_C, NULL);
        for (size_t b = 0; b < d.B; b++) {
                const struct ran_document one = ran_dataset_document(&d, b);

                CHECK_OK(ran_score(s, &one, whole, NULL, &err), err);
                for (size_t i = 0; i < TOY_C; i++)
                        CHECK_NEAR((double)(deep[b * TOY_C + i] + wide[b * TOY_C + i]),
                                   (double)whole[i], 1e-5);
        }
        ran_state_free(s);
        for (int there = 1; there >= 0; there--) { /* a linear model that is not asked, and none */
                t.c.linear.wide = there ? 30 : 0;
                CHECK_OK(ran_evaluate_predict(&t.c, &t.p, TOY_C, &d, NULL, NULL, alone, NULL, &err),
                         err);
                for (size_t i = 0; i < d.B * TOY_C; i++)
                        CHECK_NEAR((double)deep[i], (double)alone[i], 1e-5);
        }
        ran_dataset_release(&d);
        toy_release(&t);
}

/* A label that the model does not know is one that it misses. */
TEST(evaluate_counts_unknown_labels_as_missed)
{
        const float p[2 * CORPUS_C] = {0.7f, 0.2f, 0.1f, 0.1f, 0.8f, 0.1f};
        struct ran_eval *e;
        struct ran_eval_report r;
        struct ran_dataset d;

        corpus_make(&d, 2, 5, 5, false, 2);
        d.labels[0] = 0;
        d.labels[1] = RAN_LABEL_UNKNOWN;
        e = ran_eval_new(CORPUS_C, NULL, false);
        REQUIRE(e != NULL);
        ran_rates_classify(e, &d, p, NULL);
        ran_eval_finish(e, &r);
        CHECK(r.n == 2 && r.n_known == 1);
        CHECK_NEAR(r.accuracy, 0.5, 1e-12);
        CHECK_NEAR(r.micro.recall, 0.5, 1e-12);
        CHECK_NEAR(r.log_loss, -log(0.7), 1e-6);
        ran_eval_free(e);
        ran_dataset_release(&d);
}

static double micro_f1(const struct ran_dataset *d, const float *p, double threshold)
{
        double hit = 0, said = 0, gold = 0;

        for (size_t b = 0; b < d->B; b++)
                for (uint32_t c = 0; c < CORPUS_C; c++) {
                        bool is = false, says = (double)p[b * CORPUS_C + c] >= threshold;

                        for (size_t i = d->label_first[b]; i < d->label_first[b + 1]; i++)
                                is |= d->labels[i] == c;
                        hit += is && says;
                        said += says;
                        gold += is;
                }
        return said + gold > 0 ? 2 * hit / (said + gold) : 0;
}

TEST(tune_threshold_finds_the_best_and_stays_near_the_middle)
{
        struct dice dice = {.key = 3};

        for (uint64_t round = 0; round < 60; round++) {
                float p[12 * CORPUS_C], got;
                struct ran_dataset d;
                double best = 0;

                corpus_make(&d, 12, 5, 5, true, round);
                for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
                        p[i] = (float)dice_real(&dice, 0, round % 3 == 0 ? 1 : 0.5);
                got = ran_rates_best_threshold(&d, p);
                for (int i = 1; i < 20; i++)
                        best = fmax(best, micro_f1(&d, p, i / 20.0));
                CHECK_NEAR(micro_f1(&d, p, (double)got), best, 1e-12);
                for (int i = 1; i < 20; i++)
                        if (abs(i - 10) < (int)rint(fabs((double)got * 20 - 10)))
                                CHECK(micro_f1(&d, p, i / 20.0) < best);
                ran_dataset_release(&d);
        }
}

/* The mean of the losses is the log loss of a report; a document of unknown labels has none. */
static void check_losses(bool several)
{
        struct dice dice = {.key = 8};
        struct ran_eval_report report;
        struct ran_error err = {0};
        struct ran_dataset d;
        double losses[40];

        corpus_make(&d, 40, 1, 9, several, 5);
        float *p = ran_alloc_floats(d.B * d.C, &err);
        struct ran_eval *e = ran_eval_new(d.C, (const char *const *)d.names, several);
        REQUIRE(p != NULL && e != NULL);
        dice_floats(&dice, p, d.B * d.C, 2);
        for (size_t b = 0; b < d.B; b++)
                ran_probabilities(&(const struct ran_config){.classify.multilabel = several},
                                  p + b * d.C, d.C, p + b * d.C);
        size_t known = 0;
        while (d.label_first[known] == d.label_first[known + 1])
                known++;
        d.labels[d.label_first[known]] = RAN_LABEL_UNKNOWN;
        ran_rates_classify(e, &d, p, NULL);
        ran_eval_finish(e, &report);
        CHECK_NEAR(ran_rates_losses(&d, p, losses), report.log_loss, 1e-6);
        for (size_t b = 0; b < d.B; b++)
                CHECK(isnan(losses[b]) == (b == known));
        ran_eval_free(e);
        free(p);
        ran_dataset_release(&d);
}

TEST(evaluate_losses_of_documents_add_up)
{
        check_losses(false);
        check_losses(true);
}

TEST(evaluate_intervals_are_those_of_the_metric)
{
        const struct ran_rates one = {.accuracy = 0.9,
                                      .micro_f1 = 0.9,
                                      .outputs = 60,
                                      .hits = 54,
                                      .errors = 12,
                                      .single = true};
        struct ran_rates many = one;
        const struct ran_interval share = ran_interval_share(54, 60), f1 = ran_interval_f1(54, 12);

        many.single = false;
        CHECK(ran_rates_interval(&one, RAN_METRIC_MICRO_F1).low == share.low);
        CHECK(ran_rates_interval(&one, RAN_METRIC_ACCURACY).high == share.high);
        CHECK(ran_rates_interval(&many, RAN_METRIC_MICRO_F1).low == f1.low);
        CHECK(ran_rates_interval(&many, RAN_METRIC_ACCURACY).low == share.low);
        for (int metric = RAN_METRIC_MACRO_F1; metric <= RAN_METRIC_LOSS; metric++) {
                const struct ran_interval none = ran_rates_interval(&one, metric);

                CHECK(none.low > none.high);
        }
}
