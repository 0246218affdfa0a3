/* Metrics of classifiers: by hand on tiny cases, and by counting anew on random ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/classify/classify.h"
#include "eval/eval.h"
#include "ran.h"
#include "test.h"

static const char *const names[] = {"ant", "bee", "cat"};

static struct ran_eval *new_eval(size_t C, bool multilabel)
{
        return ran_eval_new(C, C == 3 ? names : NULL, multilabel);
}

static void report(const struct ran_eval_report *e, struct ran_buf *json, struct ran_buf *text)
{
        struct report r = {0};

        classify_eval_figures(e, &r);
        if (json != NULL)
                report_json(&r, json);
        if (text != NULL)
                report_text(&r, text);
        report_release(&r);
}

static void add(struct ran_eval *e, uint32_t gold, float p0, float p1, float p2)
{
        ran_eval_add(e, &gold, 1, 0, (float[]){p0, p1, p2}, NULL);
}

static void check_rates(const struct ran_prf *r, double precision, double recall, double f1)
{
        CHECK_NEAR(r->precision, precision, 1e-12);
        CHECK_NEAR(r->recall, recall, 1e-12);
        CHECK_NEAR(r->f1, f1, 1e-12);
}

/* gold ant ant bee cat, found ant bee bee ant. */
TEST(eval_single_label_by_hand)
{
        struct ran_eval *e = new_eval(3, false);
        struct ran_eval_report r;

        REQUIRE(e != NULL);
        add(e, 0, 0.5f, 0.25f, 0.25f);
        add(e, 0, 0.25f, 0.625f, 0.125f);
        add(e, 1, 0, 1, 0);
        add(e, 2, 0.75f, 0.125f, 0.125f);
        ran_eval_finish(e, &r);
        CHECK_SIZE(r.n, 4);
        CHECK_NEAR(r.accuracy, 0.5, 0);
        check_rates(&r.micro, 0.5, 0.5, 0.5);
        check_rates(&r.classes[0].rates, 0.5, 0.5, 0.5);
        check_rates(&r.classes[1].rates, 0.5, 1, 2.0 / 3);
        check_rates(&r.classes[2].rates, 0, 0, 0);
        check_rates(&r.macro, 1.0 / 3, 0.5, (0.5 + 2.0 / 3) / 3);
        check_rates(&r.weighted, (0.5 * 2 + 0.5) / 4, (0.5 * 2 + 1) / 4, (0.5 * 2 + 2.0 / 3) / 4);
        CHECK_NEAR(r.log_loss, -(log(0.5) + log(0.25) + log(1) + log(0.125)) / 4, 1e-12);
        CHECK_NEAR(r.brier,
                   (0.375 + (0.5625 + 0.390625 + 0.015625) + 0 + (0.5625 + 0.015625 + 0.765625)) /
                           4,
                   1e-12);
        CHECK_NEAR(r.top[0], 0.5, 0);
        /* The third of gold cat is shared with bee, which comes first. */
        CHECK_NEAR(r.top[1], 0.75, 0);
        CHECK_NEAR(r.top[2], 1, 0);
        REQUIRE(r.cells == 4);
        CHECK(r.confusion[3].gold == 2 && r.confusion[3].predicted == 0 &&
              r.confusion[3].count == 1);
        ran_eval_free(e);
}

/* Sets by p >= 0.25: of two, of one, of none, of one that is wrong; and one whose label is unknown.
 * Twice. */
TEST(eval_sets_by_hand)
{
        struct ran_eval *e = new_eval(3, false);
        struct ran_eval_report r;

        REQUIRE(e != NULL);
        ran_eval_sets(e, 0.25f);
        for (int i = 0; i < 2; i++) {
                add(e, 1, 0.5f, 0.25f, 0.2f);
                add(e, 0, 0.7f, 0.2f, 0.1f);
                add(e, 0, 0.2f, 0.2f, 0.2f);
                add(e, 0, 0, 0.9f, 0.1f);
                ran_eval_add(e, NULL, 0, 1, (float[]){0.3f, 0.3f, 0.4f}, NULL);
        }
        ran_eval_finish(e, &r);
        CHECK(r.sets);
        CHECK_NEAR(r.covered, 0.4, 1e-12);
        CHECK_NEAR(r.set_size, 7.0 / 5, 1e-12);
        CHECK_NEAR(r.single, 0.4, 1e-12);
        CHECK_NEAR(r.single_accuracy, 0.5, 1e-12);
        CHECK_NEAR(r.empty, 0.2, 1e-12);
        ran_eval_free(e);
}

