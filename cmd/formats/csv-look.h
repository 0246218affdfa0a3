/* csv-look.h - what the first rows of a table are like; only for csv.c. */
#ifndef CMD_FORMATS_CSV_LOOK_H
#define CMD_FORMATS_CSV_LOOK_H

#include "cmd/formats/import.h"

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
