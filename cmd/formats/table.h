/* table.h - rows and cells of CSV and TSV, by RFC 4180, as Python's module csv reads them.
 *
 * A cell that begins with a quote ends at the next quote that is not doubled; delimiters and line
 * ends inside belong to it. What follows up to the delimiter is added as it stands. Elsewhere a
 * quote is a character like any other. LF, CR LF or CR ends a row.
 */
#ifndef CMD_FORMATS_TABLE_H
#define CMD_FORMATS_TABLE_H

#include "ran.h"

/* How rows are written, and how far the current one has been scanned. */
struct table_scan {
        char delimiter;
        bool no_quotes; /* a quote never has a meaning */
        bool returned;  /* the last row ended with a CR, the last byte so far: a LF belongs to it */
        enum { TABLE_START, TABLE_PLAIN, TABLE_QUOTED, TABLE_CLOSED } state; /* of a cell */
};

/* Looks for the end of the row at s, from *at on, which is 0 for a new row and afterwards how far
 * it was scanned. True: the row is s[0, *end), the next one begins at *next. last: no byte follows.
 */
bool table_row_end(struct table_scan *t, const char *s, size_t n, bool last, size_t *at,
                   size_t *end, size_t *next);
/* The line ends within a row; LF, CR LF and CR count as one each. */
size_t table_line_ends(const char *s, size_t n);

struct table_cell {
        struct ran_span span; /* the text; with its opening quote if it is `escaped` */
        bool escaped;         /* table_decode makes the text */
        bool open;            /* its quote is never closed */
};
/* The next cell of a row from *at on, which is 0 at first; false behind the last. A row has at
 * least one cell. */
bool table_next_cell(const struct table_scan *t, const char *s, size_t n, size_t *at,
                     struct table_cell *cell);
/* Appends the text of an escaped cell. */
void table_decode(const char *s, const struct table_cell *cell, struct ran_buf *out);
/* The same as part of a JSON string. */
void table_decode_json(const char *s, const struct table_cell *cell, struct ran_buf *out);

/* The delimiter that a text says: one character, or a word such as "tab"; 0 if it is neither. */
char table_delimiter(const char *text);
/* The most frequent of comma, semicolon, tab and | in a line, outside quotes; else a comma. */
char table_guess_delimiter(const char *line, size_t n);

#endif
