/* Formats of records: the table of input formats, and JSON with commas that place themselves. */
#include <string.h>

#include "cmd/formats/import.h"
#include "cmd/formats/json.h"
#include "test.h"

TEST(json_commas_stand_between_members_and_items)
{
        struct ran_buf out = {0};

        json_begin(&out, '{');
        json_put_size(&out, "a", 3);
        json_name(&out, "b");
        json_begin(&out, '[');
        json_string(&out, "x{", 2);
        json_string(&out, ",", 1);
        json_begin(&out, '[');
        json_end(&out, ']');
        json_size(&out, 0);
        json_end(&out, ']');
        json_put_raw(&out, "c", "{}", 2);
        json_put_string(&out, "d", "\"", 1);
        json_end(&out, '}');
        ran_buf_char(&out, '\n');
        json_begin(&out, '{');
        json_raw(&out, "", 0);
        json_raw(&out, "\"e\":1", 5);
        json_put_size(&out, "f", 2);
        json_end(&out, '}');
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "{\"a\":3,\"b\":[\"x{\",\",\",[],0],\"c\":{},\"d\":\"\\\"\"}\n"
                            "{\"e\":1,\"f\":2}");
        ran_buf_release(&out);
}

TEST(json_members_hold_something)
{
        static const char line[] = "{\"a\":null,\"b\":0}";
        struct ran_record r = {0};

        REQUIRE(ran_record_scan(&r, line, strlen(line), NULL) == RAN_OK);
        CHECK(json_member(&r, "a") == NULL);
        CHECK(json_member(&r, "b") != NULL);
        CHECK(json_member(&r, "c") == NULL);
        ran_record_release(&r);
}

/* ---- input formats -------------------------------------------------------------------------- */

TEST(formats_have_a_name_and_an_entry_each)
{
        size_t n = 0;

        CHECK_STR(import_names[0], "auto");
        CHECK(import_choice(0) == NULL);
        for (int i = 1; import_names[i] != NULL; i++, n++) {
                const struct import_format *f = import_choice(i);
                REQUIRE(f != NULL && f->import != NULL);
                CHECK_STR(import_name(f), import_names[i]);
                CHECK((f->guess != NULL) == (f->looks_like != NULL));
        }
        CHECK_SIZE(n, 7);
}

TEST(formats_are_told_by_the_first_line)
{
        static const struct {
                const char *line, *name;
        } cases[] = {
                {"{\"text\":\"x\"}", "jsonl"},
                {" [\"x\", {}]", "jsonl"},
                {"__label__a b", "fasttext"},
                {"b __label__a", "fasttext"},
                {"-DOCSTART- -X- O", "conll"},
                {"EU B-ORG", "conll"},
                {"# newdoc id = 1", "conll"},
                {"sports\ta ball", "tsv"},
                {"a ball", NULL},
                {"two words\tx", NULL},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const struct import_format *f = import_guess(cases[i].line, strlen(cases[i].line));
                CHECK_STR(f != NULL ? import_name(f) : NULL, cases[i].name);
        }
}

TEST(formats_have_endings_of_file_names)
{
        CHECK(import_has_ending("a/b.jsonl") && import_has_ending("b.conllu"));
        CHECK(!import_has_ending("b.txt") && !import_has_ending(".tsv") &&
              !import_has_ending("jsonl"));
}
