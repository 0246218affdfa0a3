/* picture.h - panels of shades, as text, and as SVG with text around them. */
#ifndef CMD_ATTNMASK_PICTURE_H
#define CMD_ATTNMASK_PICTURE_H

#include "cmd/options/write.h"

enum {
        PICTURE_TEXT,
        PICTURE_JSON, /* no picture: for the table of formats */
        PICTURE_SVG,
        PICTURE_HTML /* a page: no picture either */
};
extern const char *const picture_format_names[]; /* for RAN_FIELD_CHOICE */

/* Several panels of the same size, next to each other or, as text, below each other. */
struct picture {
        size_t panels, width, height;
        unsigned char *shade;    /* (panels, height, width): 0 nothing ... 255 all */
        size_t x_cells, y_cells; /* cells of each shade across and down, but not in text */
        char **names;            /* (panels) or NULL */
        /* Only for SVG, which writes these around the panels. */
        char *title;
        const char *x_name, *y_name, *legend; /* legend: what the shades mean */
        char least[32], most[32];             /* at the ends of the legend; "": nothing */
        size_t down, across;                  /* tokens of a shade, where it is a block of them */
        size_t x_from, x_to, y_from, y_to; /* the numbers at the ends of the axes; to: inclusive */
        char **x_words, **y_words;         /* (width), (height) in place of numbers, or NULL */
};
/* RAN_ENOMEM. Release it in any case. */
int picture_init(struct picture *p, size_t panels, size_t width, size_t height,
                 struct ran_error *err);
void picture_release(struct picture *p); /* names, title and words, too */

/* The shade of `part` out of `whole`: darkness grows with the square root of part / whole, so
 * that sparse cells are visible; only nothing is 0 and only all is 255. */
unsigned char picture_shade(uint64_t part, uint64_t whole);

/* The ends of a logarithmic scale. */
struct picture_scale {
        double least, most; /* almost white, black */
};
/* That of n values, none negative; those below a thousandth of the most are drawn as that. */
struct picture_scale picture_scale(const double *value, size_t n);

/* Letters of the text for nothing, for shades between, and for all. */
#define PICTURE_LEGEND ". none, : - = + * % @ more and more, # all"

/* A letter for each shade. */
void picture_text(const struct picture *p, struct cmd_sink *out);
/* size: pixels across and down at most, of a panel; a cell takes as many whole pixels as fit, and
 * one at least. RAN_EINVAL: a picture that large cannot be written. */
int picture_svg(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err);
/* The shades (width) of line y of a panel. */
static inline const unsigned char *picture_line(const struct picture *p, size_t panel, size_t y)
{
        return p->shade + (panel * p->height + y) * p->width;
}

/* The text of a buffer as a string: the caller frees it, and not the buffer. */
char *picture_string(struct ran_buf *text);
/* Frees n strings and their array, which may be NULL. */
void picture_strings_free(char **strings, size_t n);

#endif
