/* The span scanner and the functions on what it has scanned. */
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "test.h"

/* Scans exactly n bytes of the heap, so that a sanitizer sees any byte read past the end. */
static int scan(struct ran_record *r, const char *line, size_t n, struct ran_error *err)
{
        char *copy = malloc(n > 0 ? n : 1);

        if (copy == NULL)
                return RAN_ENOMEM;
        memcpy(copy, line, n);
        int code = ran_record_scan(r, copy, n, err);
        r->line = line; /* the spans are good for the original, too */
        free(copy);
        return code;
}

static bool accepts(const char *line)
{
        struct ran_record r = {0};
        int code = scan(&r, line, strlen(line), NULL);

        ran_record_release(&r);
        return code == RAN_OK;
}

/* The sentence about a line that is refused; static. */
static const char *refusal(const char *line)
{
        static struct ran_error err;
        struct ran_record r = {0};

        strcpy(err.text, "accepted");
        scan(&r, line, strlen(line), &err);
        ran_record_release(&r);
        return err.text;
}

/* ---- the grammar ---------------------------------------------------------------------------- */

TEST(json_accepts_what_the_grammar_allows)
{
        static const char *const good[] = {
                "{}",
                " \t{ \r\n} ",
                "{\"\":0}",
                "{\"a\":-0,\"b\":0.5,\"c\":1e9,\"d\":-1.25E-07,\"e\":1E+2}",
                "{\"a\":123456789012345678901234567890}",
                "{\"a\":true , \"b\":false,\"c\":null}",
                "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uD83D\\ude00\"}",
                "{\"a\":\"\\ud800\"}", /* half a pair is for those who decode it to refuse */
                "{\"a\":[[],{},[1,[2]],{\"b\":{\"c\":[]}}]}",
                "{\"a\":1,\"a\":2}",
                "{\"\xc3\xa9\":\"\xe2\x82\xac \xf0\x9f\x98\x80 \x7f\"}",
        };

        for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
                if (!CHECK_STR(refusal(good[i]), "accepted"))
                        fprintf(stderr, "   the line is %s\n", good[i]);
        }
}

