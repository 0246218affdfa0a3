/* info-json.h - what a model, a checkpoint or a vocabulary is, for machines. */
#ifndef CMD_TRAIN_ABOUT_INFO_JSON_H
#define CMD_TRAIN_ABOUT_INFO_JSON_H

#include "cmd/pages/report.h"
#include "cmd/train/about/about.h"

/* Adds the members of its object. */
void train_info_members(const struct about *a, struct report *r);
/* Adds a result on validation documents: the members of an object, and the cells of a row. */
void train_info_figure(const struct about_figure *f, struct report *r);

#endif
