/* frame.h - a table in one JSON object, as pandas' to_json writes it by default: as JSON lines. */
#ifndef CMD_FORMATS_FRAME_H
#define CMD_FORMATS_FRAME_H

#include "ran.h"

/* Whether a file that begins so may be such a table: all of it has to be read to know. */
bool frame_begins(const char *s, size_t n);
/* Appends a line for each row of a JSON object that is all of a file. *is is false, and nothing is
 * appended, if it is no table: if it is a record, or anything else. */
int frame_lines(const char *s, size_t n, struct ran_buf *out, bool *is, struct ran_error *err);

#endif
