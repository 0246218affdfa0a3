/* conll-line.h - the fields of a line of columns, separated by tabs alone, or by runs of white
 * space. */
#ifndef CMD_FORMATS_CONLL_LINE_H
#define CMD_FORMATS_CONLL_LINE_H

#include "ran.h"

/* The next field from *at on, which is 0 at first; false behind the last. */
bool conll_next_field(bool tabs, const char *line, size_t n, size_t *at, struct ran_span *field);
/* The fields of a line, and the last of them. */
size_t conll_fields(bool tabs, const char *line, size_t n, struct ran_span *last);
/* Whether a line is a word of CoNLL-U. */
bool conll_is_universal(const char *line, size_t n);

#endif
