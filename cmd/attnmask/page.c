/* page.c - the attention in a document as a page: its own words; what each looks at, and what looks
 * at it, by layer and head.
 *
 * The text is cut into windows (of a model without them: into blocks). A window is an element with
 * an <i> for each of its rows, the cell first where there is one; so a row has a number in the
 * whole document, and a place in its window. Weights of a window and a table of attention are a
 * string: rows separated by ;, in each the keys with the largest weights as "key.weight", the key
 * relative to the window's first row, the weight in thousandths.
 *
 * A long document has more weights than a page. What does not fit is left out in this order: single
 * heads, layers but the last, weights but the largest, windows that get the least attention. */
#include "cmd/attnmask/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attnmask/token-text.h"
#include "cmd/pages/element.h"
#include "cmd/pages/page.h"
#include "cmd/pages/style.h"

/* BLOCK: tokens of a block, without windows; STRIP: the most cells of the strip of windows;
 * KEYS, SOME_KEYS, FEW_KEYS: the most keys of a query, of a short, a longer, a long document; PAIR:
 * bytes of a key and its weight; LEVELS: shades of the text; PLAIN: bytes of a window that is shown
 * without its attention, in a long document. */
enum {
        BLOCK = 256,
        STRIP = 256,
        KEYS = 24,
        SOME_KEYS = 8,
        FEW_KEYS = 4,
        PAIR = 7,
        LEVELS = 9,
        PLAIN = 200
};
static const size_t page_room = 9000000, sum_room = (size_t)256 << 20;

/* A table of attention that the page shows. */
struct page_table {
        int table;
        size_t layer, head;
};

struct page {
        const struct attnmask_model *a;
        struct attnmask_scratch *s;
        struct token_text text;
        bool rows;              /* keys are rows: windows have cells */
        bool document;          /* the query is the document */
        size_t window, windows; /* tokens of a window, and their number */
        size_t first;           /* rows before the tokens of a window: 1 with a cell */
        struct page_table *table;
        size_t tables, keys;
        double *got;   /* (n_keys) attention that each row gets: last layer, mean of heads */
        double *state; /* (n states) that each state gets from the review; or NULL */
        double *value; /* (windows) of the strip */
        bool *shown;   /* (windows) with its attention */
        size_t shown_n;
        double *sum;      /* of the probes of one table */
        size_t per_block; /* windows of a cell of the strip */
        bool fewer_tables, fewer_keys;
};

static void release(struct page *p)
{
        token_text_release(&p->text);
        free(p->table);
        free(p->got);
        free(p->state);
        free(p->value);
        free(p->shown);
        free(p->sum);
}

/* ---- places ---------------------------------------------------------------------------------- */

static size_t begin_of(const struct page *p, size_t w)
{
        return w * p->window;
}

static size_t end_of(const struct page *p, size_t w)
{
        return w + 1 < p->windows ? (w + 1) * p->window : p->s->shape.L;
}

/* Rows of all windows but the last, which may have fewer, or somewhat more. */
static size_t stride(const struct page *p)
{
        return p->window + p->first;
}

static size_t rows_of(const struct page *p, size_t w)
{
        return end_of(p, w) - begin_of(p, w) + p->first;
}

static const struct ran_probe_table *table_of(const struct page *p, size_t t)
{
        return &p->s->shape.table[p->table[t].table];
}

/* ---- what fits ------------------------------------------------------------------------------- */

static int list_tables(struct page *p, struct ran_error *err)
{
        const struct attnmask_selection *c = &p->a->selection;
        size_t heads = p->s->shape.table[RAN_PROBE_HEADS].heads;

        p->table = ran_alloc((c->layer_to - c->layer_from) * (heads + 2), sizeof *p->table, err);
        if (p->table == NULL)
                return RAN_ENOMEM;
        for (size_t l = c->layer_to; l-- > c->layer_from;) {
                if (heads > 0 && (heads > 1 || c->head_from == RAN_PROBE_MEAN))
                        p->table[p->tables++] =
                                (struct page_table){RAN_PROBE_HEADS, l, RAN_PROBE_MEAN};
                if (c->review)
                        p->table[p->tables++] = (struct page_table){RAN_PROBE_REVIEW, l, 0};
                for (size_t h = c->head_from; h < c->head_to && h < heads; h++)
                        p->table[p->tables++] = (struct page_table){RAN_PROBE_HEADS, l, h};
        }
        return RAN_OK;
}

