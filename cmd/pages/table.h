/* table.h - tables of a page: a program gives typed cells, and this writes the markup. */
#ifndef CMD_PAGES_TABLE_H
#define CMD_PAGES_TABLE_H

#include "ran.h"

/* A cell. Text comes from anywhere, except for HTML. */
struct page_cell {
        enum page_cell_kind {
                PAGE_END_OF_ROW,
                PAGE_NAME,     /* text; what the row is about */
                PAGE_LACK,     /* the same, where there is none: "no label" */
                PAGE_MARKED,   /* the same as HTML */
                PAGE_TEXT,     /* text */
                PAGE_NOTE,     /* text, small */
                PAGE_COUNT,    /* "1,234" */
                PAGE_FIGURE,   /* x with `decimals`, "-" if it is no number */
                PAGE_PERCENT,  /* x as per cent with `decimals` */
                PAGE_INTERVAL, /* x as per cent with its 95 % interval */
                PAGE_BAR,      /* of the share x */
                PAGE_MARKUP,   /* HTML */
                PAGE_AMOUNT,   /* HTML, aligned as a number */
                PAGE_HEAD,     /* text; the name of a column */
                PAGE_SHADED,   /* a count, "" for none, whose colour says the share x */
                PAGE_HIT,      /* the same, where it is right */
        } kind;
        const char *s; /* of n bytes */
        size_t n;
        struct ran_buf *html; /* released once it is in the table */
        double x;
        int decimals;
        struct ran_interval interval;
};
/* Cells are made with these; CELL_NAMED takes a length, the other texts end with a NUL. */
#define CELL_NAMED(text, length) ((struct page_cell){.kind = PAGE_NAME, .s = (text), .n = (length)})
#define CELL_NAME(text)          page_cell_text(PAGE_NAME, text)
#define CELL_LACK(text)          page_cell_text(PAGE_LACK, text)
#define CELL_MARKED(buffer)      ((struct page_cell){.kind = PAGE_MARKED, .html = (buffer)})
#define CELL_TEXT(text)          page_cell_text(PAGE_TEXT, text)
#define CELL_NOTE(text)          page_cell_text(PAGE_NOTE, text)
#define CELL_COUNT(count)        ((struct page_cell){.kind = PAGE_COUNT, .n = (count)})
#define CELL_FIGURE(value, digits) \
        ((struct page_cell){.kind = PAGE_FIGURE, .x = (value), .decimals = (digits)})
#define CELL_PERCENT(share, digits) \
        ((struct page_cell){.kind = PAGE_PERCENT, .x = (share), .decimals = (digits)})
#define CELL_INTERVAL(share, of) \
        ((struct page_cell){.kind = PAGE_INTERVAL, .x = (share), .interval = (of)})
#define CELL_BAR(share)     ((struct page_cell){.kind = PAGE_BAR, .x = (share)})
#define CELL_MARKUP(buffer) ((struct page_cell){.kind = PAGE_MARKUP, .html = (buffer)})
#define CELL_AMOUNT(buffer) ((struct page_cell){.kind = PAGE_AMOUNT, .html = (buffer)})
#define CELL_HEAD(text)     page_cell_text(PAGE_HEAD, text)
#define CELL_SHADED(count, share, right) \
        ((struct page_cell){.kind = (right) ? PAGE_HIT : PAGE_SHADED, .n = (count), .x = (share)})
/* Ends a row before its other cells. */
#define CELL_END ((struct page_cell){.kind = PAGE_END_OF_ROW})
struct page_cell page_cell_text(enum page_cell_kind kind, const char *text);

/* A table. */
struct page_table {
        struct ran_buf *out;
        enum page_place {
                PAGE_PLAIN,
                PAGE_WIDE,  /* it may be wider than the page: it scrolls */
                PAGE_INNER, /* it is the last thing in what is around it */
                PAGE_CELLS, /* wide, of shaded cells */
        } place;
        bool headed; /* it has a row of names */
};
/* Begins it. heads: "label|#share|"; NULL: it has none. */
struct page_table page_table_begin(struct ran_buf *out, enum page_place place, const char *heads);
void page_table_end(struct page_table *t);
/* Appends the cells without a row around them; PAGE_END_OF_ROW is last. */
void page_cells_add(struct ran_buf *out, const struct page_cell *cells);
/* Around the cells of a row; `style` is its class, or NULL. */
void page_row_open(struct page_table *t, const char *style);
void page_row_close(struct page_table *t);
/* Appends a row. */
void page_row_add(struct page_table *t, const char *style, const struct page_cell *cells);
#define page_cells(out, ...) page_cells_add(out, (const struct page_cell[]){__VA_ARGS__, CELL_END})
#define page_row(table, ...) \
        page_row_add(table, NULL, (const struct page_cell[]){__VA_ARGS__, CELL_END})
/* A row that stands out, as a sum does. */
#define page_row_all(table, ...) \
        page_row_add(table, "all", (const struct page_cell[]){__VA_ARGS__, CELL_END})

#endif
