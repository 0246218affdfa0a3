/* csv.c - tables: comma-separated and tab-separated values.
 *
 * A row becomes a record with a member for each column, a string, called as the header calls it.
 * Without a header, columns are called as --columns says; a single one is the text, and of two, one
 * is the label and one the text; others are column1, column2 and so on.
 */
#include "cmd/formats/csv.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/formats/json.h"
#include "cmd/formats/roles.h"
#include "cmd/formats/table.h"

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

/* ---- the first row -------------------------------------------------------------------------- */

enum { LONGEST_NAME = 64 };

/* What the first row is like, if its cells are names, or if they are data. */
struct look {
        size_t cells;
        size_t texts, labels, others; /* cells that are usual names of these */
        bool asked;                   /* a cell is what an option names */
        bool words;                   /* no cell has a space */
        bool names;                   /* all could be names of columns */
        size_t length[2];             /* of the first two cells, and whether they are one word */
        bool word[2];
};

static bool is_asked(const struct import_columns *c, const char *s, size_t n)
{
        const char *one[] = {c->label_member, c->id_member};

        for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
                if (one[i] != NULL && strlen(one[i]) == n && memcmp(one[i], s, n) == 0)
                        return true;
        for (size_t i = 0; i < c->text_member.n; i++) {
                const char *name = c->text_member.item[i];
                while (name != NULL) {
                        const char *comma = strchr(name, ',');
                        size_t length = comma != NULL ? (size_t)(comma - name) : strlen(name);
                        if (length == n && memcmp(name, s, n) == 0)
                                return true;
                        name = comma != NULL ? comma + 1 : NULL;
                }
        }
        return false;
}

static bool is_number(const char *s, size_t n)
{
        double x;

        return ran_parse_double(s, n, &x);
}

static size_t count_spaces(const char *s, size_t n)
{
        size_t spaces = 0;

        for (size_t i = 0; i < n; i++)
                spaces += s[i] == ' ';
        return spaces;
}

static void look_at(struct look *look, const struct import_columns *c, const char *s, size_t n)
{
        size_t rank, spaces = count_spaces(s, n);
        enum role role = role_of(s, n, &rank);

        if (look->cells < 2) {
                look->length[look->cells] = n;
                look->word[look->cells] = n > 0 && n <= LONGEST_NAME && spaces == 0;
        }
        look->cells++;
        look->texts += role == ROLE_TEXT;
        look->labels += role == ROLE_LABEL;
        look->others += role == ROLE_OTHER;
        look->asked |= c != NULL && is_asked(c, s, n);
        look->words &= spaces == 0;
        look->names &= n <= LONGEST_NAME && spaces < 4 && !is_number(s, n) &&
                       (n == 0 || strchr(".!?", s[n - 1]) == NULL);
}

static struct look look_at_row(const struct table_scan *scan, const struct import_columns *c,
                               const char *s, size_t n)
{
        struct look look = {.words = true, .names = true};
        struct ran_buf text = {0};
        struct table_cell cell;
        size_t at = 0;

        while (table_next_cell(scan, s, n, &at, &cell)) {
                text.len = 0;
                if (cell.escaped)
                        table_decode(s, &cell, &text);
                if (cell.escaped)
                        look_at(&look, c, text.data != NULL ? text.data : "", text.len);
                else
                        look_at(&look, c, s + cell.span.begin, cell.span.end - cell.span.begin);
        }
        ran_buf_release(&text);
        return look;
}

/* Whether names in a row are those that columns usually have. */
static bool is_usual(const struct look *look)
{
        return look->names && (look->texts + look->others > 0 || (look->labels > 0 && look->words));
}

static bool is_header(const struct import *i, const struct look *look)
{
        const struct import_columns *c = i->columns;

        if (c->header != IMPORT_AUTO)
                return c->header == IMPORT_YES;
        if (c->names != NULL)
                return false;
        if (look->asked || is_usual(look))
                return true;
        return look->cells > 1 && (i->below || (i->format == &import_csv && look->names));
}

static char delimiter_of(const struct import *i, const char *line, size_t n)
{
        if (i->columns->delimiter != NULL)
                return table_delimiter(i->columns->delimiter);
        return i->format == &import_tsv ? '\t' : table_guess_delimiter(line, n);
}

