/* panels.c - panels of numbers as a picture. */
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/attnmask/panels.h"
#include "cmd/attnmask/picture.h"
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

int attnmask_draw(const struct attnmask_options *o, const struct attnmask_panels *panels,
                  struct cmd_sink *out, struct ran_error *err)
{
        const size_t h = panels->height, w = panels->width;
        const bool text = o->format == PICTURE_TEXT;
        const size_t down = text ? 1 : repeats(h, w), across = text ? 1 : repeats(w, h);
        struct picture p;
        int code = picture_init(&p, panels->n, w * across, h * down, err);

        if (code != RAN_OK)
                return code;
        p.names = panels->names;
        p.x_name = panels->x_name;
        p.y_name = panels->y_name;
        p.legend = panels->legend;
        p.x_from = panels->x_from;
        p.x_to = panels->x_to;
        p.y_from = panels->y_from;
        p.y_to = panels->y_to;
        for (size_t i = 0; i < panels->n; i++)
                for (size_t y = 0; y < p.height; y++)
                        for (size_t x = 0; x < p.width; x++)
                                p.shade[(i * p.height + y) * p.width + x] = attnmask_shade(
                                        panels, panels->value[(i * h + y / down) * w + x / across]);
        code = picture_write(&p, o->format, attnmask_size(o), out, err);
        picture_release(&p);
        return code;
}

void attnmask_panels_release(struct attnmask_panels *p)
{
        for (size_t i = 0; i < p->n && p->names != NULL; i++)
                free(p->names[i]);
        free(p->names);
        p->names = NULL;
}
