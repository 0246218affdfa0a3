/* import.h - lines of other formats as JSON records. */
#ifndef CMD_IMPORT_H
#define CMD_IMPORT_H

#include "ran.h"

/* The format (CMD_FORMAT_...) of a file whose first line is this one: FASTTEXT when a word of it
 * begins with
 * "__label__" and the line is no object, else JSONL. */
int import_guess(const char *line, size_t n);

/* Appends the record that a line of one of the formats other than AUTO and JSONL stands for. */
int import_line(int format, const char *line, size_t n, struct ran_buf *out, struct ran_error *err);

#endif
