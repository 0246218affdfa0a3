/* picture-framed.h - pictures with text around their cells. */
#ifndef CMD_ATTNMASK_PICTURE_FRAMED_H
#define CMD_ATTNMASK_PICTURE_FRAMED_H

#include "cmd/attnmask/picture.h"

/* As picture_write. */
int picture_svg(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err);
int picture_png(const struct picture *p, size_t size, struct cmd_sink *out, struct ran_error *err);

#endif