/* Two documents of confidence 0.9, one of them right; two of 0.6, both right: gaps of 0.4. */
TEST(eval_calibration_by_hand)
{
        struct ran_eval *e = new_eval(3, false);
        struct ran_eval_report r;

        REQUIRE(e != NULL);
        add(e, 0, 0.9f, 0.1f, 0);
        add(e, 1, 0.9f, 0.1f, 0);
        add(e, 0, 0.6f, 0.4f, 0);
        add(e, 0, 0.6f, 0.4f, 0);
        add(e, 2, 0, 0, 1);
        add(e, 2, 0, 0, 1);
        ran_eval_finish(e, &r);
        CHECK_NEAR(r.ece, (2 * 0.4 + 2 * 0.4) / 6, 1e-7);
        ran_eval_free(e);
}

/* sklearn's averages leave out a class that is neither in the data nor ever predicted. */
TEST(eval_macro_is_over_classes_that_occur)
{
        struct ran_eval *e = new_eval(3, false);
        struct ran_eval_report r;

        REQUIRE(e != NULL);
        add(e, 0, 1, 0, 0);
        add(e, 1, 0, 1, 0);
        ran_eval_finish(e, &r);
        check_rates(&r.macro, 1, 1, 1);
        ran_eval_free(e);
}

TEST(eval_unknown_gold_label_is_a_miss)
{
        struct ran_eval *e = new_eval(3, false);
        struct ran_eval_report r;
        const float p[] = {1, 0, 0};

        REQUIRE(e != NULL);
        add(e, 0, 1, 0, 0);
        ran_eval_add(e, NULL, 0, 1, p, NULL);
        ran_eval_unknown(e, "emu", 3);
        ran_eval_unknown(e, "dog", 3);
        ran_eval_unknown(e, "emu", 3);
        ran_eval_finish(e, &r);
        CHECK_SIZE(r.n, 2);
        CHECK_SIZE(r.n_known, 1);
        CHECK_NEAR(r.accuracy, 0.5, 0);
        check_rates(&r.micro, 0.5, 0.5, 0.5);
        CHECK_NEAR(r.log_loss, 0, 1e-12);
        REQUIRE(r.n_unknown == 2);
        CHECK_STR(r.unknown[0].name, "dog");
        CHECK_STR(r.unknown[1].name, "emu");
        CHECK_SIZE(r.unknown[1].count, 2);
        ran_eval_free(e);
}

TEST(eval_losses_stay_finite)
{
        struct ran_eval *e = new_eval(3, false), *several = new_eval(3, true);
        struct ran_eval_report r;

        REQUIRE(e != NULL && several != NULL);
        add(e, 0, 0, 1, 0);
        ran_eval_finish(e, &r);
        CHECK(isfinite(r.log_loss) && r.log_loss > 80);
        add(several, 0, 0, 1, 0);
        ran_eval_finish(several, &r);
        CHECK(isfinite(r.log_loss));
        ran_eval_free(e);
        ran_eval_free(several);
}

/* gold {ant,bee}, {}, {cat}; found at 0.5 {ant}, {}, {bee,cat}. */
TEST(eval_several_labels_by_hand)
{
        struct ran_eval *e = new_eval(3, true);
        struct ran_eval_report r;
        const uint32_t both[] = {1, 0}, cat = 2;

        REQUIRE(e != NULL);
        ran_eval_add(e, both, 2, 0, (float[]){0.75f, 0.25f, 0}, NULL);
        ran_eval_add(e, NULL, 0, 0, (float[]){0.25f, 0.25f, 0}, NULL);
        ran_eval_add(e, &cat, 1, 0, (float[]){0, 0.5f, 1}, NULL);
        ran_eval_finish(e, &r);
        CHECK_NEAR(r.accuracy, 1.0 / 3, 1e-12);
        check_rates(&r.micro, 2.0 / 3, 2.0 / 3, 2.0 / 3);
        CHECK_NEAR(r.log_loss,
                   -(log(0.75) + log(0.25) + 2 * log(0.75) + log(0.5) + 4 * log1p(-0x1p-25)) / 9,
                   1e-6);
        CHECK_NEAR(r.brier, (0.0625 + 0.5625 + 0.0625 * 2 + 0.25) / 9, 1e-12);
        CHECK_SIZE(r.cells, 0);
        ran_eval_free(e);
}

