/* info-text.h - what a model, a checkpoint or a vocabulary is, for people. */
#ifndef CMD_TRAIN_ABOUT_INFO_TEXT_H
#define CMD_TRAIN_ABOUT_INFO_TEXT_H

#include "cmd/pages/report.h"
#include "cmd/train/about/about.h"

/* Adds rows of name and value, for people only. */
void train_info_rows(const struct about *a, struct report *r);

#endif
