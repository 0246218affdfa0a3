/* page.h - tagged documents as a page: entities in their text, gold beside found. */
#ifndef CMD_TAG_PAGE_H
#define CMD_TAG_PAGE_H

#include <stdatomic.h>

#include "cmd/pages/documents.h"
#include "cmd/pages/reliability.h"
#include "cmd/content/labels.h"
#include "cmd/content/shown.h"
#include "cmd/tag/eval.h"
#include "cmd/tag/words.h"

/* A type of entity or, if tags are of no scheme, a tag. */
struct tag_page_type {
        const char *name; /* of n bytes */
        size_t n;
        atomic_size_t found, gold, right;
};
struct tag_page {
        const struct tagger *tagger;
        struct tag_eval *eval;      /* of --eval; NULL: predictions */
        const char *model;          /* its file */
        struct tag_page_type *type; /* (types) of the model, then others */
        size_t types;
        struct page_reliability reliability;
        atomic_size_t compared, wrong; /* documents with gold tags, and with an error */
        struct page_documents documents;
};
/* Exits if memory runs out. */
void tag_page_init(struct tag_page *p, const struct tagger *t, const char *model);
void tag_page_release(struct tag_page *p);

/* One a thread. */
struct tag_page_scratch;
struct tag_page_scratch *tag_page_scratch_new(struct ran_error *err);
void tag_page_scratch_free(struct tag_page_scratch *s);

/* In any thread: makes the document of a tagged record. gold: reads its gold tags; may be that of
 * an evaluation. */
int tag_page_make(struct tag_page *p, struct tag_page_scratch *s, const struct tag_scratch *tags,
                  const struct tag_record *r, struct cmd_labels *gold, const struct cmd_item *item,
                  struct page_document *d);
/* In order. */
int tag_page_add(struct tag_page *p, const struct page_document *d, struct ran_error *err);
void tag_page_write(struct tag_page *p, size_t failed, struct cmd_sink *out);

#endif
