/* nearest.h - --nearest: the documents of a collection that are nearest to each record. */
#ifndef CMD_CLASSIFY_NEAREST_H
#define CMD_CLASSIFY_NEAREST_H

#include "cmd/classify/predict.h"

/* A collection: vectors and ids. */
struct classify_nearest;

/* Reads the files of --among: the vectors that --embed wrote into their records, else their
 * documents. Exits if they cannot be read or have no document. */
struct classify_nearest *classify_nearest_open(const struct classifier *c);
void classify_nearest_free(struct classify_nearest *n);
/* Appends the member "nearest" of a record whose vector is v. */
int classify_nearest_add(const struct classify_nearest *n, const float *v, struct ran_buf *out,
                         struct ran_error *err);

#endif
