/* align.c - --align: what the tokens of a target looked at in their source, as JSON or as a grid
 * with both texts at its sides.
 *
 * A line of the grid is a token of the target, [END] the last; its weights are those of the
 * position that predicts it. A column is a token of the source. Texts stand at the sides of a grid
 * of letters, of SVG and of a page; PNG has no text, and a message names lines and columns. */
#include "cmd/attnmask/attnmask.h"

#include <stdlib.h>

#include "cmd/formats/json.h"
#include "cmd/options/message.h"
#include "cmd/pages/page.h"

/* CELL: pixels of a cell with text at the sides; LETTER: of a letter, about; SIDE: letters of a
 * token at most; MOST: cells of a grid with text. */
enum { CELL = 18, LETTER = 7, SIDE = 16, MOST = 250000 };

/* The alignment of the document at hand. */
struct alignment {
        const struct attnmask_model *a;
        const struct attnmask_scratch *s;
        size_t sources, rows;
        double *weight;                  /* (rows, sources) */
        struct ran_buf *source, *target; /* (sources), (rows) texts of the tokens */
};

static void release_texts(struct ran_buf *texts, size_t n)
{
        for (size_t i = 0; i < n && texts != NULL; i++)
                ran_buf_release(&texts[i]);
        free(texts);
}