TEST(json_refuses_with_the_column)
{
        static const char *const bad[][2] = {
                {"", "column 1: expected an object, '{', but the line ends here"},
                {"[1]", "column 1: expected an object, '{', found '['"},
                {"{} x", "column 4: expected the end of the line after the object, found 'x'"},
                {"{}{}", "column 3: expected the end of the line after the object, found '{'"},
                {"{\"a\":1", "column 7: expected ',' or '}', but the line ends here"},
                {"{\"a\":1,}", "column 8: expected a name in quotes, found '}'"},
                {"{a:1}", "column 2: expected a name in quotes, found 'a'"},
                {"{\"a\" 1}", "column 6: expected ':', found '1'"},
                {"{\"a\":}", "column 6: expected a value, found '}'"},
                {"{\"a\":[1,]}", "column 9: expected a value, found ']'"},
                {"{\"a\":[1}", "column 8: expected ',' or ']', found '}'"},
                {"{\"a\":{\"b\":1]}", "column 12: expected ',' or '}', found ']'"},
                {"{\"a\":01}", "column 7: a number must not begin with 0"},
                {"{\"a\":-}", "column 7: expected a digit, found '}'"},
                {"{\"a\":1.}", "column 8: expected a digit after the decimal point, found '}'"},
                {"{\"a\":1e}", "column 8: expected a digit in the exponent, found '}'"},
                {"{\"a\":.5}", "column 6: expected a value, found '.'"},
                {"{\"a\":+1}", "column 6: expected a value, found '+'"},
                {"{\"a\":NaN}", "column 6: expected a value, found 'N'"},
                {"{\"a\":tru}", "column 6: expected a value, found 't'"},
                {"{\"a\":'b'}", "column 6: expected a value, found '''"},
                {"{\"a\":\"b", "column 8: a string has no closing quote"},
                {"{\"a\":\"\t\"}", "column 7: a control character in a string must be escaped"},
                {"{\"a\":\"\\x\"}", "column 8: expected one of \"\\/bfnrtu after a backslash, "
                                    "found 'x'"},
                {"{\"a\":\"\\u12g4\"}", "column 11: expected four hexadecimal digits after \\u, "
                                        "found 'g'"},
                {"{\"a\":1}\x01", "column 8: expected the end of the line after the object, "
                                  "found byte 0x01"},
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
                CHECK_STR(refusal(bad[i][0]), bad[i][1]);
}

/* U+0000 as a byte is a control character like any other, not the end of the line. */
TEST(json_refuses_a_zero_byte)
{
        static const char in_string[] = "{\"a\":\"x\0y\"}", outside[] = "{}\0";
        struct ran_record r = {0};
        struct ran_error err;

        CHECK(scan(&r, in_string, sizeof(in_string) - 1, &err) == RAN_EFORMAT);
        CHECK_STR(err.text, "column 8: a control character in a string must be escaped");
        CHECK(scan(&r, outside, sizeof(outside) - 1, &err) == RAN_EFORMAT);
        ran_record_release(&r);
}

TEST(json_refuses_what_is_not_utf8)
{
        static const char *const bad[] = {
                "\x80",
                "\xbf",
                "\xc3",
                "\xc3(",
                "\xc0\x80",
                "\xc1\xbf",
                "\xe0\x9f\xbf",
                "\xe2\x82",
                "\xed\xa0\x80",
                "\xed\xbf\xbf",
                "\xe2(\xac",
                "\xf0\x8f\xbf\xbf",
                "\xf4\x90\x80\x80",
                "\xf5\x80\x80\x80",
                "\xff",
                "\xf0\x9f\x98",
        };
        static const char *const good[] = {
                "\xc2\x80",     "\xdf\xbf",     "\xe0\xa0\x80",     "\xed\x9f\xbf",
                "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
        };
        char line[64];

        for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
                snprintf(line, sizeof(line), "{\"a\":\"plain%s\"}", bad[i]);
                CHECK_STR(refusal(line), "column 12: this is not valid UTF-8");
                CHECK_SIZE(ran_utf8_valid(bad[i], strlen(bad[i])), 0);
        }
        for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
                snprintf(line, sizeof(line), "{\"%s\":\"%s\"}", good[i], good[i]);
                CHECK_STR(refusal(line), "accepted");
                CHECK_SIZE(ran_utf8_valid(good[i], strlen(good[i])), strlen(good[i]));
        }
}

/* Every place in a word of eight bytes, where the scanner looks at them at once. */
TEST(json_sees_special_bytes_wherever_they_stand)
{
        char line[64];

        for (size_t pad = 0; pad < 20; pad++) {
                snprintf(line, sizeof(line), "{\"a\":\"%.*s\x1f........\"}", (int)pad,
                         "....................");
                CHECK(!accepts(line));
                snprintf(line, sizeof(line), "{\"a\":\"%.*s\xff........\"}", (int)pad,
                         "....................");
                CHECK(!accepts(line));
                snprintf(line, sizeof(line), "{\"a\":\"%.*s\"........\"}", (int)pad,
                         "....................");
                CHECK(!accepts(line));
                snprintf(line, sizeof(line), "{\"a\":\"%.*s\\.........\"}", (int)pad,
                         "....................");
                CHECK(!accepts(line));
        }
}

/* ---- against a plain recursive checker ------------------------------------------------------ */

static const char *naive_value(const char *s);

static const char *naive_space(const char *s)
{
        return s + strspn(s, " \t\n\r");
}

static const char *naive_string(const char *s)
{
        if (*s++ != '"')
                return NULL;
        for (; *s != '"'; s++) {
                if ((unsigned char)*s < 0x20)
                        return NULL;
                if (*s != '\\')
                        continue;
                s++;
                if (*s == 'u' && strspn(s + 1, "0123456789abcdefABCDEF") >= 4)
                        s += 4;
                else if (*s == '\0' || strchr("\"\\/bfnrt", *s) == NULL)
                        return NULL;
        }
        return s + 1;
}

