/* page.c - the attention in a document as a page: its own words; how much attention each gets, and
 * what it looks at.
 *
 * The text is cut into windows (of a model without them: into blocks), each of which has rows: its
 * tokens, the cell first where there is one. A long document has more weights than a page: then
 * words have fewer, and windows that get little attention have none. */
#include "cmd/attnmask/attnmask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/pages/page.h"

/* BLOCK: tokens of a block, without windows; STRIP: the most cells of the strip of windows; KEYS,
 * FEW_KEYS: the most keys of a query, and what is left of them in a long document; PAIR: bytes of a
 * key and its weight; WORD: bytes of its word, if that is longer; LEVELS: shades of the text;
 * PLAIN: bytes of a window that is shown without its attention, in a document of more than LONG
 * tokens. */
enum { BLOCK = 256, STRIP = 256, KEYS = 8, FEW_KEYS = 2, PAIR = 24, WORD = 32, LEVELS = 9 };
enum { PLAIN = 200, LONG = 400000 };
static const size_t page_room = 9000000, sum_room = (size_t)256 << 20;

struct page {
        const struct attnmask_model *a;
        struct attnmask_scratch *s;
        struct token_text text;
        bool rows;              /* keys are rows: windows have cells */
        bool document;          /* the query is the document */
        size_t layer, head;     /* shown; RAN_PROBE_MEAN */
        size_t window, windows; /* tokens of a window, and their number */
        size_t first;           /* rows before the tokens of a window: 1 with a cell */
        size_t keys;
        double *got;   /* (n_keys) attention that each row gets */
        double *state; /* (n states) that each state gets from the review; or NULL */
        double *value; /* (windows) of the strip */
        bool *shown;   /* (windows) with its attention */
        size_t shown_n;
        struct ran_probe *probe; /* (shown_n) the weights of the windows shown, in order */
        double *sum;             /* of these */
        size_t per_block;        /* windows of a cell of the strip */
};

/* ---- places ---------------------------------------------------------------------------------- */

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
        return end_of(p, w) - w * p->window + p->first;
}

/* ---- what fits ------------------------------------------------------------------------------- */

static void choose_sizes(struct page *p)
{
        const double pairs = (double)page_room / (double)p->s->shape.L / PAIR;
        const double keys = (double)(p->rows ? stride(p) : p->s->shape.L);
        const double in_memory = (double)sum_room / ((double)stride(p) * keys * sizeof(double));
        size_t n = p->windows;

        p->keys = pairs >= KEYS ? KEYS : pairs > FEW_KEYS ? (size_t)pairs : FEW_KEYS;
        if (pairs < FEW_KEYS)
                n = (size_t)((double)n * pairs / FEW_KEYS);
        if ((double)n > in_memory)
                n = (size_t)in_memory;
        p->shown_n = n > 0 ? n : 1;
}

/* ---- attention that rows get ----------------------------------------------------------------- */

static struct ran_probe probe_of(const struct page *p, int table, size_t head)
{
        const struct ran_probe_table *t = &p->s->shape.table[table];

        return (struct ran_probe){.table = table,
                                  .layer = p->layer,
                                  .head = head,
                                  .query_to = t->n_queries,
                                  .key_to = t->n_keys,
                                  .down = t->n_queries,
                                  .across = 1};
}

