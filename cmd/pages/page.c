/* page.c - the frame of a page, and text in it. */
#include "cmd/pages/page.h"

#include <math.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------------ */

/* What stands on a page for the k bytes of a character, or of a part of one; NULL: they do. */
static const char *escape_of(const char *s, size_t k)
{
        static const char special[] = "&<>\"'";
        static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        const unsigned char *c = (const unsigned char *)s;
        const char *found = *c != '\0' && *c <= '>' ? strchr(special, *c) : NULL;
        const bool control = (c[0] < ' ' && c[0] != '\t' && c[0] != '\n') || c[0] == 0x7f ||
                             (k == 2 && c[0] == 0xc2 && c[1] < 0xa0);
        const bool none = k == 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;

        if (found != NULL)
                return escapes[found - special];
        if (c[0] >= ' ' && c[0] < 0x7f)
                return NULL;
        return control || none || ran_utf8_valid(s, k) < k ? "\xef\xbf\xbd" : NULL;
}

void page_text(struct ran_buf *out, const char *s, size_t n)
{
        size_t from = 0;

        for (size_t i = 0, k; i < n; i += k) {
                k = ran_utf8_character(s + i, n - i);
                const char *escape = escape_of(s + i, k);

                if (escape == NULL)
                        continue;
                ran_buf_add(out, s + from, i - from);
                ran_buf_str(out, escape);
                from = i + k;
        }
        ran_buf_add(out, s + from, n - from);
}

void page_string(struct ran_buf *out, const char *s)
{
        page_text(out, s, strlen(s));
}

void page_excerpt(struct ran_buf *out, const char *s, size_t n, size_t most)
{
        size_t shown = n;

        if (n > most)
                for (shown = most; shown > 0 && ((unsigned char)s[shown] & 0xc0) == 0x80;)
                        shown--;
        size_t end = shown;
        while (end > 0 && strchr(" \t\r\n", s[end - 1]) != NULL && s[end - 1] != '\0')
                end--;
        page_text(out, s, end);
        ran_buf_str(out, shown < n ? " \xe2\x80\xa6" : "");
}

void page_count(struct ran_buf *out, size_t n)
{
        char digits[32];
        int length = snprintf(digits, sizeof digits, "%zu", n);

        for (int i = 0; i < length; i++) {
                if (i > 0 && (length - i) % 3 == 0)
                        ran_buf_char(out, ',');
                ran_buf_char(out, digits[i]);
        }
}

void page_percent(struct ran_buf *out, double share, int decimals)
{
        if (isfinite(share))
                ran_buf_printf(out, "%.*f\xc2\xa0%%", decimals, 100 * share);
        else
                ran_buf_char(out, '-');
}

void page_bar(struct ran_buf *out, double share)
{
        double width = share >= 0 && share <= 1 ? 100 * share : 0;

        ran_buf_printf(out, "<span class=\"bar\"><i style=\"width:%.1f%%\"></i></span>", width);
}

/* ---- elements -------------------------------------------------------------------------------- */

static void begin_element(struct ran_buf *out, const char *element)
{
        size_t n = strcspn(element, "."), at = out->len;

        ran_buf_printf(out, "<%.*s", (int)n, element);
        if (element[n] == '\0')
                return;
        ran_buf_printf(out, " class=\"%s\"", element + n + 1);
        for (; at < out->len; at++)
                if (out->data[at] == '.')
                        out->data[at] = ' ';
        ran_buf_str(out, strncmp(element + n, ".text", 5) == 0 ? " dir=\"auto\"" : "");
}

void page_open(struct ran_buf *out, const char *element)
{
        begin_element(out, element);
        ran_buf_char(out, '>');
}

void page_open_with(struct ran_buf *out, const char *element, const char *format, ...)
{
        va_list args;

        begin_element(out, element);
        ran_buf_char(out, ' ');
        va_start(args, format);
        ran_buf_vprintf(out, format, args);
        va_end(args);
        ran_buf_char(out, '>');
}

void page_close(struct ran_buf *out, const char *element)
{
        static const char *const blocks[] = {"h2", "h3", "p", "div", "details", "article", "li"};
        const size_t n = strcspn(element, ".");

        ran_buf_printf(out, "</%.*s>", (int)n, element);
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
                if (strlen(blocks[i]) == n && memcmp(blocks[i], element, n) == 0)
                        ran_buf_char(out, '\n');
}

void page_put_text(struct ran_buf *out, const char *element, const char *s, size_t n)
{
        page_open(out, element);
        page_text(out, s, n);
        page_close(out, element);
}

void page_put(struct ran_buf *out, const char *element, const char *format, ...)
{
        struct ran_buf text = {0};
        va_list args;

        va_start(args, format);
        ran_buf_vprintf(&text, format, args);
        va_end(args);
        page_put_text(out, element, text.data, text.len);
        ran_buf_release(&text);
}

void page_open_key(struct ran_buf *out, char kind, int level)
{
        page_open(out, "span");
        page_open_with(out, "i", "class=\"%c%d\"", kind, level);
        page_close(out, "i");
}

void page_put_excerpt(struct ran_buf *out, const char *s, size_t n, size_t most)
{
        page_open(out, "div.text");
        page_excerpt(out, s, n, most);
        page_close(out, "div.text");
}

/* ---- names of records ------------------------------------------------------------------------ */

enum { LONGEST_NAME = 200 };

/* A string or a number; false for all else. */
static bool add_id(struct ran_buf *out, const struct ran_record *record)
{
        const struct ran_member *id = ran_record_find(record, "id", NULL);
        const size_t before = out->len;
        struct ran_error err;

        if (id != NULL && id->type == 's')
                return ran_json_decode(record->line, id->value, out, &err) == RAN_OK &&
                       out->len > before;
        if (id != NULL && id->type == 'n')
                ran_buf_add(out, record->line + id->value.begin, id->value.end - id->value.begin);
        return id != NULL && id->type == 'n';
}

void record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                 size_t number)
{
        const size_t before = out->len;

        if (add_id(out, record))
                return;
        out->len = before;
        if (strcmp(file, "-") == 0)
                ran_buf_printf(out, "line %zu", number);
        else
                ran_buf_printf(out, "%s:%zu", file, number);
}

void page_record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                      size_t number)
{
        struct ran_buf name = {0};

        record_name(&name, record, file, number);
        page_excerpt(out, name.data, name.len, LONGEST_NAME);
        ran_buf_release(&name);
}

/* ---- the frame ------------------------------------------------------------------------------- */

void page_begin(struct ran_buf *out, const char *title, struct ran_buf *lead)
{
        ran_buf_str(out,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                    "'none'; style-src 'unsafe-inline'\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, "
                    "initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                    "<meta name=\"generator\" content=\"ran " RAN_VERSION "\"/>\n<title>");
        page_string(out, title);
        ran_buf_str(out, "</title>\n<style>\n");
        ran_buf_str(out, page_style);
        ran_buf_str(out, "</style>\n</head>\n<body>\n<main>\n<h1>");
        page_string(out, title);
        ran_buf_str(out, "</h1>\n");
        if (lead->len > 0) {
                ran_buf_str(out, "<p class=\"lead\">");
                page_text(out, lead->data, lead->len);
                ran_buf_str(out, "</p>\n");
        }
        ran_buf_release(lead);
}

void page_end(struct ran_buf *out)
{
        ran_buf_str(out, "<footer>ran " RAN_VERSION "</footer>\n</main>\n</body>\n</html>\n");
}
