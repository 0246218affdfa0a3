/* report-page.c - a report as a part of a page: facts, tables with bars, matrices. */
#include "cmd/pages/report.h"

#include <math.h>

#include "cmd/pages/page.h"

/* The most labels of a matrix. */
enum { CELLS = 30 };

static bool is_number(const struct report_node *v)
{
        return v->kind >= REPORT_COUNT && v->kind <= REPORT_AMOUNT;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void add_label(const struct report *r, const struct report_node *v, struct ran_buf *out)
{
        page_put_text(out,
                      v->kind == REPORT_RIGHT   ? "span.label.good"
                      : v->kind == REPORT_WRONG ? "span.label.bad"
                                                : "span.label",
                      r->text.data + v->at, v->count);
        if (isnan(v->x))
                return;
        ran_buf_char(out, ' ');
        page_open(out, "small");
        page_percent(out, v->x, 1);
        page_close(out, "small");
}

/* A value, or those of a list or line; a share with so many decimals. */
static void add_value(const struct report *r, const struct report_node *v, int decimals,
                      struct ran_buf *out)
{
        const char *text = r->text.data + v->at;

        switch (v->kind) {
        case REPORT_COUNT:
                page_count(out, v->count);
                break;
        case REPORT_SHARE:
        case REPORT_BAR:
                page_percent(out, v->x, decimals);
                break;
        case REPORT_LACK:
                page_put_text(out, "em", text, v->count);
                break;
        case REPORT_LABEL:
        case REPORT_RIGHT:
        case REPORT_WRONG:
                add_label(r, v, out);
                break;
        case REPORT_AMOUNT:
        case REPORT_TEXT:
        case REPORT_RAW: /* apart from its neighbours, in whatever direction it is written */
                page_put_text(out, "bdi", text, v->count);
                break;
        case REPORT_HTML:
                ran_buf_add(out, text, v->count);
                break;
        default:
                report_value(r, v, out);
        }
        const size_t before = out->len;
        for (const struct report_node *k = v + 1; k < v + v->size; k += k->size) {
                if (k->title == NULL)
                        continue;
                ran_buf_str(out, out->len == before ? "" : k->kind >= REPORT_LABEL ? " " : ", ");
                page_string(out, k->title);
                ran_buf_str(out, k->title[0] != '\0' ? " " : "");
                add_value(r, k, decimals, out);
        }
}

static void add_interval(const struct report_node *v, const char *before, const char *after,
                         struct ran_buf *out)
{
        const double unit = v->kind == REPORT_SCORE ? 1 : 100;

        if (v->interval.high > 0)
                page_put(out, "small", "%s%.1f to %.1f%s", before, unit * v->interval.low,
                         unit * v->interval.high, after);
}

/* The values of a row that are written: in a table with intervals, counts come last. */
enum which { ALL, FIGURES, COUNTS };

static bool is_of(const struct report_node *v, enum which which)
{
        const bool counts = v->kind == REPORT_COUNT || v->kind == REPORT_NONE;

        return v->title != NULL && (which == ALL || counts == (which == COUNTS));
}

/* Cells; if `about`, the first says what the row is about. */
static void add_cells(const struct report *r, size_t from, size_t to, enum which which, bool about,
                      struct ran_buf *out)
{
        for (size_t i = from; i < to; i = report_next(r, i)) {
                const struct report_node *v = &r->node[i];
                const bool head = about && !is_number(v);

                if (!is_of(v, which))
                        continue;
                about = false;
                ran_buf_str(out, head           ? "<th scope=\"row\">"
                                 : is_number(v) ? "<td class=\"n\">"
                                                : "<td>");
                add_value(r, v, 1, out);
                ran_buf_str(out, v->interval.high > 0 ? " " : "");
                add_interval(v, "(", ")", out);
                ran_buf_str(out, head ? "</th>" : "</td>");
                if (v->kind != REPORT_BAR)
                        continue;
                ran_buf_str(out, "<td>");
                page_bar(out, v->x);
                ran_buf_str(out, "</td>");
        }
}

void report_page_cells(const struct report *r, struct ran_buf *out)
{
        add_cells(r, 0, r->n, ALL, false, out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void add_heads(const struct report *r, size_t from, size_t to, enum which which,
                      struct ran_buf *out)
{
        for (size_t i = from; i < to; i = report_next(r, i)) {
                const struct report_node *v = &r->node[i];

                if (!is_of(v, which))
                        continue;
                ran_buf_str(out, is_number(v) ? "<th class=\"n\">" : "<th>");
                page_string(out, v->title);
                ran_buf_str(out, v->interval.high > 0 ? " (95 % interval)</th>" : "</th>");
                ran_buf_str(out, v->kind == REPORT_BAR ? "<th></th>" : "");
        }
}

void report_page_heads(const struct report *r, struct ran_buf *out)
{
        add_heads(r, 0, r->n, ALL, out);
}

/* Rows that machines do not get are sums and means: they stand out. */
static void add_table(const struct report *r, size_t list, struct ran_buf *out)
{
        const bool all = r->node[list].name == NULL;
        const size_t first = report_first_row(r, list), end = report_next(r, list);
        bool measured = false;

        if (first == end)
                return;
        for (size_t i = first; i < end; i++)
                measured = measured || r->node[i].interval.high > 0;
        page_open(out, "div.wide");
        ran_buf_str(out, "<table>\n<thead><tr>");
        add_heads(r, first + 1, report_next(r, first), measured ? FIGURES : ALL, out);
        if (measured)
                add_heads(r, first + 1, report_next(r, first), COUNTS, out);
        ran_buf_str(out, "</tr></thead>\n<tbody>\n");
        for (size_t i = first; i < end; i = report_next(r, i)) {
                if (r->node[i].title == NULL)
                        continue;
                ran_buf_str(out, all || r->node[i].name != NULL ? "<tr>" : "<tr class=\"all\">");
                add_cells(r, i + 1, report_next(r, i), measured ? FIGURES : ALL, true, out);
                if (measured)
                        add_cells(r, i + 1, report_next(r, i), COUNTS, false, out);
                ran_buf_str(out, "</tr>\n");
        }
        ran_buf_str(out, "</tbody></table>");
        page_close(out, "div");
}

static void add_head(const struct report *r, const struct report_node *v, bool row,
                     struct ran_buf *out)
{
        ran_buf_str(out, row ? "<th scope=\"row\">" : "<th title=\"");
        page_text(out, r->text.data + v->at, v->count);
        if (!row) {
                ran_buf_str(out, "\">");
                page_text(out, r->text.data + v->at, v->count);
        }
        ran_buf_str(out, "</th>");
}

/* A row of counts in colours that say their shares of it. */
static void add_counts(const struct report *r, size_t row, size_t right, struct ran_buf *out)
{
        double all = 0;

        for (size_t i = row + 1; i < report_next(r, row); i++)
                all += (double)r->node[i].count;
        for (size_t i = row + 1; i < report_next(r, row); i++) {
                const double share = all > 0 ? (double)r->node[i].count / all : 0;

                ran_buf_printf(out, "<td class=\"%s%s\" style=\"--v:%.3f\">",
                               i - row - 1 == right ? "hit" : "", share > 0.6 ? " dark" : "",
                               share);
                if (r->node[i].count > 0)
                        page_count(out, r->node[i].count);
                ran_buf_str(out, "</td>");
        }
}

static void add_matrix(const struct report *r, size_t matrix, struct ran_buf *out)
{
        const size_t labels = matrix + 1, rows = report_next(r, labels);

        page_open(out, "div.wide");
        ran_buf_str(out, "<table class=\"cells\">\n<tr><th>gold \\ found</th>");
        for (size_t i = labels + 1; i < rows; i++)
                add_head(r, &r->node[i], false, out);
        ran_buf_str(out, "</tr>\n");
        for (size_t i = labels + 1, row = rows + 1; i < rows; i++, row = report_next(r, row)) {
                ran_buf_str(out, "<tr>");
                add_head(r, &r->node[i], true, out);
                add_counts(r, row, i - labels - 1, out);
                ran_buf_str(out, "</tr>\n");
        }
        ran_buf_str(out, "</table>");
        page_close(out, "div");
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* Its value and, unless that is text, a bar and what is told beside it. */
static void add_fact(const struct report *r, size_t i, struct ran_buf *out)
{
        const struct report_node *v = &r->node[i];

        ran_buf_str(out, "<tr><th scope=\"row\">");
        page_string(out, v->title);
        ran_buf_str(out, is_number(v) ? "</th><td class=\"n\">" : "</th><td colspan=\"2\">");
        add_value(r, v, 2, out);
        ran_buf_str(out, is_number(v) ? "</td><td>" : " ");
        if (v->kind == REPORT_BAR || v->kind == REPORT_SCORE)
                page_bar(out, v->kind == REPORT_BAR ? v->x : v->x / 100);
        add_interval(v, " 95 % interval: ", v->note_n > 0 ? "; " : "", out);
        if (v->note_n > 0)
                page_put(out, "small", is_number(v) ? "%.*s" : "(%.*s)", (int)v->note_n,
                         r->text.data + v->note);
        ran_buf_str(out, "</td></tr>\n");
}

/* Those of objects without a heading as well. */
static void add_facts(const struct report *r, size_t from, size_t to, struct ran_buf *out)
{
        for (size_t i = from; i < to; i = report_next(r, i)) {
                const enum report_form form = report_form(r, i);

                if (form == REPORT_FACT)
                        add_fact(r, i, out);
                else if (form == REPORT_SECTION && r->node[i].title[0] == '\0')
                        add_facts(r, i + 1, report_next(r, i), out);
        }
}

/* ---- sections -------------------------------------------------------------------------------- */

static void add_section(const struct report *r, size_t from, size_t to, int depth,
                        struct ran_buf *out);

/* What has a heading, unless its title is "". */
static void add_part(const struct report *r, size_t i, int depth, struct ran_buf *out)
{
        const struct report_node *v = &r->node[i];
        const enum report_form form = report_form(r, i);

        if (form == REPORT_HIDDEN || form == REPORT_FACT)
                return;
        if (v->title[0] != '\0')
                page_put(out, depth > 0 ? "h3" : "h2", "%s", v->title);
        if (v->note_n > 0)
                page_put_text(out, "p.note", r->text.data + v->note, v->note_n);
        if (form == REPORT_LINES) {
                page_open(out, "ol");
                for (const struct report_node *k = v + 1; k < v + v->size; k++)
                        page_put_text(out, "li", r->text.data + k->at, k->count);
                page_close(out, "ol");
        } else if (form == REPORT_TABLE) {
                add_table(r, i, out);
        } else if (v->kind == REPORT_MATRIX && r->node[i + 1].size > CELLS + 1) {
                page_put(out, "p.note", "Left out: %zu labels are too many for a matrix.",
                         r->node[i + 1].size - 1);
        } else if (v->kind == REPORT_MATRIX) {
                add_matrix(r, i, out);
        } else if (v->title[0] != '\0') {
                add_section(r, i + 1, report_next(r, i), depth + 1, out);
        } else {
                for (size_t k = i + 1; k < report_next(r, i); k = report_next(r, k))
                        add_part(r, k, depth, out);
        }
}

static void add_section(const struct report *r, size_t from, size_t to, int depth,
                        struct ran_buf *out)
{
        struct ran_buf facts = {0};

        add_facts(r, from, to, &facts);
        if (facts.len > 0) {
                page_open(out, "div.wide");
                ran_buf_str(out, "<table class=\"facts\">\n");
                ran_buf_add(out, facts.data, facts.len);
                ran_buf_str(out, "</table>");
                page_close(out, "div");
        }
        ran_buf_release(&facts);
        for (size_t i = from; i < to; i = report_next(r, i))
                add_part(r, i, depth, out);
}

void report_page(const struct report *r, struct ran_buf *out)
{
        add_section(r, 0, r->n, 0, out);
}
