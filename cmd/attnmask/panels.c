/* panels.c - panels of numbers as a picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/attnmask/panels.h"
#include "cmd/attnmask/picture.h"
#include "cmd/attnmask/words.h"
#include "cmd/options/message.h"

/* Pixels: the longer side of a panel is at most this many times the shorter one. */
enum { SLIMMEST = 4 };

static size_t most(size_t a, size_t b)
{
        return a > b ? a : b;
}

/* ---- size ----------------------------------------------------------------------------------- */

static size_t terminal_width(void)
{
        struct winsize size;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
                return size.ws_col;
        return 80;
}

size_t attnmask_size(const struct attnmask_options *o)
{
        const size_t usual = 512; /* pixels */

        if (o->size > 0)
                return o->size;
        return o->format == PICTURE_TEXT ? terminal_width() : usual;
}

/* ---- panels --------------------------------------------------------------------------------- */

/* Pixels of each of n blocks on one side, if the other side has `other` blocks. */
static size_t repeats(size_t n, size_t other)
{
        return most(1, other / SLIMMEST / n);
}

/* On a logarithmic scale, from almost white for `least` to black for `most`; 0 is white. Weights
 * are exponentials of scores: on a linear scale most pictures would be nearly white. */
unsigned char attnmask_shade(const struct attnmask_panels *p, double value)
{
        const double lightest = 0.05;
        double share = 1;

        if (!(value > 0))
                return 0;
        if (value < p->most && p->least < p->most)
                share = lightest + (1 - lightest) * ran_log(fmax(value / p->least, 1)) /
                                           ran_log(p->most / p->least);
        return picture_shade((uint64_t)ceil(share * share * 1e9), 1000000000); /* has a root */
}

void attnmask_scale(struct attnmask_panels *p)
{
        const double furthest = 1e-3;
        size_t n = p->n * p->height * p->width;

        p->most = 0;
        p->least = INFINITY;
        for (size_t i = 0; i < n; i++) {
                p->most = fmax(p->most, p->value[i]);
                p->least = p->value[i] > 0 ? fmin(p->least, p->value[i]) : p->least;
        }
        p->least = fmin(fmax(p->least, p->most * furthest), p->most);
}

/* Writes what stands around the panels. down, across: cells for a value. */
static void set_frame(struct picture *p, const struct attnmask_panels *panels, size_t down,
                      size_t across)
{
        p->names = panels->names;
        p->title = panels->title;
        p->x_name = panels->x_name;
        p->y_name = panels->y_name;
        p->legend = panels->legend;
        p->x_from = panels->x_from;
        p->x_to = panels->x_to;
        p->y_from = panels->y_from;
        p->y_to = panels->y_to;
        p->x_words = panels->x_words;
        p->y_words = panels->y_words;
        p->x_cells = across;
        p->y_cells = down;
}

/* Without --size, some more pixels if words then fit. */
static size_t size_of(const struct attnmask_options *o, const struct picture *p)
{
        const size_t word = 14, enough = 1200;
        size_t size = attnmask_size(o), cells = most(p->width, p->height);

        if (o->size > 0 || o->format != PICTURE_SVG || (p->x_words == NULL && p->y_words == NULL) ||
            cells > enough / word)
                return size;
        return most(size, cells * word);
}

int attnmask_draw(const struct attnmask_options *o, const struct attnmask_panels *panels,
                  struct cmd_sink *out, struct ran_error *err)
{
        const size_t h = panels->height, w = panels->width;
        const bool text = o->format == PICTURE_TEXT;
        const size_t down = text ? 1 : repeats(h, w), across = text ? 1 : repeats(w, h);
        char least_text[32], most_text[32];
        struct picture p;
        int rc = picture_init(&p, panels->n, w * across, h * down, err);

        if (rc != RAN_OK)
                return rc;
        set_frame(&p, panels, down, across);
        snprintf(least_text, sizeof least_text, "%.2g", panels->least);
        snprintf(most_text, sizeof most_text, "%.2g", panels->most);
        p.least = least_text;
        p.most = most_text;
        for (size_t i = 0; i < panels->n; i++)
                for (size_t y = 0; y < p.height; y++)
                        for (size_t x = 0; x < p.width; x++)
                                p.shade[(i * p.height + y) * p.width + x] = attnmask_shade(
                                        panels, panels->value[(i * h + y / down) * w + x / across]);
        rc = picture_write(&p, o->format, size_of(o, &p), out, err);
        picture_release(&p);
        return rc;
}

void attnmask_panels_release(struct attnmask_panels *p)
{
        for (size_t i = 0; i < p->n && p->names != NULL; i++)
                free(p->names[i]);
        free(p->names);
        attnmask_words_free(p->x_words, p->width);
        attnmask_words_free(p->y_words, p->height);
        free(p->title);
        p->names = p->x_words = p->y_words = NULL;
        p->title = NULL;
}
