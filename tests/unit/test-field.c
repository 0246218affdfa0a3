/* Settings: from text, from JSON, to JSON. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

#if SIZE_MAX > UINT32_MAX
#define MOST "9007199254740991"
#else
#define MOST "4294967295"
#endif

struct settings {
        bool rotary;
        size_t window, seed;
        double rate;
        int mask;
        char *title, *output;
        struct ran_list drop;
};

static const char *const masks[] = {"none", "causal", "prefix", NULL};

#define AT(member) .offset = offsetof(struct settings, member)
static const struct ran_field fields[] = {
        {.name = "rotary", .type = RAN_FIELD_BOOL, AT(rotary), .initial = "true"},
        {.name = "min_window",
         .type = RAN_FIELD_SIZE,
         AT(window),
         .low = 1,
         .high = 65536,
         .initial = "256"},
        {.name = "seed", .type = RAN_FIELD_SIZE, AT(seed), .high = INFINITY},
        {.name = "learning_rate", .type = RAN_FIELD_REAL, AT(rate), .high = 1, .initial = "0.001"},
        {.name = "mask", .type = RAN_FIELD_CHOICE, AT(mask), .choices = masks},
        {.name = "title", .type = RAN_FIELD_TEXT, AT(title)},
        {.name = "drop", .type = RAN_FIELD_LIST, AT(drop)},
        {.name = "output", .type = RAN_FIELD_TEXT, AT(output), .local = true},
        {0},
};

static const struct ran_field *named(const char *name)
{
        const struct ran_field *f = fields;

        while (strcmp(f->name, name) != 0)
                f++;
        return f;
}

static void check_json(const struct settings *s, const char *want)
{
        struct ran_buf b = {0};

        ran_fields_json(fields, s, &b);
        ran_buf_char(&b, '\0');
        CHECK_STR(b.data, want);
        ran_buf_release(&b);
}

TEST(fields_defaults)
{
        struct ran_error err = {0};
        struct settings s;

        memset(&s, 0x55, sizeof(s));
        CHECK_OK(ran_fields_init(fields, &s, &err), err);
        CHECK(s.rotary && s.window == 256 && s.seed == 0 && s.rate == 0.001 && s.mask == 0);
        CHECK(s.title == NULL && s.output == NULL && s.drop.n == 0);
        check_json(&s, "\"rotary\":true,\"min_window\":256,\"seed\":0,\"learning_rate\":0.001,"
                       "\"mask\":\"none\",\"drop\":[]");
        ran_fields_release(fields, &s);
}

TEST(fields_default_out_of_range_is_an_error)
{
        static const struct ran_field bad[] = {
                {.name = "title", .type = RAN_FIELD_TEXT, AT(title), .initial = "t"},
                {.name = "window",
                 .type = RAN_FIELD_SIZE,
                 AT(window),
                 .low = 1,
                 .high = 2,
                 .initial = "3"},
                {0},
        };
        struct ran_error err = {0};
        struct settings s;

        CHECK(ran_fields_init(bad, &s, &err) == RAN_EINVAL);
        CHECK(s.title == NULL);
}

TEST(field_set_from_text)
{
        struct ran_error err = {0};
        struct settings s;

        REQUIRE(ran_fields_init(fields, &s, NULL) == RAN_OK);
        CHECK_OK(ran_field_set(named("rotary"), &s, "false", &err), err);
        CHECK_OK(ran_field_set(named("min_window"), &s, "65536", &err), err);
        CHECK_OK(ran_field_set(named("learning_rate"), &s, "2.5e-4", &err), err);
        CHECK_OK(ran_field_set(named("mask"), &s, "prefix", &err), err);
        CHECK_OK(ran_field_set(named("title"), &s, "first", &err), err);
        CHECK_OK(ran_field_set(named("title"), &s, "a \"b\"\n\xc3\xa9", &err), err);
        CHECK_OK(ran_field_set(named("drop"), &s, "text", &err), err);
        CHECK_OK(ran_field_set(named("drop"), &s, "id", &err), err);
        CHECK_OK(ran_field_set(named("output"), &s, "m\xff.ran", &err), err); /* a file */
        CHECK(!s.rotary && s.window == 65536 && s.rate == 2.5e-4 && s.mask == 2);
        check_json(&s, "\"rotary\":false,\"min_window\":65536,\"seed\":0,\"learning_rate\":0.00025,"
                       "\"mask\":\"prefix\",\"title\":\"a \\\"b\\\"\\n\xc3\xa9\","
                       "\"drop\":[\"text\",\"id\"]");
        ran_fields_release(fields, &s);
        CHECK(s.title == NULL && s.drop.item == NULL);
}

