/* svg.c - a picture as SVG, with text around its cells.
 *
 *      title
 *      name of a panel
 *      t|. . .|                y axis: words of the cells or, where they do not fit, numbers;
 *      a|. . .|  next panel            its name, turned
 *      y|. . .|
 *        x x x                 x axis: words, turned, or numbers
 *        name
 *      least [shades] most  what they mean
 */
#include "cmd/attnmask/picture.h"

#include <math.h>
#include <stdio.h>

#include "cmd/pages/page.h"

/* Pixels. WORD: a cell that has room for a word beside it; LONGEST: letters of a word; TITLE: of a
 * title or a name. */
enum { MARGIN = 8, SPACE = 5, TICK = 4, WORD = 12, LONGEST = 18, TITLE = 90 };
/* Of a line, a capital and, about, a letter: the viewer chooses the font. */
enum { LINE = 15, CAPITAL = 9, LETTER = 7 };
/* Shades are rounded to SHADES. Each shade is one path, a run of cells one rectangle of it. */
enum { SHADES = 16, SHADE_WIDTH = 8 };

static const double title_scale = 1.25;

/* Whole pixels from the left and upper edge; the panels lie in rows. */
struct svg {
        size_t unit;          /* pixels of a cell, across and down */
        size_t width, height; /* of the picture */
        size_t columns;       /* panels in a row of panels */
        size_t left, top;     /* of the cells of the first panel */
        size_t across, down;  /* from panel to panel */
        struct ran_buf bars, texts;
};

/* ---- texts and bars ------------------------------------------------------------------------- */

/* The width of a text; one that is too long ends in two dots. */
static double width_of(const char *s, size_t most, double scale)
{
        size_t letters = 0;

        for (; *s != '\0' && letters < most + 2; s++)
                letters += ((unsigned char)*s & 0xc0) != 0x80;
        return LETTER * scale * (double)letters;
}

static size_t text_width(const char *s, double scale)
{
        return (size_t)ceil(width_of(s, TITLE, scale));
}

/* Where a text has its anchor. Turned texts go upwards. */
enum anchor { BEGIN, MIDDLE, END, MIDDLE_TURNED, END_TURNED };

/* The first `most` characters; scale: of letters of 12 pixels. */
static void put_text(struct svg *g, double x, double y, const char *s, size_t most, double scale,
                     enum anchor anchor)
{
        static const char *const anchors[] = {[BEGIN] = "",
                                              [MIDDLE] = " text-anchor=\"middle\"",
                                              [END] = " text-anchor=\"end\"",
                                              [MIDDLE_TURNED] = " text-anchor=\"middle\"",
                                              [END_TURNED] = " text-anchor=\"end\""};
        struct ran_buf *out = &g->texts;
        size_t n = 0;

        for (; s[n] != '\0' && most > 0; most--)
                for (n++; ((unsigned char)s[n] & 0xc0) == 0x80;)
                        n++;
        ran_buf_printf(out,
                       anchor >= MIDDLE_TURNED
                               ? "<text transform=\"translate(%ld %ld) rotate(-90)\""
                               : "<text x=\"%ld\" y=\"%ld\"",
                       lrint(x), lrint(y));
        if (scale != 1)
                ran_buf_printf(out, " font-size=\"%.3g\"", 12 * scale);
        ran_buf_printf(out, "%s>", anchors[anchor]);
        page_text(out, s, n);
        ran_buf_str(out, s[n] != '\0' ? "..</text>\n" : "</text>\n");
}

