/* font.h - letters for pictures that are made of pixels. */
#ifndef CMD_ATTNMASK_FONT_H
#define CMD_ATTNMASK_FONT_H

#include <stdbool.h>
#include <stddef.h>

/* UTF-8 text in a font of our own: ASCII, and the letters of Latin-1 with their marks; any other
 * character is a box. Scale 1 has capitals of 9 pixels, and lines of FONT_LINE. */
enum { FONT_LINE = 15, FONT_CAPITAL = 9 };

/* Pixels from the beginning of the text to what may follow it. */
double font_width(const char *s, size_t n, double scale);

/* x, y: where the base line begins. turned: it goes up, and letters lie on their backs. */
struct font_text {
        const char *s;
        size_t n;
        double x, y, scale;
        bool turned;
};
/* Darkens the pixels (width) of row y that the text covers; 0 is black. */
void font_draw(const struct font_text *text, size_t y, unsigned char *row, size_t width);

#endif