/* Keeps tables of means, of the last layer only if `last`. */
static void drop_tables(struct page *p, bool last)
{
        size_t kept = 0, layer = p->table[0].layer;

        for (size_t i = 0; i < p->tables; i++)
                if ((p->table[i].table == RAN_PROBE_REVIEW || p->table[i].head == RAN_PROBE_MEAN ||
                     p->s->shape.table[RAN_PROBE_HEADS].heads == 1) &&
                    (!last || p->table[i].layer == layer))
                        p->table[kept++] = p->table[i];
        p->fewer_tables = p->fewer_tables || kept < p->tables;
        p->tables = kept > 0 ? kept : 1;
}

static double bytes_of(const struct page *p)
{
        return (double)p->s->shape.L * (double)p->tables * (double)p->keys * PAIR;
}

/* Windows whose sums fit into memory, for one table after another. */
static size_t windows_in_memory(const struct page *p)
{
        double keys = (double)(p->rows ? stride(p) : p->s->shape.L);
        double each = (double)stride(p) * fmax(keys, STRIP) * sizeof(double);

        return (size_t)fmax(1, (double)sum_room / each);
}

static void fit(struct page *p)
{
        p->keys = KEYS;
        while (bytes_of(p) > (double)page_room && p->keys > SOME_KEYS)
                p->keys--;
        if (bytes_of(p) > (double)page_room)
                drop_tables(p, false);
        if (bytes_of(p) > (double)page_room)
                drop_tables(p, true);
        if (bytes_of(p) > (double)page_room) {
                p->keys = FEW_KEYS;
                p->fewer_keys = true;
        }
        double share = (double)page_room / bytes_of(p);
        size_t n = share < 1 ? (size_t)((double)p->windows * share) : p->windows;
        size_t memory = windows_in_memory(p);
        p->shown_n = n < memory ? n : memory;
        if (p->shown_n == 0)
                p->shown_n = 1;
}

/* ---- attention that rows get ----------------------------------------------------------------- */

static struct ran_probe whole(const struct page *p, struct page_table of)
{
        const struct ran_probe_table *t = &p->s->shape.table[of.table];

        return (struct ran_probe){.table = of.table,
                                  .layer = of.layer,
                                  .head = of.head,
                                  .query_to = t->n_queries,
                                  .key_to = t->n_keys,
                                  .down = t->n_queries,
                                  .across = 1};
}

static int probe(const struct page *p, struct ran_probe *probes, size_t n, struct ran_error *err)
{
        const struct cmd_reading *r = &p->s->reading;

        return ran_probe(p->a->model, p->s->state, &r->tokens, r->sources, probes, n, err);
}

static int read_overview(struct page *p, struct ran_error *err)
{
        const struct ran_probe_table *heads = &p->s->shape.table[RAN_PROBE_HEADS];
        const struct ran_probe_table *review = &p->s->shape.table[RAN_PROBE_REVIEW];
        size_t last = p->a->selection.layer_to - 1, n = 0;
        struct ran_probe k[2];

        p->got = ran_alloc(heads->n_keys, sizeof *p->got, err);
        p->value = ran_alloc(p->windows, sizeof *p->value, err);
        p->shown = ran_alloc(p->windows, sizeof *p->shown, err);
        if (p->got == NULL || p->value == NULL || p->shown == NULL)
                return RAN_ENOMEM;
        k[n] = whole(p, (struct page_table){RAN_PROBE_HEADS, last, RAN_PROBE_MEAN});
        k[n++].sum = p->got;
        if (review->heads > 0) {
                p->state = ran_alloc(review->n_keys, sizeof *p->state, err);
                if (p->state == NULL)
                        return RAN_ENOMEM;
                k[n] = whole(p, (struct page_table){RAN_PROBE_REVIEW, last, 0});
                k[n++].sum = p->state;
        }
        RAN_TRY(probe(p, k, n, err));
        for (size_t w = 0; w < p->windows; w++) {
                size_t row = w * stride(p);

                if (p->state != NULL)
                        p->value[w] = p->state[w + 1];
                else if (p->rows)
                        p->value[w] = p->got[row];
                for (size_t i = 0; p->state == NULL && !p->rows && i < rows_of(p, w); i++)
                        p->value[w] += p->got[row + i] / (double)rows_of(p, w);
        }
        return RAN_OK;
}

