/* frame.c - what stands around the cells of a picture: title, names, axes, words, legend.
 *
 *      title
 *      name of a panel
 *      t|. . .|                y axis: words of the cells or, where they do not fit, numbers;
 *      a|. . .|  next panel    its name, turned
 *      y|. . .|
 *        x x x                 x axis: words, turned, or numbers
 *        name
 *      least [shades] most  what they mean
 */
#include "cmd/attnmask/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. WORD: a cell that has room for a word beside it; LONGEST: letters of a word; TITLE: of a
 * title or a name. */
enum { MARGIN = 8, SPACE = 5, TICK = 4, WORD = 12, LONGEST = 18, TITLE = 90 };
/* Of a line, a capital and, about, a letter: the viewer chooses the font. */
enum { LINE = 15, CAPITAL = 9, LETTER = 7 };

static const double title_scale = 1.25;

/* ---- texts and bars ------------------------------------------------------------------------- */

/* The bytes of the first `most` characters. */
static size_t some(const char *s, size_t n, size_t most)
{
        size_t at = 0;

        for (; at < n && most > 0; most--)
                for (at++; at < n && ((unsigned char)s[at] & 0xc0) == 0x80;)
                        at++;
        return at;
}

/* A text that is too long ends in two dots. */
static double width_of(const char *s, size_t most, double scale)
{
        size_t letters = 0;

        for (; *s != '\0' && letters < most + 2; s++)
                letters += ((unsigned char)*s & 0xc0) != 0x80;
        return LETTER * scale * (double)letters;
}

static size_t text_width(const char *s, double scale)
{
        return s != NULL ? (size_t)ceil(width_of(s, TITLE, scale)) : 0;
}

static int put_text(struct frame *f, double x, double y, const char *s, size_t most, double scale,
                    enum frame_anchor anchor, bool turned, struct ran_error *err)
{
        size_t n = some(s, strlen(s), most), begin = f->letters.len;
        struct frame_text *grown =
                ran_grow(f->text, &f->text_cap, f->texts + 1, sizeof *grown, err);

        if (grown == NULL)
                return RAN_ENOMEM;
        f->text = grown;
        ran_buf_add(&f->letters, s, n);
        ran_buf_str(&f->letters, s[n] != '\0' ? ".." : "");
        f->text[f->texts++] = (struct frame_text){
                .begin = begin,
                .n = f->letters.len - begin,
                .x = lrint(x),
                .y = lrint(y),
                .anchor = anchor,
                .scale = scale,
                .turned = turned,
        };
        return f->letters.failed ? ran_fail(err, RAN_ENOMEM, "no memory for a picture") : RAN_OK;
}

static int put_number(struct frame *f, double x, double y, size_t number, enum frame_anchor anchor,
                      struct ran_error *err)
{
        char text[24];

        snprintf(text, sizeof text, "%zu", number);
        return put_text(f, x, y, text, TITLE, 1, anchor, false, err);
}

static int put_bar(struct frame *f, size_t x, size_t y, size_t w, size_t h, unsigned char shade,
                   struct ran_error *err)
{
        struct frame_bar *grown = ran_grow(f->bar, &f->bar_cap, f->bars + 1, sizeof *grown, err);

