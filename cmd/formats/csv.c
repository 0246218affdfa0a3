/* csv.c - tables: comma-separated and tab-separated values.
 *
 * A row becomes a record with a member for each column, a string, called as the header calls it.
 * Without a header, columns are called as --columns says; a single one is the text, and of two, one
 * is the label and one the text; others are column1, column2 and so on.
 */
#include "cmd/formats/import.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/formats/output.h"

struct csv {
        struct table_scan scan;
        struct ran_buf names; /* of the columns, one after another */
        size_t *end;          /* (columns) where each ends in names */
        size_t columns, cap;
        struct ran_buf json; /* the same as JSON, each with its colon */
        size_t *json_end;
        struct ran_buf shown; /* all names, for messages */
        bool header;
        bool rest;    /* the last column takes the rest of a row as it stands */
        size_t maybe; /* the column, from 1, that is left out where it is empty; 0: none */
};

/* ---- names of the columns ------------------------------------------------------------------- */

static void add_name(struct csv *csv, const char *s, size_t n)
{
        RAN_ROOM(csv->end, csv->cap, csv->columns + 1);
        if (n > 0)
                ran_buf_add(&csv->names, s, n);
        else
                ran_buf_printf(&csv->names, "column%zu", csv->columns + 1);
        csv->end[csv->columns++] = csv->names.len;
}

/* Names columns by the cells of the first row. */
static int name_by_header(struct csv *csv, const char *s, size_t n, struct ran_error *err)
{
        struct ran_buf text = {0};
        struct table_cell cell;
        size_t at = 0;
        int rc = RAN_OK;

        while (rc == RAN_OK && table_next_cell(&csv->scan, s, n, &at, &cell)) {
                size_t length;
                const char *name = table_text(s, &cell, &text, &length);
                if (cell.open)
                        rc = ran_fail(err, RAN_EFORMAT, "a quote in the header is never closed");
                add_name(csv, name, length);
        }
        ran_buf_release(&text);
        return rc;
}

static void name_by_option(struct csv *csv, const char *names)
{
        for (const char *comma; (comma = strchr(names, ',')) != NULL; names = comma + 1)
                add_name(csv, names, (size_t)(comma - names));
        add_name(csv, names, strlen(names));
}

/* Whether the text comes before the label: the label is the cell that is one word; else the first
 * one, in a CSV the shorter one. */
static bool is_text_first(const struct import *i, const struct csv_look *look)
{
        if (look->length[0] == 0)
                return false;
        if (look->word[0] != look->word[1])
                return look->word[1];
        return i->format == &import_csv && !look->word[0] && look->length[1] < look->length[0];
}

static void name_by_shape(struct csv *csv, struct import *i, const struct csv_look *look)
{
        bool tabs = i->format == &import_tsv;
        bool two = look->cells == 2 ||
                   (tabs && (look->cells == 1 || look->length[0] == 0 || look->word[0]));
        bool text_first = look->cells == 2 && is_text_first(i, look);

        if (look->cells == 1 && !tabs) {
                add_name(csv, "text", 4);
                return;
        }
        if (!two) {
                for (size_t c = 0; c < look->cells; c++)
                        add_name(csv, "", 0);
                return;
        }
        csv->maybe = text_first ? 2 : 1;
        csv->rest = !text_first && tabs;
        i->assumed = text_first ? "the first column is the text, the second the label"
                                : "the first column is the label, the second the text";
        name_by_option(csv, text_first ? "text,label" : "label,text");
}

/* ---- as JSON -------------------------------------------------------------------------------- */

struct numbered {
        const char *s;
        size_t n, index;
};

