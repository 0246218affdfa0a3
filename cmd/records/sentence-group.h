/* sentence-group.h - sentences of one document: successive records with the same `doc`. */
#ifndef CMD_RECORDS_SENTENCE_GROUP_H
#define CMD_RECORDS_SENTENCE_GROUP_H

#include "cmd/formats/record.h"

/* The current document. Zero-initialise. */
struct sentence_group {
        struct ran_buf id; /* its `doc` as JSON */
        const char *file;  /* NULL: no record so far */
        size_t n;          /* sentences so far */
};
void sentence_group_release(struct sentence_group *doc);

/* Adds a record to the current document and returns true, or begins a new document with it. A
 * document is in one file and has at most `most` sentences; a record without `doc` is a document.
 */
bool sentence_group_goes_on(struct sentence_group *doc, const char *file,
                            const struct record *record, size_t most);

/* Whether the next record may belong to the current document. */
bool sentence_group_is_open(const struct sentence_group *doc, size_t most);

#endif