static int read_overview(struct page *p, struct ran_error *err)
{
        const struct ran_probe_table *heads = &p->s->shape.table[RAN_PROBE_HEADS];
        const struct ran_probe_table *review = &p->s->shape.table[RAN_PROBE_REVIEW];
        size_t n = 0;
        struct ran_probe k[2];

        p->got = ran_new(heads->n_keys, sizeof *p->got);
        p->value = ran_new(p->windows, sizeof *p->value);
        p->shown = ran_new(p->windows, sizeof *p->shown);
        k[n] = probe_of(p, RAN_PROBE_HEADS, p->head);
        k[n++].sum = p->got;
        if (review->heads > 0) {
                p->state = ran_new(review->n_keys, sizeof *p->state);
                k[n] = probe_of(p, RAN_PROBE_REVIEW, 0);
                k[n++].sum = p->state;
        }
        RAN_TRY(attnmask_probe(p->a, p->s, k, n, err));
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

/* The weights of all windows shown. */
static int read_weights(struct page *p, struct ran_error *err)
{
        size_t n = 0, all = 0;

        p->probe = ran_new(p->shown_n, sizeof *p->probe);
        for (size_t w = 0; w < p->windows && n < p->shown_n; w++) {
                struct ran_probe *k = &p->probe[n];

                if (!p->shown[w])
                        continue;
                *k = probe_of(p, RAN_PROBE_HEADS, p->head);
                k->down = 1;
                k->query_from = w * stride(p);
                k->query_to = k->query_from + rows_of(p, w);
                if (p->rows) {
                        k->key_from = k->query_from;
                        k->key_to = k->query_to;
                }
                if (k->key_to > p->s->shape.table[RAN_PROBE_HEADS].n_keys ||
                    k->key_from >= k->key_to)
                        return ran_fail(err, RAN_EINVAL, "a window is outside of the document");
                all += ran_probe_height(k) * ran_probe_width(k);
                n++;
        }
        p->sum = ran_new(all, sizeof *p->sum);
        for (size_t i = 0, at = 0; i < n; i++) {
                p->probe[i].sum = p->sum + at;
                at += ran_probe_height(&p->probe[i]) * ran_probe_width(&p->probe[i]);
        }
        return attnmask_probe(p->a, p->s, p->probe, n, err);
}

static void add_key(const struct page *p, size_t row, struct ran_buf *out)
{
        const size_t last = p->windows - 1, of = row / stride(p), w = of < last ? of : last;
        const size_t at = row - w * stride(p);
        struct token_text text = p->text;
        struct token_part part;

        if (at < p->first) {
                ran_buf_str(out, "the cell");
                return;
        }
        text.at = 0;
        token_text_next(&text, w * p->window + at - p->first, &part);
        ran_buf_str(out, "\xe2\x80\x9c");
        page_excerpt(out, part.text, part.n, WORD);
        ran_buf_str(out, "\xe2\x80\x9d");
}

/* What a row looks at: the keys with the largest weights. */
static void add_looks(const struct page *p, const struct ran_probe *k, size_t row,
                      struct ran_buf *out)
{
        const size_t width = ran_probe_width(k);
        const size_t n = attnmask_rank(p->s, k->sum + row * width, width, 0.0015);

        ran_buf_str(out, n > 0 ? "looks at " : "");
        for (size_t i = 0; i < n && i < p->keys; i++) {
                ran_buf_str(out, i > 0 ? ", " : "");
                add_key(p, k->key_from + p->s->ranked[i].at, out);
                ran_buf_printf(out, " %.1f %%", 100 * p->s->ranked[i].value);
        }
}

/* ---- output ---------------------------------------------------------------------------------- */

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
        page_put(out, "h2", "%s", p->rows ? "Cells of all windows" : "Blocks of the text");
        page_open(out, "p.note");
        ran_buf_str(out,
                    p->state != NULL
                            ? "The stronger the colour, the more attention the cell gets in the "
                              "memory review of the layer."
                    : p->rows ? "The stronger the colour, the more attention the cell gets in its "
                                "window."
                              : "The stronger the colour, the more attention its tokens get.");
        if (p->per_block > 1)
                ran_buf_printf(out, " A cell here stands for %zu windows.", p->per_block);
        page_close(out, "p");
        page_open(out, "div.strip");
        for (size_t b = 0; b < blocks; b++) {
                most = fmax(most, block_value(p, b));
                least = fmin(least, block_value(p, b));
                all += block_value(p, b);
        }
        for (size_t b = 0; b < blocks; b++) {
                const size_t w = b * p->per_block;
                const double value = block_value(p, b);

                page_open_with(out, "a",
                               "href=\"#w%zu\" class=\"a%d\" title=\"window %zu: %.2f %%\"", w,
                               level_of(value, least, most), w, all > 0 ? 100 * value / all : 0);
                ran_buf_printf(out, "%zu", w);
                page_close(out, "a");
        }
        page_close(out, "div");
}

/* A window without its attention. */
static void write_plain(struct page *p, size_t w, struct cmd_sink *out)
{
        bool brief = p->s->shape.L > LONG;
        struct token_part part;
        size_t bytes = 0;

        for (size_t t = w * p->window; t < end_of(p, w); t++) {
                token_text_next(&p->text, t, &part);
                bytes += part.gap_n + part.n;
                if (brief && bytes > PLAIN)
                        continue;
                page_text(&out->buf, part.gap, part.gap_n);
                page_text(&out->buf, part.text, part.n);
        }
        ran_buf_str(&out->buf, brief && bytes > PLAIN ? " \xe2\x80\xa6" : "");
}

static void write_row(const struct page *p, const struct ran_probe *k, size_t row, int level,
                      const struct token_part *part, struct ran_buf *out)
{
        struct ran_buf title = {0};

        if (k != NULL) {
                ran_buf_str(&title, " title=\"");
                add_looks(p, k, row, &title);
                ran_buf_char(&title, '"');
        }
        ran_buf_char(&title, '\0');
        page_open_with(out, "i", "class=\"a%d%s\"%s", level, row < p->first ? " cell" : "",
                       title.data);
        page_text(out, part->text, part->n);
        page_close(out, "i");
        ran_buf_release(&title);
}