/* A default may depend on a choice before it, and only as long as nothing else is said. */
TEST(fields_default_with_an_exception)
{
        static const struct ran_field table[] = {
                {.name = "mask", .type = RAN_FIELD_CHOICE, AT(mask), .choices = masks},
                {.name = "min_window",
                 .type = RAN_FIELD_SIZE,
                 AT(window),
                 .high = 9,
                 .initial = "7",
                 .unless = {"mask", "prefix", "1"}},
                {.name = "title",
                 .type = RAN_FIELD_TEXT,
                 AT(title),
                 .initial = "t",
                 .unless = {"mask", "none", NULL}},
                {0},
        };
        static const size_t window[] = {7, 7, 1};
        struct ran_error err = {0};
        struct settings s;

        CHECK_OK(ran_fields_init(table, &s, &err), err);
        CHECK_SIZE(s.window, 7);
        CHECK_STR(s.title, NULL);
        for (s.mask = 0; s.mask < 3; s.mask++) {
                CHECK_OK(ran_field_init(table, &table[1], &s, &err), err);
                CHECK_SIZE(s.window, window[s.mask]);
                CHECK_OK(ran_field_init(table, &table[2], &s, &err), err);
                CHECK_STR(s.title, s.mask == 0 ? NULL : "t");
                ran_fields_release(table, &s);
        }
}

static void refused(const char *name, const char *text, const char *sentence)
{
        struct ran_error err = {0};
        struct settings s;

        if (!CHECK(ran_fields_init(fields, &s, NULL) == RAN_OK))
                return;
        CHECK(ran_field_set(named(name), &s, text, &err) == RAN_EINVAL);
        CHECK_STR(err.text, sentence);
        CHECK(s.rotary && s.window == 256 && s.rate == 0.001 && s.mask == 0);
        ran_fields_release(fields, &s);
}

TEST(field_of_a_list_ends_with_null_as_an_argument_vector_does)
{
        struct settings s = {0};
        struct ran_error err;

        for (size_t n = 1; n < 20; n++) {
                CHECK_OK(ran_field_set(named("drop"), &s, "x", &err), err);
                CHECK_SIZE(s.drop.n, n);
                CHECK(s.drop.cap > n && s.drop.item[n] == NULL);
        }
        ran_fields_release(fields, &s);
}

TEST(field_set_says_what_would_be_right)
{
        refused("rotary", "yes", "--rotary must be true or false, not 'yes'");
        refused("title", "a\xff", "--title is not valid UTF-8");
        refused("drop", "\xc3", "--drop is not valid UTF-8");
        refused("min_window", "abc",
                "--min-window must be a whole number from 1 to 65536, not 'abc'");
        refused("min_window", "0", "--min-window must be a whole number from 1 to 65536, not '0'");
        refused("min_window", "65537",
                "--min-window must be a whole number from 1 to 65536, not '65537'");
        refused("min_window", "8.0",
                "--min-window must be a whole number from 1 to 65536, not '8.0'");
        refused("min_window", "", "--min-window must be a whole number from 1 to 65536, not ''");
        refused("seed", "-1", "--seed must be a whole number from 0 to " MOST ", not '-1'");
        refused("seed", "9007199254740992",
                "--seed must be a whole number from 0 to " MOST ", not '9007199254740992'");
        refused("learning_rate", "nan", "--learning-rate must be a number from 0 to 1, not 'nan'");
        refused("learning_rate", "1.5", "--learning-rate must be a number from 0 to 1, not '1.5'");
        refused("mask", "Causal", "--mask must be none, causal or prefix, not 'Causal'");
}

static int parse(struct settings *s, const char *json, bool ignore_unknown, struct ran_error *err)
{
        if (ran_fields_init(fields, s, err) != RAN_OK)
                return RAN_ENOMEM;
        return ran_fields_parse(fields, s, json, strlen(json), ignore_unknown, err);
}

