/* report.c - a report: a tree of values, and its forms as JSON, text and rows. */
#include "cmd/pages/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/table.h"

/* COLUMNS: the most columns of a table; WIDEST: a column. */
enum { COLUMNS = 16, WIDEST = 48 };

/* ---- building -------------------------------------------------------------------------------- */

void report_release(struct report *r)
{
        free(r->node);
        ran_buf_release(&r->text);
        *r = (struct report){0};
}

void report_clear(struct report *r)
{
        r->n = r->open = r->text.len = 0;
}

static void add(struct report *r, struct report_node node)
{
        RAN_ROOM(r->node, r->cap, r->n + 1);
        node.size = 1;
        r->node[r->n++] = node;
}

/* While a container is open, its size is the place of the one around it, and 1. */
void report_begin(struct report *r, enum report_kind kind, const char *name, const char *title)
{
        add(r, (struct report_node){.kind = kind, .name = name, .title = title});
        r->node[r->n - 1].size = r->open;
        r->open = r->n;
}

void report_end(struct report *r)
{
        struct report_node *begun = &r->node[r->open - 1];
        const size_t around = begun->size;

        begun->size = r->n + 1 - r->open;
        r->open = around;
}

void report_add_count(struct report *r, enum report_kind kind, const char *name, const char *title,
                      uint64_t n)
{
        add(r, (struct report_node){.kind = kind, .name = name, .title = title, .count = n});
}

void report_add_number(struct report *r, enum report_kind kind, const char *name, const char *title,
                       double x, int decimals)
{
        add(r, (struct report_node){
                       .kind = kind, .name = name, .title = title, .x = x, .decimals = decimals});
}

/* The text begins at `at`, and is the last one. */
static void add_text(struct report *r, enum report_kind kind, const char *name, const char *title,
                     size_t at)
{
        add(r, (struct report_node){.kind = kind,
                                    .name = name,
                                    .title = title,
                                    .count = r->text.len - at,
                                    .at = at});
}

void report_bytes(struct report *r, enum report_kind kind, const char *name, const char *title,
                  const char *s, size_t n)
{
        const size_t at = r->text.len;

        ran_buf_add(&r->text, s, n);
        add_text(r, kind, name, title, at);
}

void report_label(struct report *r, enum report_kind kind, const char *title, const char *s,
                  size_t n, double p)
{
        report_bytes(r, kind, NULL, title, s, n);
        r->node[r->n - 1].x = p;
}

void report_string(struct report *r, const char *name, const char *title, const char *s)
{
        report_bytes(r, REPORT_TEXT, name, title, s, strlen(s));
}

void report_put(struct report *r, const char *name, const char *title, const char *format, ...)
{
        const size_t at = r->text.len;
        va_list args;

        va_start(args, format);
        ran_buf_vprintf(&r->text, format, args);
        va_end(args);
        add_text(r, REPORT_TEXT, name, title, at);
}

void report_html(struct report *r, const char *title, struct ran_buf *html)
{
        report_bytes(r, REPORT_HTML, NULL, title, html->data, html->len);
        ran_buf_release(html);
}

void report_interval(struct report *r, struct ran_interval interval)
{
        r->node[r->n - 1].interval = interval;
}

void report_note(struct report *r, const char *format, ...)
{
        const size_t at = r->text.len;
        va_list args;

        va_start(args, format);
        ran_buf_vprintf(&r->text, format, args);
        va_end(args);
        r->node[r->n - 1].note = at;
        r->node[r->n - 1].note_n = r->text.len - at;
}

size_t report_next(const struct report *r, size_t i)
{
        return i + r->node[i].size;
}

enum report_form report_form(const struct report *r, size_t i)
{
        const struct report_node *v = &r->node[i];

        if (v->title == NULL ||
            (v->size == 1 && (v->kind == REPORT_LIST || v->kind == REPORT_LINE)))
                return REPORT_HIDDEN;
        if (v->kind == REPORT_MATRIX || v->kind == REPORT_OBJECT)
                return REPORT_SECTION;
        if (v->kind != REPORT_LIST)
                return REPORT_FACT;
        const enum report_kind first = r->node[i + 1].kind;
        return first <= REPORT_LIST   ? REPORT_TABLE
               : first == REPORT_TEXT ? REPORT_LINES
                                      : REPORT_FACT;
}