static void release(struct alignment *k)
{
        release_texts(k->source, k->sources);
        release_texts(k->target, k->rows);
        free(k->weight);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* The text of a token, without space around it; a reserved token has its name, and one that is of
 * space alone or a part of a character what the vocabulary calls it. */
static void add_text(const struct alignment *k, uint32_t id, struct ran_buf *out)
{
        const struct ran_tokenizer *t = ran_model_tokenizer(k->a->model);
        struct ran_buf text = {0};
        struct ran_error ignored;
        size_t from = 0, n;
        const char *name;

        if (t == NULL) {
                ran_buf_printf(out, "%u", (unsigned)id);
                return;
        }
        int rc = ran_tokenizer_decode(t, &id, 1, &text, &ignored);
        for (; from < text.len && text.data[from] == ' '; from++)
                ;
        n = text.len - from;
        name = rc == RAN_OK && n > 0 ? text.data + from : ran_tokenizer_token(t, id, &n);
        if (name != NULL)
                ran_buf_add(out, name, n);
        ran_buf_release(&text);
}

/* The texts of tokens [from, from + n). */
static struct ran_buf *texts_of(const struct alignment *k, size_t from, size_t n)
{
        struct ran_buf *texts = ran_new(n, sizeof *texts);

        for (size_t i = 0; i < n; i++)
                add_text(k, k->s->reading.tokens.ids[from + i], &texts[i]);
        return texts;
}

static int read_alignment(struct alignment *k, struct ran_error *err)
{
        const struct cmd_reading *r = &k->s->reading;
        const struct attnmask_selection *c = &k->a->selection;
        const struct attnmask_options *o = k->a->options;
        const bool one_layer = o->layer != NULL && c->layer_to - c->layer_from == 1,
                   one_head = o->head != NULL && c->head_to - c->head_from <= 1 &&
                              c->head_from != RAN_PROBE_MEAN;

        k->sources = r->sources;
        if (r->sources == 0 || r->tokens.L < r->sources + 1)
                return ran_fail(err, RAN_EFORMAT, "--align needs a source and a target");
        /* Rows predict the tokens of the target; none what would follow. */
        struct ran_document d = r->tokens;
        k->rows = d.L - r->sources;
        d.L--;
        k->weight = ran_alloc(k->rows * k->sources, sizeof *k->weight, err);
        if (k->weight == NULL)
                return RAN_ENOMEM;
        return ran_alignment(k->a->model, k->s->state, &d, k->sources,
                             one_layer ? c->layer_from : RAN_PROBE_MEAN,
                             !one_head         ? RAN_PROBE_MEAN
                             : c->head_to == 0 ? RAN_ALIGN_REVIEW
                                               : c->head_from,
                             k->weight, err);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_row(struct ran_buf *out, const struct alignment *k, struct attnmask_scratch *s,
                    size_t row)
{
        const double *weight = k->weight + row * k->sources;
        size_t n = 0;

        json_begin(out, '{');
        cmd_reading_add_token(&s->reading, &k->a->how, k->sources + row, out);
        if (k->a->options->top > 0) {
                for (size_t j = 0; j < k->sources; j++)
                        if (weight[j] > 0)
                                s->ranked[n++] = (struct attnmask_weight){weight[j], j};
                attnmask_add_top(out, k->a, s, RAN_AXIS_TOKENS, n, "weight");
        }
        if (k->a->options->weights) {
                json_name(out, "weights");
                attnmask_add_numbers(out, weight, k->sources);
        }
        json_end(out, '}');
}

int attnmask_align(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                   struct ran_error *err)
{
        struct alignment k = {.a = a, .s = s};
        int rc = read_alignment(&k, err);

        if (rc == RAN_OK)
                rc = RAN_GROW(s->ranked, s->ranked_cap, k.sources, err);
        if (rc == RAN_OK) {
                json_begin(out, '{');
                json_put_size(out, "sources", k.sources);
                json_name(out, "targets");
                json_begin(out, '[');
                for (size_t i = 0; i < k.rows; i++)
                        add_row(out, &k, s, i);
                json_end(out, ']');
                json_end(out, '}');
        }
        release(&k);
        return rc;
}

/* ---- letters -------------------------------------------------------------------------------- */

/* Bytes of the character at s. */
static size_t character(const char *s, size_t n)
{
        size_t length = 1;

        while (length < n && ((unsigned char)s[length] & 0xc0) == 0x80)
                length++;
        return length;
}

static size_t letters(const struct ran_buf *text)
{
        size_t n = 0;

        for (size_t i = 0; i < text->len; i += character(text->data + i, text->len - i))
                n++;
        return n < SIDE ? n : SIDE;
}

/* The i-th character of a text, or a space; what nobody sees is a question mark. */
static void put_letter(struct ran_buf *out, const struct ran_buf *text, size_t i)
{
        size_t at = 0;
        uint32_t c;

        for (; i > 0 && at < text->len; i--)
                at += character(text->data + at, text->len - at);
        if (at >= text->len)
                ran_buf_char(out, ' ');
        else if (ran_utf8_unseen(text->data + at, text->len - at, &c) > 0)
                ran_buf_char(out, '?');
        else
                ran_buf_add(out, text->data + at, character(text->data + at, text->len - at));
}

static size_t longest(const struct ran_buf *text, size_t n)
{
        size_t most = 0;

        for (size_t i = 0; i < n; i++)
                most = letters(&text[i]) > most ? letters(&text[i]) : most;
        return most;
}

/* Columns have their token above them, from top to bottom. */
static void write_letters(const struct alignment *k, struct picture_scale scale,
                          struct ran_buf *out)
{
        static const char shades[] = "." PICTURE_BETWEEN "#";
        const size_t side = longest(k->target, k->rows), top = longest(k->source, k->sources);

        for (size_t y = 0; y < top; y++) {
                ran_buf_printf(out, "%*s", (int)side + 1, "");
                for (size_t x = 0; x < k->sources; x++) {
                        size_t n = letters(&k->source[x]);

                        put_letter(out, &k->source[x], y >= top - n ? y - (top - n) : SIZE_MAX);
                }
                ran_buf_char(out, '\n');
        }
        for (size_t y = 0; y < k->rows; y++) {
                for (size_t i = letters(&k->target[y]); i < side; i++)
                        ran_buf_char(out, ' ');
                for (size_t i = 0; i < letters(&k->target[y]); i++)
                        put_letter(out, &k->target[y], i);
                ran_buf_char(out, ' ');
                for (size_t x = 0; x < k->sources; x++) {
                        unsigned shade = picture_scaled(scale, k->weight[y * k->sources + x]);

                        ran_buf_char(out, shades[shade == 0 ? 0 : 1 + shade * 7 / 255]);
                }
                ran_buf_char(out, '\n');
        }
}

/* ---- SVG ------------------------------------------------------------------------------------ */

/* Draws as many letters of a token as the side has room for. */
static void put_label(struct ran_buf *out, const struct ran_buf *text)
{
        size_t at = 0;

        for (size_t i = 0; i < SIDE && at < text->len; i++)
                at += character(text->data + at, text->len - at);
        page_text(out, text->data, at);
        ran_buf_str(out, "</text>\n");
}

static void write_labels(const struct alignment *k, size_t left, size_t top, struct ran_buf *out)
{
        for (size_t x = 0; x < k->sources; x++) {
                ran_buf_printf(out, "<text transform=\"translate(%zu %zu) rotate(-60)\">",
                               left + x * CELL + CELL * 2 / 3, top - 4);
                put_label(out, &k->source[x]);
        }
        for (size_t y = 0; y < k->rows; y++) {
                ran_buf_printf(out, "<text x=\"%zu\" y=\"%zu\" text-anchor=\"end\">", left - 5,
                               top + y * CELL + CELL * 3 / 4);
                put_label(out, &k->target[y]);
        }
}

static void write_svg(const struct alignment *k, struct picture_scale scale, struct ran_buf *out)
{
        const size_t left = longest(k->target, k->rows) * LETTER + 10,
                     top = longest(k->source, k->sources) * LETTER + 10, w = k->sources * CELL,
                     h = k->rows * CELL;

        ran_buf_printf(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                       "font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\">\n",
                       left + w + top / 2 + 2, top + h + 2);
        write_labels(k, left, top, out);
        for (size_t y = 0; y < k->rows; y++)
                for (size_t x = 0; x < k->sources; x++) {
                        double weight = k->weight[y * k->sources + x];
                        unsigned shade = picture_scaled(scale, weight);

                        if (shade > 0)
                                ran_buf_printf(out,
                                               "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" "
                                               "height=\"%d\" fill-opacity=\"%.3g\"><title>%.3g"
                                               "</title></rect>\n",
                                               left + x * CELL, top + y * CELL, CELL, CELL,
                                               shade / 255.0, weight);
                }
        ran_buf_printf(out,
                       "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" fill=\"none\" "
                       "stroke=\"#888\"/>\n</svg>\n",
                       left, top, w, h);
}

/* ---- a picture ------------------------------------------------------------------------------ */

/* PNG has no text: names lines and columns. */
static void explain(const struct alignment *k)
{
        struct ran_buf names = {0};

        for (size_t i = 0; i < k->rows + k->sources; i++) {
                const struct ran_buf *text = i < k->rows ? &k->target[i] : &k->source[i - k->rows];

                ran_buf_str(&names, i == 0 ? "" : i == k->rows ? "; columns: " : " ");
                for (size_t j = 0; j < letters(text); j++)
                        put_letter(&names, text, j);
        }
        ran_buf_char(&names, '\0');
        cmd_note("lines: %s", names.data);
        ran_buf_release(&names);
}

static int draw(struct alignment *k, const struct cmd_line *line, struct cmd_sink *out,
                struct ran_error *err)
{
        const int format = k->a->options->format;
        const struct picture_scale scale = picture_scale(k->weight, k->rows * k->sources);

        k->source = texts_of(k, 0, k->sources);
        k->target = texts_of(k, k->sources, k->rows);
        if (format == PICTURE_PNG) {
                struct picture p;
                int rc = picture_init(&p, 1, k->sources, k->rows, err);

                if (rc == RAN_OK)
                        rc = attnmask_draw(k->a->options, &p, k->weight, scale, out, err);
                picture_release(&p);
                if (rc == RAN_OK)
                        explain(k);
                return rc;
        }
        if (k->rows > MOST / k->sources)
                return ran_fail(err, RAN_EINVAL,
                                "%zu target and %zu source tokens are too many for a grid with "
                                "texts: --format png draws one without",
                                k->rows, k->sources);
        if (format == PICTURE_HTML) {
                attnmask_page_begin(k->a, k->s, line, "Attention to the source", &out->buf);
                page_put(&out->buf, "p.note",
                         "A line is a token of the target, a column one of the source. The "
                         "stronger the colour, the more attention the source token got when the "
                         "target token was predicted; point at a cell for the weight.");
                write_svg(k, scale, &out->buf);
                page_end(&out->buf);
        } else if (format == PICTURE_SVG)
                write_svg(k, scale, &out->buf);
        else
                write_letters(k, scale, &out->buf);
        return RAN_OK;
}

int attnmask_align_draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                        const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err)
{
        struct alignment k = {.a = a, .s = s};
        int rc = read_alignment(&k, err);

        if (rc == RAN_OK)
                rc = draw(&k, line, out, err);
        release(&k);
        return rc;
}
