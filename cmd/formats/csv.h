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

#endif
