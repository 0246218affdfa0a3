/* dense-read.h - a frozen encoder reads the documents of a data set. */
#ifndef RAN_INFER_DENSE_READ_H
#define RAN_INFER_DENSE_READ_H

#include "data/dense.h"

/* Reads all documents, each alone, as scoring does. */
int ran_dense_read(struct ran_dense *k, const struct ran_config *c, const struct ran_params *p,
                   size_t C, const struct ran_dataset *d, struct ran_pool *pool,
                   int (*pass)(void *arg, size_t passes, double share), void *arg,
                   struct ran_error *err);

#endif
