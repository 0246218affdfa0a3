/* units.h - divides what has arrived of a file into its units; only for lines.c. */
#ifndef CMD_FORMATS_UNITS_H
#define CMD_FORMATS_UNITS_H

#include "cmd/formats/lines.h"

enum { UNITS_MOST = 4096 }; /* texts of a group */

/* Makes a group of the whole units in [begin, end) of data. */
void units_split(struct lines *l);
/* Adds a text to the group. */
void units_add(struct lines *l, struct text_line text);
/* The whole line at `from`: its length and the start of the next; false without one. */
bool units_line(const struct lines *l, size_t from, size_t *n, size_t *next);
/* Fills in the next line of the file beside this one. */
void units_next_beside(struct lines *l, struct text_line *line);
/* Strips a byte order mark, which files that were put together have in the middle, too, and the CR
 * of the line end. */
void units_strip(const char **s, size_t *n);
/* Line feeds among n bytes. */
size_t units_count_feeds(const char *s, size_t n);
/* Whether a file begins with an array of which a record may have ended: nobody should wait for the
 * end of its line, which may be all of the file. */
bool units_begun_array(const struct lines *l);

#endif
