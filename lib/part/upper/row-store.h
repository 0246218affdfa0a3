/* row-store.h - outputs of a frozen encoder, known by the ids of their document: none is computed
 * twice in a training. What outgrows memory goes to a temporary file (base/spool.c). */
#ifndef RAN_PART_ROW_STORE_H
#define RAN_PART_ROW_STORE_H

#include "ran/base.h"

/* keep: bytes that stay in memory, as of a spool; 0: as many as usual. */
struct ran_row_store *ran_row_store_new(size_t keep, struct ran_error *err);
void ran_row_store_free(struct ran_row_store *k);
/* Fills n floats of the document with L ids and returns true if it is known. Thread-safe, as is
 * _add, which remembers them unless memory is short: then they are computed again. */
bool ran_row_store_find(struct ran_row_store *k, const uint32_t *ids, size_t L, float *x, size_t n);
void ran_row_store_add(struct ran_row_store *k, const uint32_t *ids, size_t L, const float *x,
                       size_t n);

#endif
