/* panels.h - panels of numbers as a picture. */
#ifndef CMD_ATTNMASK_PANELS_H
#define CMD_ATTNMASK_PANELS_H

#include "cmd/attnmask/attnmask.h"

/* Panels of numbers, none negative: 0 is white, `most` black. A panel much wider than high, or the
 * other way round, is stretched. */
struct attnmask_panels {
        size_t n, width, height;
        double *value; /* (n, height, width) */
        double least, most;
        char **names; /* (n) */
        /* These are like those of struct picture; x_name NULL: nothing stands around the panels. */
        char *title;
        const char *x_name, *y_name, *legend;
        size_t x_from, x_to, y_from, y_to;
        char **x_words, **y_words; /* (width), (height) or NULL */
};
/* Sets least and most; values below a thousandth of the most are drawn as that. */
void attnmask_scale(struct attnmask_panels *p);
int attnmask_draw(const struct attnmask_options *o, const struct attnmask_panels *panels,
                  struct cmd_sink *out, struct ran_error *err);
/* 0 (white) to 255 of a value, on the scale. */
unsigned char attnmask_shade(const struct attnmask_panels *p, double value);
/* Frees names, words and title. */
void attnmask_panels_release(struct attnmask_panels *p);

/* The most characters or pixels across: --size, or the default. */
size_t attnmask_size(const struct attnmask_options *o);

#endif
