/* array.h - vectors in a file of numpy, as --output-format npy writes it, as a collection. */
#ifndef CMD_CLASSIFY_ARRAY_H
#define CMD_CLASSIFY_ARRAY_H

#include "cmd/classify/nearest.h"

/* Whether the file begins as an array of numpy does, or is called so. */
bool array_is(const char *path);
/* Adds its rows of D numbers to the collection, row i as "PATH:i", from 1. `vectors` is the name of
 * those of the model: an array that has another one is refused. A row that is not a
 * number is of a record without a vector, and left out. RAN_EFORMAT, RAN_EIO or RAN_ENOMEM: the
 * sentence names the file. */
int array_read(struct classify_nearest *to, const char *path, size_t D, const char *vectors,
               struct ran_error *err);

#endif
