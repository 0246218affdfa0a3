/* The strict score of taggers: by hand, and against a comparison of every pair of entities. */
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "ran.h"
#include "test.h"

/* Room for the tags of a sentence; never NULL. */
static struct ran_tag *new_tags(size_t L)
{
        struct ran_tag *tags = calloc(L + 1, sizeof(*tags));

        if (tags == NULL)
                abort();
        return tags;
}

static size_t read_tags(struct ran_tag *tags, const char *text)
{
        size_t L = 0;

        for (const char *s = text; *s != '\0'; L++) {
                size_t n = strcspn(s, " ");
                CHECK(ran_tag_parse(&tags[L], s, n, NULL) == RAN_OK);
                s += n + (s[n] == ' ');
        }
        return L;
}

static void add(struct ran_strict *s, const char *gold, const char *found)
{
        struct ran_tag *g = new_tags(strlen(gold)), *f = new_tags(strlen(found));
        size_t L = read_tags(g, gold);

        CHECK_SIZE(read_tags(f, found), L);
        ran_strict_add(s, g, f, L);
        free(g);
        free(f);
}

static struct ran_strict *new_strict(void)
{
        struct ran_strict *s = ran_strict_new();

        if (s == NULL)
                abort();
        return s;
}

static void check_score(const struct ran_tag_score *score, const char *type, size_t gold,
                        size_t found, size_t correct)
{
        CHECK(score->length == strlen(type) && memcmp(score->type, type, score->length) == 0);
        CHECK_SIZE(score->gold, gold);
        CHECK_SIZE(score->found, found);
        CHECK_SIZE(score->correct, correct);
}

static void check_rates(const struct ran_prf *r, double precision, double recall, double f1)
{
        CHECK_NEAR(r->precision, precision, 1e-12);
        CHECK_NEAR(r->recall, recall, 1e-12);
        CHECK_NEAR(r->f1, f1, 1e-12);
}

TEST(strict_by_hand)
{
        struct ran_strict *s = new_strict();
        struct ran_strict_report r;

        add(s, "B-PER I-PER O B-LOC O", "B-PER I-PER O B-ORG O");
        add(s, "B-LOC I-LOC O B-LOC", "B-LOC O O B-LOC");
        add(s, "O O O", "B-LOC O B-PER");
        ran_strict_finish(s, &r);
        CHECK_SIZE(r.sentences, 3);
        CHECK_SIZE(r.tokens, 12);
        REQUIRE(r.n_types == 3);
        check_score(&r.types[0], "LOC", 3, 3, 1);
        check_score(&r.types[1], "ORG", 0, 1, 0);
        check_score(&r.types[2], "PER", 1, 2, 1);
        check_rates(&r.types[0].rates, 1.0 / 3, 1.0 / 3, 1.0 / 3);
        check_rates(&r.types[1].rates, 0, 0, 0);
        check_rates(&r.types[2].rates, 0.5, 1, 2.0 / 3);
        CHECK_SIZE(r.all.gold, 4);
        CHECK_SIZE(r.all.found, 6);
        CHECK_SIZE(r.all.correct, 2);
        check_rates(&r.all.rates, 2.0 / 6, 2.0 / 4, 0.4);
        check_rates(&r.macro, (1.0 / 3 + 0.5) / 3, (1.0 / 3 + 1) / 3, 1.0 / 3);
        CHECK_SIZE(r.boundary_only, 1);
        CHECK_SIZE(r.type_only, 1);
        CHECK_SIZE(r.invalid_gold + r.invalid_found, 0);
        ran_strict_free(s);
}

/* conlleval would have these right; here an I with nothing to go on with begins nothing. */
TEST(strict_takes_valid_iob2_only)
{
        struct ran_strict *s = new_strict();
        struct ran_strict_report r;

        add(s, "B-X I-X O B-X B-Y", "I-X I-X O I-X B-Y");
        add(s, "B-X I-Y", "B-X I-Y");
        ran_strict_finish(s, &r);
        REQUIRE(r.n_types == 2);
        check_score(&r.types[0], "X", 3, 1, 1);
        check_score(&r.types[1], "Y", 1, 1, 1);
        CHECK_SIZE(r.invalid_gold, 1);
        CHECK_SIZE(r.invalid_found, 3);
        ran_strict_free(s);
}

