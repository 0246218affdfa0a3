/* literal.h - a list or an object in a cell of a table: as JSON, or as Python and NumPy print it.
 */
#ifndef CMD_FORMATS_LITERAL_H
#define CMD_FORMATS_LITERAL_H

#include "ran.h"

/* Whether a text begins like one. */
bool literal_begins(const char *s, size_t n);
/* Appends it as JSON: ["a", "b"], ['a', 'b'], ('a', 'b') and ['a' 'b'] become the same. *is is
 * false, and nothing is appended, if it is none. */
int literal_json(const char *s, size_t n, struct ran_buf *out, bool *is, struct ran_error *err);

#endif