/* A column below its first cell. */
struct below {
        size_t cells, numbers, length; /* bytes of all cells together */
        bool same;                     /* one is what the first row has */
};

static struct ran_span text_of(const struct table_cell *cell)
{
        return cell->escaped ? (struct ran_span){cell->span.begin + 1, cell->span.end - 1}
                             : cell->span;
}

/* Adds row `row` to column `column` of the first row. */
static void look_below(const struct table_scan *t, struct below *below, const char *name, size_t n,
                       const char *row, size_t length, size_t column)
{
        struct table_cell cell;
        size_t at = 0;

        for (size_t c = 0; table_next_cell(t, row, length, &at, &cell); c++) {
                if (c != column)
                        continue;
                const struct ran_span text = text_of(&cell);
                const size_t m = text.end - text.begin;
                below->cells += m > 0;
                below->numbers += m > 0 && is_number(row + text.begin, m);
                below->length += m;
                below->same |= m == n && memcmp(row + text.begin, name, n) == 0;
                return;
        }
}

/* Whether the rows below the first say that it is a header: no column has its cell again, and one is
 * of another kind: numbers, or, if texts say something, much longer texts. */
static bool is_unlike_below(const struct table_scan *t, bool texts, const struct sample *sample)
{
        enum { MOST_COLUMNS = 64, ROWS = 16, LONG = 3, TEXT = 20 };
        struct table_scan scan = *t;
        size_t at = 0, end, next, first, column_at = 0, rows;
        struct table_cell name;
        bool unlike = false;

        if (!table_row_end(&scan, sample->s, sample->n, sample->all, &at, &first, &next))
                return false;
        for (size_t c = 0; table_next_cell(t, sample->s, first, &column_at, &name); c++) {
                const struct ran_span text = text_of(&name);
                const size_t n = text.end - text.begin;
                struct below below = {0};
                scan = *t;
                size_t begin = next, more;
                at = 0;
                for (rows = 0; rows < ROWS && table_row_end(&scan, sample->s + begin,
                                                            sample->n - begin, sample->all, &at,
                                                            &end, &more);
                     rows++, begin += more, at = 0)
                        look_below(t, &below, sample->s + text.begin, n, sample->s + begin, end, c);
                if (c == MOST_COLUMNS || n > 2 * LONGEST_NAME || below.same)
                        return false;
                const bool numbers = below.cells > 0 && below.numbers == below.cells;
                if (numbers && is_number(sample->s + text.begin, n))
                        return false;
                unlike |= numbers || (texts && below.length > TEXT * below.cells &&
                                      below.length > LONG * n * below.cells);
        }
        return unlike;
}

/* A table of labels and texts with tabs, but without a header, is seldom of a program that writes
 * quotes around cells. */
static void look(struct import *i, const struct sample *sample)
{
        const int quotes = i->columns->quotes;
        const char *line = "";
        size_t at = 0, n = 0;

        (void)sample_next(sample, &at, &line, &n);
        i->table = (struct table_scan){.delimiter = delimiter_of(i, line, n),
                                       .no_quotes = quotes == IMPORT_NO};
        i->below = is_unlike_below(&i->table, i->format == &import_csv, sample);
        if (quotes == IMPORT_AUTO && i->format == &import_tsv) {
                const struct look look = look_at_row(&i->table, i->columns, line, n);
                i->table.no_quotes = !is_header(i, &look) && i->columns->names == NULL;
        }
}

/* ---- names of the columns ------------------------------------------------------------------- */

static int add_name(struct csv *csv, const char *s, size_t n, struct ran_error *err)
{
        size_t *grown = ran_grow(csv->end, &csv->cap, csv->columns + 1, sizeof(*grown), err);

        if (grown == NULL)
                return RAN_ENOMEM;
        csv->end = grown;
        if (n > 0)
                ran_buf_add(&csv->names, s, n);
        else
                ran_buf_printf(&csv->names, "column%zu", csv->columns + 1);
        grown[csv->columns++] = csv->names.len;
        return RAN_OK;
}

static struct ran_span name_of(const struct csv *csv, size_t i)
{
        return (struct ran_span){i > 0 ? csv->end[i - 1] : 0, csv->end[i]};
}