TEST(eval_thresholds_decide)
{
        struct ran_eval *e = new_eval(3, true);
        struct ran_eval_report r;
        const float thresholds[] = {0.2f, 0.9f, 0.5f};
        const uint32_t ant = 0;

        REQUIRE(e != NULL);
        ran_eval_add(e, &ant, 1, 0, (float[]){0.2f, 0.8f, 0.4f}, thresholds);
        ran_eval_finish(e, &r);
        CHECK_NEAR(r.accuracy, 1, 0);
        ran_eval_free(e);
}

/* Many classes, so that cells are joined again and again; counted anew in a square. */
TEST(eval_confusion_of_many_classes)
{
        enum { C = 60, DOCUMENTS = 3000 };
        static size_t square[C][C];
        static float p[C];
        struct ran_eval *e = new_eval(C, false);
        struct ran_eval_report r;

        REQUIRE(e != NULL);
        for (uint64_t i = 0; i < DOCUMENTS; i++) {
                uint32_t gold = (uint32_t)(ran_random_draw(7, 2 * i) % C);
                size_t found = ran_random_draw(7, 2 * i + 1) % 8 == 0 ? (gold * 7 + 1) % C : gold;
                memset(p, 0, sizeof(p));
                p[found] = 1;
                square[gold][found]++;
                ran_eval_add(e, &gold, 1, 0, p, NULL);
        }
        ran_eval_finish(e, &r);
        size_t sum = 0;
        for (size_t i = 0; i < r.cells; i++) {
                CHECK_SIZE(r.confusion[i].count,
                           square[r.confusion[i].gold][r.confusion[i].predicted]);
                sum += r.confusion[i].count;
        }
        CHECK_SIZE(sum, DOCUMENTS);
        ran_eval_free(e);
}

/* ---- reports -------------------------------------------------------------------------------- */

TEST(eval_report_as_json)
{
        struct ran_eval *e = new_eval(3, false);
        struct ran_eval_report r;
        struct ran_buf out = {0};
        struct ran_record json = {0};
        struct ran_error err;

        REQUIRE(e != NULL);
        add(e, 0, 1, 0, 0);
        add(e, 1, 1, 0, 0);
        ran_eval_finish(e, &r);
        r.n_skipped = 5;
        report(&r, &out, NULL);
        CHECK_OK(ran_record_scan(&json, out.data, out.len, &err), err);
        ran_buf_char(&out, '\0');
        CHECK(strstr(out.data,
                     "{\"n\":2,\"n_skipped\":5,\"accuracy\":0.5,\"baseline\":{\"label\":\"ant\","
                     "\"accuracy\":0.5},\"micro\":{\"precision\":0.5,"
                     "\"recall\":0.5,\"f1\":0.5},") != NULL);
        CHECK(strstr(out.data, "\"per_class\":[{\"label\":\"ant\",\"tp\":1,\"fp\":1,\"fn\":0,"
                               "\"support\":1,\"precision\":0.5,\"recall\":1,\"f1\":") != NULL);
        CHECK(strstr(out.data, "\"confusion\":{\"labels\":[\"ant\",\"bee\",\"cat\"],"
                               "\"matrix\":[[1,0,0],[1,0,0],[0,0,0]]}") != NULL);
        CHECK(strstr(out.data, "\"unknown_labels\":{\"count\":0,\"labels\":[]}}") != NULL);
        ran_record_release(&json);
        ran_buf_release(&out);
        ran_eval_free(e);
}

/* "0", "1" ... */
static const char *const *many_names(void)
{
        static char name[60][12];
        static const char *names_of[60];

        for (int i = 0; i < 60; i++) {
                snprintf(name[i], sizeof name[i], "%d", i);
                names_of[i] = name[i];
        }
        return names_of;
}

/* Nothing was evaluated: no number is a NaN in JSON. */
TEST(eval_report_of_nothing)
{
        struct ran_eval *e = ran_eval_new(60, many_names(), false);
        struct ran_eval_report r;
        struct ran_buf out = {0};
        struct ran_record json = {0};
        struct ran_error err;

        REQUIRE(e != NULL);
        ran_eval_finish(e, &r);
        report(&r, &out, NULL);
        CHECK_OK(ran_record_scan(&json, out.data, out.len, &err), err);
        CHECK(ran_record_find(&json, "accuracy", NULL)->type == '0');
        ran_buf_char(&out, '\0');
        CHECK(strstr(out.data, "\"confusion\":{\"cells\":[]}") != NULL);
        ran_record_release(&json);
        ran_buf_release(&out);
        ran_eval_free(e);
}

