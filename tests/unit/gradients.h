/* gradients.h - loss and gradients of a model as a file. */
#ifndef TESTS_UNIT_GRADIENTS_H
#define TESTS_UNIT_GRADIENTS_H

#include "ran/train.h"

/* Loss and gradients of the first batch (the documents in order, no dropout, no shuffling) as a
 * safetensors file: "loss" (F64, 1) and "grad.NAME" for each tensor. Weights untouched. */
int ran_dump_gradients(const char *model, const struct ran_dataset *data, size_t documents,
                       struct ran_pool *pool, const char *output, struct ran_error *err);

#endif
