/* collection.h - reads the collection that --nearest searches. */
#ifndef CMD_CLASSIFY_COLLECTION_H
#define CMD_CLASSIFY_COLLECTION_H

#include "cmd/classify/nearest.h"

struct classifier;

/* Reads the files of --among: the vectors that --embed wrote into their records, else their
 * documents. Exits if they cannot be read or have no document. */
struct classify_nearest *classify_collection_read(const struct classifier *c);

#endif