TEST(eval_report_as_text)
{
        static const char *const odd[] = {"a\x1b[2J\xc2\x9b", "b\xc3\xa9"
                                                              "e"};
        struct ran_eval *e = ran_eval_new(2, odd, false);
        struct ran_eval_report r;
        struct ran_buf out = {0};
        uint32_t gold = 1;

        REQUIRE(e != NULL);
        ran_eval_add(e, &gold, 1, 0, (float[]){0.25f, 0.75f}, NULL);
        ran_eval_finish(e, &r);
        report(&r, NULL, &out);
        ran_buf_char(&out, '\0');
        CHECK(strchr(out.data, '\x1b') == NULL && strstr(out.data, "\xc2\x9b") == NULL);
        CHECK(strstr(out.data, "\naccuracy           1.0000 (95 % interval: 0.2065 to 1.0000)\n") !=
              NULL);
        CHECK(strstr(out.data, "\nbaseline           1.0000 (always b\xc3\xa9"
                               "e)\n") != NULL);
        CHECK(strstr(out.data,
                     "\nb\xc3\xa9"
                     "e                   1      0       0          1     1.0000  1.0000  "
                     "1.0000\n") != NULL);
        ran_buf_release(&out);
        ran_eval_free(e);
}

/* Of many classes the frequent confusions are named, not a table; of labels that the model has not,
 * and of sets, there is a line. */
TEST(eval_report_of_many_classes)
{
        enum { C = 60 };
        struct ran_eval *e = ran_eval_new(C, many_names(), false);
        struct ran_eval_report r;
        struct ran_buf text = {0}, json = {0};
        struct ran_record record = {0};
        struct ran_error err;

        REQUIRE(e != NULL);
        ran_eval_sets(e, 0.5f);
        for (uint32_t i = 0; i < 90; i++) { /* class k is taken for k + 1, twice below 30 */
                float p[C] = {0};
                uint32_t gold = i < 30 ? i : (i - 30) % C;

                p[(gold + 1) % C] = 0.75f;
                p[gold] = 0.25f;
                ran_eval_add(e, &gold, 1, 0, p, NULL);
        }
        for (int i = 0; i < 3; i++) {
                ran_eval_add(e, NULL, 0, 1, (float[C]){1}, NULL);
                ran_eval_unknown(e, "eel\x1b\xc2\x85", 6);
        }
        ran_eval_finish(e, &r);
        r.n_skipped = 7;
        report(&r, &json, &text);
        ran_buf_char(&text, '\0');
        CHECK(strstr(text.data, "\nwithout a label    7 (left out)\n") != NULL);
        CHECK(strstr(text.data, "\namong the first 2  0.9677\n") != NULL);
        CHECK(strstr(text.data, "\nof these right   0.0000\n") != NULL);
        CHECK(strstr(text.data, "Columns, in the same order") == NULL);
        CHECK(strstr(text.data, "documents\n0            1              2\n1            2   ") !=
              NULL);
        CHECK(strstr(text.data, "\n39           40             1\n\nLabels that") != NULL);
        CHECK(strstr(text.data, "\neel<U+001B><U+0085>      3\n") != NULL);
        CHECK_OK(ran_record_scan(&record, json.data, json.len, &err), err);
        ran_buf_char(&json, '\0');
        CHECK(strstr(json.data, "\"confusion\":{\"cells\":[{\"gold\":\"0\",\"predicted\":\"1\","
                                "\"count\":2},{\"gold\":\"1\",") != NULL);
        CHECK(strstr(json.data, "\"unknown_labels\":{\"count\":3,\"labels\":[{\"label\":"
                                "\"eel\\u001b\xc2\x85\",\"count\":3}]}}") != NULL);
        CHECK(strstr(json.data, "\"sets\":{\"coverage\":0,\"size\":1,\"empty\":0,") != NULL);
        ran_record_release(&record);
        ran_buf_release(&text);
        ran_buf_release(&json);
        ran_eval_free(e);
}

/* Of Newcombe (1998), Statistics in Medicine 17, table I, the score method: 81 of 263, 15 of 148, 0
 * of 20 and 1 of 29; and shares of all. */
TEST(eval_intervals_of_shares_are_those_of_wilson)
{
        static const struct {
                double hits, n, low, high;
        } known[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611},
                     {1, 29, 0.0061, 0.1718},   {60, 60, 0.9398, 1},       {0, 0, 0, 1}};

        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
                const struct ran_interval x = ran_interval_share(known[i].hits, known[i].n);

                CHECK_NEAR(x.low, known[i].low, 5e-5);
                CHECK_NEAR(x.high, known[i].high, 5e-5);
        }
}

