/* picture.h - a grid of shades, as text and as pictures of several formats. */
#ifndef CMD_ATTNMASK_PICTURE_H
#define CMD_ATTNMASK_PICTURE_H

#include "cmd/options/write.h"

enum {
        PICTURE_TEXT,
        PICTURE_JSON, /* no picture: for the table of formats */
        PICTURE_PNG,
        PICTURE_SVG,
        PICTURE_HTML /* a page: no picture either */
};
extern const char *const picture_format_names[]; /* for RAN_FIELD_CHOICE */

/* Several panels of the same size, next to each other or, as text, below each other. */
struct picture {
        size_t panels, width, height; /* cells */
        unsigned char *shade;         /* (panels, height, width): 0 nothing ... 255 all */
        char **names;                 /* (panels) or NULL */
        /* SVG writes these around the panels, where x_name is not NULL. Any may be NULL. */
        const char *title, *x_name, *y_name;
        const char *legend, *least, *most; /* what the shades mean, and at their ends */
        size_t x_from, x_to, y_from, y_to; /* the numbers at the ends of the axes; to: inclusive */
        char **x_words, **y_words;         /* one for so many cells, instead of numbers, or NULL */
        size_t x_cells, y_cells;
};
int picture_init(struct picture *p, size_t panels, size_t width, size_t height,
                 struct ran_error *err);
void picture_release(struct picture *p); /* the caller frees names */

/* The shade of `part` out of `whole`: darkness grows with the square root of part / whole, so
 * that sparse cells are visible; only nothing is 0 and only all is 255. */
unsigned char picture_shade(uint64_t part, uint64_t whole);

/* Letters of the text for nothing, for shades between, and for all. */
#define PICTURE_BETWEEN ":-=+*%@"
#define PICTURE_LEGEND  ". none, : - = + * % @ more and more, # all"

/* size: pixels across and down at most, of a panel; a cell takes as many whole pixels as fit, and
 * one at least. */
int picture_write(const struct picture *p, int format, size_t size, struct cmd_sink *out,
                  struct ran_error *err);
/* The same as SVG; what picture_write asks. */
int picture_svg(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err);
/* The shades (width) of line y of a panel. */
static inline const unsigned char *picture_line(const struct picture *p, size_t panel, size_t y)
{
        return p->shade + (panel * p->height + y) * p->width;
}

#endif