/* Not found, or found in the wrong place, is neither; and each entity found counts once. */
TEST(strict_near_misses)
{
        struct ran_strict *s = new_strict();
        struct ran_strict_report r;

        add(s, "B-X I-X I-X O B-Y O", "B-X B-X I-X B-Z O B-Y");
        ran_strict_finish(s, &r);
        CHECK_SIZE(r.all.correct, 0);
        CHECK_SIZE(r.boundary_only, 0);
        CHECK_SIZE(r.type_only, 2);
        add(s, "B-X B-Y", "B-Y I-Y");
        ran_strict_finish(s, &r);
        CHECK_SIZE(r.type_only, 3);
        add(s, "B-X I-X B-Y", "B-Y I-Y B-X");
        ran_strict_finish(s, &r);
        CHECK_SIZE(r.type_only, 3);
        CHECK_SIZE(r.boundary_only, 2);
        ran_strict_free(s);
}

/* ---- against every pair --------------------------------------------------------------------- */

enum { L = 30, SENTENCES = 500 };

static void throw_tags(struct ran_tag *tags, struct dice *dice)
{
        for (size_t t = 0; t < L; t++) {
                size_t part = dice_size(dice, 0, 5);

                if (part == 0)
                        tags[t] = (struct ran_tag){'O', "", 0};
                else
                        tags[t] = (struct ran_tag){part == 1 ? 'B' : 'I',
                                                   dice_size(dice, 0, 3) == 0 ? "a" : "b", 1};
        }
}

struct counts {
        size_t gold, found, correct, boundary_only, type_only;
};

static void count_pairs(struct counts *c, const struct ran_tag *gold, const struct ran_tag *found)
{
        struct ran_entity g[L], f[L];
        size_t n = ran_tags_entities(gold, L, g), m = ran_tags_entities(found, L, f);

        c->gold += n;
        c->found += m;
        for (size_t i = 0; i < m; i++) {
                bool same = false, ends = false, type = false;

                for (size_t j = 0; j < n; j++) {
                        bool of_type = f[i].type[0] == g[j].type[0];
                        bool of_ends = f[i].start == g[j].start && f[i].end == g[j].end;

                        same |= of_type && of_ends;
                        ends |= of_ends;
                        type |= of_type && f[i].start < g[j].end && g[j].start < f[i].end;
                }
                c->correct += same;
                c->boundary_only += ends && !same;
                c->type_only += type && !same && !ends;
        }
}

TEST(strict_equals_comparing_every_pair)
{
        struct ran_strict *s = new_strict();
        struct ran_strict_report r;
        struct dice dice = {.key = 12};
        struct counts want = {0};

        for (size_t i = 0; i < SENTENCES; i++) {
                struct ran_tag gold[L], found[L];
                throw_tags(gold, &dice);
                throw_tags(found, &dice);
                for (size_t t = dice_size(&dice, 0, L); t < L; t++)
                        found[t] = gold[t];
                count_pairs(&want, gold, found);
                ran_strict_add(s, gold, found, L);
        }
        ran_strict_finish(s, &r);
        CHECK(want.boundary_only > 0 && want.type_only > 0 && want.correct > 0);
        CHECK_SIZE(r.all.gold, want.gold);
        CHECK_SIZE(r.all.found, want.found);
        CHECK_SIZE(r.all.correct, want.correct);
        CHECK_SIZE(r.boundary_only, want.boundary_only);
        CHECK_SIZE(r.type_only, want.type_only);
        ran_strict_free(s);
}

/* One long entity over many short ones, and the other way round: pairs are met once each. */
TEST(strict_long_sentence)
{
        enum { LONG = 200000 };
        struct ran_tag *whole = new_tags(LONG), *parts = new_tags(LONG);
        struct ran_strict *s = new_strict();
        struct ran_strict_report r;

        for (size_t t = 0; t < LONG; t++) {
                whole[t] = (struct ran_tag){t == 0 ? 'B' : 'I', "a", 1};
                parts[t] = (struct ran_tag){'B', "a", 1};
        }
        ran_strict_add(s, whole, parts, LONG);
        ran_strict_add(s, parts, whole, LONG);
        ran_strict_add(s, parts, parts, LONG);
        ran_strict_finish(s, &r);
        CHECK_SIZE(r.all.gold, 2 * LONG + 1);
        CHECK_SIZE(r.all.found, 2 * LONG + 1);
        CHECK_SIZE(r.all.correct, LONG);
        CHECK_SIZE(r.type_only, LONG + 1);
        ran_strict_free(s);
        free(whole);
        free(parts);
}

/* ---- reports -------------------------------------------------------------------------------- */

TEST(strict_report_of_nothing)
{
        struct ran_strict *s = new_strict();
        struct ran_strict_report r;

        add(s, "", "");
        add(s, "O", "O");
        ran_strict_finish(s, &r);
        CHECK_SIZE(r.n_types, 0);
        check_rates(&r.macro, 0, 0, 0);
        check_rates(&r.all.rates, 0, 0, 0);
        ran_strict_free(s);
}
