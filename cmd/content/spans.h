/* spans.h - offsets and text of words in a record. */
#ifndef CMD_CONTENT_SPANS_H
#define CMD_CONTENT_SPANS_H

#include "cmd/content/document.h"
#include "ran.h"

/* A walk over a document that was read by words, from left to right. */
struct cmd_spans {
        const struct cmd_document *document;
        struct ran_items tokens; /* and the number of the next one: */
        size_t word;
        /* A text has a unit of offsets, and the current offset in each unit. */
        enum ran_unit unit;
        size_t point, byte, utf16;
};
void cmd_spans_begin(struct cmd_spans *s, const struct cmd_document *document,
                     const struct record *record, enum ran_unit unit);

/* Finds *start and *end of the words [first, last), in units of a text, else in words. Appends
 * their text (tokens and ids with spaces between). first is at least the last of the previous call.
 */
int cmd_spans_next(struct cmd_spans *s, size_t first, size_t last, size_t *start, size_t *end,
                   struct ran_buf *text, struct ran_error *err);

#endif
