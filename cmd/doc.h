/* doc.h - sentences of one document: records in a row that have the same `doc`. */
#ifndef CMD_DOC_H
#define CMD_DOC_H

#include "ran.h"

#define CMD_DOC_MEMBER "doc"

/* The document that is being read. Zero-initialise. */
struct cmd_doc {
        struct ran_buf id; /* its `doc`, as JSON */
        const char *file;  /* NULL: no record has come yet */
        size_t n;          /* sentences that it has so far */
};
void cmd_doc_release(struct cmd_doc *doc);

/* Whether a record goes on with the document that those before it belong to, and then takes it in;
 * it begins one of its own otherwise. A document lies in one file, has `most` sentences at most,
 * and a record without `doc` is one by itself. */
bool cmd_doc_goes_on(struct cmd_doc *doc, const char *file, const struct ran_record *record,
                     size_t most);

/* Whether a further record may go on with it. */
bool cmd_doc_is_open(const struct cmd_doc *doc, size_t most);

#endif