static const char *naive_number(const char *s)
{
        size_t n;

        s += *s == '-';
        n = strspn(s, "0123456789");
        if (n == 0 || (*s == '0' && n > 1))
                return NULL;
        s += n;
        if (*s == '.') {
                n = strspn(s + 1, "0123456789");
                if (n == 0)
                        return NULL;
                s += 1 + n;
        }
        if (*s == 'e' || *s == 'E') {
                s++;
                s += *s == '+' || *s == '-';
                n = strspn(s, "0123456789");
                if (n == 0)
                        return NULL;
                s += n;
        }
        return s;
}

static const char *naive_nested(const char *s)
{
        char close = *s == '{' ? '}' : ']';

        s = naive_space(s + 1);
        if (*s == close)
                return s + 1;
        for (;;) {
                if (close == '}') {
                        s = naive_string(naive_space(s));
                        s = s != NULL ? naive_space(s) : NULL;
                        if (s == NULL || *s++ != ':')
                                return NULL;
                }
                s = naive_value(s);
                if (s == NULL)
                        return NULL;
                if (*s == close)
                        return s + 1;
                if (*s++ != ',')
                        return NULL;
        }
}

static const char *naive_value(const char *s)
{
        s = naive_space(s);
        if (*s == '{' || *s == '[')
                s = naive_nested(s);
        else if (*s == '"')
                s = naive_string(s);
        else if (strncmp(s, "true", 4) == 0 || strncmp(s, "null", 4) == 0)
                s += 4;
        else if (strncmp(s, "false", 5) == 0)
                s += 5;
        else
                s = naive_number(s);
        return s != NULL ? naive_space(s) : NULL;
}

static bool naive_accepts(const char *line)
{
        const char *end = naive_value(line);

        return *naive_space(line) == '{' && end != NULL && *end == '\0';
}

TEST(json_agrees_with_a_recursive_checker)
{
        static const char start[] = "{\"a\":[1,-2.5e3,\"x\\n\\u00e9\"],\"b\":{\"c\":null,\"d\":[]},"
                                    "\"e\":true}";
        static const char bytes[] = "{}[]\",:\\0123-.eEu tfn\t\x01x";
        size_t accepted = 0;

        for (uint64_t i = 0; i < 20000; i++) {
                char line[sizeof(start)];
                uint64_t changes = 1 + ran_random_draw(1, 8 * i) % 3;
                memcpy(line, start, sizeof(start));
                for (uint64_t c = 0; c < changes; c++) {
                        size_t at = ran_random_draw(1, 8 * i + 2 * c + 1) % (sizeof(start) - 1);
                        line[at] =
                                bytes[ran_random_draw(1, 8 * i + 2 * c + 2) % (sizeof(bytes) - 1)];
                }
                bool got = accepts(line), want = naive_accepts(line);
                if (!CHECK(got == want))
                        fprintf(stderr, "   the line is %s\n", line);
                accepted += want;
        }
        CHECK(accepted > 100); /* the changes are not all fatal, so both answers are tried */
}

TEST(json_refuses_every_beginning_of_a_line)
{
        static const char line[] =
                "{\"id\":17,\"t\":\"\\u00e9\xc3\xa9\",\"x\":[{\"y\":[-1.5e+3]}]}";
        struct ran_record r = {0};

        for (size_t n = 0; n < sizeof(line) - 1; n++)
                CHECK(scan(&r, line, n, NULL) == RAN_EFORMAT);
        CHECK(scan(&r, line, sizeof(line) - 1, NULL) == RAN_OK);
        ran_record_release(&r);
}

