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

#endif
