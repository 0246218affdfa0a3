/* picture-framed.h - pictures with text around their cells. */
#ifndef CMD_ATTNMASK_PICTURE_FRAMED_H
#define CMD_ATTNMASK_PICTURE_FRAMED_H

#include "cmd/attnmask/picture.h"

/* The shades (width) of line y of a panel. */
const unsigned char *picture_line(const struct picture *p, size_t panel, size_t y);
/* Does what picture_write does. */
int picture_svg(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err);
int picture_png(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err);

#endif