TEST(fields_parse)
{
        struct ran_error err = {0};
        struct settings s;

        CHECK_OK(parse(&s,
                       " {\"mask\": \"causal\", \"rotary\": false, \"min_window\": 1e3,\n"
                       "\"seed\": " MOST ", \"learning_rate\": 1, \"title\": \"t\",\n"
                       "\"drop\": [\"a\", \"b\"]} \n",
                       false, &err),
                 err);
        CHECK(s.mask == 1 && !s.rotary && s.window == 1000 && s.rate == 1 && s.drop.n == 2);
        CHECK_SIZE(s.seed, (size_t)(SIZE_MAX & ((UINT64_C(1) << 53) - 1)));
        CHECK_STR(s.title, "t");
        CHECK_STR(s.drop.item[1], "b");
        ran_fields_release(fields, &s);
}

TEST(fields_json_reads_back)
{
        struct ran_error err = {0};
        struct ran_buf b = {0};
        struct settings s;

        REQUIRE(parse(&s, "{\"learning_rate\":0.1,\"drop\":[\"\\\"\"],\"title\":\"\"}", false,
                      &err) == RAN_OK);
        ran_buf_char(&b, '{');
        ran_fields_json(fields, &s, &b);
        ran_buf_str(&b, "}");
        ran_buf_char(&b, '\0');
        ran_fields_release(fields, &s);
        CHECK_OK(parse(&s, b.data, false, &err), err);
        CHECK(s.rate == 0.1 && s.drop.n == 1);
        CHECK_STR(s.drop.item[0], "\"");
        CHECK_STR(s.title, "");
        ran_fields_release(fields, &s);
        ran_buf_release(&b);
}

static void not_parsed(const char *json, const char *sentence)
{
        struct ran_error err = {0};
        struct settings s;

        CHECK(parse(&s, json, false, &err) != RAN_OK);
        CHECK_STR(err.text, sentence);
        ran_fields_release(fields, &s);
}

TEST(fields_parse_refuses)
{
        not_parsed("", "line 1 is not JSON");
        not_parsed("{\n\"seed\": 1,\n}", "line 3 is not JSON");
        not_parsed("[1]", "expected a JSON object: {\"name\": value, ...}");
        not_parsed("{}\n x", "line 2: unexpected text after the JSON object");
        not_parsed("{\"window\": 1}", "unknown setting \"window\"");
        not_parsed("{\"min-window\": 1}", "unknown setting \"min-window\"");
        not_parsed("{\"output\": \"x\"}", "unknown setting \"output\"");
        not_parsed("{\"seed\": 1, \"seed\": 1}", "\"seed\" is given twice");
        not_parsed("{\"seed\": \"1\"}", "\"seed\" must be a number");
        not_parsed("{\"rotary\": 1}", "\"rotary\" must be true or false");
        not_parsed("{\"title\": null}", "\"title\" must be a string");
        not_parsed("{\"mask\": 1}", "\"mask\" must be a string");
        not_parsed("{\n\"mask\": \"causal\\\\u0000\", \"title\": \"t\\u0000\"}",
                   "line 2 contains U+0000, which no setting can contain");
        not_parsed("{\"drop\": \"a\"}", "\"drop\" must be an array of strings");
        not_parsed("{\"drop\": [1]}", "\"drop\" must be an array of strings");
        not_parsed("{\"min_window\": 1.5}",
                   "--min-window must be a whole number from 1 to 65536, not '1.5'");
        not_parsed("{\"min_window\": -1}",
                   "--min-window must be a whole number from 1 to 65536, not '-1'");
        not_parsed("{\"seed\": 1e300}",
                   "--seed must be a whole number from 0 to " MOST ", not '1e300'");
        /* which is a double no more, and would be another seed */
        not_parsed("{\"seed\": 9007199254740993}",
                   "--seed must be a whole number from 0 to " MOST ", "
                   "not '9007199254740992'");
}

TEST(fields_parse_can_ignore_what_is_new)
{
        struct ran_error err = {0};
        struct settings s;

        CHECK_OK(parse(&s, "{\"new\": [{}], \"seed\": 3, \"new\": 1}", true, &err), err);
        CHECK_SIZE(s.seed, 3);
        ran_fields_release(fields, &s);
}

/* ---- several choices ------------------------------------------------------------------------ */

static const char *const kinds[] = {"full", "window", NULL};
static const struct ran_field kind_fields[] = {
        {.name = "kinds",
         .type = RAN_FIELD_CHOICES,
         .offset = 0,
         .choices = kinds,
         .initial = "full"},
        {0},
};

