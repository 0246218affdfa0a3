/* report.h - a report: a tree of values, built once and written as JSON, as text for people, as
 * rows of a table or as a part of a page.
 *
 *      struct report r = {0};
 *
 *      report_count(&r, "n", "documents", 12);
 *      report_share(&r, "accuracy", "accuracy", 0.75);
 *      report_interval(&r, (struct ran_interval){0.46, 0.92});
 *      report_begin(&r, REPORT_LIST, "per_class", "Labels");
 *      ...
 *      report_end(&r);
 *      report_json(&r, out);                           {"n":12,"accuracy":0.75,"per_class":[...]}
 *
 * A node has a name for machines and a title for people. Without a name it is not in JSON, without
 * a title not in text and pages; in a list, a name is "". For people, values come first, then what
 * has a heading: objects, lists of texts, and tables, which are lists of objects, or of lists: the
 * columns are what has titles in the first row. An object with the title "" has its members shown
 * as if they stood around it. */
#ifndef CMD_PAGES_REPORT_H
#define CMD_PAGES_REPORT_H

#include "cmd/formats/output.h"

enum report_kind {
        REPORT_OBJECT,
        REPORT_LIST,
        REPORT_LINE,   /* an object of values that people read in one line */
        REPORT_MATRIX, /* an object: labels, and lists of counts; people see it on a page */
        REPORT_BOOL,
        REPORT_COUNT, /* from here to REPORT_AMOUNT: numbers */
        REPORT_NUMBER,
        REPORT_SHARE,  /* a number: 0.75; on a page 75.0 % */
        REPORT_BAR,    /* the same; on a page also a bar */
        REPORT_SCORE,  /* a number from 0 to 100, with two decimals; on a page also a bar */
        REPORT_AMOUNT, /* text that stands as a number does: "0:12:40"; to REPORT_WRONG: texts */
        REPORT_TEXT,
        REPORT_LACK,  /* text that says what is not there: "no label" */
        REPORT_LABEL, /* text of a label, with its probability x if that is a number */
        REPORT_RIGHT, /* the same, where it is right, and where it is wrong */
        REPORT_WRONG,
        REPORT_RAW,  /* JSON */
        REPORT_HTML, /* on a page, as it is; else nothing */
        REPORT_NONE, /* an empty cell */
};
struct report_node {
        enum report_kind kind;
        const char *name, *title;     /* the caller's: they outlive the report */
        uint64_t count;               /* a count, a bool, or bytes of a text */
        double x;                     /* a number */
        int decimals;                 /* of a number, for people */
        struct ran_interval interval; /* high 0: none */
        size_t at;                    /* of a text, in `text` */
        size_t note, note_n;          /* what people are told beside it, in `text` */
        size_t size;                  /* nodes of the subtree, with itself */
};
/* Zero-initialise. */
struct report {
        struct report_node *node; /* (n) each before its children */
        size_t n, cap, open;      /* open: the container that report_end ends, and 1; 0: none */
        struct ran_buf text;
};
void report_release(struct report *r);
void report_clear(struct report *r); /* keeps its memory for the next one */

void report_begin(struct report *r, enum report_kind kind, const char *name, const char *title);
void report_end(struct report *r);
/* A count or a bool; a number, with so many decimals for people; an empty cell. */
void report_add_count(struct report *r, enum report_kind kind, const char *name, const char *title,
                      uint64_t n);
void report_add_number(struct report *r, enum report_kind kind, const char *name, const char *title,
                       double x, int decimals);
#define report_count(r, name, title, n) report_add_count(r, REPORT_COUNT, name, title, n)
#define report_bool(r, name, title, x)  report_add_count(r, REPORT_BOOL, name, title, x)
#define report_number(r, name, title, x, decimals) \
        report_add_number(r, REPORT_NUMBER, name, title, x, decimals)
#define report_share(r, name, title, x) report_add_number(r, REPORT_SHARE, name, title, x, 4)
#define report_bar(r, name, title, x)   report_add_number(r, REPORT_BAR, name, title, x, 4)
#define report_score(r, name, title, x) report_add_number(r, REPORT_SCORE, name, title, x, 2)
#define report_none(r, title)           report_add_count(r, REPORT_NONE, NULL, title, 0)
/* n bytes; report_label: for people; report_string: to a NUL; report_put: formatted. kind:
 * REPORT_TEXT, _AMOUNT, _LACK, _RAW, _HTML.
 */
void report_bytes(struct report *r, enum report_kind kind, const char *name, const char *title,
                  const char *s, size_t n);
void report_label(struct report *r, enum report_kind kind, const char *title, const char *s,
                  size_t n, double p);
void report_string(struct report *r, const char *name, const char *title, const char *s);
void report_put(struct report *r, const char *name, const char *title, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* A buffer with HTML, which is released. */
void report_html(struct report *r, const char *title, struct ran_buf *html);
/* Of the node that was added last: an interval of 95 %; a sentence beside it, or below the heading
 * of a container that was begun. */
void report_interval(struct report *r, struct ran_interval interval);
void report_note(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append the report: one JSON object, or its members without braces; lines of text; the last list
 * of that name as rows of a table: the first member of each object, and those that are called as
 * the other columns; NULL at the end.
 */
void report_json(const struct report *r, struct ran_buf *out);
void report_members(const struct report *r, struct ran_buf *out);
void report_text(const struct report *r, struct ran_buf *out);
void report_rows(const struct report *r, const char *list, const char *const *columns,
                 const struct output_format *format, struct ran_buf *out);
/* Appends it as text, or as a line of JSON, and releases it. */
void report_finish(struct report *r, bool text, struct ran_buf *out);
/* Appends it as a part of a page. */
void report_page(const struct report *r, struct ran_buf *out);
/* Appends its values as cells of a row, which other cells precede; their titles as its heads. */
void report_page_cells(const struct report *r, struct ran_buf *out);
void report_page_heads(const struct report *r, struct ran_buf *out);

/* For renderers: the node after the i-th and its children; how people see it. */
size_t report_next(const struct report *r, size_t i);
enum report_form {
        REPORT_HIDDEN,
        REPORT_FACT, /* its name, its value, and what is told beside it */
        REPORT_LINES,
        REPORT_TABLE,
        REPORT_SECTION
};
enum report_form report_form(const struct report *r, size_t i);
/* The first row of a table that people see; the place behind the table: none. */
size_t report_first_row(const struct report *r, size_t list);
/* How a value is written for people: as text, with its interval and note if asked for. */
void report_value(const struct report *r, const struct report_node *node, struct ran_buf *out);

#endif
