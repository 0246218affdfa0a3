/* The buckets of the linear model. tests/unit/naive.c has the whole of it once more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dense.h"
#include "dice.h"
#include "part/linear/linear-model.h"
#include "test.h"
#include "toy.h"

/* Part of the format: another function would read other rows of the tables of every model. */
TEST(linear_model_buckets_are_for_ever)
{
        const uint32_t ids[] = {0, 1, 4294967295u, 77};

        CHECK_SIZE(ran_linear_model_bucket(ids, 1, 1 << 18), 118191);
        CHECK_SIZE(ran_linear_model_bucket(ids, 2, 1 << 18), 177422);
        CHECK_SIZE(ran_linear_model_bucket(ids + 1, 3, 1000003), 275575);
        CHECK_SIZE(ran_linear_model_bucket(ids, 4, 1), 0);
}

static void check_list(struct dice *dice, size_t L, size_t V, size_t ngrams, bool affixed,
                       size_t buckets)
{
        struct ran_error err = {0};
        struct ran_config c = {
                .linear.wide = buckets, .linear.ngrams = ngrams, .linear.affixes = affixed};
        size_t *count = ran_alloc(buckets, sizeof *count, &err), n, runs = 0, all = 0;
        size_t room = ran_linear_model_room(&c, L), of_runs = ran_linear_model_ngram_buckets(&c);
        struct ran_posting *list = ran_alloc(2 * room, sizeof *list, &err);
        uint32_t *ids = ran_alloc(L, sizeof *ids, &err);
        bool *whole = ran_alloc(L, sizeof *whole, &err);
        uint32_t *affixes = ran_alloc(V * RAN_AFFIX_ROW, sizeof *affixes, &err);

        for (size_t i = 0; i < V * RAN_AFFIX_ROW; i++)
                affixes[i] = i % RAN_AFFIX_ROW == RAN_AFFIXES
                                     ? (uint32_t)(dice_size(dice, 0, 5) % 4 % 3) /* most begin */
                             : i % 4 == 0 ? RAN_NO_AFFIX
                                          : (uint32_t)dice_size(dice, affixed ? of_runs : 0,
                                                                buckets - 1);
        for (size_t t = 0; t < L; t++)
                ids[t] = (uint32_t)dice_size(dice, 0, V - 1);
        for (size_t t = 0; t < L; t++) {
                const uint32_t *row = affixes + ids[t] * RAN_AFFIX_ROW;
                bool last = t + 1 == L || affixes[ids[t + 1] * RAN_AFFIX_ROW + RAN_AFFIXES] !=
                                                  RAN_SUBWORD_CONTINUES;

                whole[t] = !affixed || (row[RAN_AFFIXES] == RAN_SUBWORD_BEGINS && last);
                for (size_t i = 0; i < RAN_AFFIXES && affixed; i++)
                        if (row[i] != RAN_NO_AFFIX &&
                            (i % 2 == 1 ? last : row[RAN_AFFIXES] != RAN_SUBWORD_CONTINUES)) {
                                count[row[i]]++;
                                all++;
                        }
        }
        for (size_t t = 0; t < L; t++)
                for (size_t i = 1; i <= ngrams && t + i <= L && whole[t + i - 1]; i++, all++)
                        count[ran_linear_model_bucket(ids + t, i, of_runs)]++;
        n = ran_linear_model_list(list, list + room, &c, affixed ? affixes : NULL, ids, L);
        for (size_t i = 0; i < n; i++) {
                CHECK(list[i].id < buckets && (i == 0 || list[i - 1].id < list[i].id));
                CHECK_SIZE(list[i].at, count[list[i].id]);
                runs += list[i].at;
        }
        CHECK_SIZE(runs, all);
        free(count);
        free(list);
        free(ids);
        free(affixes);
        free(whole);
}

TEST(linear_model_list_has_each_bucket_once_and_counts_it)
{
        static const size_t sizes[] = {1, 2, 5, 300, 70000, 1000000};
        struct dice dice = {.key = 1};

        for (size_t L = 1; L < 2000; L = 2 * L + 1)
                for (size_t ngrams = 1; ngrams <= 8; ngrams += L < 50 ? 1 : 3)
                        for (size_t i = 0; i < 6; i++)
                                check_list(&dice, L, 1 + L / 2, ngrams, i % 2 == 1, sizes[i]);
}

TEST(linear_model_room_of_a_long_document_does_not_grow)
{
        const struct ran_config c = {
                .linear.wide = 1000, .linear.ngrams = 2, .linear.affixes = true};

        CHECK_SIZE(ran_linear_model_room(&c, 7), 7 * ran_linear_model_features(&c));
        CHECK(ran_linear_model_room(&c, 1000) < 1100);
        CHECK_SIZE(ran_linear_model_room(&c, 1000), ran_linear_model_room(&c, SIZE_MAX >> 4));
}

