/* tuple.h - JSON of other tools that is no record: spaCy's pairs, and Label Studio's tasks. */
#ifndef CMD_FORMATS_TUPLE_H
#define CMD_FORMATS_TUPLE_H

#include "cmd/formats/import.h"

/* Notes in i->state whether the first text of a file is a task of Label Studio: then all are. */
int tuple_begin(struct import *i, const struct text_line *first, struct ran_error *err);
/* Appends the record of a JSON value on one line; nothing, if it is a record itself or anything
 * else, which the scan of the record refuses. */
void tuple_import(const struct import *i, const char *s, size_t n, struct ran_buf *out);

#endif
