/* Scores of generated texts: BLEU and chrF as sacreBLEU's own code computes them (version of
 * 2026-01-12), ROUGE by its definition in another language; corpora are sums, intervals cover. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "test.h"

/* What is awkward: empty, repeated, punctuation, white space, other scripts. */
static const struct {
        const char *text, *reference;
        double bleu, chrf, rouge[RAN_ROUGES];
} awkward[] = {
        {"", "", 0.000000, 0.000000, {0.000000, 0.000000, 0.000000}},
        {"", "A short line.", 0.000000, 0.000000, {0.000000, 0.000000, 0.000000}},
        {"word", "", 0.000000, 0.000000, {0.000000, 0.000000, 0.000000}},
        {"word", "word", 0.000000, 100.000000, {1.000000, 0.000000, 1.000000}},
        {"Word", "word", 0.000000, 47.916667, {1.000000, 0.000000, 1.000000}},
        {"a", "b", 0.000000, 0.000000, {0.000000, 0.000000, 0.000000}},
        {".", ".", 0.000000, 100.000000, {0.000000, 0.000000, 0.000000}},
        {"...", "...", 0.000000, 100.000000, {0.000000, 0.000000, 0.000000}},
        {"?!?!", "?!", 31.947155, 78.125000, {0.000000, 0.000000, 0.000000}},
        {"The price is 3,000.50 euros.",
         "The price is 3,000.50 euros.",
         100.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"It rose 3-4% in 2019-20.",
         "It rose 3 - 4 % in 2019 - 20 .",
         100.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"Tom &amp; Ann said &quot;yes&quot; &lt;here&gt;.",
         "Tom & Ann said \"yes\" <here>.",
         100.000000,
         35.233835,
         {0.666667, 0.153846, 0.666667}},
        {"a <skipped> b", "a b", 0.000000, 26.315789, {0.800000, 0.000000, 0.800000}},
        {"hyphen-\nated line",
         "hyphenated line",
         0.000000,
         74.201342,
         {0.400000, 0.000000, 0.400000}},
        {"one\ntwo three four",
         "one two three four",
         100.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"  spaces   around  here  ",
         "spaces around here",
         0.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"tab\there and\xc2\xa0there",
         "tab here and there",
         100.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"Gr\xc3\xb6\xc3\x9f"
         "e, Ma\xc3\x9f"
         "e und \xc3\x9c"
         "bermut.",
         "Gr\xc3\xb6\xc3\x9f"
         "e, Masse und \xc3\x9c"
         "bermut.",
         37.991784,
         76.749810,
         {0.727273, 0.444444, 0.727273}},
        {"\xd0\xbe\xd0\xbd\xd0\xb0 \xd1\x87\xd0\xb8\xd1\x82\xd0\xb0\xd0\xb5\xd1\x82 "
         "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3\xd1\x83 \xd0\xb2 \xd1\x81\xd0\xb0\xd0\xb4\xd1\x83",
         "\xd0\xbe\xd0\xbd\xd0\xb0 \xd1\x87\xd0\xb8\xd1\x82\xd0\xb0\xd0\xbb\xd0\xb0 "
         "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3\xd1\x83 \xd0\xb2 "
         "\xd0\xb1\xd0\xbe\xd0\xbb\xd1\x8c\xd1\x88\xd0\xbe\xd0\xbc "
         "\xd1\x81\xd0\xb0\xd0\xb4\xd1\x83",
         20.801195,
         42.289836,
         {0.000000, 0.000000, 0.000000}},
        {"\xe6\x88\x91\xe5\x9c\xa8\xe5\x85\xac\xe5\x9b\xad\xe9\x87\x8c\xe8\xb7\x91\xe6\xad\xa5\xe3"
         "\x80\x82",
         "\xe6\x88\x91\xe5\x9c\xa8\xe5\x85\xac\xe5\x9b\xad\xe9\x87\x8c\xe6\x95\xa3\xe6\xad\xa5\xe3"
         "\x80\x82",
         0.000000,
         45.654762,
         {0.000000, 0.000000, 0.000000}},
        {"\xe3\x81\x93\xe3\x82\x8c\xe3\x81\xaf\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88\xe3\x81\xa7\xe3"
         "\x81\x99",
         "\xe3\x81\x93\xe3\x82\x8c\xe3\x81\xaf\xe8\xa9\xa6\xe9\xa8\x93\xe3\x81\xa7\xe3\x81\x99",
         0.000000,
         22.844851,
         {0.000000, 0.000000, 0.000000}},
        {"\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7 "
         "\xd8\xa8\xd8\xa7\xd9\x84\xd8\xb9\xd8\xa7\xd9\x84\xd9\x85 "
         "\xd8\xa7\xd9\x84\xd8\xac\xd9\x85\xd9\x8a\xd9\x84",
         "\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7 "
         "\xd8\xa8\xd8\xa7\xd9\x84\xd8\xb9\xd8\xa7\xd9\x84\xd9\x85",
         0.000000,
         88.582443,
         {0.000000, 0.000000, 0.000000}},
        {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80 ok \xf0\x9f\x98\x80",
         "\xf0\x9f\x98\x80 ok \xf0\x9f\x98\x80\xf0\x9f\x98\x80",
         0.000000,
         63.333333,
         {1.000000, 0.000000, 1.000000}},
        {"cafe\xcc\x81 bar",
         "caf\xc3\xa9 bar",
         0.000000,
         31.053689,
         {0.500000, 0.000000, 0.500000}},
        {"the the the the the the",
         "the cat the mat",
         9.652435,
         18.543775,
         {0.400000, 0.000000, 0.400000}},
        {"the cat sat on the mat and slept",
         "on the mat the cat sat and slept",
         39.281465,
         83.397406,
         {1.000000, 0.714286, 0.625000}},
        {"a b c d",
         "a b c d e f g h i j k l",
         13.533528,
         27.107714,
         {0.500000, 0.428571, 0.500000}},
        {"a b c d e f g h i j k l",
         "a b c d",
         21.200627,
         59.799789,
         {0.500000, 0.428571, 0.500000}},
        {"don't can't won't",
         "don 't can 't won 't",
         0.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"x.y,z 1.2,3 4.a b.5",
         "x . y , z 1.2,3 4. a b .5",
         100.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
        {"(left) [mid] {right} /slash\\",
         "( left ) [ mid ] { right } / slash \\",
         100.000000,
         100.000000,
         {1.000000, 1.000000, 1.000000}},
};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

static void count(struct ran_text_counter *c, const char *text, const char *reference,
                  struct ran_text_counts *out)
{

        ran_text_count(c, text, strlen(text), reference, strlen(reference), out);
}

TEST(awkward_texts_score_as_in_sacrebleu)
{
        struct ran_text_counter *c = ran_text_counter_new();
        struct ran_text_score *all = ran_text_score_new();
        struct ran_text_report report;
        struct ran_text_counts counts;

        REQUIRE(c != NULL && all != NULL);
        for (size_t i = 0; i < AWKWARD; i++) {
                struct ran_text_score *one = ran_text_score_new();

                REQUIRE(one != NULL);
                count(c, awkward[i].text, awkward[i].reference, &counts);
                ran_text_score_add(one, &counts);
                ran_text_score_add(all, &counts);
                ran_text_score_finish(one, 1, &report);
                CHECK_NEAR(report.bleu.value, awkward[i].bleu, 1e-6);
                CHECK_NEAR(report.chrf.value, awkward[i].chrf, 1e-6);
                CHECK_NEAR(report.bleu.low, report.bleu.high, 0); /* one text: no interval */
                for (size_t k = 0; k < RAN_ROUGES; k++)
                        CHECK_NEAR(report.rouge[k].value, awkward[i].rouge[k], 1e-6);
                ran_text_score_free(one);
        }
        ran_text_score_finish(all, 1, &report);
        CHECK_SIZE(report.n, AWKWARD);
        CHECK_NEAR(report.bleu.value, 70.112490, 1e-6);
        CHECK_NEAR(report.chrf.value, 73.569379, 1e-6);
        CHECK_NEAR(report.rouge[0].value, 0.5320625610948191, 1e-9);
        CHECK_NEAR(report.rouge[1].value, 0.3280554570877151, 1e-9);
        CHECK_NEAR(report.rouge[2].value, 0.5199657869012707, 1e-9);
        ran_text_score_free(all);
        ran_text_counter_free(c);
}

/* ---- ROUGE-L -------------------------------------------------------------------------------- */

enum { LONGEST = 300 };

/* By the table of the textbook. */
static size_t subsequence(const char *a, size_t n, const char *b, size_t m)
{
        size_t row[LONGEST + 1] = {0};

        for (size_t i = 0; i < n; i++) {
                size_t diagonal = 0;

                for (size_t j = 0; j < m; j++) {
                        size_t above = row[j + 1];

                        row[j + 1] = a[i] == b[j] ? diagonal + 1 : above > row[j] ? above : row[j];
                        diagonal = above;
                }
        }
        return row[m];
}

/* One letter a word, in texts of several blocks of 64 words. */
TEST(equal_texts_score_100_and_not_more)
{
        /* exp(log 100) is above 100, and so was the score of most texts. */
        static const char *const texts[] = {"a b c d e f", "a b c d",
                                            "one two three four five six ."};
        struct ran_text_counter *c = ran_text_counter_new();
        struct ran_text_score *all = ran_text_score_new();
        struct ran_text_report report;
        struct ran_text_counts counts;

        REQUIRE(c != NULL && all != NULL);
        for (size_t i = 0; i < 30; i++) {
                count(c, texts[i % 3], texts[i % 3], &counts);
                ran_text_score_add(all, &counts);
        }
        ran_text_score_finish(all, 1, &report);
        CHECK(report.bleu.value == 100 && report.bleu.low == 100 && report.bleu.high == 100);
        CHECK(report.chrf.value == 100);
        ran_text_score_free(all);
        ran_text_counter_free(c);
}

TEST(longest_common_subsequence_is_that_of_the_table)
{
        struct dice dice = {.key = ran_random_key(2, 7, 3, 1)};
        struct ran_text_counter *c = ran_text_counter_new();

        REQUIRE(c != NULL);
        for (size_t i = 0; i < 200; i++) {
                char word[2][LONGEST], text[2][2 * LONGEST];
                size_t n[2], letters = dice_size(&dice, 1, 20);
                struct ran_text_counts counts;

                for (size_t k = 0; k < 2; k++) {
                        n[k] = dice_size(&dice, 1, LONGEST);
                        for (size_t j = 0; j < n[k]; j++) {
                                word[k][j] = (char)('a' + dice_size(&dice, 0, letters - 1));
                                text[k][2 * j] = word[k][j];
                                text[k][2 * j + 1] = ' ';
                        }
                }
                ran_text_count(c, text[0], 2 * n[0], text[1], 2 * n[1], &counts);
                double common = (double)subsequence(word[0], n[0], word[1], n[1]);
                CHECK_NEAR(counts.rouge[2].precision, common / (double)n[0], 1e-12);
                CHECK_NEAR(counts.rouge[2].recall, common / (double)n[1], 1e-12);
        }
        ran_text_counter_free(c);
}

/* ---- corpora -------------------------------------------------------------------------------- */

/* A corpus of n texts, each right but for some words. */
static struct ran_text_report report_of(size_t n, uint64_t seed)
{
        struct dice dice = {.key = ran_random_key(2, 7, 3, 2)};
        struct ran_text_counter *c = ran_text_counter_new();
        struct ran_text_score *s = ran_text_score_new();
        struct ran_text_report report = {0};

        CHECK(c != NULL && s != NULL);
        for (size_t i = 0; i < n; i++) {
                char text[64], reference[64];
                struct ran_text_counts counts;

                for (size_t j = 0; j < 24; j += 2) {
                        reference[j] = (char)('a' + dice_size(&dice, 0, 9));
                        text[j] = dice_coin(&dice) ? reference[j] : 'x';
                        text[j + 1] = reference[j + 1] = ' ';
                }
                ran_text_count(c, text, 24, reference, 24, &counts);
                ran_text_score_add(s, &counts);
        }
        ran_text_score_finish(s, seed, &report);
        ran_text_score_free(s);
        ran_text_counter_free(c);
        return report;
}

TEST(intervals_are_fixed_by_the_seed_and_shrink_with_the_corpus)
{
        struct ran_text_report some = report_of(50, 1), again = report_of(50, 1),
                               other = report_of(50, 2), more = report_of(5000, 1);

        CHECK(memcmp(&some, &again, sizeof some) == 0);
        CHECK(some.bleu.low != other.bleu.low || some.bleu.high != other.bleu.high);
        CHECK(some.bleu.value == other.bleu.value);
        CHECK(some.bleu.low < some.bleu.value && some.bleu.value < some.bleu.high);
        CHECK(some.rouge[0].low < some.rouge[0].value);
        /* An expectation of 100 times the texts is 10 times as sure. */
        CHECK_NEAR((some.rouge[0].high - some.rouge[0].low) /
                           (more.rouge[0].high - more.rouge[0].low),
                   10, 3);
        /* Its words are right half of the time: the interval of a mean of 50 x 12 of them. */
        CHECK_NEAR(some.rouge[0].high - some.rouge[0].low, 2 * 1.96 * sqrt(0.25 / 600), 0.02);
}

/* Beyond the number of units, texts form runs, and nothing is lost. */
TEST(large_corpus_has_all_its_texts)
{
        struct ran_text_counter *c = ran_text_counter_new();
        struct ran_text_score *s = ran_text_score_new();
        struct ran_text_report report;
        struct ran_text_counts counts[2];

        REQUIRE(c != NULL && s != NULL);
        count(c, "a b c d e", "a b c d e", &counts[0]);
        count(c, "a b x d e f", "a b c d e", &counts[1]);
        for (size_t i = 0; i < 90001; i++)
                ran_text_score_add(s, &counts[i % 3 == 0]);
        ran_text_score_finish(s, 1, &report);
        CHECK_SIZE(report.n, 90001);
        CHECK_SIZE((size_t)report.length, 60000 * 5 + 30001 * 6);
        CHECK_NEAR(report.rouge[0].value,
                   (60000 * counts[0].rouge[0].f1 + 30001 * counts[1].rouge[0].f1) / 90001, 1e-9);
        CHECK(report.bleu.high - report.bleu.low < 0.5);
        ran_text_score_free(s);
        ran_text_counter_free(c);
}
