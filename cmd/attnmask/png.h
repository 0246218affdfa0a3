/* png.h - a writer of grey PNG pictures. */
#ifndef CMD_ATTNMASK_PNG_H
#define CMD_ATTNMASK_PNG_H

#include "ran.h"

/* One row after another; width, height from 1 to 2^31 - 1. Rows that repeat, and runs of one shade,
 * take hardly any space; nothing else is compressed. */
struct png {
        size_t width;
        uint64_t bits; /* of the deflate stream, on their way into bytes */
        unsigned count;
        uint32_t a, b;         /* Adler-32 */
        unsigned char *before; /* (width) the row above */
        unsigned char *row;    /* (1 + width) filtered */
        struct ran_buf data;   /* compressed, to go out as a chunk */
};
int png_begin(struct png *p, struct ran_buf *out, size_t width, size_t height,
              struct ran_error *err);
/* row (width): 0 is black, 255 white */
void png_row(struct png *p, struct ran_buf *out, const unsigned char *row);
void png_end(struct png *p, struct ran_buf *out); /* also releases what p holds */

#endif
