/* The buckets of the wide path. tests/unit/naive.c has the whole of it once more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "model/wide.h"
#include "test.h"
#include "toy.h"

/* Part of the format: another function would read other rows of the tables of every model. */
TEST(wide_buckets_are_for_ever)
{
        const uint32_t ids[] = {0, 1, 4294967295u, 77};

        CHECK_SIZE(ran_wide_bucket(ids, 1, 1 << 18), 118191);
        CHECK_SIZE(ran_wide_bucket(ids, 2, 1 << 18), 177422);
        CHECK_SIZE(ran_wide_bucket(ids + 1, 3, 1000003), 275575);
        CHECK_SIZE(ran_wide_bucket(ids, 4, 1), 0);
}

static void check_list(struct dice *dice, size_t L, size_t V, size_t ngrams, size_t buckets)
{
        struct ran_error err = {0};
        struct ran_config c = {.wide = buckets, .ngrams = ngrams};
        size_t *count = ran_alloc(buckets, sizeof *count, &err), n, runs = 0, all = 0;
        struct ran_place *list = ran_alloc(2 * L * ngrams, sizeof *list, &err);
        uint32_t *ids = ran_alloc(L, sizeof *ids, &err);

        for (size_t t = 0; t < L; t++)
                ids[t] = (uint32_t)dice_size(dice, 0, V - 1);
        for (size_t t = 0; t < L; t++)
                for (size_t i = 1; i <= ngrams && t + i <= L; i++, all++)
                        count[ran_wide_bucket(ids + t, i, buckets)]++;
        n = ran_wide_list(list, list + L * ngrams, &c, ids, L);
        for (size_t i = 0; i < n; i++) {
                CHECK(list[i].id < buckets && (i == 0 || list[i - 1].id < list[i].id));
                CHECK_SIZE(list[i].at, count[list[i].id]);
                runs += list[i].at;
        }
        CHECK_SIZE(runs, all);
        free(count);
        free(list);
        free(ids);
}

TEST(wide_list_has_each_bucket_once_and_counts_it)
{
        static const size_t sizes[] = {1, 2, 5, 300, 70000, 1000000};
        struct dice dice = {.key = 1};

        for (size_t L = 1; L < 2000; L = 2 * L + 1)
                for (size_t ngrams = 1; ngrams <= 8; ngrams += L < 50 ? 1 : 3)
                        for (size_t i = 0; i < 6; i++)
                                check_list(&dice, L, 1 + L / 2, ngrams, sizes[i]);
}

TEST(wide_idf_is_that_of_tf_idf_and_leaves_out_what_is_rare)
{
        CHECK(ran_wide_idf(0, 10) == 0 && ran_wide_idf(1, 1e6) == 0);
        CHECK_NEAR((double)ran_wide_idf(2, 2), 1, 1e-7);
        CHECK_NEAR((double)ran_wide_idf(3, 999), 1 + log(250), 1e-6);
}
