/* spans.h - where words of a document stand in its record, and what they say. */
#ifndef CMD_RECORDS_SPANS_H
#define CMD_RECORDS_SPANS_H

#include "cmd/records/document.h"
#include "ran.h"

/* A walk over a document that was read by words, from left to right. */
struct cmd_spans {
        const struct cmd_document *document;
        const struct ran_record *record;
        size_t word, pos; /* of tokens: the next one, and where it stands in the array */
        /* Of text: the unit that is counted in, and how many of each were passed. */
        enum ran_unit unit;
        size_t point, byte, utf16;
};
void cmd_spans_begin(struct cmd_spans *s, const struct cmd_document *document,
                     const struct ran_record *record, enum ran_unit unit);

/* From the first word to before the last: *start and *end in units of a text, else in words;
 * and appends what is written there (tokens and ids with a space between). first is never before
 * the last of the call before. */
int cmd_spans_next(struct cmd_spans *s, size_t first, size_t last, size_t *start, size_t *end,
                   struct ran_buf *text, struct ran_error *err);

#endif
