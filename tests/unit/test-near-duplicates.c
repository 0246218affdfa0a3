/* Near-duplicates: similarities are those of sets, and nearly all of them are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* The words of a text of small letters and spaces, as ran_counter_words writes them. */
static void words_of(const char *text, struct ran_buf *words)
{
        words->len = 0;
        while (*text != '\0') {
                const uint32_t n = (uint32_t)strcspn(text, " ");

                if (n > 0) {
                        ran_buf_add(words, &n, sizeof n);
                        ran_buf_add(words, text, n);
                }
                text += n + (text[n] == ' ');
        }
}

static void shingles_of(const char *text, struct ran_shingles *to)
{
        struct ran_buf words = {0};
        struct ran_error err;

        words_of(text, &words);
        CHECK_OK(ran_shingles_of(to, words.data, words.len, &err), err);
        ran_buf_release(&words);
}

static double similarity(const char *a, const char *b)
{
        struct ran_shingles x = {0}, y = {0};

        shingles_of(a, &x);
        shingles_of(b, &y);
        const double s = ran_shingles_similarity(x.hash, x.n, y.hash, y.n, 0);
        ran_shingles_release(&x);
        ran_shingles_release(&y);
        return s;
}

TEST(a_similarity_is_the_share_of_common_pairs)
{
        CHECK_NEAR(similarity("a b c", "a b c"), 1, 0);
        CHECK_NEAR(similarity("a b c", "c b a"), 0, 0);
        CHECK_NEAR(similarity("a b c", "a b d"), 2 / 6., 1e-12); /* of the beginning, and a b */
        CHECK_NEAR(similarity("a b c d", "b c d"), 3 / 6., 1e-12);
        CHECK_NEAR(similarity("a a a a", "a a"), 1, 0); /* a set */
        CHECK_NEAR(similarity("a", "a"), 1, 0);
        CHECK_NEAR(similarity("a", "b"), 0, 0);
        CHECK_NEAR(similarity("", ""), 0, 0);
        CHECK_NEAR(similarity("", "a"), 0, 0);
        CHECK_NEAR(similarity("ab c", "a bc"), 0, 0);
}

/* What is exactly at the smallest similarity counts; what is below it is 0. */
TEST(a_similarity_below_the_smallest_is_none)
{
        enum { N = 60 };
        uint64_t a[N], b[N];

        for (size_t common = 0; common <= N; common++)
                for (size_t m = common > 0 ? common : 1; m <= N; m += 7) {
                        for (size_t i = 0; i < N; i++) {
                                a[i] = 2 * i;
                                b[i] = i < common ? a[i] : 2 * i + 1;
                        }
                        const double is = (double)common / (double)(N + m - common);

                        CHECK(ran_shingles_similarity(a, N, b, m, 0) == is);
                        CHECK(ran_shingles_similarity(a, N, b, m, is) == is);
                        CHECK(ran_shingles_similarity(b, m, a, N, is) == is);
                        CHECK(ran_shingles_similarity(a, N, b, m, is + 1e-9) == 0);
                        CHECK(ran_shingles_similarity(b, m, a, N, is + 0.1) == 0);
                }
}

TEST(other_bytes_are_refused)
{
        struct ran_shingles s = {0};
        struct ran_error err;
        const uint32_t long_word[2] = {1000, 0};

        CHECK(ran_shingles_of(&s, "ab", 2, &err) == RAN_EINVAL);
        CHECK(ran_shingles_of(&s, (const char *)long_word, sizeof long_word, &err) == RAN_EINVAL);
        ran_shingles_release(&s);
}

enum { TEXTS = 1500, WORDS = 24, CHANGES = 6 };

/* Text i: every third one is an earlier one with up to CHANGES other words. */
static void make_text(char *text, size_t i)
{
        const size_t of = i % 3 == 2 ? ran_random_draw(1, i) % i / 3 * 3 : i;
        const size_t changes = of == i ? 0 : ran_random_draw(2, i) % (CHANGES + 1);

        for (size_t k = 0; k < WORDS; k++)
                text += sprintf(text, "w%u ",
                                (unsigned)(ran_random_draw(100 + of, k) % 500));
        text -= strlen("w") + 1; /* into the last word */
        for (size_t k = 0; k < changes; k++)
                text += sprintf(text, " x%u",
                                (unsigned)(ran_random_draw(100 + i, 50 + k) % 500));
}

/* What comparing all with all finds is found. A text that was found is no original. */
static void compare_with_all(double least)
{
        struct ran_shingles *kept = calloc(TEXTS, sizeof *kept), s = {0};
        struct ran_error err;
        struct ran_near_duplicates *t = ran_near_duplicates_new(least);
        size_t n = 0, alike = 0, found = 0;
        char text[1024];

        REQUIRE(kept != NULL);
        for (size_t i = 0; i < TEXTS; i++) {
                double best = 0, x;
                size_t which = RAN_NO_TEXT, got;

                make_text(text, i);
                shingles_of(text, &s);
                for (size_t k = 0; k < n; k++) {
                        const double y =
                                ran_shingles_similarity(s.hash, s.n, kept[k].hash, kept[k].n, 0);
                        if (y >= least && y > best) {
                                best = y;
                                which = k;
                        }
                }
                got = ran_near_duplicates_find(t, &s, &x);
                CHECK(got == which || got == RAN_NO_TEXT);
                if (got == which)
                        CHECK_NEAR(x, best, 0);
                alike += which != RAN_NO_TEXT;
                found += which != RAN_NO_TEXT && got == which;
                if (which == RAN_NO_TEXT) {
                        CHECK_OK(ran_near_duplicates_add(t, &s, &err), err);
                        kept[n++] = s;
                        s = (struct ran_shingles){0};
                }
        }
        CHECK(alike > TEXTS / 50);
        CHECK(found + 2 >= alike); /* one of a thousand may be missed */
        for (size_t k = 0; k < n; k++)
                ran_shingles_release(&kept[k]);
        ran_shingles_release(&s);
        free(kept);
        ran_near_duplicates_free(t);
}

TEST(what_all_pairs_find_is_found)
{
        compare_with_all(0.8);
}

TEST(what_all_pairs_find_is_found_if_less_is_enough)
{
        compare_with_all(0.5);
}

TEST(only_equal_texts_if_that_is_asked)
{
        compare_with_all(1);
}

/* A text without words is like no other, not even like another one without. */
TEST(no_words_are_like_nothing)
{
        struct ran_error err;
        struct ran_near_duplicates *t = ran_near_duplicates_new(0.8);
        struct ran_shingles s = {0};
        double x;
        size_t text;

        for (int i = 0; i < 2; i++) {
                shingles_of("", &s);
                text = ran_near_duplicates_find(t, &s, &x);
                CHECK(text == RAN_NO_TEXT && x == 0);
                CHECK_OK(ran_near_duplicates_add(t, &s, &err), err);
                shingles_of("one two", &s);
                text = ran_near_duplicates_find(t, &s, &x);
                CHECK(i == 0 ? text == RAN_NO_TEXT : text == 1);
                CHECK_OK(ran_near_duplicates_add(t, &s, &err), err);
        }
        ran_shingles_release(&s);
        ran_near_duplicates_free(t);
}