static int by_name(const void *a, const void *b)
{
        const struct numbered *x = a, *y = b;
        const int order = ran_order(x->s, x->n, y->s, y->n);

        return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Where several columns have one name, the second is called NAME.2, and so on. */
static void write_names(struct csv *csv)
{
        const size_t n = csv->columns;
        struct numbered *names = ran_new(n, sizeof *names);
        size_t *times = ran_new(n, sizeof *times); /* which of the columns of its name it is */
        struct ran_buf name = {0};

        for (size_t i = 0, begin = 0; i < n; begin = csv->end[i++])
                names[i] = (struct numbered){csv->names.data + begin, csv->end[i] - begin, i};
        qsort(names, n, sizeof *names, by_name);
        for (size_t i = 1; i < n; i++)
                if (names[i - 1].n == names[i].n &&
                    memcmp(names[i - 1].s, names[i].s, names[i].n) == 0)
                        times[names[i].index] = times[names[i - 1].index] + 1;
        csv->json_end = ran_new(n, sizeof *csv->json_end);
        for (size_t i = 0, begin = 0; i < n; begin = csv->end[i++]) {
                name.len = 0;
                ran_buf_add(&name, csv->names.data + begin, csv->end[i] - begin);
                if (times[i] > 0)
                        ran_buf_printf(&name, ".%zu", times[i] + 1);
                ran_buf_json(&csv->json, name.data, name.len);
                ran_buf_char(&csv->json, ':');
                csv->json_end[i] = csv->json.len;
                ran_buf_str(&csv->shown, i > 0 ? ", " : "");
                ran_buf_add(&csv->shown, name.data, name.len);
        }
        ran_buf_char(&csv->shown, '\0');
        ran_buf_release(&name);
        free(names);
        free(times);
}

/* ---- the file ------------------------------------------------------------------------------- */

static int begin(struct import *i, const struct text_line *first, struct ran_error *err)
{
        const struct import_columns *c = i->columns;
        struct csv *csv = ran_new(1, sizeof *csv);

        i->state = csv;
        csv->scan = i->table;
        const struct csv_look look = csv_look_at_row(&csv->scan, c, first->s, first->n);
        csv->header = i->header = csv_is_header(i, &look, i->format == &import_tsv);
        const size_t valid = ran_utf8_valid(first->s, first->n);
        if (csv->header && valid < first->n)
                return ran_fail(err, RAN_EFORMAT, "the header is not valid UTF-8 (%s)",
                                import_encoding_advice(first->s, first->n, valid));
        if (csv->header)
                RAN_TRY(name_by_header(csv, first->s, first->n, err));
        else if (c->names != NULL)
                name_by_option(csv, c->names);
        else
                name_by_shape(csv, i, &look);
        write_names(csv);
        return RAN_OK;
}

static void end_file(struct import *i)
{
        struct csv *csv = i->state;

        if (csv == NULL)
                return;
        ran_buf_release(&csv->names);
        ran_buf_release(&csv->json);
        ran_buf_release(&csv->shown);
        free(csv->end);
        free(csv->json_end);
}

static void add_cell(const struct csv *csv, size_t i, const char *s, const struct table_cell *cell,
                     struct ran_buf *out)
{
        size_t from = i > 0 ? csv->json_end[i - 1] : 0, n;
        struct ran_buf room = {0};
        const char *text = table_text(s, cell, &room, &n);

        json_raw(out, csv->json.data + from, csv->json_end[i] - from);
        ran_buf_json(out, text, n);
        ran_buf_release(&room);
}

/* Whether lines end within the quotes of a cell, and more than its closing quote follows: two
 * quotes of two rows. */
static bool is_odd(const char *s, const struct table_cell *cell)
{
        const char *begin = s + cell->span.begin, *end = s + cell->span.end;

        return end[-1] != '"' && memchr(begin, '\n', (size_t)(end - begin)) != NULL;
}

/* The next cell of a row, of which it is cell n, for a column; the last may take the rest. */
static bool next_cell(const struct csv *csv, const struct text_line *row, size_t n, size_t *at,
                      struct table_cell *cell)
{
        if (!table_next_cell(&csv->scan, row->s, row->n, at, cell))
                return false;
        if (csv->rest && n + 1 == csv->columns && !cell->open) {
                if (*at <= row->n) /* further tabs */
                        *cell = (struct table_cell){{cell->span.begin, row->n}, false, false};
                *at = row->n + 1;
        }
        return true;
}

/* Bytes for the escapes, quotes and commas of most records, to allocate once. */
enum { ESCAPES = 128 };

/* The record of a bad row has the cells there are. */
static int import(const struct import *i, const struct text_line *row, struct ran_buf *out,
                  size_t *line, struct ran_error *err)
{
        const struct csv *csv = i->state;
        struct table_cell cell;
        size_t at = 0, n = 0;
        bool open = false, odd = false;

        (void)line;
        if (csv->rest && memchr(row->s, csv->scan.delimiter, row->n) == NULL)
                return ran_fail(err, RAN_EFORMAT, "no tab: a line must be a label, a tab, a text");
        /* At most a cell for each byte, and one. */
        const size_t cells = row->n < csv->columns ? row->n + 1 : csv->columns;
        ran_buf_room(out, row->n + (cells > 0 ? csv->json_end[cells - 1] : 0) + ESCAPES);
        json_begin(out, '{');
        for (; next_cell(csv, row, n, &at, &cell); n++) {
                if (n >= csv->columns)
                        continue;
                open = cell.open;
                odd |= i->format == &import_tsv && cell.escaped && is_odd(row->s, &cell);
                if (n + 1 != csv->maybe || cell.span.begin < cell.span.end)
                        add_cell(csv, n, row->s, &cell, out);
        }
        json_end(out, '}');
        if (open)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "a quote opens a cell of this row and is never closed: write quotes "
                        "inside a cell twice, or give --quotes=no");
        if (odd)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "a quote opens a cell of this row, and text follows its closing quote some "
                        "lines later: give --quotes=no if quotes are plain characters");
        if (n == csv->columns)
                return RAN_OK;
        return ran_fail(
                err, RAN_EFORMAT,
                "the row has %zu cell%s, the %s %zu: a cell with the delimiter, a line end or "
                "a quote needs quotes around it (--delimiter, --quotes)",
                n, n == 1 ? "" : "s", csv->header ? "header has" : "table", csv->columns);
}