size_t report_first_row(const struct report *r, size_t list)
{
        size_t i = list + 1;

        while (i < report_next(r, list) && r->node[i].title == NULL)
                i = report_next(r, i);
        return i;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool is_real(const struct report_node *v)
{
        return v->kind >= REPORT_NUMBER && v->kind <= REPORT_SCORE;
}

static bool is_text(const struct report_node *v)
{
        return v->kind >= REPORT_AMOUNT && v->kind <= REPORT_WRONG;
}

static void json_value(const struct report *r, size_t i, struct ran_buf *out);

/* The nodes from..to with a name; of an object with their names. */
static void json_members(const struct report *r, size_t from, size_t to, bool object,
                         struct ran_buf *out)
{
        const char *comma = "";

        for (size_t i = from; i < to; i = report_next(r, i)) {
                if (r->node[i].name == NULL)
                        continue;
                ran_buf_str(out, comma);
                comma = ",";
                if (object) {
                        ran_buf_json(out, r->node[i].name, strlen(r->node[i].name));
                        ran_buf_char(out, ':');
                }
                json_value(r, i, out);
        }
}

static void json_value(const struct report *r, size_t i, struct ran_buf *out)
{
        const struct report_node *v = &r->node[i];
        const bool list = v->kind == REPORT_LIST;

        if (v->kind <= REPORT_MATRIX) {
                ran_buf_char(out, list ? '[' : '{');
                json_members(r, i + 1, report_next(r, i), !list, out);
                ran_buf_char(out, list ? ']' : '}');
        } else if (v->kind == REPORT_BOOL) {
                ran_buf_str(out, v->count ? "true" : "false");
        } else if (v->kind == REPORT_COUNT) {
                ran_buf_printf(out, "%" PRIu64, v->count);
        } else if (is_real(v)) {
                ran_buf_double(out, v->x);
        } else if (is_text(v)) {
                ran_buf_json(out, r->text.data + v->at, v->count);
        } else if (v->kind == REPORT_RAW) {
                ran_buf_add(out, r->text.data + v->at, v->count);
        } else {
                ran_buf_str(out, "null");
        }
}

void report_members(const struct report *r, struct ran_buf *out)
{
        json_members(r, 0, r->n, true, out);
}

void report_json(const struct report *r, struct ran_buf *out)
{
        ran_buf_char(out, '{');
        report_members(r, out);
        ran_buf_char(out, '}');
}

/* ---- text ------------------------------------------------------------------------------------ */

void report_value(const struct report *r, const struct report_node *v, struct ran_buf *out)
{
        if (v->kind == REPORT_BOOL)
                ran_buf_str(out, v->count ? "yes" : "no");
        else if (v->kind == REPORT_COUNT)
                ran_buf_printf(out, "%" PRIu64, v->count);
        else if (is_real(v) && isfinite(v->x))
                ran_buf_printf(out, "%.*f", v->decimals, v->x);
        else if (is_real(v))
                ran_buf_char(out, '-');
        else if (is_text(v) || v->kind == REPORT_RAW)
                ran_buf_shown(out, r->text.data + v->at, v->count);
}

/* Bytes from anywhere at the left or at the right of a column so wide. */
static void text_padded(const char *s, size_t n, size_t width, bool left, struct ran_buf *out)
{
        const size_t used = ran_shown_width(s, n);
        const int rest = (int)(width > used ? width - used : 0);

        ran_buf_printf(out, "%*s", left ? 0 : rest, "");
        ran_buf_shown(out, s, n);
        ran_buf_printf(out, "%*s", left ? rest : 0, "");
}

static bool is_left(const struct report_node *v)
{
        return v->kind == REPORT_TEXT || v->kind == REPORT_LACK;
}

/* A value in a column so wide; without `out` it is only measured. Returns its width. */
static size_t text_cell(const struct report *r, const struct report_node *v, size_t width,
                        struct ran_buf *out)
{
        struct ran_buf cell = {0};

        report_value(r, v, &cell);
        const size_t used = ran_shown_width(cell.data, cell.len);
        if (out != NULL)
                text_padded(cell.data, cell.len, width, is_left(v), out);
        ran_buf_release(&cell);
        return used < WIDEST ? used : WIDEST;
}

/* The places of what has a title in the object at i; their number. */
static size_t cells_of(const struct report *r, size_t i, const struct report_node *cell[COLUMNS])
{
        size_t n = 0;

        for (size_t k = i + 1; k < report_next(r, i) && n < COLUMNS; k = report_next(r, k))
                if (r->node[k].title != NULL)
                        cell[n++] = &r->node[k];
        return n;
}

static void end_line(struct ran_buf *out)
{
        while (out->len > 0 && out->data[out->len - 1] == ' ')
                out->len--;
        ran_buf_char(out, '\n');
}

static void text_table(const struct report *r, size_t list, struct ran_buf *out)
{
        const struct report_node *head[COLUMNS], *cell[COLUMNS];
        const size_t first = report_first_row(r, list), end = report_next(r, list);
        const size_t columns = first < end ? cells_of(r, first, head) : 0;
        size_t width[COLUMNS];

        for (size_t c = 0; c < columns; c++)
                width[c] = ran_shown_width(head[c]->title, strlen(head[c]->title));
        for (size_t i = first; i < end; i = report_next(r, i))
                for (size_t c = 0, n = cells_of(r, i, cell); c < n && c < columns; c++) {
                        const size_t w = text_cell(r, cell[c], 0, NULL);
                        width[c] = w > width[c] ? w : width[c];
                }
        for (size_t c = 0; c < columns; c++) {
                ran_buf_str(out, c > 0 ? "  " : "");
                text_padded(head[c]->title, strlen(head[c]->title), width[c], is_left(head[c]),
                            out);
        }
        end_line(out);
        for (size_t i = first; i < end; i = report_next(r, i)) {
                const size_t n = r->node[i].title != NULL ? cells_of(r, i, cell) : 0;
                if (n == 0)
                        continue;
                for (size_t c = 0; c < n && c < columns; c++) {
                        ran_buf_str(out, c > 0 ? "  " : "");
                        text_cell(r, cell[c], width[c], out);
                }
                end_line(out);
        }
}

/* "name  value (95 % interval: 0.4600 to 0.9200; note)" */
static void text_fact(const struct report *r, size_t i, size_t width, struct ran_buf *out)
{
        const struct report_node *v = &r->node[i];
        const bool interval = v->interval.high > 0, note = v->note_n > 0;
        struct ran_buf value = {0};

        /* "min 3, median 7" of an object, "3, 7" of a list. */
        for (const struct report_node *k = v + 1; k < v + v->size; k += k->size) {
                if (k->title == NULL)
                        continue;
                ran_buf_str(&value, value.len > 0 ? ", " : "");
                ran_buf_shown(&value, k->title, strlen(k->title));
                ran_buf_str(&value, k->title[0] != '\0' ? " " : "");
                report_value(r, k, &value);
        }
        if (v->size == 1)
                report_value(r, v, &value);
        ran_buf_str(&value, interval || note ? " (" : "");
        if (interval)
                ran_buf_printf(&value, "95 %% interval: %.*f to %.*f", v->decimals, v->interval.low,
                               v->decimals, v->interval.high);
        ran_buf_str(&value, interval && note ? "; " : "");
        ran_buf_shown(&value, r->text.data + v->note, v->note_n);
        ran_buf_str(&value, interval || note ? ")" : "");
        text_padded(v->title, strlen(v->title), width, true, out);
        ran_buf_str(out, "  ");
        ran_buf_char(&value, '\0');
        cmd_wrap(out, value.data, width + 2, width + 2);
        ran_buf_release(&value);
}

/* Facts, those of objects without a heading as well. *width: of the names; without `out` they are
 * only measured. */
static void text_facts(const struct report *r, size_t from, size_t to, size_t *width,
                       struct ran_buf *out)
{
        for (size_t i = from; i < to; i = report_next(r, i)) {
                const char *title = r->node[i].title;
                const enum report_form form = report_form(r, i);

                if (form == REPORT_SECTION && title[0] == '\0')
                        text_facts(r, i + 1, report_next(r, i), width, out);
                if (form != REPORT_FACT)
                        continue;
                const size_t w = ran_shown_width(title, strlen(title));
                if (out != NULL)
                        text_fact(r, i, *width, out);
                else if (w > *width)
                        *width = w < WIDEST ? w : WIDEST;
        }
}

static void text_heading(const struct report *r, size_t i, struct ran_buf *out)
{
        const struct report_node *v = &r->node[i];

        if (v->title[0] != '\0' || report_form(r, i) == REPORT_TABLE)
                ran_buf_char(out, '\n');
        ran_buf_shown(out, v->title, strlen(v->title));
        ran_buf_str(out, v->title[0] != '\0' ? "\n" : "");
        if (v->note_n > 0) {
                ran_buf_shown(out, r->text.data + v->note, v->note_n);
                ran_buf_char(out, '\n');
        }
}

static void text_section(const struct report *r, size_t from, size_t to, bool facts,
                         struct ran_buf *out)
{
        size_t width = 0;

        if (facts) {
                text_facts(r, from, to, &width, NULL);
                text_facts(r, from, to, &width, out);
        }
        for (size_t i = from; i < to; i = report_next(r, i)) {
                const enum report_form form = report_form(r, i);

                if (form == REPORT_HIDDEN || form == REPORT_FACT ||
                    r->node[i].kind == REPORT_MATRIX)
                        continue;
                text_heading(r, i, out);
                if (form == REPORT_SECTION)
                        text_section(r, i + 1, report_next(r, i), r->node[i].title[0] != '\0', out);
                else if (form == REPORT_TABLE)
                        text_table(r, i, out);
                for (size_t k = i + 1; form == REPORT_LINES && k < report_next(r, i); k++) {
                        report_value(r, &r->node[k], out);
                        ran_buf_char(out, '\n');
                }
        }
}

void report_text(const struct report *r, struct ran_buf *out)
{
        text_section(r, 0, r->n, true, out);
}

void report_finish(struct report *r, bool text, struct ran_buf *out)
{
        if (text)
                report_text(r, out);
        else
                report_json(r, out);
        ran_buf_str(out, text ? "" : "\n");
        report_release(r);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void row_cell(const struct report *r, const struct report_node *v, struct cmd_row *row)
{
        if (v->kind == REPORT_TEXT)
                cmd_row_string(row, r->text.data + v->at, v->count);
        else if (v->kind == REPORT_COUNT)
                cmd_row_size(row, (size_t)v->count);
        else
                cmd_row_double(row, v->x);
}

void report_rows(const struct report *r, const char *list, const char *const *columns,
                 const struct output_format *format, struct ran_buf *out)
{
        struct cmd_row row = {.out = out, .format = format};
        size_t at = r->n;

        for (size_t i = 0; i < r->n; i++)
                at = r->node[i].name != NULL && strcmp(r->node[i].name, list) == 0 ? i : at;
        cmd_row_names(&row, columns);
        cmd_row_end(&row);
        for (size_t i = at + 1; at < r->n && i < report_next(r, at); i = report_next(r, i)) {
                row_cell(r, &r->node[i + 1], &row);
                for (const char *const *name = columns + 1; *name != NULL; name++) {
                        size_t k = i + 1;
                        while (k < report_next(r, i) &&
                               (r->node[k].name == NULL || strcmp(r->node[k].name, *name) != 0))
                                k = report_next(r, k);
                        if (k < report_next(r, i))
                                row_cell(r, &r->node[k], &row);
                        else
                                cmd_row_text(&row, "");
                }
                cmd_row_end(&row);
        }
}