static void write_shown(struct page *p, size_t w, const struct ran_probe *k, struct cmd_sink *out)
{
        const struct token_part cell = {.text = "\xe2\x97\x86", .n = 3};
        const double *got = p->got + w * stride(p);
        struct token_part part;
        double most = 0, least = INFINITY;

        for (size_t i = p->first; i < rows_of(p, w); i++) {
                most = fmax(most, got[i]);
                least = fmin(least, got[i]);
        }
        if (p->first > 0) {
                write_row(p, k, 0, 0, &cell, &out->buf);
                ran_buf_char(&out->buf, ' ');
        }
        for (size_t t = w * p->window, i = p->first; t < end_of(p, w); t++, i++) {
                token_text_next(&p->text, t, &part);
                page_text(&out->buf, part.gap, part.gap_n);
                write_row(p, k, i, level_of(got[i], least, most), &part, &out->buf);
                cmd_sink_flush(out);
        }
}

static void write_windows(struct page *p, struct cmd_sink *out)
{
        struct token_part rest;
        size_t n = 0;

        page_put(&out->buf, "h2", "Text");
        for (size_t w = 0; w < p->windows; w++) {
                page_open_with(&out->buf, "div.win", "id=\"w%zu\"", w);
                if (p->windows > 1) {
                        page_put(&out->buf, "small", "%zu", w);
                        ran_buf_char(&out->buf, ' ');
                }
                page_open(&out->buf, "span.text");
                if (p->shown[w])
                        write_shown(p, w, p->document ? NULL : &p->probe[n++], out);
                else
                        write_plain(p, w, out);
                page_close(&out->buf, "span");
                page_close(&out->buf, "div");
                cmd_sink_flush(out);
        }
        token_text_rest(&p->text, &rest);
        if (rest.gap_n > 0 && p->s->reading.document != NULL &&
            p->s->reading.document->from == CMD_FROM_TEXT) {
                page_open(&out->buf, "div.win");
                page_open(&out->buf, "span.text");
                page_excerpt(&out->buf, rest.gap, rest.gap_n, 1000);
                page_close(&out->buf, "span");
                page_close(&out->buf, "div");
        }
}

static void write_notes(const struct page *p, struct ran_buf *out)
{
        page_open(out, "p.note");
        ran_buf_printf(out, "%s %zu, ", p->document ? "Step" : "Layer", p->layer);
        if (p->head == RAN_PROBE_MEAN)
                ran_buf_printf(out, "mean of %zu heads", p->s->shape.table[RAN_PROBE_HEADS].heads);
        else
                ran_buf_printf(out, "head %zu", p->head);
        ran_buf_printf(out,
                       "; --layer and --head show another. The stronger the colour of a word, the "
                       "more attention it gets.%s",
                       p->rows ? " \xe2\x97\x86 is the cell of a window." : "");
        page_close(out, "p");
        if (p->document)
                return;
        page_open(out, "p.note");
        ran_buf_printf(out,
                       "Point at a word to see what it looks at: the %zu largest weights above "
                       "0.1 %%.",
                       p->keys);
        if (p->shown_n < p->windows)
                page_put(out, "strong",
                         " %zu of %zu windows are shown with their attention: those that get the "
                         "most; the others are plain text%s. %s",
                         p->shown_n, p->windows,
                         p->s->shape.L > LONG ? ", of which only the begin is shown" : "",
                         p->rows ? "--in-window N selects one." : "");
        page_close(out, "p");
}

/* ---- the page -------------------------------------------------------------------------------- */

static int make_page(struct page *p, const struct cmd_line *line, struct cmd_sink *out,
                     struct ran_error *err)
{
        const struct ran_probe_shape *shape = &p->s->shape;
        const struct ran_probe_table *heads = &shape->table[RAN_PROBE_HEADS];
        const struct attnmask_selection *c = &p->a->selection;

        p->rows = heads->keys == RAN_AXIS_ROWS;
        p->document = heads->queries == RAN_AXIS_DOCUMENT;
        p->window = p->rows ? shape->window : BLOCK;
        p->windows = p->rows ? shape->windows : (shape->L - 1) / p->window + 1;
        p->first = p->rows ? 1 : 0;
        p->per_block = (p->windows - 1) / STRIP + 1;
        p->layer = c->layer_to - 1;
        p->head = c->head_to - c->head_from == 1 ? c->head_from : RAN_PROBE_MEAN;
        RAN_TRY(token_text_begin(&p->text, &p->s->reading, p->a->model, &line->record, err));
        choose_sizes(p);
        RAN_TRY(read_overview(p, err));
        choose_windows(p);
        if (!p->document)
                RAN_TRY(read_weights(p, err));
        attnmask_page_begin(p->a, p->s, line, "Attention", &out->buf);
        write_strip(p, &out->buf);
        write_notes(p, &out->buf);
        write_windows(p, out);
        page_end(&out->buf);
        return RAN_OK;
}

int attnmask_attention_page(const struct attnmask_model *a, struct attnmask_scratch *s,
                            const struct cmd_line *line, struct cmd_sink *out,
                            struct ran_error *err)
{
        struct page p = {.a = a, .s = s};
        int rc = make_page(&p, line, out, err);

        token_text_release(&p.text);
        free(p.got);
        free(p.state);
        free(p.value);
        free(p.shown);
        free(p.probe);
        free(p.sum);
        return rc;
}