/* NULL: the JSON is refused with that sentence. */
static void check_choices(const char *json, const char *want, const char *sentence)
{
        struct ran_choices choices;
        struct ran_error err = {0};
        struct ran_buf b = {0};

        REQUIRE(ran_fields_init(kind_fields, &choices, NULL) == RAN_OK);
        int code = ran_fields_parse(kind_fields, &choices, json, strlen(json), false, &err);
        CHECK_STR(code == RAN_OK ? NULL : err.text, sentence);
        ran_fields_json(kind_fields, &choices, &b);
        ran_buf_char(&b, '\0');
        CHECK_STR(b.data, want != NULL ? want : "\"kinds\":\"full\"");
        ran_buf_release(&b);
}

TEST(field_of_several_choices)
{
        const char *one =
                "--kinds must be full or window, or several with commas between, not '%s'";
        char sentence[128];

        check_choices("{}", "\"kinds\":\"full\"", NULL);
        check_choices("{\"kinds\":\"window\"}", "\"kinds\":\"window\"", NULL);
        check_choices("{\"kinds\":\"window,full,full\"}",
                      "\"kinds\":[\"window\",\"full\",\"full\"]", NULL);
        check_choices("{\"kinds\":[\"full\",\"window\"]}", "\"kinds\":[\"full\",\"window\"]", NULL);
        check_choices("{\"kinds\":[\"window\"]}", "\"kinds\":\"window\"", NULL);
        snprintf(sentence, sizeof sentence, one, "");
        check_choices("{\"kinds\":\"\"}", NULL, sentence);
        check_choices("{\"kinds\":\"full,\"}", NULL, sentence);
        check_choices("{\"kinds\":\",full\"}", NULL, sentence);
        snprintf(sentence, sizeof sentence, one, "windo");
        check_choices("{\"kinds\":\"full,windo,full\"}", NULL, sentence);
        snprintf(sentence, sizeof sentence, one, "full,full");
        check_choices("{\"kinds\":[\"full,full\"]}", NULL, sentence);
        check_choices("{\"kinds\":[]}", NULL, "\"kinds\" must be a string or an array of strings");
        check_choices("{\"kinds\":[1]}", NULL, "\"kinds\" must be a string or an array of strings");
        check_choices("{\"kinds\":1}", NULL, "\"kinds\" must be a string or an array of strings");
}

TEST(field_of_too_many_choices)
{
        struct ran_choices choices;
        struct ran_error err = {0};
        char text[5 * (RAN_CHOICES_MAX + 1) + 1] = "";

        REQUIRE(ran_fields_init(kind_fields, &choices, NULL) == RAN_OK);
        for (size_t i = 0; i <= RAN_CHOICES_MAX; i++)
                strcat(text, i < RAN_CHOICES_MAX ? "full," : "full");
        CHECK(ran_field_set(kind_fields, &choices, text, &err) == RAN_EINVAL);
        CHECK_STR(err.text, "--kinds takes 256 names at most");
        CHECK_SIZE(choices.n, 1);
        text[strlen(text) - 5] = '\0';
        CHECK_OK(ran_field_set(kind_fields, &choices, text, &err), err);
        CHECK_SIZE(choices.n, RAN_CHOICES_MAX);
}

TEST(fields_changes_are_those_that_are_different)
{
        struct settings a, b;
        struct ran_error err = {0};
        struct ran_buf out = {0};

        CHECK_OK(ran_fields_init(fields, &a, &err), err);
        CHECK_OK(ran_fields_init(fields, &b, &err), err);
        CHECK_OK(ran_field_set(named("mask"), &a, "causal", &err), err);
        CHECK_OK(ran_field_set(named("learning_rate"), &a, "0.5", &err), err);
        CHECK_OK(ran_field_set(named("title"), &a, "x", &err), err);
        CHECK_OK(ran_field_set(named("output"), &a, "local", &err), err);
        ran_fields_changes(fields, &a, &b, &out);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "\"learning_rate\":0.5,\"mask\":\"causal\",\"title\":\"x\"");
        out.len = 0;
        ran_fields_changes(fields, &a, &a, &out);
        CHECK_SIZE(out.len, 0);
        ran_buf_release(&out);
        ran_fields_release(fields, &a);
        ran_fields_release(fields, &b);
}
