/* frame.h - what stands around the cells of a picture: title, names, axes, words, legend. */
#ifndef CMD_ATTNMASK_FRAME_H
#define CMD_ATTNMASK_FRAME_H

#include "cmd/attnmask/picture.h"

/* Texts and bars have whole pixels from the left and upper edge; the panels lie in rows. */
struct frame {
        size_t unit;          /* pixels of a cell, across and down */
        size_t width, height; /* of the picture */
        size_t columns;       /* panels in a row of panels */
        size_t left, top;     /* of the cells of the first panel */
        size_t across, down;  /* from panel to panel */
        struct ran_buf letters;
        struct frame_text {
                size_t begin, n; /* of letters */
                long x, y;       /* of the anchor, on the base line */
                enum frame_anchor { FRAME_BEGIN, FRAME_MIDDLE, FRAME_END } anchor;
                double scale; /* of letters of 12 pixels */
                bool turned;  /* upwards, else to the right */
        } * text;
        size_t texts, text_cap;
        struct frame_bar {
                size_t x, y, w, h;
                unsigned char shade; /* 0 nothing ... 255 all */
        } * bar;
        size_t bars, bar_cap;
};
/* size: as in picture_write. RAN_ENOMEM, RAN_EINVAL: a picture that large cannot be written.
 * Release it in any case. */
int frame_make(struct frame *f, const struct picture *p, size_t size, struct ran_error *err);
void frame_release(struct frame *f);

#endif
