/* pretrained.h - what a model says about the encoder that others trained. */
#ifndef CMD_TRAIN_ABOUT_PRETRAINED_H
#define CMD_TRAIN_ABOUT_PRETRAINED_H

#include "cmd/pages/report.h"
#include "cmd/train/about/about.h"

/* Its metadata `pretrained`; false if there are none. Release it. */
bool train_pretrained_open(const struct about *a, struct ran_record *said);
/* Appends its name and licence, as far as they are known. */
void train_pretrained_name(const struct ran_record *said, struct ran_buf *out);
/* Appends what the encoder is: name, type, layers, window, pooling, licence. */
void train_pretrained_say(const struct about *a, const struct ran_record *said,
                          struct ran_buf *out);
/* Appends a sentence and the first numbers of its vector; nothing for a model with a head. */
void train_pretrained_sample(const struct about *a, struct ran_buf *out);
/* Adds all of this as members, for machines. */
void train_pretrained_members(const struct about *a, struct report *r);

#endif
