/* sentence-group.h - sentences of one document: records in a row that have the same `doc`. */
#ifndef CMD_RECORDS_SENTENCE_GROUP_H
#define CMD_RECORDS_SENTENCE_GROUP_H

#include "ran.h"

#define SENTENCE_GROUP_MEMBER "doc"

/* The document that is being read. Zero-initialise. */
struct sentence_group {
        struct ran_buf id; /* its `doc`, as JSON */
        const char *file;  /* NULL: no record has come yet */
        size_t n;          /* sentences that it has so far */
};
void sentence_group_release(struct sentence_group *doc);

/* Whether a record goes on with the document that those before it belong to, and then takes it in;
 * it begins one of its own otherwise. A document lies in one file, has `most` sentences at most,
 * and a record without `doc` is one by itself. */
bool sentence_group_goes_on(struct sentence_group *doc, const char *file,
                            const struct ran_record *record, size_t most);

/* Whether a further record may go on with it. */
bool sentence_group_is_open(const struct sentence_group *doc, size_t most);

#endif
