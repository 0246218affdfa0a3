/* documents.h - the documents of a page, in memory that their number does not change.
 *
 * When a page would become too large, the documents with the least doubt are left out. */
#ifndef CMD_PAGES_DOCUMENTS_H
#define CMD_PAGES_DOCUMENTS_H

#include "cmd/options/write.h"
#include "cmd/pages/report.h"

struct page_document {
        double doubt;              /* the larger, the sooner a person should look at it */
        struct ran_buf name, body; /* HTML */
        struct report row;         /* values for the list of doubt, with titles; or none */
};
void page_document_release(void *document);

/* Zero-initialise. */
struct page_documents {
        struct page_entry *entry; /* (n) */
        size_t n, cap, bytes;
        size_t seen;          /* all of them */
        bool full;            /* the first `most` are those with the most doubt so far, in order */
        size_t most;          /* set by the caller: keep so many; 0: any number */
        struct ran_buf heads; /* of the list of doubt */
};
/* Whether a document with this doubt may be kept. */
bool page_documents_want(const struct page_documents *d, double doubt);
/* Copies it. */
void page_documents_add(struct page_documents *d, const struct page_document *document);
/* Writes a list of the most doubtful ones under that title, and then all in their order, as
 * <article>. */
void page_documents_write(struct page_documents *d, const char *title, struct cmd_sink *out);
/* Writes those that are kept, the most doubtful first, under that title; and how many there are of
 * `all`, which are called so ("documents with an error"). Nothing if there are none. */
void page_worst_write(struct page_documents *d, const char *title, size_t all, const char *called,
                      struct cmd_sink *out);
void page_documents_release(struct page_documents *d);

#endif