/* Of the cells of the first row. */
static int name_by_header(struct csv *csv, const char *s, size_t n, struct ran_error *err)
{
        struct ran_buf text = {0};
        struct table_cell cell;
        size_t at = 0;
        int code = RAN_OK;

        while (code == RAN_OK && table_next_cell(&csv->scan, s, n, &at, &cell)) {
                const char *name = s + cell.span.begin;
                size_t length = cell.span.end - cell.span.begin;
                text.len = 0;
                if (cell.open)
                        code = ran_fail(err, RAN_EFORMAT, "a quote in the header is never closed");
                if (cell.escaped)
                        table_decode(s, &cell, &text);
                if (cell.escaped) {
                        name = text.data;
                        length = text.len;
                }
                if (code == RAN_OK)
                        code = add_name(csv, name, length, err);
        }
        ran_buf_release(&text);
        return code;
}

static int name_by_option(struct csv *csv, const char *names, struct ran_error *err)
{
        for (;;) {
                const char *comma = strchr(names, ',');
                size_t n = comma != NULL ? (size_t)(comma - names) : strlen(names);
                RAN_TRY(add_name(csv, names, n, err));
                if (comma == NULL)
                        return RAN_OK;
                names = comma + 1;
        }
}

/* Whether the text comes before the label: the label is the cell that is one word; else the first
 * one, in a CSV the shorter one. */
static bool is_text_first(const struct import *i, const struct look *look)
{
        if (look->length[0] == 0)
                return false;
        if (look->word[0] != look->word[1])
                return look->word[1];
        return i->format == &import_csv && !look->word[0] && look->length[1] < look->length[0];
}

static int name_by_shape(struct csv *csv, struct import *i, const struct look *look,
                         struct ran_error *err)
{
        bool tabs = i->format == &import_tsv;
        bool two = look->cells == 2 ||
                   (tabs && (look->cells == 1 || look->length[0] == 0 || look->word[0]));

        if (look->cells == 1 && !tabs)
                return add_name(csv, "text", 4, err);
        for (size_t c = 0; !two && c < look->cells; c++)
                RAN_TRY(add_name(csv, "", 0, err));
        if (!two)
                return RAN_OK;
        bool text_first = look->cells == 2 && is_text_first(i, look);
        csv->maybe = text_first ? 2 : 1;
        csv->rest = !text_first && tabs;
        i->assumed = text_first ? "the first column is the text, the second the label"
                                : "the first column is the label, the second the text";
        RAN_TRY(add_name(csv, text_first ? "text" : "label", text_first ? 4 : 5, err));
        return add_name(csv, text_first ? "label" : "text", text_first ? 5 : 4, err);
}

/* ---- as JSON -------------------------------------------------------------------------------- */

struct numbered {
        const char *s;
        size_t n, index;
};

static int by_name(const void *a, const void *b)
{
        const struct numbered *x = a, *y = b;
        int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);

        if (order != 0)
                return order;
        if (x->n != y->n)
                return x->n < y->n ? -1 : 1;
        return (x->index > y->index) - (x->index < y->index);
}

/* times[i]: which of the columns of its name column i is, from 0. */
static int count_alike(const struct csv *csv, size_t *times, struct ran_error *err)
{
        struct numbered *sorted = ran_alloc(csv->columns, sizeof(*sorted), err);

        if (sorted == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < csv->columns; i++) {
                struct ran_span name = name_of(csv, i);
                sorted[i] =
                        (struct numbered){csv->names.data + name.begin, name.end - name.begin, i};
        }
        qsort(sorted, csv->columns, sizeof(*sorted), by_name);
        for (size_t i = 1; i < csv->columns; i++) {
                const struct numbered *a = &sorted[i - 1], *b = &sorted[i];
                if (a->n == b->n && memcmp(a->s, b->s, a->n) == 0)
                        times[b->index] = times[a->index] + 1;
        }
        free(sorted);
        return RAN_OK;
}

