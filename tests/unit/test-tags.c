/* Tags of every scheme: what they mean, which scheme it is, and what IOB2 allows. */
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "part/crf/crf.h"
#include "test.h"

enum { MOST = 64 };

/* Tags between single spaces; text must live as long as they do. */
static size_t read_tags(struct ran_tag *tags, const char *text)
{
        struct ran_error err = {0};
        size_t L = 0;

        for (const char *s = text; *s != '\0' && L < MOST; L++) {
                size_t n = strcspn(s, " ");
                CHECK_OK(ran_tag_parse(&tags[L], s, n, &err), err);
                s += n + (s[n] == ' ');
        }
        return L;
}

static void write_tags(struct ran_buf *out, const struct ran_tag *tags, size_t L)
{
        for (size_t t = 0; t < L; t++) {
                ran_buf_str(out, t == 0 ? "" : " ");
                ran_buf_char(out, tags[t].part);
                if (tags[t].part != 'O' && tags[t].length > 0)
                        ran_buf_char(out, '-');
                ran_buf_add(out, tags[t].type, tags[t].length);
        }
        ran_buf_char(out, '\0');
}

/* One sentence; returns its census. */
static struct ran_tag_census check_iob2(const char *text, const char *want)
{
        struct ran_tag_census census = {0};
        struct ran_tag tags[MOST];
        struct ran_buf got = {0};
        size_t L = read_tags(tags, text);

        ran_tags_to_iob2(tags, L, &census);
        write_tags(&got, tags, L);
        CHECK_STR(got.data, want);
        ran_buf_release(&got);
        return census;
}

static void check_scheme(struct ran_tag_census census, enum ran_tag_scheme want, size_t want_wrong)
{
        enum ran_tag_scheme scheme = RAN_TAGS_IOB2;
        struct ran_error err = {0};
        size_t wrong = 0;

        CHECK_OK(ran_tag_census_scheme(&census, &scheme, &wrong, &err), err);
        CHECK_STR(ran_tag_scheme_names[scheme], ran_tag_scheme_names[want]);
        CHECK_SIZE(wrong, want_wrong);
}

/* ---- one tag -------------------------------------------------------------------------------- */

static void check_parse(const char *text, size_t n, char part, const char *type)
{
        struct ran_tag tag = {0};
        struct ran_error err = {0};

        CHECK_OK(ran_tag_parse(&tag, text, n, &err), err);
        CHECK(tag.part == part && tag.length == strlen(type) &&
              memcmp(tag.type, type, tag.length) == 0);
}

TEST(tag_is_a_part_and_a_type)
{
        check_parse("O", 1, 'O', "");
        check_parse("B-PER", 5, 'B', "PER");
        check_parse("I-a-b", 5, 'I', "a-b");
        check_parse("E--", 3, 'E', "-");
        check_parse("S-x", 3, 'S', "x");
        check_parse("L-0", 3, 'L', "0");
        check_parse("U-\xc3\xa9", 4, 'U', "\xc3\xa9");
        check_parse("B", 1, 'B', "");
        check_parse("I", 1, 'I', "");
        check_parse("I-", 2, 'I', "");
        check_parse("B-PER", 3, 'B', "P");
}

TEST(tag_of_no_scheme_is_refused)
{
        static const char *const bad[] = {"",      "o",    "b-PER", "PER", "O-PER",
                                          "X-PER", "BPER", "-PER",  "OO",  "B PER",
                                          "[",     "0",    "E",     "S",   "M"};
        struct ran_tag tag;
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
                CHECK(ran_tag_parse(&tag, bad[i], strlen(bad[i]), NULL) == RAN_EFORMAT);
        CHECK(ran_tag_parse(&tag, "\0-PER", 5, NULL) == RAN_EFORMAT);
        ran_tag_parse(&tag, "X-PER\x1b[2J", 9, &err);
        CHECK(strstr(err.text, "\"X-PER<U+001B>[2J\" is not a tag") != NULL);
}

/* ---- schemes -------------------------------------------------------------------------------- */

