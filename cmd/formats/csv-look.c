/* csv-look.c - what the first rows of a table are like: whether it is one, and has a header. */
#include "cmd/formats/import.h"

#include <string.h>

#include "cmd/formats/record.h"

/* ---- a row ---------------------------------------------------------------------------------- */

static bool is_asked(const struct import_columns *c, const char *s, size_t n)
{
        for (; c != NULL; c = c->remembered) {
                const char *one[] = {c->label_member, c->id_member};

                for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
                        if (one[i] != NULL && strlen(one[i]) == n && memcmp(one[i], s, n) == 0)
                                return true;
                for (size_t i = 0; i < c->text_member.n; i++)
                        if (import_lists(c->text_member.item[i], s, n))
                                return true;
        }
        return false;
}

static bool is_number(const char *s, size_t n)
{
        double x;

        return ran_parse_double(s, n, &x);
}

static void look_at(struct csv_look *look, const struct import_columns *c, const char *s, size_t n)
{
        size_t rank, spaces = 0;
        enum role role = role_of(s, n, &rank);

        for (size_t i = 0; i < n; i++)
                spaces += s[i] == ' ';
        if (look->cells < 2) {
                look->length[look->cells] = n;
                look->word[look->cells] = n > 0 && n <= LONGEST_NAME && spaces == 0;
        }
        look->spaced += look->cells++ > 0 && n > 0 && *s == ' ';
        look->texts += role == ROLE_TEXT;
        look->labels += role == ROLE_LABEL;
        look->others += role == ROLE_OTHER;
        look->asked |= c != NULL && is_asked(c, s, n);
        look->words &= spaces == 0;
        look->names &= n <= LONGEST_NAME && spaces < 4 && !is_number(s, n) &&
                       (n == 0 || strchr(".!?", s[n - 1]) == NULL);
}

struct csv_look csv_look_at_row(const struct table_scan *scan, const struct import_columns *c,
                                const char *s, size_t n)
{
        struct csv_look look = {.words = true, .names = true};
        struct ran_buf text = {0};
        struct table_cell cell;
        size_t at = 0;

        while (table_next_cell(scan, s, n, &at, &cell)) {
                size_t length;
                const char *name = table_text(s, &cell, &text, &length);
                look_at(&look, c, name, length);
        }
        ran_buf_release(&text);
        return look;
}

/* Whether names in a row are those that columns usually have. */
static bool is_usual(const struct csv_look *look)
{
        return look->names && (look->texts + look->others > 0 || (look->labels > 0 && look->words));
}

bool csv_is_header(const struct import *i, const struct csv_look *look, bool tabs)
{
        const struct import_columns *c = i->columns;

        if (c->header != IMPORT_AUTO)
                return c->header == IMPORT_YES;
        if (c->names != NULL)
                return false;
        if (look->asked || is_usual(look))
                return true;
        return look->cells > 1 && (i->below || (!tabs && look->names));
}

/* A column: the text of its first cell, and what is below. */
struct below {
        struct ran_span name;
        size_t cells, numbers, length; /* cells that are not empty; bytes of all together */
        bool same;                     /* one is what the first row has */
};

static struct ran_span text_of(const struct table_cell *cell)
{
        const size_t begin = cell->span.begin + 1, end = cell->span.end - 1;

        /* A quote may be all that there is. */
        return cell->escaped ? (struct ran_span){begin, end > begin ? end : begin} : cell->span;
}

/* Whether the rows below the first say that it is a header: no column has its cell again, and one
 * is of another kind: numbers, or, if texts say something, much longer texts. */
