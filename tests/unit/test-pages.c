/* Text in pages: nothing of it is taken for a tag, and it stays below what there is room for. */
#include <string.h>

#include "cmd/pages/documents.h"
#include "cmd/pages/page.h"
#include "ran.h"
#include "test.h"

static void check_text(const char *text, size_t n, const char *wanted)
{
        struct ran_buf out = {0};

        page_text(&out, text, n);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, wanted);
        ran_buf_release(&out);
}

TEST(page_text_is_text)
{
        check_text("<a href=\"x\">'&'", 15, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
        check_text("a\tb\nc", 5, "a\tb\nc");
        check_text("\0\x1b\x7f", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        check_text("\xc2\x85z", 3, "\xef\xbf\xbdz");     /* a C1 control */
        check_text("\xef\xbf\xbfz", 4, "\xef\xbf\xbdz"); /* U+FFFF */
        check_text("\xe2\x82z\xf0\x9f\x98", 6,
                   "\xef\xbf\xbdz\xef\xbf\xbd");               /* parts of characters */
        check_text("\xff\xc3", 2, "\xef\xbf\xbd\xef\xbf\xbd"); /* not UTF-8 */
        check_text("\xc3\xa9\xe2\x82\xac", 5, "\xc3\xa9\xe2\x82\xac");
        check_text("", 0, "");
}

TEST(page_excerpt_ends_at_a_character)
{
        struct ran_buf out = {0};

        page_excerpt(&out, "ab \xc3\xa9", 5, 4);
        ran_buf_char(&out, '\0');
        CHECK_STR(out.data, "ab \xe2\x80\xa6");
        ran_buf_release(&out);
}

TEST(page_documents_keep_the_most_doubtful)
{
        struct page_documents d = {.most = 3};
        struct page_document one = {0};

        ran_buf_str(&one.name, "n");
        ran_buf_str(&one.body, "b");
        for (size_t i = 0; i < 10; i++) {
                one.doubt = (double)((i * 7) % 10);
                page_documents_add(&d, &one);
        }
        CHECK_SIZE(d.seen, 10);
        CHECK(d.n <= 6);
        CHECK(page_documents_want(&d, 7.5) && !page_documents_want(&d, 2));
        page_document_release(&one);
        page_documents_release(&d);
}