TEST(tags_of_each_scheme_become_iob2)
{
        static const char want[] = "B-PER I-PER O B-PER I-PER B-PER B-LOC O";

        check_scheme(check_iob2(want, want), RAN_TAGS_IOB2, 0);
        check_scheme(check_iob2("I-PER I-PER O I-PER I-PER B-PER I-LOC O", want), RAN_TAGS_IOB1, 0);
        check_scheme(check_iob2("B-PER E-PER O B-PER E-PER S-PER S-LOC O", want), RAN_TAGS_IOBES,
                     0);
        check_scheme(check_iob2("B-PER L-PER O B-PER L-PER U-PER U-LOC O", want), RAN_TAGS_BILOU,
                     0);
}

TEST(tags_without_entities_are_iob2)
{
        check_scheme(check_iob2("", ""), RAN_TAGS_IOB2, 0);
        check_scheme(check_iob2("O O O", "O O O"), RAN_TAGS_IOB2, 0);
        check_scheme(check_iob2("B I I O B", "B I I O B"), RAN_TAGS_IOB2, 0);
}

/* What has nothing to go on with begins, whatever the scheme; what does not end ends all the same.
 */
TEST(tags_that_are_wrong_are_bent_and_counted)
{
        check_scheme(check_iob2("B-a I-b O I-a B-a O B-b", "B-a B-b O B-a B-a O B-b"),
                     RAN_TAGS_IOB2, 2);
        check_scheme(check_iob2("I-a O I-b O B-a I-a I-b", "B-a O B-b O B-a I-a B-b"),
                     RAN_TAGS_IOB1, 1);
        check_scheme(check_iob2("S-a E-a I-a O", "B-a B-a B-a O"), RAN_TAGS_IOBES, 3);
        check_scheme(check_iob2("B-a O B-a U-a I-b L-b B-c", "B-a O B-a B-a B-b I-b B-c"),
                     RAN_TAGS_BILOU, 4);
}

/* Each sentence alone says little; the census is of all. A sentence's end ends its entities. */
TEST(tags_census_is_of_all_sentences)
{
        static const char *const sentences[] = {"B-a", "I-a B-a", "I-b", "I-b O"};
        struct ran_tag_census census = {0};
        struct ran_tag tags[MOST];

        for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
                size_t L = read_tags(tags, sentences[i]);
                ran_tags_to_iob2(tags, L, &census);
                CHECK(tags[0].part == 'B');
        }
        check_scheme(census, RAN_TAGS_IOB1, 1);
        CHECK_SIZE(census.opens, 3);
        CHECK_SIZE(census.unclosed, 5);
}

TEST(tags_of_two_schemes_are_refused)
{
        struct ran_tag_census census = check_iob2("S-a U-b O S-b", "B-a B-b O B-b");
        enum ran_tag_scheme scheme;
        struct ran_error err = {0};
        size_t wrong;

        CHECK(ran_tag_census_scheme(&census, &scheme, &wrong, &err) == RAN_EFORMAT);
        CHECK(strstr(err.text, "2 of IOBES (E-, S-) and 1 of BILOU") != NULL);
}

/* ---- any entities, in any scheme ------------------------------------------------------------ */

struct sentence {
        struct ran_entity entity[MOST];
        size_t n, L;
};

/* Neighbours often touch, and are often of one type. */
static void throw_sentence(struct sentence *s, struct dice *dice)
{
        static const char *const types[] = {"a", "bb", ""};

        s->n = 0;
        s->L = dice_size(dice, 1, MOST);
        for (size_t t = dice_size(dice, 0, 3); t < s->L;) {
                const char *type = types[dice_size(dice, 0, 2)];
                size_t end = t + dice_size(dice, 1, 4);
                end = end < s->L ? end : s->L;
                s->entity[s->n++] = (struct ran_entity){t, end, type, strlen(type)};
                t = end + dice_size(dice, 0, 1) * dice_size(dice, 0, 3);
        }
}

