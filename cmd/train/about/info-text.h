/* info-text.h - what a model, a checkpoint or a vocabulary is, for people. */
#ifndef CMD_TRAIN_ABOUT_INFO_TEXT_H
#define CMD_TRAIN_ABOUT_INFO_TEXT_H

#include "cmd/train/about/about.h"

/* Appends what `ran-train info` prints about a file: a title, and lines of name and value. The name
 * begins in column 2, the value in column TRAIN_INFO_COLUMN; lines without a name continue the
 * value. */
enum { TRAIN_INFO_COLUMN = 20 };
void train_info_text(const struct about *a, struct ran_buf *out);

#endif
