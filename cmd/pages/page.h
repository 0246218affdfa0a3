/* page.h - the frame of a page: a self-contained HTML document, and text in it.
 *
 * A page needs no network: its style is inside, nothing is loaded, and a policy in its head forbids
 * the browser to. It has no script, and is well-formed XML, too. It follows the light or dark
 * scheme of its reader, and has a style for paper. Text comes from strangers: write all of it with
 * page_text. */
#ifndef CMD_PAGES_PAGE_H
#define CMD_PAGES_PAGE_H

#include "ran.h"

/* Appends everything before the contents. title: also the first heading; lead: a sentence below it,
 * which is released. Both are text. */
void page_begin(struct ran_buf *out, const char *title, struct ran_buf *lead);
/* Appends everything after them. */
void page_end(struct ran_buf *out);

/* Appends text that a browser shows as it is: & < > and quotes are escaped, and control characters
 * (but tab and line feed), noncharacters and invalid UTF-8 become U+FFFD. Fine in attributes with
 * quotes, too. */
void page_text(struct ran_buf *out, const char *s, size_t n);
void page_string(struct ran_buf *out, const char *s); /* to a NUL */
/* Appends as much of the text as `most` bytes hold; adds an ellipsis if some is left out. White
 * space at its end is left out. */
void page_excerpt(struct ran_buf *out, const char *s, size_t n, size_t most);
/* "1,234,567" */
void page_count(struct ran_buf *out, size_t n);
/* A share as per cent, with so many decimals: "93.2 %". A share that is no number becomes "-". */
void page_percent(struct ran_buf *out, double share, int decimals);
/* A bar of that share of its box. */
void page_bar(struct ran_buf *out, double share);

/* Pages stay below this many bytes: contents that would make them larger are left out, and the
 * page says so. */
enum { PAGE_ROOM = 12 << 20 };

/* ---- elements -------------------------------------------------------------------------------- */

/* An element is named as in a style sheet: "p.note" is a paragraph of the class "note", and text
 * of a document, "div.text", also has the direction of its letters. What the classes look like,
 * style.c says. */
void page_open(struct ran_buf *out, const char *element);
/* The same with attributes of ours, formatted: `id="list"`. */
void page_open_with(struct ran_buf *out, const char *element, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void page_close(struct ran_buf *out, const char *element); /* classes may be left out */

/* Appends an element with text: formatted, all of it shown as it is; n bytes from anywhere. */
void page_put(struct ran_buf *out, const char *element, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void page_put_text(struct ran_buf *out, const char *element, const char *s, size_t n);
/* Begins a key of a legend, with its colour: that of this kind and level. page_close(out, "span")
 * ends it. */
void page_open_key(struct ran_buf *out, char kind, int level);
/* A passage of at most `most` bytes, see page_excerpt. */
void page_put_excerpt(struct ran_buf *out, const char *s, size_t n, size_t most);

/* ---- text with parts of it marked (marked.c) ------------------------------------------------- */

/* Bytes [start, end) of a text. */
struct page_mark {
        size_t start, end;
        const char *kind;  /* its class in the style: "e"; NULL: plain */
        int colour;        /* the i-th of many; -1: none */
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
void page_document_text(struct ran_buf *out, const char *element, const struct ran_buf *text,
                        const struct page_mark *marks, size_t n, bool folded);
/* Moves a place in UTF-8 to the begin of its character, or `by` bytes back to about the begin of a
 * word; likewise forward. For excerpts. */
size_t page_back(const char *text, size_t at, size_t by);
size_t page_forward(const char *text, size_t n, size_t at, size_t by);

/* Appends at most `most` bytes of a text as a mark of the i-th of many colours that can be told
 * apart. */
void page_mark_add(struct ran_buf *out, int i, const char *s, size_t n, size_t most);

/* ---- names of records ------------------------------------------------------------------------ */

/* Appends its id, else the place where it was read: bytes from a stranger. */
void record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                 size_t number);
/* The same for a page, and not too long. */
void page_record_name(struct ran_buf *out, const struct ran_record *record, const char *file,
                      size_t number);

/* ---- the style of all pages (style.c) -------------------------------------------------------- */

extern const char page_style[];

#endif