static bool is_unlike_below(const struct table_scan *t, bool texts, const struct sample *sample)
{
        enum { MOST_COLUMNS = 64, ROWS = 16, LONG = 3, TEXT = 20 };
        struct below column[MOST_COLUMNS] = {0};
        struct table_scan scan = *t;
        struct table_cell cell;
        size_t columns = 0, begin = 0, at = 0, end, next;
        bool unlike = false;

        for (size_t rows = 0;
             rows <= ROWS && table_row_end(&scan, sample->s + begin, sample->n - begin, sample->all,
                                           &at, &end, &next);
             rows++, begin += next, at = 0) {
                const char *row = sample->s + begin;
                at = 0;
                for (size_t c = 0; table_next_cell(t, row, end, &at, &cell); c++) {
                        const struct ran_span text = text_of(&cell);
                        const size_t n = text.end - text.begin;
                        if (c == MOST_COLUMNS && rows == 0)
                                return false;
                        if (rows == 0)
                                column[columns++].name = text;
                        if (rows == 0 || c >= columns)
                                continue;
                        struct below *b = &column[c];
                        b->cells += n > 0;
                        b->numbers += n > 0 && is_number(row + text.begin, n);
                        b->length += n;
                        b->same |= n == b->name.end - b->name.begin &&
                                   memcmp(row + text.begin, sample->s + b->name.begin, n) == 0;
                }
        }
        for (const struct below *b = column; b < column + columns; b++) {
                const size_t n = b->name.end - b->name.begin;
                const bool numbers = b->cells > 0 && b->numbers == b->cells;
                if (n > 2 * LONGEST_NAME || b->same ||
                    (numbers && is_number(sample->s + b->name.begin, n)))
                        return false;
                unlike |= numbers ||
                          (texts && b->length > TEXT * b->cells && b->length > LONG * n * b->cells);
        }
        return unlike;
}

/* A table of labels and texts with tabs, but without a header, is seldom of a program that writes
 * quotes around cells. */
void csv_look(struct import *i, const struct sample *sample)
{
        const struct import_columns *c = i->columns;
        const bool tabs = i->format->guess == csv_guess_tsv;

        i->table = (struct table_scan){
                .delimiter = c->delimiter != NULL ? table_delimiter(c->delimiter)
                             : tabs               ? '\t'
                                                  : table_guess_delimiter(sample->s, sample->first),
                .no_quotes = c->quotes == IMPORT_NO};
        i->below = is_unlike_below(&i->table, !tabs, sample);
        const struct csv_look look = csv_look_at_row(&i->table, c, sample->s, sample->first);
        const bool header = csv_is_header(i, &look, tabs);
        if (c->quotes == IMPORT_AUTO && tabs)
                i->table.no_quotes = !header && c->names == NULL;
        i->table.spaces = header && look.cells > 1 && look.spaced == look.cells - 1 && !look.asked;
}

bool csv_is_asked(const struct import_columns *c, const char *line, size_t n)
{
        const struct table_scan scan = {.delimiter = table_guess_delimiter(line, n)};
        const struct csv_look look = csv_look_at_row(&scan, c, line, n);

        return look.cells > 1 && look.asked;
}

/* ---- guesses -------------------------------------------------------------------------------- */

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
                        if (csv_look_at_row(table, NULL, row, end).cells == cells)
                                return true;
                }
        }
        return false;
}

/* A header with usual names, and a row like it; without a row, names without spaces. */
static bool is_table(const struct table_scan *scan, const struct csv_look *look,
                     const struct sample *sample)
{
        size_t rows;

        if (look->cells < 2 || !is_usual(look))
                return false;
        return rows_agree(scan, sample, look->cells, &rows) || (rows == 0 && look->words);
}

enum import_match csv_guess(const struct sample *sample)
{
        const struct table_scan scan = {.delimiter =
                                                table_guess_delimiter(sample->s, sample->first)};
        const struct csv_look look = csv_look_at_row(&scan, NULL, sample->s, sample->first);

        return scan.delimiter != '\t' && look.texts + look.others > 0 &&
                               is_table(&scan, &look, sample)
                       ? IMPORT_CLEAR
                       : IMPORT_UNLIKE;
}

/* A header with usual names; a label and a text, in either order, with a tab in most lines. */
enum import_match csv_guess_tsv(const struct sample *sample)
{
        size_t at = 0, n, lines = 0, tabs = 0;
        const char *line;
        const struct table_scan scan = {.delimiter = '\t'};
        const struct csv_look look = csv_look_at_row(&scan, NULL, sample->s, sample->first);

        for (; lines < SAMPLE_LINES && sample_next_full(sample, &at, &line, &n); lines++)
                tabs += memchr(line, '\t', n) != NULL;
        return look.cells > 1 && (is_table(&scan, &look, sample) ||
                                  ((look.word[0] || (look.cells == 2 && look.word[1])) &&
                                   tabs * 2 > lines))
                       ? IMPORT_CLEAR
                       : IMPORT_UNLIKE;
}