static void put_bar(struct svg *g, size_t x, size_t y, size_t w, size_t h, size_t shade)
{
        ran_buf_printf(&g->bars,
                       "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" "
                       "fill-opacity=\"%.3g\"/>\n",
                       x, y, w, h, (double)shade / 255.0);
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* An axis of a panel: what stands at its cells. */
struct axis {
        const char *name;
        char **words;    /* (n) or NULL */
        size_t n, cells; /* words, and cells for each */
        size_t from, to;
        bool upright;  /* its marks stand one above another */
        size_t length; /* pixels */
        size_t depth;  /* of numbers or words, and the name */
        size_t step;   /* from number to number */
};

static void measure(struct axis *a, size_t unit)
{
        double widest = 0;

        a->length = unit * a->n * a->cells;
        if (unit * a->cells < WORD)
                a->words = NULL;
        for (size_t i = 0; a->words != NULL && i < a->n; i++)
                widest = fmax(widest, width_of(a->words[i], LONGEST, 1));
        double number = 7.0 * snprintf(NULL, 0, "%zu", a->to);
        double each = a->upright ? LINE + 6 : number + 16;
        /* The least of 1, 2, 5, 10, 20, ... with which so many numbers at most stand on the axis.
         */
        const size_t most = (size_t)((double)a->length / each);
        a->step = 1;
        for (int i = 0; (a->to - a->from) / a->step > most && a->step < SIZE_MAX / 10; i++)
                a->step = i % 3 == 1 ? a->step / 2 * 5 : a->step * 2;
        a->depth = (size_t)ceil(a->words != NULL ? widest : a->upright ? number : CAPITAL);
        a->depth += TICK + SPACE + LINE + SPACE;
}

/* A word or (NULL) a number of the axis, `at` pixels from its beginning. left, top: of the cells;
 * height: of the panel. */
static void put_mark(struct svg *g, const struct axis *a, size_t left, size_t top, size_t height,
                     double at, const char *word, size_t number)
{
        const double x = (double)left, y = (double)top, half = CAPITAL / 2.0;
        char digits[24];

        snprintf(digits, sizeof digits, "%zu", number);
        if (a->upright) {
                put_bar(g, left - TICK, top + (size_t)at, TICK, 1, 128);
                put_text(g, x - TICK - 2, y + at + half, word != NULL ? word : digits,
                         word != NULL ? LONGEST : TITLE, 1, END);
                return;
        }
        put_bar(g, left + (size_t)at, top + height, 1, TICK, 128);
        if (word == NULL)
                put_text(g, x + at, y + (double)height + TICK + 2 + CAPITAL, digits, TITLE, 1,
                         MIDDLE);
        else
                put_text(g, x + at + half, y + (double)height + TICK + 2, word, LONGEST, 1,
                         END_TURNED);
}

/* Its marks and its name. */
static void put_axis(struct svg *g, const struct axis *a, size_t left, size_t top, size_t height)
{
        const double length = (double)a->length, half = length / 2;
        const size_t apart = a->step - a->step / 8; /* numbers, so that they do not touch */

        for (size_t i = 0; a->words != NULL && i < a->n; i++)
                put_mark(g, a, left, top, height, ((double)i + 0.5) * (length / (double)a->n),
                         a->words[i], 0);
        /* Multiples of the step between the ends, and the ends. */
        for (size_t i = a->from; a->words == NULL;) {
                put_mark(g, a, left, top, height,
                         ((double)(i - a->from) + 0.5) / (double)(a->to - a->from + 1) * length,
                         NULL, i);
                if (i == a->to)
                        break;
                size_t next = i - i % a->step + a->step;
                if (next - i < apart)
                        next += a->step;
                i = next > a->to || a->to - next < apart ? a->to : next;
        }
        /* A name that is longer than its axis begins with it. */
        double longer = fmax((double)text_width(a->name, 1) / 2 - half, 0);
        if (a->upright)
                put_text(g, (double)(left - a->depth) + CAPITAL, (double)top + half + longer,
                         a->name, TITLE, 1, MIDDLE_TURNED);
        else
                put_text(g, (double)left + half + longer, (double)(top + height + a->depth) - SPACE,
                         a->name, TITLE, 1, MIDDLE);
}

/* ---- what stands around the panels ---------------------------------------------------------- */

/* Where the panels are, and the size of all. */
static int place_panels(struct svg *g, const struct picture *p, const struct axis *x,
                        const struct axis *y, struct ran_error *err)
{
        size_t rows, w = x->length, h = y->length, name = 0, legend;

        while (g->columns * g->columns < p->panels)
                g->columns++;
        g->columns = p->panels <= 3 ? p->panels : g->columns;
        rows = (p->panels + g->columns - 1) / g->columns;
        for (size_t i = 0; i < p->panels && p->names != NULL; i++)
                name = ran_most(name, text_width(p->names[i], 1));
        w = ran_most(ran_most(w, name), text_width(x->name, 1));
        h = ran_most(h, text_width(y->name, 1));
        g->left = MARGIN + y->depth;
        g->top = MARGIN + LINE + 2 * SPACE + (p->names != NULL ? LINE + SPACE : 0);
        g->across = w + y->depth + 3 * (size_t)MARGIN;
        g->down = h + x->depth + (p->names != NULL ? LINE + 2 * SPACE : 0) + MARGIN;
        if (g->across > INT32_MAX / 2 / g->columns || g->down > INT32_MAX / 2 / rows)
                return ran_fail(err, RAN_EINVAL, "a picture that large cannot be written");
        legend = text_width(p->least, 1) + text_width(p->most, 1) + text_width(p->legend, 1) +
                 SHADES * SHADE_WIDTH + 4 * SPACE;
        g->width = g->left + g->columns * g->across - y->depth;
        g->width = ran_most(g->width, 2 * MARGIN + text_width(p->title, title_scale));
        g->width = ran_most(g->width, 2 * MARGIN + legend);
        g->height = g->top + (rows - 1) * g->down + h + x->depth + MARGIN + LINE + 2 * SPACE;
        return RAN_OK;
}

static void put_legend(struct svg *g, const struct picture *p)
{
        double x = MARGIN, y = (double)g->height - MARGIN;

        if (p->least[0] != '\0') {
                put_text(g, x, y, p->least, TITLE, 1, BEGIN);
                x += (double)text_width(p->least, 1) + SPACE;
        }
        for (size_t i = 0; i < SHADES; i++)
                put_bar(g, (size_t)x + i * SHADE_WIDTH, (size_t)y - CAPITAL, SHADE_WIDTH, CAPITAL,
                        p->least[0] == '\0' ? 255 : 255 * (i + 1) / SHADES);
        x += SHADES * SHADE_WIDTH + SPACE;
        if (p->most[0] != '\0') {
                put_text(g, x, y, p->most, TITLE, 1, BEGIN);
                x += (double)text_width(p->most, 1) + 2 * SPACE;
        }
        put_text(g, x, y, p->legend, TITLE, 1, BEGIN);
}

/* The edge of a panel, its name and its axes. */
static void put_panel(struct svg *g, const struct picture *p, size_t i, const struct axis *x,
                      const struct axis *y)
{
        size_t left = g->left + i % g->columns * g->across, top = g->top + i / g->columns * g->down,
               w = x->length, h = y->length;

        put_bar(g, left - 1, top - 1, w + 2, 1, 128);
        put_bar(g, left - 1, top + h, w + 2, 1, 128);
        put_bar(g, left - 1, top, 1, h, 128);
        put_bar(g, left + w, top, 1, h, 128);
        if (p->names != NULL)
                put_text(g, (double)left, (double)top - SPACE, p->names[i], TITLE, 1, BEGIN);
        put_axis(g, x, left, top, h);
        put_axis(g, y, left, top, h);
}

/* Measures the picture, and makes all but its cells. */
static int make_frame(struct svg *g, const struct picture *p, size_t size, struct ran_error *err)
{
        const size_t cells = ran_most(p->width * p->x_cells, p->height * p->y_cells);
        struct axis x = {.name = p->x_name,
                         .words = p->x_words,
                         .n = p->width,
                         .cells = p->x_cells,
                         .from = p->x_from,
                         .to = p->x_to};
        struct axis y = {.name = p->y_name,
                         .words = p->y_words,
                         .n = p->height,
                         .cells = p->y_cells,
                         .from = p->y_from,
                         .to = p->y_to,
                         .upright = true};

        *g = (struct svg){.unit = size > cells ? size / cells : 1, .columns = 1};
        if (cells > INT32_MAX / g->unit)
                return ran_fail(err, RAN_EINVAL, "a picture that large cannot be written");
        measure(&x, g->unit);
        measure(&y, g->unit);
        RAN_TRY(place_panels(g, p, &x, &y, err));
        put_text(g, MARGIN, MARGIN + LINE, p->title, TITLE, title_scale, BEGIN);
        for (size_t i = 0; i < p->panels; i++)
                put_panel(g, p, i, &x, &y);
        put_legend(g, p);
        return RAN_OK;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static void write_path(const struct picture *p, size_t panel, unsigned shade, struct cmd_sink *out)
{
        const size_t across = p->x_cells;
        bool begun = false;

        for (size_t y = 0; y < p->height * p->y_cells; y++) {
                const unsigned char *line = picture_line(p, panel, y / p->y_cells);

                for (size_t x = 0, end; x < p->width; x = end) {
                        for (end = x + 1; end < p->width && line[end] == line[x]; end++)
                                ;
                        if ((line[x] * (SHADES - 1) + 254u) / 255 != shade)
                                continue;
                        if (!begun)
                                ran_buf_printf(&out->buf, "<path fill-opacity=\"%.3g\" d=\"",
                                               shade / (double)(SHADES - 1));
                        begun = true;
                        ran_buf_printf(&out->buf, "M%zu %zuh%zuv1h-%zuz", x * across, y,
                                       (end - x) * across, (end - x) * across);
                }
                cmd_sink_flush(out);
        }
        if (begun)
                ran_buf_str(&out->buf, "\"/>\n");
}

static void write_svg(const struct picture *p, const struct svg *g, struct cmd_sink *out)
{
        ran_buf_printf(&out->buf,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                       "viewBox=\"0 0 %zu %zu\" font-family=\"sans-serif\" font-size=\"12\">\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                       g->width, g->height, g->width, g->height);
        for (size_t i = 0; i < p->panels; i++) {
                ran_buf_printf(&out->buf,
                               "<g transform=\"translate(%zu %zu) scale(%zu)\" "
                               "shape-rendering=\"crispEdges\">\n",
                               g->left + i % g->columns * g->across,
                               g->top + i / g->columns * g->down, g->unit);
                for (unsigned shade = 1; shade < SHADES; shade++)
                        write_path(p, i, shade, out);
                ran_buf_str(&out->buf, "</g>\n");
        }
        ran_buf_add(&out->buf, g->bars.data, g->bars.len);
        ran_buf_add(&out->buf, g->texts.data, g->texts.len);
        ran_buf_str(&out->buf, "</svg>\n");
}

int picture_svg(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err)
{
        struct svg g;
        int rc = make_frame(&g, p, size, err);

        if (rc == RAN_OK)
                write_svg(p, &g, out);
        ran_buf_release(&g.bars);
        ran_buf_release(&g.texts);
        return rc;
}
