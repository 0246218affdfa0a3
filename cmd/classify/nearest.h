/* nearest.h - --nearest: the documents of a collection that are nearest to each record. */
#ifndef CMD_CLASSIFY_NEAREST_H
#define CMD_CLASSIFY_NEAREST_H

#include "ran.h"

/* A collection: vectors (D) and ids, of which the `most` nearest are asked for. */
struct classify_nearest;
struct classify_nearest *classify_nearest_new(size_t D, size_t most, struct ran_error *err);
void classify_nearest_free(struct classify_nearest *n);
size_t classify_nearest_count(const struct classify_nearest *n);
/* Adds a document: its vector, and its id as JSON. */
int classify_nearest_put(struct classify_nearest *n, const float *v, const char *id, size_t length,
                         struct ran_error *err);
/* Appends the member "nearest" of a record whose vector is v. */
int classify_nearest_add(const struct classify_nearest *n, const float *v, struct ran_buf *out,
                         struct ran_error *err);

#endif
