/* A report is built once: as JSON, as text, as rows and as a part of a page it says the same. */
#include <string.h>

#include "cmd/pages/report.h"
#include "ran.h"
#include "test.h"

static void build(struct report *r)
{
        static const char hostile[] = "<b>\x1b\"";

        report_count(r, "n", "documents", 1234);
        report_share(r, "accuracy", "accuracy", 0.75);
        report_interval(r, (struct ran_interval){0.5, 0.9});
        report_note(r, "of <%d>", 7);
        report_share(r, NULL, "people only", 0.5);
        report_count(r, "hidden", NULL, 9);
        report_begin(r, REPORT_OBJECT, "inner", "");
        report_bool(r, "yes", NULL, true);
        report_end(r);
        report_begin(r, REPORT_LIST, "rows", "Rows");
        for (size_t i = 0; i < 2; i++) {
                report_begin(r, REPORT_OBJECT, "", "");
                report_bytes(r, REPORT_TEXT, "label", "label", hostile, sizeof hostile - 1);
                report_count(r, "count", "times", 10 * i);
                report_bar(r, "f1", "F1", 0.25);
                report_end(r);
        }
        report_begin(r, REPORT_OBJECT, NULL, "");
        report_string(r, "label", "label", "all");
        report_none(r, "");
        report_bar(r, "f1", "F1", 0.25);
        report_end(r);
        report_end(r);
        report_begin(r, REPORT_MATRIX, "confusion", "Matrix");
        report_begin(r, REPORT_LIST, "labels", "");
        report_string(r, "", "", "x");
        report_string(r, "", "", hostile);
        report_end(r);
        report_begin(r, REPORT_LIST, "matrix", "");
        for (size_t i = 0; i < 2; i++) {
                report_begin(r, REPORT_LIST, "", "");
                report_count(r, "", "", i);
                report_count(r, "", "", 3);
                report_end(r);
        }
        report_end(r);
        report_end(r);
        report_begin(r, REPORT_LIST, "none", "Nothing");
        report_end(r);
}

TEST(report_as_json)
{
        struct report r = {0};
        struct ran_buf out = {0};

        build(&r);
        report_json(&r, &out);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data,
                  "{\"n\":1234,\"accuracy\":0.75,\"hidden\":9,\"inner\":{\"yes\":true},\"rows\":["
                  "{\"label\":\"<b>\\u001b\\\"\",\"count\":0,\"f1\":0.25},"
                  "{\"label\":\"<b>\\u001b\\\"\",\"count\":10,\"f1\":0.25}],"
                  "\"confusion\":{\"labels\":[\"x\",\"<b>\\u001b\\\"\"],"
                  "\"matrix\":[[0,3],[1,3]]},\"none\":[]}");
        ran_buf_release(&out);
        report_release(&r);
}

TEST(report_as_text)
{
        struct report r = {0};
        struct ran_buf out = {0};

        build(&r);
        report_text(&r, &out);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "documents    1234\n"
                            "accuracy     0.7500 (95 % interval: 0.5000 to 0.9000; of <7>)\n"
                            "people only  0.5000\n"
                            "\nRows\n"
                            "label         times      F1\n"
                            "<b><U+001B>\"      0  0.2500\n"
                            "<b><U+001B>\"     10  0.2500\n"
                            "all                  0.2500\n");
        ran_buf_release(&out);
        report_release(&r);
}

TEST(report_as_rows)
{
        static const char *const columns[] = {"name", "f1", "count", NULL};
        struct report r = {0};
        struct ran_buf out = {0};

        build(&r);
        report_rows(&r, "rows", columns, &output_csv, &out);
        report_rows(&r, "no such list", columns, &output_tsv, &out);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "name,f1,count\n\"<b>\x1b\"\"\",0.25,0\n\"<b>\x1b\"\"\",0.25,10\n"
                            "all,0.25,\nname\tf1\tcount\n");
        ran_buf_release(&out);
        report_release(&r);
}

TEST(report_on_a_page)
{
        struct report r = {0};
        struct ran_buf out = {0};

        build(&r);
        report_page(&r, &out);
        ran_buf_char(&out, '\0');
        CHECK(strstr(out.data, "<td class=\"n\">1,234</td>") != NULL);
        CHECK(strstr(out.data, "75.00\xc2\xa0%</td><td><small> 95 % interval: 50.0 to 90.0; "
                               "</small><small>of &lt;7&gt;</small>") != NULL);
        CHECK(strstr(out.data, "<tr class=\"all\"><th scope=\"row\"><bdi>all</bdi></th>") != NULL);
        CHECK(strstr(out.data, "<b>") == NULL && strstr(out.data, "&lt;b&gt;") != NULL);
        CHECK(strstr(out.data, "<td class=\"hit dark\" style=\"--v:0.750\">3</td>") != NULL);
        CHECK(strstr(out.data, "9</td>") == NULL && strstr(out.data, "Nothing") == NULL);
        ran_buf_release(&out);
        report_release(&r);
}
