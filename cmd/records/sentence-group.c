/* sentence-group.c - sentences of one document: successive records with the same `doc`. */
#include "cmd/records/loop.h"

#include <string.h>

void sentence_group_release(struct sentence_group *doc)
{
        ran_buf_release(&doc->id);
}

bool sentence_group_goes_on(struct sentence_group *doc, const char *file,
                            const struct record *record, size_t most)
{
        const struct ran_member *m = record->is[FIELD_GROUP];
        const char *id = m != NULL ? record->json.line + m->value.begin : "";
        size_t n = m != NULL ? m->value.end - m->value.begin : 0;

        /* Compared as written: 1 and "1" differ. */
        if (doc->n < most && n > 0 && doc->file != NULL && strcmp(doc->file, file) == 0 &&
            doc->id.len == n && memcmp(doc->id.data, id, n) == 0) {
                doc->n++;
                return true;
        }
        doc->id.len = 0;
        ran_buf_add(&doc->id, id, n);
        doc->file = file;
        doc->n = 1;
        return false;
}