/* Of several columns of one name, the second is called NAME.2, and so on. */
static int write_names(struct csv *csv, struct ran_error *err)
{
        size_t *times = ran_alloc(csv->columns, sizeof(*times), err);
        struct ran_buf name = {0};
        int code = times != NULL ? count_alike(csv, times, err) : RAN_ENOMEM;

        csv->json_end = ran_alloc(csv->columns, sizeof(*csv->json_end), err);
        if (csv->json_end == NULL)
                code = RAN_ENOMEM;
        for (size_t i = 0; i < csv->columns && code == RAN_OK; i++) {
                struct ran_span span = name_of(csv, i);
                name.len = 0;
                ran_buf_add(&name, csv->names.data + span.begin, span.end - span.begin);
                if (times[i] > 0)
                        ran_buf_printf(&name, ".%zu", times[i] + 1);
                ran_buf_json(&csv->json, name.data, name.len);
                ran_buf_char(&csv->json, ':');
                csv->json_end[i] = csv->json.len;
                ran_buf_str(&csv->shown, i > 0 ? ", " : "");
                ran_buf_add(&csv->shown, name.data, name.len);
        }
        ran_buf_char(&csv->shown, '\0');
        if (code == RAN_OK && (csv->json.failed || csv->shown.failed || name.failed))
                code = ran_fail(err, RAN_ENOMEM, "no memory for %zu columns", csv->columns);
        ran_buf_release(&name);
        free(times);
        return code;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int begin(struct import *i, const struct text_line *first, struct ran_error *err)
{
        const struct import_columns *c = i->columns;
        struct csv *csv = ran_alloc(1, sizeof(*csv), err);

        if (csv == NULL)
                return RAN_ENOMEM;
        i->state = csv;
        csv->scan = i->table;
        const struct look look = look_at_row(&csv->scan, c, first->s, first->n);
        csv->header = i->header = is_header(i, &look);
        const size_t valid = ran_utf8_valid(first->s, first->n);
        if (csv->header && valid < first->n)
                return ran_fail(err, RAN_EFORMAT, "the header is not valid UTF-8 (%s)",
                                import_encoding_advice(first->s, first->n, valid));
        if (csv->header)
                RAN_TRY(name_by_header(csv, first->s, first->n, err));
        else if (c->names != NULL)
                RAN_TRY(name_by_option(csv, c->names, err));
        else
                RAN_TRY(name_by_shape(csv, i, &look, err));
        return write_names(csv, err);
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
        size_t from = i > 0 ? csv->json_end[i - 1] : 0;

        json_raw(out, csv->json.data + from, csv->json_end[i] - from);
        ran_buf_char(out, '"');
        if (cell->escaped)
                table_decode_json(s, cell, out);
        else
                ran_buf_json_part(out, s + cell->span.begin, cell->span.end - cell->span.begin);
        ran_buf_char(out, '"');
}

static int refuse_count(const struct csv *csv, size_t cells, struct ran_error *err)
{
        return ran_fail(
                err, RAN_EFORMAT,
                "the row has %zu cell%s, the %s %zu: a cell with the delimiter, a line end or "
                "a quote needs quotes around it (--delimiter, --quotes)",
                cells, cells == 1 ? "" : "s", csv->header ? "header has" : "table", csv->columns);
}

/* Whether lines end within the quotes of a cell, and more than its closing quote follows: two
 * quotes of two rows. */
static bool is_odd(const char *s, const struct table_cell *cell)
{
        const char *begin = s + cell->span.begin, *end = s + cell->span.end;

        return end[-1] != '"' && memchr(begin, '\n', (size_t)(end - begin)) != NULL;
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
        /* At most a cell for each byte, and one. If this fails, so will they. */
        const size_t cells = row->n < csv->columns ? row->n + 1 : csv->columns;
        (void)ran_buf_room(out, row->n + (cells > 0 ? csv->json_end[cells - 1] : 0) + ESCAPES);
        json_begin(out, '{');
        for (; table_next_cell(&csv->scan, row->s, row->n, &at, &cell); n++) {
                if (n >= csv->columns)
                        continue;
                if (csv->rest && n + 1 == csv->columns && !cell.open) {
                        bool whole = at == row->n + 1;
                        if (!whole) /* further tabs */
                                cell = (struct table_cell){{cell.span.begin, row->n}, false, false};
                        at = row->n + 1;
                }
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
                return ran_fail(err, RAN_EFORMAT,
                                "a quote opens a cell of this row, and text follows the one that "
                                "closes it some lines later: where a quote is a character like any "
                                "other, give --quotes=no");
        return n == csv->columns ? RAN_OK : refuse_count(csv, n, err);
}

const char *csv_columns(const struct import *i)
{
        return ((const struct csv *)i->state)->shown.data;
}

void csv_example(const struct import *i, struct ran_buf *out)
{
        const struct csv *csv = i->state;

        json_begin(out, '{');
        for (size_t c = 0; c < csv->columns; c++)
                add_cell(csv, c, "", &(struct table_cell){0}, out);
        json_end(out, '}');
}

bool csv_is_asked(const struct import_columns *c, const char *line, size_t n)
{
        const struct table_scan scan = {.delimiter = table_guess_delimiter(line, n)};
        const struct look look = look_at_row(&scan, c, line, n);

        return look.cells > 1 && look.asked;
}

/* ---- the formats ---------------------------------------------------------------------------- */

/* Whether a row after the first has as many cells as it. A sample without any decides nothing,
 * and a row whose quotes are open at its end may have them. */
static bool rows_agree(const struct table_scan *table, const struct sample *sample, size_t cells,
                       size_t *rows)
{
        struct table_scan scan = *table;
        size_t at = 0, end, next, begin = 0;

        for (*rows = 0; *rows < SAMPLE_LINES && begin < sample->n; begin += next, at = 0) {
                const char *row = sample->s + begin;
                bool whole = table_row_end(&scan, row, sample->n - begin, false, &at, &end, &next);
                if (!whole && scan.state == TABLE_QUOTED)
                        return true;
                if (!whole)
                        end = next = sample->n - begin;
                if (begin > 0 && end > 0) {
                        ++*rows;
                        if (look_at_row(table, NULL, row, end).cells == cells)
                                return true;
                }
        }
        return false;
}

/* A header with usual names, and a row like it; without a row, names without spaces. */
static bool is_table(const struct table_scan *scan, const struct look *look,
                     const struct sample *sample)
{
        size_t rows;

        if (look->cells < 2 || !is_usual(look))
                return false;
        return rows_agree(scan, sample, look->cells, &rows) || (rows == 0 && look->words);
}

static enum import_match guess_csv(const struct sample *sample)
{
        size_t at = 0, n;
        const char *line;

        if (!sample_next(sample, &at, &line, &n))
                return IMPORT_UNLIKE;
        const struct table_scan scan = {.delimiter = table_guess_delimiter(line, n)};
        const struct look look = look_at_row(&scan, NULL, line, n);
        return scan.delimiter != '\t' && look.texts + look.others > 0 &&
                               is_table(&scan, &look, sample)
                       ? IMPORT_CLEAR
                       : IMPORT_UNLIKE;
}

/* Whether most of the lines after the first have a tab. */
static bool tabs_agree(const struct sample *sample)
{
        size_t at = 0, n, lines = 0, tabs = 0;
        const char *line;

        while (lines < SAMPLE_LINES && sample_next_full(sample, &at, &line, &n)) {
                lines++;
                tabs += memchr(line, '\t', n) != NULL;
        }
        return tabs * 2 > lines;
}

/* A header with usual names; a label and a text, in either order. */
static enum import_match guess_tsv(const struct sample *sample)
{
        const struct table_scan scan = {.delimiter = '\t'};
        size_t at = 0, n;
        const char *line;

        if (!sample_next(sample, &at, &line, &n))
                return IMPORT_UNLIKE;
        const struct look look = look_at_row(&scan, NULL, line, n);
        if (look.cells < 2)
                return IMPORT_UNLIKE;
        return is_table(&scan, &look, sample) ||
                               ((look.word[0] || (look.cells == 2 && look.word[1])) &&
                                tabs_agree(sample))
                       ? IMPORT_CLEAR
                       : IMPORT_UNLIKE;
}

const struct import_format import_csv = {
        .unit = LINES_ROW,
        .looks_like = "a table",
        .endings = (const char *const[]){".csv", NULL},
        .by_ending = true,
        .look = look,
        .guess = guess_csv,
        .begin = begin,
        .import = import,
        .end = end_file,
};
const struct import_format import_tsv = {
        .unit = LINES_ROW,
        .looks_like = "label, tab, text",
        .endings = (const char *const[]){".tsv", ".tab", NULL},
        .by_ending = true,
        .look = look,
        .guess = guess_tsv,
        .begin = begin,
        .import = import,
        .end = end_file,
};
