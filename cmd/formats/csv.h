/* csv.h - tables of cells: comma- and tab-separated values. */
#ifndef CMD_FORMATS_CSV_H
#define CMD_FORMATS_CSV_H

#include "cmd/formats/import.h"

/* Lists the names of a table's columns, for messages: "review, sentiment"; valid until the file
 * ends. */
const char *csv_columns(const struct import *i);
/* Whether a first line has cells of which one is named by --text-member, --label-member or
 * --id-member: then it is a header. */
bool csv_is_asked(const struct import_columns *c, const char *line, size_t n);
/* Appends a record with all columns of a table, each empty. */
void csv_example(const struct import *i, struct ran_buf *out);

/* ---- csv-look.c -------------------------------------------------------------------------------
 */

enum { LONGEST_NAME = 64 };

/* This describes the first row: its cells may be names or data. */
struct csv_look {
        size_t cells;
        size_t texts, labels, others; /* cells that are usual names of these */
        bool asked;                   /* a cell is what an option names */
        bool words;                   /* no cell has a space */
        bool names;                   /* all could be names of columns */
        size_t length[2];             /* of the first two cells, and whether they are one word */
        bool word[2];
};

/* A row; c: NULL, or what options name. */
struct csv_look csv_look_at_row(const struct table_scan *scan, const struct import_columns *c,
                                const char *s, size_t n);
/* Whether the first row, which is like that, is a header; tabs: of the format tsv. */
bool csv_is_header(const struct import *i, const struct csv_look *look, bool tabs);

/* For the formats csv and tsv. */
void csv_look(struct import *i, const struct sample *sample);
void csv_look_tsv(struct import *i, const struct sample *sample);
enum import_match csv_guess(const struct sample *sample);
enum import_match csv_guess_tsv(const struct sample *sample);

#endif
