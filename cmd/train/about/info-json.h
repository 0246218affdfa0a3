/* info-json.h - what a model, a checkpoint or a vocabulary is, as JSON. */
#ifndef CMD_TRAIN_ABOUT_INFO_JSON_H
#define CMD_TRAIN_ABOUT_INFO_JSON_H

#include "cmd/train/about/about.h"

/* Appends the members of its object. */
void train_info_members(const struct about *a, struct ran_buf *out);
/* Writes the object, a line on standard output. */
void train_info_json(const struct about *a);

#endif