TEST(json_takes_any_depth)
{
        const size_t depth = 1000000;
        char *line = malloc(2 * depth + 16);
        struct ran_record r = {0};
        struct ran_error err;

        REQUIRE(line != NULL);
        memcpy(line, "{\"a\":", 5);
        memset(line + 5, '[', depth);
        memset(line + 5 + depth, ']', depth);
        line[5 + 2 * depth] = '}';
        CHECK_OK(scan(&r, line, 6 + 2 * depth, &err), err);
        line[5 + depth] = '}'; /* the innermost bracket is closed by a brace */
        CHECK(scan(&r, line, 6 + 2 * depth, &err) == RAN_EFORMAT);
        ran_record_release(&r);
        free(line);
}

/* ---- members -------------------------------------------------------------------------------- */

static bool span_is(const char *line, struct ran_span span, const char *want)
{
        return span.end - span.begin == strlen(want) &&
               memcmp(line + span.begin, want, strlen(want)) == 0;
}

TEST(json_members_are_spans)
{
        static const char line[] = " { \"id\" : 12345678901234567890 , \"n\\u0061me\":\"x\" }";
        struct ran_record r = {0};
        struct ran_error err;
        bool twice = true;

        CHECK_OK(scan(&r, line, strlen(line), &err), err);
        REQUIRE(r.count == 2);
        CHECK(span_is(line, r.object, "{ \"id\" : 12345678901234567890 , \"n\\u0061me\":\"x\" }"));
        CHECK(span_is(line, r.members[0].whole, "\"id\" : 12345678901234567890"));
        CHECK(span_is(line, r.members[0].value, "12345678901234567890"));
        const struct ran_member *m = ran_record_find(&r, "name", &twice);
        REQUIRE(m != NULL);
        CHECK(!twice);
        CHECK(m->type == 's');
        CHECK(span_is(line, m->value, "\"x\""));
        CHECK(ran_record_find(&r, "Id", NULL) == NULL);
        CHECK(ran_record_find(&r, "nam", NULL) == NULL);
        ran_record_release(&r);
}

TEST(json_finds_members_given_twice)
{
        static const char line[] = "{\"text\":1,\"x\":2,\"te\\u0078t\":3}";
        struct ran_record r = {0};
        bool twice = false;

        CHECK(scan(&r, line, strlen(line), NULL) == RAN_OK);
        const struct ran_member *m = ran_record_find(&r, "text", &twice);
        REQUIRE(m != NULL);
        CHECK(twice);
        CHECK(span_is(line, m->value, "1"));
        ran_record_release(&r);
}

TEST(json_finds_members_without_a_name)
{
        static const char line[] = "{\"\":1,\"\":2}";
        struct ran_record r = {0};
        bool twice = false;

        CHECK(ran_record_find(&r, "", NULL) == NULL); /* before anything was read */
        CHECK(scan(&r, line, strlen(line), NULL) == RAN_OK);
        const struct ran_member *m = ran_record_find(&r, "", &twice);
        REQUIRE(m != NULL);
        CHECK(twice);
        CHECK(span_is(line, m->value, "1"));
        ran_record_release(&r);
}

TEST(json_types_are_told)
{
        static const char line[] = "{\"a\":\"\",\"b\":-1,\"c\":{},\"d\":[],\"e\":true,\"f\":false,"
                                   "\"g\":null}";
        static const char want[] = "snoatf0";
        struct ran_record r = {0};

        CHECK(scan(&r, line, strlen(line), NULL) == RAN_OK);
        REQUIRE(r.count == 7);
        for (size_t i = 0; i < 7; i++)
                CHECK(r.members[i].type == want[i]);
        ran_record_release(&r);
}

TEST(json_keeps_the_members_before_an_error)
{
        static const char line[] = "{\"id\":7,\"text\":\"good\",\"bad\":tru,\"late\":1}";
        struct ran_record r = {0};
        struct ran_error err;

        CHECK(scan(&r, line, strlen(line), &err) == RAN_EFORMAT);
        REQUIRE(r.count == 2);
        CHECK(span_is(line, r.members[0].whole, "\"id\":7"));
        CHECK(span_is(line, r.members[1].whole, "\"text\":\"good\""));
        CHECK(scan(&r, "{\"x\":1}", 7, &err) == RAN_OK); /* a record can be used again */
        CHECK_SIZE(r.count, 1);
        ran_record_release(&r);
}