TEST(linear_model_idf_is_that_of_tf_idf_and_leaves_out_what_is_rare)
{
        CHECK(ran_linear_model_idf(0, 10) == 0 && ran_linear_model_idf(1, 1e6) == 0);
        CHECK_NEAR((double)ran_linear_model_idf(2, 2), 1, 1e-7);
        CHECK_NEAR((double)ran_linear_model_idf(3, 999), 1 + log(250), 1e-6);
}

/* The same text, the same bucket; what goes on with a word is known without its mark. */
TEST(linear_model_affixes_are_prefixes_and_suffixes)
{
        static const char affixes[] =
                "[UNK]\na\nab\nabc\nabcdefg\nxxefg\n\xc3\xa4\xc3\xb6\xc3\xbc\n##bc\n##\n";
        enum { SUBWORDS = 9 };
        struct ran_error err = {0};
        struct ran_tokenizer *t = ran_tokenizer_load(affixes, sizeof affixes - 1, &err);
        const struct ran_config c = {.linear.wide = 1u << 30, .linear.affixes = true};
        uint32_t *a;
        size_t n[SUBWORDS] = {0};

        REQUIRE(CHECK_OK(t != NULL ? RAN_OK : err.code, err));
        a = ran_linear_model_affixes(t, &c, &err);
        REQUIRE(a != NULL);
        for (size_t i = 0; i < SUBWORDS * RAN_AFFIX_ROW; i++)
                n[i / RAN_AFFIX_ROW] += i % RAN_AFFIX_ROW < RAN_AFFIXES && a[i] != RAN_NO_AFFIX;
        CHECK(n[0] == 0 && n[1] == 0 && n[2] == 2 && n[3] == 4 && n[4] == 8 && n[5] == 8);
        CHECK_SIZE(n[6], 4); /* of three characters, not six bytes */
        CHECK(n[7] == 2 && n[8] == 2);
        for (size_t i = 0; i < SUBWORDS; i++)
                CHECK_SIZE(a[i * RAN_AFFIX_ROW + RAN_AFFIXES], i == 0   ? RAN_SUBWORD_UNKNOWN
                                                               : i == 7 ? RAN_SUBWORD_CONTINUES
                                                                        : RAN_SUBWORD_BEGINS);
        const uint32_t *ab = a + 2 * RAN_AFFIX_ROW, *abc = ab + RAN_AFFIX_ROW,
                       *g = abc + RAN_AFFIX_ROW, *xx = g + RAN_AFFIX_ROW,
                       *bc = a + 7 * RAN_AFFIX_ROW;
        CHECK(ab[0] == abc[0] && abc[0] == g[0] && abc[2] == g[2]); /* ab-, abc- */
        CHECK(ab[1] != abc[1] && ab[0] != ab[1]);                   /* -ab, -bc */
        CHECK(g[1] == xx[1] && g[3] == xx[3] && g[5] != xx[5]);     /* -fg, -efg; -defg, -xefg */
        CHECK(bc[1] == abc[1]);
        CHECK_SIZE(ab[0], 817311540);                         /* part of the format */
        for (size_t i = 0; i < SUBWORDS * RAN_AFFIX_ROW; i++) /* the last quarter is theirs */
                CHECK(i % RAN_AFFIX_ROW == RAN_AFFIXES || a[i] >= 3u << 28);
        free(a);
        ran_tokenizer_free(t);
}

/* ---- vectors as features --------------------------------------------------------------------- */

/* Of deviations 3, 1 and 0. */
TEST(features_of_vectors_have_length_1_each_scaled_by_itself_or_all_alike)
{
        float v[] = {5, 1, 7, -1, 1, 7, 5, -1, 7, -1, -1, 7};
        struct ran_dense k = {.B = 4, .F = 3, .v = v};
        const size_t document[] = {0, 1, 2, 3};
        struct ran_dense_frame own, alike;

        ran_dense_frame_init(&own, &k, document, 4, false);
        ran_dense_frame_init(&alike, &k, document, 4, true);
        CHECK_NEAR(own.mean[0], 2, 1e-12);
        CHECK_NEAR(own.factor[0], 1 / (3 * sqrt(3)), 1e-12);
        CHECK_NEAR(own.factor[1], 1 / sqrt(3), 1e-12);
        CHECK_NEAR(alike.factor[0], 1 / sqrt(10), 1e-12);
        CHECK_NEAR(alike.factor[1], 1 / sqrt(10), 1e-12);
        CHECK(own.factor[2] == 0 && alike.factor[2] == 0);
        ran_dense_frame_release(&own);
        ran_dense_frame_release(&alike);
}
