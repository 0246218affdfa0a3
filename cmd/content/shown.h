/* shown.h - the text of a document for people, and where its words stand in it. */
#ifndef CMD_CONTENT_SHOWN_H
#define CMD_CONTENT_SHOWN_H

#include "cmd/content/document.h"

/* Zero-initialise; reused from record to record. */
struct cmd_shown {
        struct ran_buf text; /* tokens and ids have a space between them */
        bool placed;         /* offsets of words are known */
        /* Where words of tokens or ids end in the text. */
        size_t *end;
        size_t n, cap;
};
void cmd_shown_release(struct cmd_shown *s);
/* Takes over the text of a document that was read from the record. */
int cmd_shown_read(struct cmd_shown *s, const struct cmd_document *d, const struct record *record,
                   struct ran_error *err);
/* Converts offsets of the record to bytes of the text: of a text, they are bytes already; else
 * words. False for offsets outside of it. */
bool cmd_shown_place(const struct cmd_shown *s, size_t *start, size_t *end);

#endif
