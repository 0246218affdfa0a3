/* marked.c - text with parts of it marked. */
#include "cmd/pages/page.h"

/* Bytes shown of a text. */
enum { WHOLE = 1 << 20 };

static void open_mark(struct ran_buf *out, const struct page_mark *m)
{
        ran_buf_str(out, "<mark");
        if (m->kind != NULL)
                ran_buf_printf(out, " class=\"%s\"", m->kind);
        if (m->colour >= 0) {
                /* Steps of the golden angle: any number of hues, neighbours far apart. */
                const int hue = (int)(((long)m->colour * 13751 / 100 + 210) % 360);

                ran_buf_printf(out, " style=\"--c:hsl(%d 65%% %d%%)\"", hue,
                               m->colour / 8 % 2 == 0 ? 45 : 60);
        }
        if (m->title[0] != '\0') {
                ran_buf_str(out, " title=\"");
                page_string(out, m->title);
                ran_buf_char(out, '"');
        }
        ran_buf_char(out, '>');
}

static void close_mark(struct ran_buf *out, const struct page_mark *m)
{
        if (m->label != NULL) {
                ran_buf_str(out, "<b>");
                page_text(out, m->label, m->label_n);
                ran_buf_str(out, "</b>");
        }
        ran_buf_str(out, "</mark>");
}

void page_mark_add(struct ran_buf *out, int i, const char *s, size_t n, size_t most)
{
        const struct page_mark mark = {.kind = "e", .colour = i};

        open_mark(out, &mark);
        page_excerpt(out, s, n, most);
        close_mark(out, &mark);
}

void page_marked(struct ran_buf *out, const char *text, size_t from, size_t to,
                 const struct page_mark *marks, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct page_mark *m = &marks[i];
                size_t end = m->end < to ? m->end : to;

                if (m->start < from || m->start >= to || m->end <= m->start)
                        continue;
                page_text(out, text + from, m->start - from);
                open_mark(out, m);
                page_text(out, text + m->start, end - m->start);
                close_mark(out, m);
                from = end;
        }
        page_text(out, text + from, to - from);
}

/* Whether a character goes on with this byte. */
static bool continues(char c)
{
        return ((unsigned char)c & 0xc0) == 0x80;
}

size_t page_back(const char *text, size_t at, size_t by)
{
        size_t to = at > by ? at - by : 0, least = to > 20 ? to - 20 : 0;

        for (size_t i = to; i > least; i--)
                if (text[i - 1] == ' ' || text[i - 1] == '\n')
                        return i;
        while (to > 0 && continues(text[to]))
                to--;
        return to;
}

size_t page_forward(const char *text, size_t n, size_t at, size_t by)
{
        size_t to = n - at > by ? at + by : n, most = n - to > 20 ? to + 20 : n;

        for (size_t i = to; i < most; i++)
                if (text[i] == ' ' || text[i] == '\n')
                        return i;
        while (to < n && continues(text[to]))
                to++;
        return to;
}

void page_document_text(struct ran_buf *out, const char *element, const struct ran_buf *text,
                        const struct page_mark *marks, size_t n, bool folded)
{
        const size_t shown = text->len <= WHOLE ? text->len : page_back(text->data, WHOLE, 0);

        if (folded) {
                page_open(out, "details");
                page_open(out, "summary");
                ran_buf_str(out, "whole document, ");
                page_count(out, text->len);
                ran_buf_str(out, " bytes");
                page_close(out, "summary");
        }
        page_open(out, element);
        page_marked(out, text->data, 0, shown, marks, n);
        page_close(out, element);
        if (shown < text->len)
                page_put(out, "p.note", "The rest, %zu bytes, is left out.", text->len - shown);
        if (folded)
                page_close(out, "details");
}
