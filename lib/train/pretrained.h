/* pretrained.h - what a model that was trained before gives to a training: that of --init. */
#ifndef RAN_TRAIN_PRETRAINED_H
#define RAN_TRAIN_PRETRAINED_H

#include "train/trainer.h"

/* Whether a tensor is of a head, and not of an encoder. */
bool ran_pretrained_is_of_head(const char *tensor);
/* Whether a tensor is below the layers that are tuned, and stays as it is. */
bool ran_pretrained_stays(const struct ran_trainer *t, const char *tensor);
/* The learning rate of a tensor of the encoder, or of the embedding, that was trained before. */
double ran_pretrained_rate(const struct ran_trainer *t, const char *tensor);

#endif