/* first, inside, last, single: the parts of the scheme. */
static void tag_sentence(const struct sentence *s, struct ran_tag *tags, const char parts[4])
{
        for (size_t t = 0; t < s->L; t++)
                tags[t] = (struct ran_tag){.part = 'O', .type = ""};
        for (size_t i = 0; i < s->n; i++) {
                const struct ran_entity *e = &s->entity[i];
                for (size_t t = e->start; t < e->end; t++) {
                        size_t which = t == e->start ? 0 : t + 1 == e->end ? 2 : 1;
                        which = e->end - e->start == 1 ? 3 : which;
                        tags[t] = (struct ran_tag){parts[which], e->type, e->length};
                }
        }
}

/* B only where I would go on with the entity before. */
static void spare_beginnings(struct ran_tag *tags, size_t L)
{
        struct ran_tag before = {.part = 'O', .type = ""};

        for (size_t t = 0; t < L; t++) {
                bool same = before.part != 'O' && before.length == tags[t].length &&
                            strcmp(before.type, tags[t].type) == 0;
                if (tags[t].part == 'B' && !same)
                        tags[t].part = 'I';
                before = tags[t];
        }
}

TEST(tags_of_any_entities_survive_every_scheme)
{
        static const char *const parts[] = {"BIIB", "BIIB", "BIES", "BILU"};
        static const enum ran_tag_scheme schemes[] = {RAN_TAGS_IOB2, RAN_TAGS_IOB1, RAN_TAGS_IOBES,
                                                      RAN_TAGS_BILOU};
        struct dice dice = {.key = 4};

        for (size_t i = 0; i < 4; i++) {
                struct ran_tag_census census = {0};
                for (size_t n = 0; n < 200; n++) {
                        struct sentence s;
                        struct ran_tag tags[MOST];
                        struct ran_entity got[MOST];

                        throw_sentence(&s, &dice);
                        tag_sentence(&s, tags, parts[i]);
                        if (schemes[i] == RAN_TAGS_IOB1)
                                spare_beginnings(tags, s.L);
                        ran_tags_to_iob2(tags, s.L, &census);
                        CHECK_SIZE(ran_tags_entities(tags, s.L, got), s.n);
                        for (size_t e = 0; e < s.n; e++)
                                CHECK(got[e].start == s.entity[e].start &&
                                      got[e].end == s.entity[e].end &&
                                      got[e].length == s.entity[e].length &&
                                      strncmp(got[e].type, s.entity[e].type, got[e].length) == 0);
                }
                check_scheme(census, schemes[i], 0);
        }
}

/* ---- IOB2 ----------------------------------------------------------------------------------- */

TEST(entities_begin_with_b_only)
{
        struct ran_tag tags[MOST];
        struct ran_entity e[MOST];
        size_t L = read_tags(tags, "I-a I-a O B-a I-b I-b B-a I-a B-a B-b I-b");

        REQUIRE(ran_tags_entities(tags, L, e) == 4);
        CHECK(e[0].start == 3 && e[0].end == 4);
        CHECK(e[1].start == 6 && e[1].end == 8);
        CHECK(e[2].start == 8 && e[2].end == 9);
        CHECK(e[3].start == 9 && e[3].end == 11);
        CHECK(e[3].length == 1 && e[3].type[0] == 'b');
        CHECK_SIZE(ran_tags_entities(tags, 0, e), 0);
}

TEST(tags_that_may_follow_each_other)
{
        enum { C = 8 };
        /* From each of them, a row, to each of the same, a column. */
        static const char *const from[C] = {"11101110", "11011010", "11101110", "11011010",
                                            "11001010", "11001010", "11001010", "11001011"};
        struct ran_tag tags[MOST];
        bool start[C], open[C];
        uint32_t type[C];
        const struct ran_crf_rules rules = {start, open, type};

        REQUIRE(read_tags(tags, "B-a B-b I-a I-b O E-a S-a I") == C);
        ran_tags_rules(start, open, type, tags, C);
        for (size_t i = 0; i < C; i++) {
                CHECK(start[i] == (from[4][i] == '1'));
                for (size_t j = 0; j < C; j++)
                        CHECK(ran_crf_allows(&rules, i, j) == (from[i][j] == '1'));
        }
}
