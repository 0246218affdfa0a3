/* marked.h - text with parts of it marked. */
#ifndef CMD_PAGES_MARKED_H
#define CMD_PAGES_MARKED_H

#include "cmd/pages/element.h"

/* Bytes [start, end) of a text. */
struct page_mark {
        size_t start, end;
        const char *kind;  /* its class in the style: "e"; NULL: plain */
        int colour;        /* page_colour_add; -1: none */
        const char *label; /* text behind it, of label_n bytes; NULL: none */
        size_t label_n;
        char title[64]; /* of ours, shown when pointed at; "": none */
};
/* Appends the bytes [from, to) of a text. The n marks are in order and do not overlap; those that
 * begin outside of the part are left out. */
void page_marked(struct ran_buf *out, const char *text, size_t from, size_t to,
                 const struct page_mark *marks, size_t n);
/* Appends the text of a document in that element, folded if asked for; what is more than a page may
 * have of it is left out, and a note says so. */
void page_document_text(struct ran_buf *out, enum page_element e, const struct ran_buf *text,
                        const struct page_mark *marks, size_t n, bool folded);
/* Moves a place in UTF-8 to the begin of its character, or `by` bytes back to about the begin of a
 * word; likewise forward. For excerpts. */
size_t page_back(const char *text, size_t at, size_t by);
size_t page_forward(const char *text, size_t n, size_t at, size_t by);

/* Appends at most `most` bytes of a text as a mark of the i-th of many colours that can be told
 * apart. */
void page_mark_add(struct ran_buf *out, int i, const char *s, size_t n, size_t most);

#endif
