/* Documents to label next. */
#include <stdio.h>
#include <string.h>

#include "dice.h"
#include "test.h"
#include "ran/model.h"

/* Words as ran_counter_words writes them: of the numbers of an array. */
static void words_of(struct ran_buf *out, const size_t *number, size_t n)
{
        out->len = 0;
        for (size_t i = 0; i < n; i++) {
                char word[24];
                const uint32_t length = (uint32_t)snprintf(word, sizeof word, "w%zu", number[i]);

                ran_buf_add(out, (const char *)&length, sizeof length);
                ran_buf_add(out, word, length);
        }
}

enum { LENGTH = 20 };

/* Document d is about `topic`: 15 words of it, and 5 of its own. */
static void add(struct ran_selection *s, double doubt, size_t topic, size_t own)
{
        struct ran_buf words = {0};
        struct ran_error err = {0};
        size_t number[LENGTH];

        for (size_t i = 0; i < LENGTH; i++)
                number[i] = i < 15 ? 1000 * topic + i : 100000 + own * LENGTH + i;
        words_of(&words, number, LENGTH);
        CHECK_OK(ran_selection_add(s, doubt, words.data, words.len, &err), err);
        ran_buf_release(&words);
}

static size_t choose(const struct ran_selection *s, size_t most, size_t *document)
{
        struct ran_error err = {0};
        size_t n = 0;

        CHECK_OK(ran_selection_choose(s, most, document, &n, &err), err);
        return n;
}

TEST(select_takes_the_most_doubtful_in_order)
{
        struct ran_selection *s = ran_selection_new();
        static const size_t want[] = {38, 39, 36, 37, 34};
        size_t document[40], again[40];

        REQUIRE(s != NULL);
        for (size_t b = 0; b < 40; b++) /* the later, the more doubtful; and two of each doubt */
                add(s, 0.01 * (double)(b / 2), b, b);
        REQUIRE(CHECK_SIZE(choose(s, 5, document), 5));
        for (size_t i = 0; i < 5; i++)
                CHECK_SIZE(document[i], want[i]);
        REQUIRE(CHECK_SIZE(choose(s, 5, again), 5));
        CHECK(memcmp(document, again, 5 * sizeof *document) == 0);
        ran_selection_free(s);
}

TEST(select_takes_doubt_first_and_only_one_of_near_duplicates)
{
        struct ran_selection *s = ran_selection_new();
        size_t document[30];

        REQUIRE(s != NULL);
        for (size_t b = 0; b < 20; b++) /* 0 and 1, 2 and 3 ... are the same text */
                add(s, b < 10 ? 0.9 : 0.1, 100 + b / 2, b / 2);
        REQUIRE(CHECK_SIZE(choose(s, 5, document), 5));
        for (size_t i = 0; i < 5; i++)
                CHECK(document[i] < 10 && document[i] % 2 == 0);
        CHECK_SIZE(choose(s, 30, document), 10); /* nothing else is left */
        ran_selection_free(s);
}

TEST(select_goes_on_where_the_most_doubtful_are_alike)
{
        struct ran_selection *s = ran_selection_new();
        size_t document[3];

        REQUIRE(s != NULL);
        for (size_t b = 0; b < 50; b++)
                add(s, b < 45 ? 0.9 : 0.5, b < 45 ? 1 : b, b < 45 ? 1 : b);
        REQUIRE(CHECK_SIZE(choose(s, 3, document), 3));
        CHECK_SIZE(document[0], 0);
        CHECK_SIZE(document[1], 45);
        CHECK_SIZE(document[2], 46);
        ran_selection_free(s);
}

TEST(select_refuses_what_are_no_words_and_has_nothing_of_nothing)
{
        struct ran_selection *s = ran_selection_new();
        struct ran_error err = {0};
        size_t document[1];

        REQUIRE(s != NULL);
        CHECK_SIZE(choose(s, 1, document), 0);
        CHECK(ran_selection_add(s, 1, "abc", 3, &err) == RAN_EINVAL);
        CHECK(ran_selection_add(s, 1, "\xff\0\0\0a", 5, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "these are no words");
        CHECK_OK(ran_selection_add(s, 1, NULL, 0, &err), err); /* a text without words */
        CHECK_SIZE(choose(s, 1, document), 1);
        ran_selection_free(s);
}