const char *csv_columns(const struct import *i)
{
        return ((const struct csv *)i->state)->shown.data;
}

void csv_header(const struct import *i, struct cmd_row *row, struct ran_buf *names)
{
        const struct csv *csv = i->state;
        struct ran_buf name = {0};

        ran_buf_char(names, '\n');
        for (size_t c = 0; c < csv->columns; c++, name.len = 0) {
                const struct ran_span json = {c > 0 ? csv->json_end[c - 1] : 0,
                                              csv->json_end[c] - 1};
                (void)ran_json_decode(csv->json.data, json, &name, NULL);
                cmd_row_string(row, name.data, name.len);
                ran_buf_add(names, name.data, name.len);
                ran_buf_char(names, '\n');
        }
        ran_buf_release(&name);
}

void csv_cells(const struct import *i, const struct text_line *text, struct cmd_row *row)
{
        const struct csv *csv = i->state;
        struct ran_buf plain = {0};
        size_t at = 0;

        for (size_t c = 0; c < csv->columns; c++) {
                struct table_cell cell = {0};
                size_t n;
                (void)next_cell(csv, text, c, &at, &cell);
                const char *s = table_text(text->s, &cell, &plain, &n);
                cmd_row_string(row, s, n);
        }
        ran_buf_release(&plain);
}

void csv_example(const struct import *i, struct ran_buf *out)
{
        const struct csv *csv = i->state;

        json_begin(out, '{');
        for (size_t c = 0; c < csv->columns; c++)
                add_cell(csv, c, "", &(struct table_cell){0}, out);
        json_end(out, '}');
}

const struct import_format import_csv = {
        .unit = LINES_ROW,
        .looks_like = "a table",
        .endings = (const char *const[]){".csv", NULL},
        .by_ending = true,
        .look = csv_look,
        .guess = csv_guess,
        .begin = begin,
        .import = import,
        .end = end_file,
};
const struct import_format import_tsv = {
        .unit = LINES_ROW,
        .looks_like = "label, tab, text",
        .endings = (const char *const[]){".tsv", ".tab", NULL},
        .by_ending = true,
        .look = csv_look,
        .guess = csv_guess_tsv,
        .begin = begin,
        .import = import,
        .end = end_file,
};
