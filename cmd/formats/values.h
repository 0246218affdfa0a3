/* values.h - JSON that is no JSON lines: records in an array, or with line ends within. */
#ifndef CMD_FORMATS_VALUES_H
#define CMD_FORMATS_VALUES_H

#include "cmd/formats/sample.h"
#include "ran.h"

/* How far the values of a file have been scanned. */
struct values_scan {
        bool array;   /* values stand in an array, whose bracket was read */
        size_t depth; /* of brackets in the value being scanned */
        bool string, escaped;
};

/* Passes over what stands between values, from `at` on; returns where one begins, or n. */
size_t values_skip(struct values_scan *v, const char *s, size_t n, size_t at);
/* Looks for the end of the value at s, from *at on, which is 0 for a new one and afterwards how far
 * it was scanned. True: the value is s[0, *at). What is neither an object nor a list ends with its
 * line. last: no byte follows. */
bool values_end(struct values_scan *v, const char *s, size_t n, bool last, size_t *at);
/* Appends a value without the line ends, and the indentation, outside of its strings. */
void values_flatten(const char *s, size_t n, struct ran_buf *out);

/* Whether a line begins as JSON does and prose does not; at: its first brace or bracket. */
bool values_begin_line(const char *line, size_t n, size_t at);
/* Whether the first lines are such JSON, not JSON lines. */
bool values_guess(const struct sample *sample);

#endif
