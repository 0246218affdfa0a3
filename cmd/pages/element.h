/* element.h - what a page is made of, besides tables, charts and documents.
 *
 * Programs name an element, and its markup stands in element.c alone. */
#ifndef CMD_PAGES_ELEMENT_H
#define CMD_PAGES_ELEMENT_H

#include "ran.h"

enum page_element {
        /* blocks */
        HTML_HEADING,
        HTML_SUBHEADING,
        HTML_PARAGRAPH,
        HTML_RIGHT, /* a paragraph about an answer: right, or wrong */
        HTML_WRONG,
        HTML_NOTE,    /* a paragraph, small */
        HTML_LEGEND,  /* of colours: HTML_KEY each */
        HTML_PASSAGE, /* text from anywhere */
        HTML_SHADED,  /* a passage whose words have colours: HTML_SHADE each */
        HTML_TAGGED,  /* one with marked words */
        HTML_QUOTE,
        HTML_CHARTS, /* side by side, each of them a chart or an HTML_CHART */
        HTML_CHART,
        HTML_SIDES, /* two texts, each an HTML_SIDE */
        HTML_SIDE,
        HTML_DETAILS, /* folded: HTML_SUMMARY says what it is */
        HTML_WIDE,    /* it may be wider than the page: it scrolls */
        HTML_ARTICLE, /* about a document */
        HTML_STRIP,   /* of links */
        HTML_WINDOW,  /* a part of a text */
        HTML_LIST,    /* numbered: HTML_ITEM each */
        HTML_ITEM,
        /* in a line */
        HTML_SUMMARY,
        HTML_EXCERPT, /* text from anywhere */
        HTML_PART,    /* text of a part */
        HTML_LABEL,
        HTML_LABEL_RIGHT,
        HTML_LABEL_WRONG,
        HTML_LACK, /* what is not there: "no label" */
        HTML_SMALL,
        HTML_STRONG,
        HTML_KEY,
        HTML_SHADE,
        HTML_LINK,
        HTML_FOR, /* bars of values above 0, and below */
        HTML_AGAINST,
        HTML_ELEMENTS
};

void page_open(struct ran_buf *out, enum page_element e);
/* The same with attributes of ours, formatted: `id="list"`. */
void page_open_with(struct ran_buf *out, enum page_element e, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void page_close(struct ran_buf *out, enum page_element e);

/* Appends an element with text: formatted, all of it shown as it is; n bytes from anywhere. */
void page_put(struct ran_buf *out, enum page_element e, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void page_put_text(struct ran_buf *out, enum page_element e, const char *s, size_t n);
/* Begins a key of a legend, with its colour: that of this kind and level. page_close(HTML_KEY) ends
 * it. */
void page_open_key(struct ran_buf *out, char kind, int level);
/* A passage of at most `most` bytes, see page_excerpt. */
void page_put_excerpt(struct ran_buf *out, const char *s, size_t n, size_t most);
/* Begins folded text: "whole document, 1,234 bytes". page_close(HTML_DETAILS) ends it. */
void page_open_document(struct ran_buf *out, size_t bytes);

#endif
