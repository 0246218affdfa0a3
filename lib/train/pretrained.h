/* pretrained.h - what a model that was trained before gives to a training: that of --init, or the
 * first phase (stages.h). */
#ifndef RAN_TRAIN_PRETRAINED_H
#define RAN_TRAIN_PRETRAINED_H

#include "train/trainer.h"

/* Whether a tensor is of a head, and not of an encoder. */
bool ran_pretrained_is_of_head(const char *tensor);
/* Whether a tensor is below the layers that are tuned, and stays as it is. */
bool ran_pretrained_stays(const struct ran_trainer *t, const char *tensor);
/* The learning rate of a tensor of the encoder, or of the embedding, that was trained before. */
double ran_pretrained_rate(const struct ran_trainer *t, const char *tensor);

/* Rank 0: memory for the encoder that the first phase leaves. */
int ran_pretrained_allocate(struct ran_trainer *t, struct ran_error *err);
/* Rank 0: that encoder, if there is one, replaces the initial weights. */
void ran_pretrained_apply(struct ran_trainer *t);
void ran_pretrained_release(struct ran_trainer *t);

/* For `training` of a model: `,"pretrain":{...}`, the texts, as a part of what the run is; and
 * `,"pretrained":{...}`, what came of it. */
void ran_pretrained_describe_texts(const struct ran_train_job *job, struct ran_buf *out);
void ran_pretrained_describe(const struct ran_trainer *t, struct ran_buf *out);

#endif