        if (grown == NULL)
                return RAN_ENOMEM;
        f->bar = grown;
        f->bar[f->bars++] = (struct frame_bar){x, y, w, h, shade};
        return RAN_OK;
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* An axis of a panel: what stands at its cells. */
struct axis {
        const char *name; /* NULL: no axis */
        char **words;     /* (n) or NULL */
        size_t n, cells;  /* words, and cells for each */
        size_t from, to;
        size_t length; /* pixels */
        size_t depth;  /* of numbers or words, and the name */
        size_t step;   /* from number to number */
};

static size_t digits(size_t number)
{
        char text[24];

        return (size_t)snprintf(text, sizeof text, "%zu", number);
}

/* The least of 1, 2, 5, 10, 20, ... with which so many numbers at most stand on the axis. */
static size_t round_step(size_t span, size_t most)
{
        size_t step = 1;

        for (int i = 0; span / step > most && step < SIZE_MAX / 10; i++)
                step = i % 3 == 1 ? step / 2 * 5 : step * 2;
        return step;
}

/* upright: the numbers of the axis stand one above another. */
static void measure(struct axis *a, size_t unit, size_t cells, bool upright)
{
        double widest = 0;

        a->length = unit * cells;
        if (a->name == NULL)
                return;
        if (a->words != NULL && unit * a->cells < WORD)
                a->words = NULL;
        for (size_t i = 0; a->words != NULL && i < a->n; i++)
                widest = fmax(widest, width_of(a->words[i], LONGEST, 1));
        double number = 7.0 * (double)digits(a->to);
        double each = upright ? LINE + 6 : number + 16;
        a->step = round_step(a->to - a->from, (size_t)((double)a->length / each));
        a->depth = (size_t)ceil(a->words != NULL ? widest : upright ? number : CAPITAL);
        a->depth += TICK + SPACE + LINE + SPACE;
}

/* The pixel in the middle of what stands for a number. */
static double middle(const struct axis *a, size_t number)
{
        return ((double)(number - a->from) + 0.5) / (double)(a->to - a->from + 1) *
               (double)a->length;
}

/* A word or a number of the axis, `at` pixels from its beginning. */
static int put_mark(struct frame *f, size_t left, size_t top, size_t height, double at,
                    const char *word, size_t number, bool upright, struct ran_error *err)
{
        const double x = (double)left, y = (double)top, half = CAPITAL / 2.0;

        if (upright) {
                RAN_TRY(put_bar(f, left - TICK, top + (size_t)at, TICK, 1, 128, err));
                if (word == NULL)
                        return put_number(f, x - TICK - 2, y + at + half, number, FRAME_END, err);
                return put_text(f, x - TICK - 2, y + at + half, word, LONGEST, 1, FRAME_END, false,
                                err);
        }
        RAN_TRY(put_bar(f, left + (size_t)at, top + height, 1, TICK, 128, err));
        if (word == NULL)
                return put_number(f, x + at, y + (double)height + TICK + 2 + CAPITAL, number,
                                  FRAME_MIDDLE, err);
        return put_text(f, x + at + half, y + (double)height + TICK + 2, word, LONGEST, 1,
                        FRAME_END, true, err);
}

/* Its marks and its name. left, top: of the cells; height: of the panel. */
static int put_axis(struct frame *f, const struct axis *a, size_t left, size_t top, size_t height,
                    bool upright, struct ran_error *err)
{
        const double half = (double)a->length / 2;
        const size_t apart = a->step - a->step / 8; /* numbers, so that they do not touch */

        if (a->name == NULL)
                return RAN_OK;
        for (size_t i = 0; a->words != NULL && i < a->n; i++) {
                double each = (double)a->length / (double)a->n;
                RAN_TRY(put_mark(f, left, top, height, ((double)i + 0.5) * each, a->words[i], 0,
                                 upright, err));
        }
        /* Multiples of the step between the ends, and the ends. */
        for (size_t i = a->from; a->words == NULL;) {
                RAN_TRY(put_mark(f, left, top, height, middle(a, i), NULL, i, upright, err));
                if (i == a->to)
                        break;
                size_t next = i - i % a->step + a->step;
                if (next - i < apart)
                        next += a->step;
                i = next > a->to || a->to - next < apart ? a->to : next;
        }
        /* A name that is longer than its axis begins with it. */
        double longer = fmax((double)text_width(a->name, 1) / 2 - half, 0);
        if (upright)
                return put_text(f, (double)(left - a->depth) + CAPITAL, (double)top + half + longer,
                                a->name, TITLE, 1, FRAME_MIDDLE, true, err);
        return put_text(f, (double)left + half + longer, (double)(top + height + a->depth) - SPACE,
                        a->name, TITLE, 1, FRAME_MIDDLE, false, err);
}

/* ---- the picture ---------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
        return a > b ? a : b;
}

enum { SHADES = 16, SHADE_WIDTH = 8 };

static size_t legend_width(const struct picture *p)
{
        if (p->legend == NULL)
                return 0;
        return text_width(p->least, 1) + text_width(p->most, 1) + text_width(p->legend, 1) +
               SHADES * SHADE_WIDTH + 4 * SPACE;
}

/* Where the panels are, and the size of all. */
static int place(struct frame *f, const struct picture *p, const struct axis *x,
                 const struct axis *y, struct ran_error *err)
{
        size_t rows, w = x->length, h = y->length, name = 0;

        while (f->columns * f->columns < p->panels)
                f->columns++;
        f->columns = p->panels <= 3 ? p->panels : f->columns;
        rows = (p->panels + f->columns - 1) / f->columns;
        for (size_t i = 0; i < p->panels && p->names != NULL; i++)
                name = larger(name, text_width(p->names[i], 1));
        w = larger(larger(w, name), text_width(x->name, 1));
        h = larger(h, text_width(y->name, 1));
        f->left = MARGIN + y->depth;
        f->top = MARGIN + (p->title != NULL ? LINE + 2 * SPACE : 0) +
                 (p->names != NULL ? LINE + SPACE : 0);
        f->across = w + y->depth + 3 * (size_t)MARGIN;
        f->down = h + x->depth + (p->names != NULL ? LINE + 2 * SPACE : 0) + MARGIN;
        if (f->across > INT32_MAX / 2 / f->columns || f->down > INT32_MAX / 2 / rows)
                return ran_fail(err, RAN_EINVAL, "a picture that large cannot be written");
        f->width = f->left + f->columns * f->across - y->depth;
        f->width = larger(f->width, 2 * MARGIN + text_width(p->title, title_scale));
        f->width = larger(f->width, 2 * MARGIN + legend_width(p));
        f->height = f->top + (rows - 1) * f->down + h + x->depth + MARGIN +
                    (p->legend != NULL ? LINE + 2 * SPACE : 0);
        return RAN_OK;
}

static int put_legend(struct frame *f, const struct picture *p, struct ran_error *err)
{
        double x = MARGIN, y = (double)f->height - MARGIN;

        if (p->least != NULL) {
                RAN_TRY(put_text(f, x, y, p->least, TITLE, 1, FRAME_BEGIN, false, err));
                x += (double)text_width(p->least, 1) + SPACE;
        }
        for (size_t i = 0; i < SHADES; i++)
                RAN_TRY(put_bar(
                        f, (size_t)x + i * SHADE_WIDTH, (size_t)y - CAPITAL, SHADE_WIDTH, CAPITAL,
                        (unsigned char)(p->least == NULL ? 255 : 255 * (i + 1) / SHADES), err));
        x += SHADES * SHADE_WIDTH;
        x += SPACE;
        if (p->most != NULL) {
                RAN_TRY(put_text(f, x, y, p->most, TITLE, 1, FRAME_BEGIN, false, err));
                x += (double)text_width(p->most, 1) + 2 * SPACE;
        }
        return put_text(f, x, y, p->legend, TITLE, 1, FRAME_BEGIN, false, err);
}

/* The edge of a panel, its name and its axes. */
static int put_panel(struct frame *f, const struct picture *p, size_t i, const struct axis *x,
                     const struct axis *y, struct ran_error *err)
{
        size_t left = f->left + i % f->columns * f->across, top = f->top + i / f->columns * f->down,
               w = x->length, h = y->length;

        RAN_TRY(put_bar(f, left - 1, top - 1, w + 2, 1, 128, err));
        RAN_TRY(put_bar(f, left - 1, top + h, w + 2, 1, 128, err));
        RAN_TRY(put_bar(f, left - 1, top, 1, h, 128, err));
        RAN_TRY(put_bar(f, left + w, top, 1, h, 128, err));
        if (p->names != NULL)
                RAN_TRY(put_text(f, (double)left, (double)top - SPACE, p->names[i], TITLE, 1,
                                 FRAME_BEGIN, false, err));
        RAN_TRY(put_axis(f, x, left, top, h, false, err));
        return put_axis(f, y, left, top, h, true, err);
}

int frame_make(struct frame *f, const struct picture *p, size_t size, struct ran_error *err)
{
        size_t cells = larger(p->width, p->height);
        struct axis x = {.name = p->x_name,
                         .words = p->x_words,
                         .n = p->width / p->x_cells,
                         .cells = p->x_cells,
                         .from = p->x_from,
                         .to = p->x_to};
        struct axis y = {.name = p->y_name,
                         .words = p->y_words,
                         .n = p->height / p->y_cells,
                         .cells = p->y_cells,
                         .from = p->y_from,
                         .to = p->y_to};

        *f = (struct frame){.unit = size > cells ? size / cells : 1, .columns = 1};
        if (cells > INT32_MAX / f->unit)
                return ran_fail(err, RAN_EINVAL, "a picture that large cannot be written");
        measure(&x, f->unit, p->width, false);
        measure(&y, f->unit, p->height, true);
        RAN_TRY(place(f, p, &x, &y, err));
        if (p->title != NULL)
                RAN_TRY(put_text(f, MARGIN, MARGIN + LINE, p->title, TITLE, title_scale,
                                 FRAME_BEGIN, false, err));
        for (size_t i = 0; i < p->panels; i++)
                RAN_TRY(put_panel(f, p, i, &x, &y, err));
        return p->legend != NULL ? put_legend(f, p, err) : RAN_OK;
}

void frame_release(struct frame *f)
{
        free(f->text);
        free(f->bar);
        ran_buf_release(&f->letters);
        *f = (struct frame){0};
}
