/* documents.c - the documents of a page, in memory that their number does not change. */
#include "cmd/pages/documents.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/message.h"
#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/table.h"

enum { LISTED = 50 };

struct page_entry {
        double doubt;
        size_t number;                  /* from 1, in the order of the input */
        size_t name_n, cells_n, body_n; /* of html, one after another */
        char *html;
};

static size_t size_of(const struct page_entry *e)
{
        return e->name_n + e->cells_n + e->body_n;
}

void page_document_release(void *document)
{
        struct page_document *d = document;

        ran_buf_release(&d->name);
        ran_buf_release(&d->cells);
        ran_buf_release(&d->body);
}

/* ---- the heap -------------------------------------------------------------------------------- */

/* Whether x leaves before y. */
static bool is_less(const struct page_entry *x, const struct page_entry *y)
{
        return x->doubt != y->doubt ? x->doubt < y->doubt : x->number > y->number;
}

static void sift_up(struct page_entry *e, size_t i)
{
        for (; i > 0 && is_less(&e[i], &e[(i - 1) / 2]); i = (i - 1) / 2) {
                struct page_entry swap = e[i];

                e[i] = e[(i - 1) / 2];
                e[(i - 1) / 2] = swap;
        }
}

static void sift_down(struct page_entry *e, size_t n)
{
        for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
                if (child + 1 < n && is_less(&e[child + 1], &e[child]))
                        child++;
                if (!is_less(&e[child], &e[i]))
                        return;
                struct page_entry swap = e[i];
                e[i] = e[child];
                e[child] = swap;
        }
}

static void drop_first(struct page_documents *d)
{
        d->bytes -= size_of(&d->entry[0]);
        free(d->entry[0].html);
        d->entry[0] = d->entry[--d->n];
        sift_down(d->entry, d->n);
}

static char *put(char *to, const struct ran_buf *from)
{
        if (from->len > 0)
                memcpy(to, from->data, from->len);
        return to + from->len;
}

int page_documents_add(struct page_documents *d, const struct page_document *p,
                       struct ran_error *err)
{
        struct page_entry *grown = ran_grow(d->entry, &d->cap, d->n + 1, sizeof *grown, err);
        struct page_entry e = {.doubt = p->doubt == p->doubt ? p->doubt : 1,
                               .number = ++d->seen,
                               .name_n = p->name.len,
                               .cells_n = p->cells.len,
                               .body_n = p->body.len};

        if (grown == NULL)
                return RAN_ENOMEM;
        if (p->name.failed || p->cells.failed || p->body.failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for a page");
        d->entry = grown;
        e.html = ran_alloc(size_of(&e) + 1, 1, err);
        if (e.html == NULL)
                return RAN_ENOMEM;
        put(put(put(e.html, &p->name), &p->cells), &p->body);
        d->entry[d->n] = e;
        sift_up(d->entry, d->n++);
        d->bytes += size_of(&e);
        while (d->n > 1 && (d->bytes > PAGE_ROOM || (d->most > 0 && d->n > d->most)))
                drop_first(d);
        return RAN_OK;
}

bool page_documents_want(const struct page_documents *d, double doubt)
{
        return d->most == 0 || d->n < d->most || doubt > d->entry[0].doubt;
}

void page_documents_release(struct page_documents *d)
{
        for (size_t i = 0; i < d->n; i++)
                free(d->entry[i].html);
        free(d->entry);
        *d = (struct page_documents){0};
}

/* ---- output ---------------------------------------------------------------------------------- */

static int by_doubt(const void *a, const void *b)
{
        return is_less(a, b) ? 1 : -1;
}

static int by_number(const void *a, const void *b)
{
        const struct page_entry *x = a, *y = b;

        return (x->number > y->number) - (x->number < y->number);
}

static void add_row(struct page_table *t, const struct page_entry *e)
{
        struct ran_buf name = {0};

        page_open_with(&name, HTML_LINK, "href=\"#d%zu\"", e->number);
        ran_buf_add(&name, e->html, e->name_n);
        page_close(&name, HTML_LINK);
        page_row_open(t, NULL);
        page_cells(t->out, CELL_FIGURE((double)e->number, 0), CELL_MARKED(&name));
        ran_buf_add(t->out, e->html + e->name_n, e->cells_n);
        page_row_close(t);
}

static void write_list(struct page_documents *d, const char *title, const char *heads,
                       struct ran_buf *out)
{
        size_t n = d->n < LISTED ? d->n : LISTED;
        struct ran_buf all_heads = {0};

