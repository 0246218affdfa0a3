/* documents.c - the documents of a page, in memory that their number does not change. */
#include "cmd/pages/documents.h"

#include <stdlib.h>

#include "cmd/pages/page.h"

enum { LISTED = 50 };

struct page_entry {
        double doubt;
        size_t number;                  /* from 1, in the order of the input */
        size_t name_n, cells_n, body_n; /* of html, one after another */
        char *html;
};

void page_document_release(void *document)
{
        struct page_document *d = document;

        ran_buf_release(&d->name);
        report_release(&d->row);
        ran_buf_release(&d->body);
}

/* ---- which stay ------------------------------------------------------------------------------ */

/* The most doubtful come first. */
static int by_doubt(const void *a, const void *b)
{
        const struct page_entry *x = a, *y = b;

        if (x->doubt != y->doubt)
                return x->doubt > y->doubt ? -1 : 1;
        return (x->number > y->number) - (x->number < y->number);
}

/* Orders the documents by doubt, and drops the last ones until there are not too many. */
static void prune(struct page_documents *d)
{
        if (d->n > 0)
                qsort(d->entry, d->n, sizeof *d->entry, by_doubt);
        while (d->n > 1 && (d->bytes > PAGE_ROOM || (d->most > 0 && d->n > d->most))) {
                const struct page_entry *last = &d->entry[--d->n];

                d->bytes -= last->name_n + last->cells_n + last->body_n;
                free(last->html);
        }
        d->full = d->most > 0 && d->n == d->most;
}

void page_documents_add(struct page_documents *d, const struct page_document *p)
{
        struct page_entry e = {.doubt = p->doubt == p->doubt ? p->doubt : 1,
                               .number = ++d->seen,
                               .name_n = p->name.len};
        struct ran_buf html = {0};

        RAN_ROOM(d->entry, d->cap, d->n + 1);
        if (d->heads.len == 0)
                report_page_heads(&p->row, &d->heads);
        ran_buf_add(&html, p->name.data, p->name.len);
        report_page_cells(&p->row, &html);
        e.cells_n = html.len - e.name_n;
        ran_buf_add(&html, p->body.data, p->body.len);
        e.body_n = p->body.len;
        e.html = html.data;
        d->entry[d->n++] = e;
        d->bytes += html.len;
        if (d->bytes > 2 * (size_t)PAGE_ROOM || (d->most > 0 && d->n > 2 * d->most))
                prune(d);
}

bool page_documents_want(const struct page_documents *d, double doubt)
{
        return !d->full || doubt > d->entry[d->most - 1].doubt;
}

void page_documents_release(struct page_documents *d)
{
        for (size_t i = 0; i < d->n; i++)
                free(d->entry[i].html);
        free(d->entry);
        ran_buf_release(&d->heads);
        *d = (struct page_documents){0};
}

/* ---- output ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
        const struct page_entry *x = a, *y = b;

        return (x->number > y->number) - (x->number < y->number);
}

static void write_list(struct page_documents *d, const char *title, struct ran_buf *out)
{
        const size_t n = d->n < LISTED ? d->n : LISTED;

        page_put(out, "h2", "%s", title);
        if (n < d->seen)
                page_put(out, "p.note", "The first %zu.", n);
        page_open(out, "div.wide");
        ran_buf_str(out, "<table>\n<thead><tr><th class=\"n\">no.</th><th>document</th>");
        ran_buf_add(out, d->heads.data, d->heads.len);
        ran_buf_str(out, "</tr></thead>\n<tbody>\n");
        for (size_t i = 0; i < n; i++) {
                const struct page_entry *e = &d->entry[i];

                ran_buf_printf(out,
                               "<tr><td class=\"n\">%zu</td><th scope=\"row\"><a href=\"#d%zu\">",
                               e->number, e->number);
                ran_buf_add(out, e->html, e->name_n);
                ran_buf_str(out, "</a></th>");
                ran_buf_add(out, e->html + e->name_n, e->cells_n);
                ran_buf_str(out, "</tr>\n");
        }
        ran_buf_str(out, "</tbody></table>");
        page_close(out, "div");
}

/* "3 of 12" */
static void add_of(size_t n, size_t all, struct ran_buf *out)
{
        page_count(out, n);
        ran_buf_str(out, " of ");
        page_count(out, all);
}

static void add_left_out(const struct page_documents *d, struct ran_buf *out)
{
        if (d->n == d->seen || d->most > 0)
                return;
        page_open(out, "p.note");
        page_open(out, "strong");
        add_of(d->seen - d->n, d->seen, out);
        ran_buf_str(out, " documents are left out");
        page_close(out, "strong");
        ran_buf_str(out, ", to keep the page small: those with the least doubt. Tables and charts "
                         "count all of them.");
        page_close(out, "p");
}

static void write_articles(const struct page_documents *d, const char *title, bool ranked,
                           struct cmd_sink *sink)
{
        struct ran_buf *out = &sink->buf;

        page_put(out, "h2", "%s", title);
        add_left_out(d, out);
        for (size_t i = 0; i < d->n; i++) {
                const struct page_entry *e = &d->entry[i];
                const size_t number = ranked ? i + 1 : e->number;

                page_open_with(out, "article", "id=\"d%zu\"", number);
                page_open(out, "h3");
                page_put(out, "small", "%zu", number);
                ran_buf_char(out, ' ');
                ran_buf_add(out, e->html, e->name_n);
                page_close(out, "h3");
                ran_buf_add(out, e->html + e->name_n + e->cells_n, e->body_n);
                page_close(out, "article");
                cmd_sink_flush(sink);
        }
}

void page_documents_write(struct page_documents *d, const char *title, struct cmd_sink *out)
{
        prune(d);
        if (d->n > 1) {
                write_list(d, title, &out->buf);
                qsort(d->entry, d->n, sizeof *d->entry, by_number);
        }
        write_articles(d, "Documents", false, out);
}

void page_worst_write(struct page_documents *d, const char *title, size_t all, const char *called,
                      struct cmd_sink *out)
{
        prune(d);
        if (d->n == 0)
                return;
        write_articles(d, title, true, out);
        if (all <= d->n)
                return;
        page_open(&out->buf, "p.note");
        ran_buf_str(&out->buf, "These are ");
        add_of(d->n, all, &out->buf);
        ran_buf_printf(&out->buf, " %s.", called);
        page_close(&out->buf, "p");
}
