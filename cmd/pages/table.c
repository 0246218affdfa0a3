/* table.c - tables of a page. */
#include "cmd/pages/table.h"

#include <math.h>
#include <string.h>

#include "cmd/pages/element.h"
#include "cmd/pages/page.h"

struct page_cell page_cell_text(enum page_cell_kind kind, const char *text)
{
        return (struct page_cell){.kind = kind, .s = text, .n = strlen(text)};
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The tags around each kind. */
static const struct {
        const char *before, *after;
} tags[] = {
        [PAGE_NAME] = {"<th scope=\"row\">", "</th>"},
        [PAGE_LACK] = {"<th scope=\"row\"><em>", "</em></th>"},
        [PAGE_MARKED] = {"<th scope=\"row\">", "</th>"},
        [PAGE_TEXT] = {"<td>", "</td>"},
        [PAGE_NOTE] = {"<td><small>", "</small></td>"},
        [PAGE_COUNT] = {"<td class=\"n\">", "</td>"},
        [PAGE_FIGURE] = {"<td class=\"n\">", "</td>"},
        [PAGE_PERCENT] = {"<td class=\"n\">", "</td>"},
        [PAGE_INTERVAL] = {"<td class=\"n\">", "</td>"},
        [PAGE_BAR] = {"<td>", "</td>"},
        [PAGE_MARKUP] = {"<td>", "</td>"},
        [PAGE_AMOUNT] = {"<td class=\"n\">", "</td>"},
        [PAGE_HEAD] = {"<th", "</th>"}, /* add_value goes on with attributes */
        [PAGE_SHADED] = {"<td", "</td>"},
        [PAGE_HIT] = {"<td", "</td>"},
};

static void add_value(struct ran_buf *out, const struct page_cell *c)
{
        switch (c->kind) {
        case PAGE_END_OF_ROW:
                break;
        case PAGE_NAME:
        case PAGE_LACK:
        case PAGE_TEXT:
        case PAGE_NOTE:
                page_text(out, c->s, c->n);
                break;
        case PAGE_COUNT:
                page_count(out, c->n);
                break;
        case PAGE_FIGURE:
                if (isfinite(c->x))
                        ran_buf_printf(out, "%.*f", c->decimals, c->x);
                else
                        ran_buf_char(out, '-');
                break;
        case PAGE_PERCENT:
                page_percent(out, c->x, c->decimals);
                break;
        case PAGE_INTERVAL:
                page_interval(out, c->x, c->interval);
                break;
        case PAGE_BAR:
                page_bar(out, c->x);
                break;
        case PAGE_MARKED:
        case PAGE_MARKUP:
        case PAGE_AMOUNT:
                ran_buf_add(out, c->html->data, c->html->len);
                out->failed |= c->html->failed;
                ran_buf_release(c->html);
                break;
        case PAGE_HEAD:
                ran_buf_str(out, " title=\"");
                page_text(out, c->s, c->n);
                ran_buf_str(out, "\">");
                page_text(out, c->s, c->n);
                break;
        case PAGE_SHADED:
        case PAGE_HIT:
                ran_buf_printf(out, " class=\"%s%s\" style=\"--v:%.3f\">",
                               c->kind == PAGE_HIT ? "hit" : "", c->x > 0.6 ? " dark" : "", c->x);
                if (c->n > 0)
                        page_count(out, c->n);
                break;
        }
}

void page_cells_add(struct ran_buf *out, const struct page_cell *cells)
{
        for (; cells->kind != PAGE_END_OF_ROW; cells++) {
                ran_buf_str(out, tags[cells->kind].before);
                add_value(out, cells);
                ran_buf_str(out, tags[cells->kind].after);
        }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_heads(struct ran_buf *out, const char *heads)
{
        for (const char *head = heads, *end; head != NULL; head = *end == '|' ? end + 1 : NULL) {
                const bool number = *head == '#';

                end = head + strcspn(head, "|");
                ran_buf_str(out, number ? "<th class=\"n\">" : "<th>");
                page_text(out, head + number, (size_t)(end - head) - number);
                ran_buf_str(out, "</th>");
        }
}

struct page_table page_table_begin(struct ran_buf *out, enum page_place place, const char *heads)
{
        const struct page_table t = {out, place, heads != NULL};

        ran_buf_str(out, place == PAGE_WIDE    ? "<div class=\"wide\"><table>\n"
                         : place == PAGE_CELLS ? "<div class=\"wide\"><table class=\"cells\">\n"
                                               : "<table>\n");
        if (heads == NULL)
                return t;
        ran_buf_str(out, "<thead><tr>");
        add_heads(out, heads);
        ran_buf_str(out, "</tr></thead>\n<tbody>\n");
        return t;
}

void page_table_end(struct page_table *t)
{
        ran_buf_str(t->out, t->headed ? "</tbody></table>" : "</table>");
        if (t->place != PAGE_INNER)
                ran_buf_str(t->out, t->place == PAGE_PLAIN ? "\n" : "</div>\n");
}

void page_row_open(struct page_table *t, const char *style)
{
        ran_buf_str(t->out, "<tr");
        if (style != NULL)
                ran_buf_printf(t->out, " class=\"%s\"", style);
        ran_buf_char(t->out, '>');
}

void page_row_close(struct page_table *t)
{
        ran_buf_str(t->out, "</tr>\n");
}

void page_row_add(struct page_table *t, const char *style, const struct page_cell *cells)
{
        page_row_open(t, style);
        page_cells_add(t->out, cells);
        page_row_close(t);
}