/* Chooses the windows that get the most attention. */
static void choose_windows(struct page *p)
{
        const struct attnmask_selection *c = &p->a->selection;

        for (size_t k = 0; k < p->shown_n; k++) {
                size_t best = SIZE_MAX;

                for (size_t w = 0; w < p->windows; w++)
                        if (!p->shown[w] && (best == SIZE_MAX || p->value[w] > p->value[best]))
                                best = w;
                if (k == 0 && c->by == ATTNMASK_WINDOW && c->from < p->windows)
                        best = c->from;
                p->shown[best] = true;
                if (p->shown_n == p->windows) {
                        memset(p->shown, 1, p->windows * sizeof *p->shown);
                        return;
                }
        }
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The probes of one table for all windows shown; keys of the review in cells of the strip. */
static int read_table(struct page *p, size_t t, struct ran_probe *k, struct ran_error *err)
{
        const struct ran_probe_table *of = table_of(p, t);
        const bool review = p->table[t].table == RAN_PROBE_REVIEW;
        size_t n = 0, all = 0;

        for (size_t w = 0; w < p->windows; w++) {
                if (!p->shown[w])
                        continue;
                size_t from = review ? begin_of(p, w) : w * stride(p);

                k[n] = whole(p, p->table[t]);
                k[n].down = 1;
                k[n].query_from = from;
                k[n].query_to = from + (review ? end_of(p, w) - begin_of(p, w) : rows_of(p, w));
                if (review)
                        k[n].across = p->per_block;
                if (review)
                        k[n].key_from = 1; /* state 0 is before all windows */
                if (!review && p->rows) {
                        k[n].key_from = from;
                        k[n].key_to = k[n].query_to;
                }
                if (k[n].key_to > of->n_keys || k[n].key_from >= k[n].key_to)
                        return ran_fail(err, RAN_EINVAL, "a window is outside of the document");
                all += ran_probe_height(&k[n]) * ran_probe_width(&k[n]);
                n++;
        }
        free(p->sum);
        p->sum = ran_alloc(all, sizeof *p->sum, err);
        if (p->sum == NULL)
                return RAN_ENOMEM;
        all = 0;
        for (size_t i = 0; i < n; i++) {
                k[i].sum = p->sum + all;
                all += ran_probe_height(&k[i]) * ran_probe_width(&k[i]);
        }
        return probe(p, k, n, err);
}

/* The largest weights of a row, in the order of their keys. */
static void add_row(const struct page *p, const struct ran_probe *k, const double *weight,
                    struct ran_buf *out)
{
        size_t width = ran_probe_width(k), at[KEYS] = {0}, n = 0;
        bool review = k->table == RAN_PROBE_REVIEW;

        for (size_t j = 0; j < width; j++) {
                size_t i;

                if (!(weight[j] >= 0.0015) || (n == p->keys && weight[j] <= weight[at[n - 1]]))
                        continue;
                n += n < p->keys;
                for (i = n - 1; i > 0 && weight[at[i - 1]] < weight[j]; i--)
                        at[i] = at[i - 1];
                at[i] = j;
        }
        for (size_t i = 0; i < n; i++) {
                long key = (long)(k->key_from + at[i]) - (long)k->query_from;

                ran_buf_printf(out, "%s%ld.%d", i > 0 ? "," : "", review ? (long)at[i] : key,
                               (int)lrint(1000 * weight[at[i]]));
        }
}

/* data-tN="..." of each window shown, for table N. */
static int add_weights(struct page *p, size_t t, struct ran_probe *k, struct ran_buf *windows,
                       struct ran_error *err)
{
        size_t n = 0;

        RAN_TRY(read_table(p, t, k, err));
        for (size_t w = 0; w < p->windows; w++) {
                struct ran_buf *out = &windows[w];

                if (!p->shown[w])
                        continue;
                size_t height = ran_probe_height(&k[n]), width = ran_probe_width(&k[n]);
                ran_buf_printf(out, " data-t%zu=\"", t);
                if (k[n].table == RAN_PROBE_REVIEW && p->first > 0)
                        ran_buf_char(out, ';'); /* the cell's */
                for (size_t y = 0; y < height; y++) {
                        ran_buf_str(out, y > 0 ? ";" : "");
                        add_row(p, &k[n], k[n].sum + y * width, out);
                }
                ran_buf_char(out, '"');
                n++;
        }
        return RAN_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void add_table_name(const struct page *p, size_t t, struct ran_buf *out)
{
        const struct page_table *k = &p->table[t];

        ran_buf_printf(out, "%s %zu, ", p->document ? "step" : "layer", k->layer);
        if (k->table == RAN_PROBE_REVIEW)
                ran_buf_str(out, "memory review: cells of windows");
        else if (k->head == RAN_PROBE_MEAN)
                ran_buf_printf(out, "mean of %zu heads", p->s->shape.table[RAN_PROBE_HEADS].heads);
        else
                ran_buf_printf(out, "head %zu", k->head);
}

/* The script makes a menu of this list. */
static void write_tables(const struct page *p, struct ran_buf *out)
{
        page_open_with(out, HTML_DETAILS, "id=\"tables\"");
        page_put(out, HTML_SUMMARY, "layers and heads of this page");
        page_open(out, HTML_LIST);
        ran_buf_char(out, '\n');
        for (size_t t = 0; t < p->tables; t++) {
                page_open_with(out, HTML_ITEM, "data-table=\"%zu\" data-review=\"%d\"", t,
                               p->table[t].table == RAN_PROBE_REVIEW);
                add_table_name(p, t, out);
                page_close(out, HTML_ITEM);
        }
        page_close(out, HTML_LIST);
        page_close(out, HTML_DETAILS);
}

/* From 0, the least of them, to LEVELS, the most. */
static int level_of(double x, double least, double most)
{
        return most > least ? (int)lrint(LEVELS * (x - least) / (most - least)) : 0;
}

static double block_value(const struct page *p, size_t block)
{
        double sum = 0;

        for (size_t w = block * p->per_block; w < (block + 1) * p->per_block && w < p->windows; w++)
                sum += p->value[w];
        return sum;
}

static void write_strip(const struct page *p, struct ran_buf *out)
{
        size_t blocks = (p->windows - 1) / p->per_block + 1;
        double most = 0, least = INFINITY, all = 0;

        if (p->windows == 1)
                return;
        page_put(out, HTML_HEADING, "%s", p->rows ? "Cells of all windows" : "Blocks of the text");
        page_open(out, HTML_NOTE);
        ran_buf_str(
                out,
                p->state != NULL
                        ? "The stronger the colour, the more attention the cell gets in the "
                          "memory review of the last layer."
                : p->rows
                        ? "The stronger the colour, the more attention the cell gets in its "
                          "window, in "
                          "the last layer."
                        : "The stronger the colour, the more attention its tokens get, in the last "
                          "layer.");
        if (p->per_block > 1)
                ran_buf_printf(out, " A cell here stands for %zu windows.", p->per_block);
        page_close(out, HTML_NOTE);
        page_open_with(out, HTML_STRIP, "id=\"strip\"");
        for (size_t b = 0; b < blocks; b++) {
                most = fmax(most, block_value(p, b));
                least = fmin(least, block_value(p, b));
                all += block_value(p, b);
        }
        for (size_t b = 0; b < blocks; b++) {
                const size_t w = b * p->per_block;
                const double value = block_value(p, b);

                page_open_with(out, HTML_LINK,
                               "href=\"#w%zu\" class=\"a%d\" title=\"window %zu: %.2f %%\"", w,
                               level_of(value, least, most), w, all > 0 ? 100 * value / all : 0);
                ran_buf_printf(out, "%zu", w);
                page_close(out, HTML_LINK);
        }
        page_close(out, HTML_STRIP);
}

/* A window without its attention. */
static void write_plain(struct page *p, size_t w, struct cmd_sink *out)
{
        bool brief = p->s->shape.L > (size_t)400000;
        struct token_part part;
        size_t bytes = 0;

        for (size_t t = begin_of(p, w); t < end_of(p, w); t++) {
                token_text_next(&p->text, t, &part);
                bytes += part.gap_n + part.n;
                if (brief && bytes > PLAIN)
                        continue;
                page_text(&out->buf, part.gap, part.gap_n);
                page_text(&out->buf, part.text, part.n);
        }
        ran_buf_str(&out->buf, brief && bytes > PLAIN ? " \xe2\x80\xa6" : "");
}

static void add_level(struct ran_buf *out, int level)
{
        if (level > 0)
                page_open_with(out, HTML_SHADE, "class=\"a%d\"", level);
        else
                page_open(out, HTML_SHADE);
}

static void write_shown(struct page *p, size_t w, struct cmd_sink *out)
{
        const double *got = p->got + w * stride(p);
        struct token_part part;
        double most = 0, least = INFINITY;

        for (size_t i = p->first; i < rows_of(p, w); i++) {
                most = fmax(most, got[i]);
                least = fmin(least, got[i]);
        }
        if (p->first > 0) {
                page_open_with(&out->buf, HTML_SHADE, "class=\"cell\"");
                ran_buf_str(&out->buf, "\xe2\x97\x86");
                page_close(&out->buf, HTML_SHADE);
                ran_buf_char(&out->buf, ' ');
        }
        for (size_t t = begin_of(p, w), i = p->first; t < end_of(p, w); t++, i++) {
                token_text_next(&p->text, t, &part);
                page_text(&out->buf, part.gap, part.gap_n);
                add_level(&out->buf, level_of(got[i], least, most));
                page_text(&out->buf, part.text, part.n);
                page_close(&out->buf, HTML_SHADE);
                cmd_sink_flush(out);
        }
}

static void write_windows(struct page *p, const struct ran_buf *weights, struct cmd_sink *out)
{
        struct token_part rest;

        page_put(&out->buf, HTML_HEADING, "Text");
        page_open_with(&out->buf, HTML_BOX,
                       "id=\"text\" data-stride=\"%zu\" data-cells=\"%zu\" data-block=\"%zu\"",
                       stride(p), p->first, p->per_block);
        for (size_t w = 0; w < p->windows; w++) {
                page_open_with(&out->buf, HTML_WINDOW, "id=\"w%zu\"%.*s", w, (int)weights[w].len,
                               weights[w].len > 0 ? weights[w].data : "");
                if (p->windows > 1) {
                        page_put(&out->buf, HTML_SMALL, "%zu", w);
                        ran_buf_char(&out->buf, ' ');
                }
                page_open(&out->buf, HTML_PART);
                if (p->shown[w])
                        write_shown(p, w, out);
                else
                        write_plain(p, w, out);
                page_close(&out->buf, HTML_PART);
                page_close(&out->buf, HTML_WINDOW);
                cmd_sink_flush(out);
        }
        token_text_rest(&p->text, &rest);
        if (rest.gap_n > 0 && p->s->reading.document != NULL &&
            p->s->reading.document->from == CMD_FROM_TEXT) {
                page_open(&out->buf, HTML_WINDOW);
                page_open(&out->buf, HTML_PART);
                page_excerpt(&out->buf, rest.gap, rest.gap_n, 1000);
                page_close(&out->buf, HTML_PART);
                page_close(&out->buf, HTML_WINDOW);
        }
        page_close(&out->buf, HTML_BOX);
}

static void write_notes(const struct page *p, struct ran_buf *out)
{
        page_put(out, HTML_NOTE,
                 "The stronger the colour of a word, the more attention it gets in the last layer, "
                 "in the mean of all heads and words.%s",
                 p->rows ? " \xe2\x97\x86 is the cell of a window." : "");
        page_open_with(out, HTML_NOTE, "id=\"hint\"");
        ran_buf_str(out,
                    "Point at a word, or tap it, to see what it looks at and what looks at it.");
        page_close(out, HTML_NOTE);
        page_open(out, HTML_NOTE);
        ran_buf_printf(out, "Of each word, the page has the %zu largest weights above 0.1 %%.",
                       p->keys);
        if (p->fewer_tables)
                page_put(
                        out, HTML_STRONG,
                        " To keep the page small, single heads or layers are left out: select some "
                        "with --layer and --head.");
        if (p->shown_n < p->windows)
                page_put(out, HTML_STRONG,
                         " %zu of %zu windows are shown with their attention: those that get the "
                         "most; the others are plain text%s. %s",
                         p->shown_n, p->windows,
                         p->s->shape.L > 400000 ? ", of which only the begin is shown" : "",
                         p->rows ? "--in-window N selects one." : "");
        page_close(out, HTML_NOTE);
}

/* ---- the page -------------------------------------------------------------------------------- */

static int write_page(struct page *p, const struct cmd_line *line, struct ran_probe *k,
                      struct ran_buf *weights, struct cmd_sink *out, struct ran_error *err)
{
        bool failed = false;

        for (size_t t = 0; t < p->tables; t++)
                if (!p->document)
                        RAN_TRY(add_weights(p, t, k, weights, err));
        attnmask_page_begin(p->a, p->s, line, "Attention", &out->buf);
        write_strip(p, &out->buf);
        write_notes(p, &out->buf);
        if (!p->document)
                write_tables(p, &out->buf);
        for (size_t w = 0; w < p->windows; w++)
                failed = failed || weights[w].failed;
        if (failed)
                return ran_fail(err, RAN_ENOMEM, "no memory for a page");
        write_windows(p, weights, out);
        page_end(&out->buf, p->document ? NULL : page_attention_script);
        return RAN_OK;
}

static int make_page(struct page *p, const struct cmd_line *line, struct cmd_sink *out,
                     struct ran_error *err)
{
        const struct ran_probe_shape *shape = &p->s->shape;
        const struct ran_probe_table *heads = &shape->table[RAN_PROBE_HEADS];

        p->rows = heads->keys == RAN_AXIS_ROWS;
        p->document = heads->queries == RAN_AXIS_DOCUMENT;
        p->window = p->rows ? shape->window : BLOCK;
        p->windows = p->rows ? shape->windows : (shape->L - 1) / p->window + 1;
        p->first = p->rows ? 1 : 0;
        p->per_block = (p->windows - 1) / STRIP + 1;
        RAN_TRY(list_tables(p, err));
        RAN_TRY(token_text_begin(&p->text, &p->s->reading, p->a->model, &line->record, err));
        fit(p);
        RAN_TRY(read_overview(p, err));
        choose_windows(p);
        struct ran_buf *weights = ran_alloc(p->windows, sizeof *weights, err);
        struct ran_probe *k = ran_alloc(p->shown_n, sizeof *k, err);
        int rc = weights != NULL && k != NULL ? write_page(p, line, k, weights, out, err)
                                              : RAN_ENOMEM;
        for (size_t w = 0; weights != NULL && w < p->windows; w++)
                ran_buf_release(&weights[w]);
        free(weights);
        free(k);
        return rc;
}

int attnmask_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                  const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct page p = {.a = a, .s = s};
        int rc = make_page(&p, line, out, err);

        release(&p);
        return rc;
}
