/* known.h - the fingerprints of the documents that a training learned from. */
#ifndef RAN_TRAIN_KNOWN_H
#define RAN_TRAIN_KNOWN_H

#include "file/model.h"
#include "ran/train.h"

/* The tensor for the model file: these, and those of the model that training began with. The caller
 * frees its data. */
int ran_known_make(const struct ran_train_job *job, bool refitted, struct ran_extra *extra,
                   struct ran_error *err);

#endif