/* A name with half a surrogate pair is no name that anybody asks for, but may be passed on. */
TEST(json_passes_names_that_cannot_be_decoded)
{
        static const char line[] = "{\"\\ud800\":1,\"id\":2}";
        struct ran_record r = {0};

        CHECK(scan(&r, line, strlen(line), NULL) == RAN_OK);
        REQUIRE(r.count == 2);
        CHECK(ran_record_find(&r, "", NULL) == NULL);
        CHECK(ran_record_find(&r, "id", NULL) == &r.members[1]);
        ran_record_release(&r);
}

/* ---- decoding and writing ------------------------------------------------------------------- */

/* The decoded form of a string given with its quotes, or the sentence; static. */
static const char *decoded(const char *string, size_t *n)
{
        static struct ran_buf out;
        static struct ran_error err;

        ran_buf_release(&out);
        struct ran_span span = {0, strlen(string)};
        if (ran_json_decode(string, span, &out, &err) != RAN_OK)
                return err.text;
        *n = out.len;
        ran_buf_char(&out, '\0');
        return out.data;
}

TEST(json_decodes_strings)
{
        size_t n = 0;

        CHECK_STR(decoded("\"\"", &n), "");
        CHECK_STR(decoded("\"plain\"", &n), "plain");
        CHECK_STR(decoded("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", &n), "\"\\/\b\f\n\r\t");
        CHECK_STR(decoded("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00z\"", &n),
                  "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
        CHECK_STR(decoded("\"\\uFFFF\\ud7ff\\ue000\"", &n), "\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80");
        CHECK_STR(decoded("\"\\uDBFF\\uDFFF\"", &n), "\xf4\x8f\xbf\xbf");
        CHECK(memcmp(decoded("\"a\\u0000b\"", &n), "a\0b", 4) == 0);
        CHECK_SIZE(n, 3);
}

TEST(json_refuses_half_a_surrogate_pair)
{
        size_t n;

        CHECK_STR(decoded("\"a\\ud800\"", &n), "column 3: \\ud800 is half of a surrogate pair");
        CHECK_STR(decoded("\"\\udc00\"", &n), "column 2: \\udc00 is half of a surrogate pair");
        CHECK_STR(decoded("\"\\ud800x\"", &n), "column 2: \\ud800 is half of a surrogate pair");
        CHECK_STR(decoded("\"\\ud800\\n\"", &n), "column 2: \\ud800 is half of a surrogate pair");
        CHECK_STR(decoded("\"\\ud800\\u0041\"", &n),
                  "column 2: \\ud800 is half of a surrogate pair");
        CHECK_STR(decoded("\"\\udbff\\ue000\"", &n),
                  "column 2: \\udbff is half of a surrogate pair");
        CHECK_STR(decoded("\"\\ud800\\ud800\"", &n),
                  "column 2: \\ud800 is half of a surrogate pair");
}

TEST(json_decoding_that_fails_adds_nothing)
{
        struct ran_buf out = {0};
        static const char string[] = "\"abc\\ud800\"";

        ran_buf_str(&out, "before");
        CHECK(ran_json_decode(string, (struct ran_span){0, strlen(string)}, &out, NULL) ==
              RAN_EFORMAT);
        CHECK_SIZE(out.len, 6);
        ran_buf_release(&out);
}

static bool decodable(const char *part)
{
        return ran_json_decodable(part, (struct ran_span){0, strlen(part)});
}

TEST(json_tells_what_can_be_decoded)
{
        CHECK(decodable("[1,{\"a\":\"\\\\ud800\\n\"}]"));
        CHECK(decodable("\"\\ud83d\\ude00\\u00e9\""));
        CHECK(!decodable("[1,{\"a\":\"\\ud800\"}]"));
        CHECK(!decodable("{\"\\udc00\":1}"));
        CHECK(!decodable("[\"\\ud800\",\"\\udc00\"]"));
}

static const char *written(const char *s, size_t n)
{
        static struct ran_buf out;

        ran_buf_release(&out);
        ran_buf_json(&out, s, n);
        ran_buf_char(&out, '\0');
        return out.data;
}

TEST(json_writes_strings)
{
        CHECK_STR(written("", 0), "\"\"");
        CHECK_STR(written("a/b \x7f", 5), "\"a/b \x7f\"");
        CHECK_STR(written("\"\\\b\f\n\r\t\x01\0", 9), "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u0000\"");
        CHECK_STR(written("\xc3\xa9\xf0\x9f\x98\x80", 6), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
        CHECK_STR(written("a\xff\xc3", 3), "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* What is written, scanned and decoded is what it was: for every byte, and all code points that
 * border on a range. */
TEST(json_strings_survive_the_round_trip)
{
        char text[128];
        size_t n = 0;

        for (int c = 0; c < 0x80; c++)
                text[n++] = (char)c;
        struct ran_buf line = {0}, out = {0};
        struct ran_record r = {0};
        struct ran_error err;

        ran_buf_str(&line, "{\"a\":");
        ran_buf_json(&line, text, n);
        ran_buf_char(&line, '}');
        CHECK_OK(scan(&r, line.data, line.len, &err), err);
        REQUIRE(r.count == 1);
        CHECK_OK(ran_json_decode(line.data, r.members[0].value, &out, &err), err);
        CHECK(out.len == n && memcmp(out.data, text, n) == 0);
        ran_buf_release(&line);
        ran_buf_release(&out);
        ran_record_release(&r);
}

/* ---- walking -------------------------------------------------------------------------------- */

/* A reader may be led to a member of another type than it expects. */
TEST(json_finds_no_items_in_what_is_no_array_or_object)
{
        static const char line[] = "{\"a\":5,\"b\":\"x\",\"c\":true,\"d\":null,\"o\":{\"k\":1}}";
        struct ran_record r = {0};

        CHECK(scan(&r, line, strlen(line), NULL) == RAN_OK);
        REQUIRE(r.count == 5);
        for (size_t i = 0; i < 5; i++) {
                struct ran_items items = ran_items(line, r.members[i].value);
                CHECK(ran_items_next(&items) == (i == 4));
                CHECK(i < 4 || span_is(line, items.value, "1"));
        }
        ran_record_release(&r);
}

TEST(json_walks_arrays_and_objects)
{
        static const char line[] = "{\"a\": [ 1 , \"x]\\\"\" ,[2,{\"b\":\"}\"}], null ],"
                                   "\"o\":{ \"k\" : {\"z\":[]} , \"l\\\"\":\"v\"}, \"e\":[ ]}";
        static const char *const items[] = {"1", "\"x]\\\"\"", "[2,{\"b\":\"}\"}]", "null"};
        struct ran_record r = {0};
        size_t n = 0;

        CHECK(scan(&r, line, strlen(line), NULL) == RAN_OK);
        REQUIRE(r.count == 3);
        for (struct ran_items i = ran_items(line, r.members[0].value); ran_items_next(&i); n++) {
                REQUIRE(n < 4);
                CHECK(span_is(line, i.value, items[n]));
                CHECK(i.type == "nsa0"[n]);
        }
        CHECK_SIZE(n, 4);

        struct ran_items i = ran_items(line, r.members[1].value);
        REQUIRE(ran_items_next(&i));
        CHECK(span_is(line, i.name, "\"k\"") && span_is(line, i.value, "{\"z\":[]}") &&
              i.type == 'o');
        REQUIRE(ran_items_next(&i));
        CHECK(span_is(line, i.name, "\"l\\\"\"") && span_is(line, i.value, "\"v\"") &&
              i.type == 's');
        CHECK(!ran_items_next(&i));

        i = ran_items(line, r.members[2].value);
        CHECK(!ran_items_next(&i));
        ran_record_release(&r);
}
