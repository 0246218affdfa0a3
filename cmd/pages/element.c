/* element.c - see element.h. */
#include "cmd/pages/page.h"

#include <stdarg.h>

static const struct {
        const char *name, *attributes, *after; /* after: behind its end, "\n" for a block */
} elements[HTML_ELEMENTS] = {
        [HTML_HEADING] = {"h2", "", "\n"},
        [HTML_SUBHEADING] = {"h3", "", "\n"},
        [HTML_PARAGRAPH] = {"p", "", "\n"},
        [HTML_RIGHT] = {"p", " class=\"good\"", "\n"},
        [HTML_WRONG] = {"p", " class=\"bad\"", "\n"},
        [HTML_NOTE] = {"p", " class=\"note\"", "\n"},
        [HTML_LEGEND] = {"p", " class=\"legend\"", "\n"},
        [HTML_PASSAGE] = {"div", " class=\"text\" dir=\"auto\"", "\n"},
        [HTML_SHADED] = {"div", " class=\"text win\" dir=\"auto\"", "\n"},
        [HTML_TAGGED] = {"div", " class=\"text tagged\" dir=\"auto\"", "\n"},
        [HTML_QUOTE] = {"div", " class=\"quote\"", "\n"},
        [HTML_CHARTS] = {"div", " class=\"charts\"", "\n"},
        [HTML_CHART] = {"div", "", "\n"},
        [HTML_SIDES] = {"div", " class=\"sides\"", "\n"},
        [HTML_SIDE] = {"div", " class=\"side\"", "\n"},
        [HTML_DETAILS] = {"details", "", "\n"},
        [HTML_WIDE] = {"div", " class=\"wide\"", "\n"},
        [HTML_ARTICLE] = {"article", "", "\n"},
        [HTML_STRIP] = {"div", " class=\"strip\"", "\n"},
        [HTML_WINDOW] = {"div", " class=\"win\"", "\n"},
        [HTML_LIST] = {"ol", "", ""},
        [HTML_ITEM] = {"li", "", "\n"},
        [HTML_SUMMARY] = {"summary", "", ""},
        [HTML_EXCERPT] = {"span", " class=\"text\" dir=\"auto\"", ""},
        [HTML_PART] = {"span", " class=\"text\"", ""},
        [HTML_LABEL] = {"span", " class=\"label\"", ""},
        [HTML_LABEL_RIGHT] = {"span", " class=\"label good\"", ""},
        [HTML_LABEL_WRONG] = {"span", " class=\"label bad\"", ""},
        [HTML_LACK] = {"em", "", ""},
        [HTML_SMALL] = {"small", "", ""},
        [HTML_STRONG] = {"strong", "", ""},
        [HTML_KEY] = {"span", "", ""},
        [HTML_SHADE] = {"i", "", ""},
        [HTML_LINK] = {"a", "", ""},
        [HTML_FOR] = {"span", " class=\"for\"", ""},
        [HTML_AGAINST] = {"span", " class=\"against\"", ""},
};

void page_open(struct ran_buf *out, enum page_element e)
{
        ran_buf_printf(out, "<%s%s>", elements[e].name, elements[e].attributes);
}

void page_open_with(struct ran_buf *out, enum page_element e, const char *format, ...)
{
        va_list args;

        ran_buf_printf(out, "<%s%s ", elements[e].name, elements[e].attributes);
        va_start(args, format);
        ran_buf_vprintf(out, format, args);
        va_end(args);
        ran_buf_char(out, '>');
}

void page_close(struct ran_buf *out, enum page_element e)
{
        ran_buf_printf(out, "</%s>%s", elements[e].name, elements[e].after);
}

void page_put_text(struct ran_buf *out, enum page_element e, const char *s, size_t n)
{
        page_open(out, e);
        page_text(out, s, n);
        page_close(out, e);
}

void page_put(struct ran_buf *out, enum page_element e, const char *format, ...)
{
        struct ran_buf text = {0};
        va_list args;

        va_start(args, format);
        ran_buf_vprintf(&text, format, args);
        va_end(args);
        page_put_text(out, e, text.data, text.len);
        ran_buf_release(&text);
}

void page_open_key(struct ran_buf *out, char kind, int level)
{
        page_open(out, HTML_KEY);
        page_open_with(out, HTML_SHADE, "class=\"%c%d\"", kind, level);
        page_close(out, HTML_SHADE);
}

void page_put_excerpt(struct ran_buf *out, const char *s, size_t n, size_t most)
{
        page_open(out, HTML_PASSAGE);
        page_excerpt(out, s, n, most);
        page_close(out, HTML_PASSAGE);
}

void page_open_document(struct ran_buf *out, size_t bytes)
{
        page_open(out, HTML_DETAILS);
        page_open(out, HTML_SUMMARY);
        ran_buf_str(out, "whole document, ");
        page_count(out, bytes);
        ran_buf_str(out, " bytes");
        page_close(out, HTML_SUMMARY);
}
