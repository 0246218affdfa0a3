/* align.h - --align: what the tokens of a target looked at in their source. */
#ifndef CMD_ATTNMASK_ALIGN_H
#define CMD_ATTNMASK_ALIGN_H

#include "cmd/attnmask/model.h"

/* Exits if the model reads no source. */
void attnmask_align_check(const struct attnmask_model *a);
/* Appends the source tokens that each target token of the current document looked at: a JSON
 * object. RAN_EFORMAT for a record without a source or a target. */
int attnmask_align(const struct attnmask_model *a, struct attnmask_scratch *s, struct ran_buf *out,
                   struct ran_error *err);
/* The same as a grid, in a format of picture.h. */
int attnmask_align_draw(const struct attnmask_model *a, struct attnmask_scratch *s,
                        const struct cmd_line *line, struct cmd_sink *out, struct ran_error *err);

#endif
