/* Formats of records: the table of input formats, and the JSON writer. */
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
        CHECK_SIZE(n, 9);
}

TEST(formats_are_told_by_the_first_line)
{
        static const struct {
                const char *line, *name, *file;
        } cases[] = {
                {"{\"text\":\"x\"}", "jsonl", NULL},
                {" [\"x\", {}]", "jsonl", NULL},
                {"__label__a b", "fasttext", NULL},
                {"b __label__a", "fasttext", NULL},
                {"-DOCSTART- -X- O", "conll", NULL},
                {"EU B-ORG", NULL, NULL}, /* "vitamin B-carotene" */
                {"EU B-ORG\nmet O", "conll", NULL},
                {"EU B-ORG\n\nmet O\n", "conll", NULL},
                {"EU\tB-ORG", "conll", NULL},
                {"EU B-ORG", "conll", "x.conll"},
                {"[ O", "conll", "x.conll"},
                {"# text = x", "conll", NULL},
                {"# text = x", "conll", "x.conllu"},
                {"# text\nof a page", NULL, NULL},
                {"# id 7\nEU B-ORG\nmet O", "conll", NULL},
                {"# id card\n\nAsk for one.", NULL, NULL},
                {"#\thttp://x [1]\n1\tEU\tB-ORG\tO\n", "conll", NULL},
                {"I like rain S-bahn\nHe likes storms U-boat", NULL, NULL},
                {"I like my S-bahn\nYou hate my S-bahn", NULL, NULL},
                {"mail my E-mail\nthe vitamin O\nan I-beam too", NULL, NULL},
                {"an E-mail\nvitamin O", NULL, NULL},
                {"a B-PER\nb O\nc O\nd O\ne O\nf\ng O", "conll", NULL},
                {"a B-PER\nb O\nbut this is prose", NULL, NULL},
                {"a long text about it\tO\nanother text of words\tB-minus", "tsv", NULL},
                {"[Music] rain", NULL, NULL},
                {"[[a link]] and text", NULL, NULL},
                {"[ ] to do", NULL, NULL},
                {"[\"Rain,\" she said]", NULL, NULL},
                {"{{Infobox}} rain", NULL, NULL},
                {"{\"rain\"} storm", NULL, NULL},
                {"{\nint x;", NULL, NULL},
                {"{\"a", "jsonl", NULL},
                {"{'a': 1}", "jsonl", NULL},
                {"[", "json", NULL},
                {"[{\"text\":\"x\"},", "json", NULL},
                {"[\n  {\n", "json", NULL},
                {"{\n  \"text\": \"x\"", "json", NULL},
                {"{ \"id\": 1,\n  \"text\": \"x\" }", "json", NULL},
                {"{\"id\": 8, \"text\": \"And th\n{\"id\": 9}", "jsonl", NULL},
                {"about __label__ words\nand others", NULL, NULL},
                {"b __label__a\nc __label__a", "fasttext", NULL},
                {"Question, anyone\nNobody knows.", NULL, NULL},
                {"text,label\na,b", "csv", NULL},
                {"text,label\n\"a\nb", "csv", NULL},
                {"So\tthis\nis prose\nand more", NULL, NULL},
                {"# newdoc id = 1", "conll", NULL},
                {"sports\ta ball", "tsv", NULL},
                {"a ball", NULL, NULL},
                {"two words\tx", "tsv", NULL},
                {"two words\tx y", NULL, NULL},
                {"two words\tx\ty", NULL, NULL},
                {"id\tReview Text\tx", "tsv", NULL},
                {"id,text,label", "csv", NULL},
                {"\"text\";\"label\"", "csv", NULL},
                {"Text, label and other words.", NULL, NULL},
                {"text", NULL, NULL},
                {"a,b", NULL, NULL},
                {"a,b", "csv", "x/y.csv"},
                {"a B-PER", "csv", "y.csv"},
                {"{}", "jsonl", "y.csv"},
                {"a b\tc d", "tsv", "y.tsv"},
                {"a b\tB-PER", "conll", "y.tsv"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                enum import_match match;
                struct sample sample = {
                        .s = cases[i].line, .n = strlen(cases[i].line), .all = true};
                const char *line;
                size_t at = 0;
                (void)sample_next(&sample, &at, &line, &sample.first);
                const struct import_format *f = import_guess(cases[i].file, &sample, &match);
                CHECK_STR(f != NULL ? import_name(f) : NULL, cases[i].name);
        }
}

TEST(formats_have_endings_of_file_names)
{
        CHECK(import_has_ending("a/b.jsonl") && import_has_ending("b.conllu"));
        CHECK(!import_has_ending("b.txt") && import_has_ending("b.csv") &&
              !import_has_ending(".tsv") && !import_has_ending("jsonl"));
}

/* ---- tables --------------------------------------------------------------------------------- */

/* The rows of a table that arrives in chunks of `step` bytes, each row in brackets. */
static void split(const char *s, size_t n, size_t step, struct ran_buf *out)
{
        struct table_scan scan = {.delimiter = ','};
        size_t begin = 0, at = 0, end, next;

        for (size_t have = step < n ? step : n;; have = have + step < n ? have + step : n) {
                bool last = have == n;
                for (;;) {
                        if (begin < have && scan.returned) {
                                begin += s[begin] == '\n';
                                scan.returned = false;
                        }
                        if (begin == have ||
                            !table_row_end(&scan, s + begin, have - begin, last, &at, &end, &next))
                                break;
                        ran_buf_char(out, '[');
                        ran_buf_add(out, s + begin, end);
                        ran_buf_char(out, ']');
                        begin += next;
                        at = 0;
                }
                if (last)
                        break;
        }
        ran_buf_char(out, '\0');
}

TEST(rows_are_the_same_whenever_their_bytes_arrive)
{
        static const struct {
                const char *table, *rows;
        } cases[] = {
                {"a,b\r\nc\n", "[a,b][c]"},
                {"a\rb\r\rc", "[a][b][][c]"},
                {"\"a\nb\",c\n\"d\"", "[\"a\nb\",c][\"d\"]"},
                {"\"a\"\"\n\"\n", "[\"a\"\"\n\"]"},
                {"a\"b\nc\"\n", "[a\"b][c\"]"},
                {"x,\"a\r\nb\"c\nd\n", "[x,\"a\r\nb\"c][d]"},
                {"\"a\nb\n", "[\"a\nb\n]"},
                {"\"a\" \"b\nc", "[\"a\" \"b][c]"},
                {"", ""},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                for (size_t step = 1; step < 20; step++) {
                        struct ran_buf out = {0};
                        split(cases[i].table, strlen(cases[i].table), step, &out);
                        CHECK_STR(out.data, cases[i].rows);
                        ran_buf_release(&out);
                }
}

TEST(cells_have_their_text)
{
        static const struct {
                const char *row, *cells;
        } cases[] = {
                {"a,b c,", "a|b c||"},
                {"\"a, b\",\"c\"\"d\"", "a, b|c\"d|"},
                {"\"\",\"\"\"\"", "|\"|"},
                {"\"a\"b\"c,d", "ab\"c|d|"},
                {"a\"\"b, \"c\"", "a\"\"b| \"c\"|"},
                {"\"a,b", "a,b!|"},
        };
        const struct table_scan scan = {.delimiter = ','};

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                const char *s = cases[i].row;
                struct ran_buf out = {0}, room = {0};
                struct table_cell cell;
                size_t at = 0, n;
                while (table_next_cell(&scan, s, strlen(s), &at, &cell)) {
                        const char *text = table_text(s, &cell, &room, &n);
                        ran_buf_add(&out, text, n);
                        ran_buf_str(&out, cell.open ? "!|" : "|");
                }
                ran_buf_char(&out, '\0');
                CHECK_STR(out.data, cases[i].cells);
                ran_buf_release(&out);
                ran_buf_release(&room);
        }
}

TEST(delimiters_are_characters_or_words)
{
        CHECK(table_delimiter("tab") == '\t' && table_delimiter(";") == ';');
        CHECK(table_delimiter("") == 0 && table_delimiter("ab") == 0 &&
              table_delimiter("\"") == 0 && table_delimiter("\n") == 0 &&
              table_delimiter("\xc3") == 0);
        CHECK(table_guess_delimiter("a;b;\",,,,\"", 10) == ';');
        CHECK(table_guess_delimiter("a", 1) == ',' && table_guess_delimiter(NULL, 0) == ',');
}