/* 40 hits, 20 errors: J = 40 of 60, of which Wilson's interval is 0.5407 to 0.7727. */
TEST(eval_intervals_of_f1)
{
        const struct ran_interval x = ran_interval_f1(40, 20), j = ran_interval_share(40, 60);

        CHECK_NEAR(j.low, 0.5407, 5e-4);
        CHECK_NEAR(j.high, 0.7727, 5e-4);
        CHECK_NEAR(x.low, 2 * j.low / (1 + j.low), 1e-12);
        CHECK_NEAR(x.high, 2 * j.high / (1 + j.high), 1e-12);
        CHECK(x.low < 0.8 && x.high > 0.8);
        const struct ran_interval all = ran_interval_f1(9, 0), none = ran_interval_f1(0, 0);
        CHECK(all.high == 1 && all.low < 1 && none.low == 0 && none.high == 1);
}

/* ---- two models ------------------------------------------------------------------------------ */

TEST(eval_mcnemar_is_the_exact_binomial_test)
{
        static const struct {
                size_t b, c;
                double p;
        } cases[] = {{0, 0, 1},
                     {0, 1, 1},
                     {1, 3, 0.625},
                     {0, 10, 0.001953125},
                     {5, 15, 0.04138946533203125},
                     {30, 60, 0.002060265680963076},
                     {400, 500, 0.0009564441369189461},
                     {100, 100, 1},
                     {0, 1000000, 0}};

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                CHECK_NEAR(ran_mcnemar(cases[i].b, cases[i].c), cases[i].p, 1e-11);
                CHECK_NEAR(ran_mcnemar(cases[i].c, cases[i].b), cases[i].p, 1e-11);
        }
}

static void add_pair(struct ran_paired *p, struct ran_answer a, struct ran_answer b)
{
        ran_paired_add(p, &a, &b);
}

TEST(eval_two_models_by_hand)
{
        const struct ran_answer right = {1, 0, 0}, wrong = {0, 1, 1};
        struct ran_paired *p = ran_paired_new(false);
        struct ran_paired_report r;

        REQUIRE(p != NULL);
        ran_paired_finish(p, &r);
        CHECK(r.n == 0 && r.p == 1 && r.difference.low == 0 && r.difference.high == 0);
        for (size_t i = 0; i < 100; i++)
                add_pair(p, i < 80 ? right : wrong, i < 65 || i >= 95 ? right : wrong);
        ran_paired_finish(p, &r);
        CHECK(r.both == 65 && r.first_only == 15 && r.second_only == 5 && r.neither == 15);
        CHECK_NEAR(r.first, 0.8, 1e-12);
        CHECK_NEAR(r.second, 0.7, 1e-12);
        CHECK_NEAR(r.p, 0.04138946533203125, 1e-11);
        /* The normal approximation: 0.1 +- 1.96 sqrt((0.2 - 0.01) / 100). */
        CHECK_NEAR(r.difference.low, 0.0146, 0.015);
        CHECK_NEAR(r.difference.high, 0.1854, 0.015);
        ran_paired_free(p);
}

TEST(eval_two_models_with_several_labels)
{
        struct ran_paired *p = ran_paired_new(true);
        struct ran_paired_report r;

        REQUIRE(p != NULL);
        add_pair(p, (struct ran_answer){3, 1, 0}, (struct ran_answer){2, 0, 1});
        add_pair(p, (struct ran_answer){0, 0, 0}, (struct ran_answer){0, 2, 0}); /* no label */
        ran_paired_finish(p, &r);
        CHECK_NEAR(r.first, 2 * 3.0 / (2 * 3 + 1), 1e-12);
        CHECK_NEAR(r.second, 2 * 2.0 / (2 * 2 + 2 + 1), 1e-12);
        CHECK(r.first_only == 1 && r.neither == 1);
        ran_paired_free(p);
        p = ran_paired_new(true);
        REQUIRE(p != NULL);
        for (size_t i = 0; i < 30; i++) /* the same answers: no resample differs */
                add_pair(p, (struct ran_answer){1, i % 2, i % 3},
                         (struct ran_answer){1, i % 2, i % 3});
        ran_paired_finish(p, &r);
        CHECK(r.difference.low == 0 && r.difference.high == 0 && r.p == 1);
        ran_paired_free(p);
}