        qsort(d->entry, d->n, sizeof *d->entry, by_doubt);
        page_open_with(out, HTML_HEADING, "id=\"doubt\"");
        page_string(out, title);
        page_close(out, HTML_HEADING);
        if (n < d->seen)
                page_put(out, HTML_NOTE, "The first %zu.", n);
        ran_buf_printf(&all_heads, "#no.|document|%s", heads);
        ran_buf_char(&all_heads, '\0');
        struct page_table t =
                page_table_begin(out, PAGE_WIDE, all_heads.failed ? "" : all_heads.data);
        for (size_t i = 0; i < n; i++)
                add_row(&t, &d->entry[i]);
        page_table_end(&t);
        ran_buf_release(&all_heads);
}

static void write_article(const struct page_entry *e, size_t number, struct ran_buf *out)
{
        page_open_with(out, HTML_ARTICLE, "id=\"d%zu\" data-doubt=\"%.6f\" data-number=\"%zu\"",
                       number, e->doubt, number);
        page_open(out, HTML_SUBHEADING);
        page_put(out, HTML_SMALL, "%zu", number);
        ran_buf_char(out, ' ');
        ran_buf_add(out, e->html, e->name_n);
        page_close(out, HTML_SUBHEADING);
        ran_buf_add(out, e->html + e->name_n + e->cells_n, e->body_n);
        page_close(out, HTML_ARTICLE);
}

static void add_left_out(const struct page_documents *d, struct ran_buf *out)
{
        if (d->n == d->seen || d->most > 0)
                return;
        page_open(out, HTML_NOTE);
        page_open(out, HTML_STRONG);
        page_count(out, d->seen - d->n);
        ran_buf_str(out, " of ");
        page_count(out, d->seen);
        ran_buf_str(out, " documents are left out");
        page_close(out, HTML_STRONG);
        ran_buf_str(out, ", to keep the page small: those with the least doubt. Tables and charts "
                         "count all of them.");
        page_close(out, HTML_NOTE);
}

static void write_articles(const struct page_documents *d, const char *title, bool ranked,
                           struct cmd_sink *out)
{
        page_open_with(&out->buf, HTML_HEADING, "id=\"documents\"");
        page_string(&out->buf, title);
        page_close(&out->buf, HTML_HEADING);
        add_left_out(d, &out->buf);
        page_open_with(&out->buf, HTML_BOX, "id=\"list\"%s", ranked ? " class=\"ranked\"" : "");
        for (size_t i = 0; i < d->n; i++) {
                write_article(&d->entry[i], ranked ? i + 1 : d->entry[i].number, &out->buf);
                cmd_sink_flush(out);
        }
        page_close(&out->buf, HTML_BOX);
}

void page_documents_write(struct page_documents *d, const char *title, const char *heads,
                          struct cmd_sink *out)
{
        if (d->n > 1) {
                write_list(d, title, heads, &out->buf);
                qsort(d->entry, d->n, sizeof *d->entry, by_number);
        }
        write_articles(d, "Documents", false, out);
}

void page_worst_write(struct page_documents *d, const char *title, size_t all, const char *called,
                      struct cmd_sink *out)
{
        if (d->n == 0)
                return;
        qsort(d->entry, d->n, sizeof *d->entry, by_doubt);
        write_articles(d, title, true, out);
        if (all <= d->n)
                return;
        page_open(&out->buf, HTML_NOTE);
        ran_buf_str(&out->buf, "These are ");
        page_count(&out->buf, d->n);
        ran_buf_str(&out->buf, " of ");
        page_count(&out->buf, all);
        ran_buf_printf(&out->buf, " %s.", called);
        page_close(&out->buf, HTML_NOTE);
}
