/* pretrained.h - what a model says about the encoder that others trained. */
#ifndef CMD_TRAIN_ABOUT_PRETRAINED_H
#define CMD_TRAIN_ABOUT_PRETRAINED_H

#include "cmd/pages/report.h"
#include "cmd/train/about/about.h"

/* Appends the name and licence of an encoder, as far as they are known. */
void train_pretrained_name(const cJSON *said, struct ran_buf *out);
/* Appends what the encoder is: name, type, layers, window, pooling, licence. */
void train_pretrained_say(const struct about *a, struct ran_buf *out);
/* Appends a sentence and the first numbers of its vector; nothing for a model with a head. */
void train_pretrained_sample(const struct about *a, struct ran_buf *out);
/* Adds all of this as members, for machines. */
void train_pretrained_members(const struct about *a, struct report *r);

#endif
