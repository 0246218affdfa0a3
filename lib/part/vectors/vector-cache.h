/* vector-cache.h - vectors of documents that a frozen encoder has made: none is computed twice. */
#ifndef RAN_MODEL_VECTOR_CACHE_H
#define RAN_MODEL_VECTOR_CACHE_H

#include "nn/params.h"

/* The encoder's digest is a function of its weights (V rows of the embedding) and of the settings
 * that change a vector. RAN_EFORMAT: the cache has vectors of another one. Call it before the
 * others. */
int ran_vector_cache_bind(struct ran_vector_cache *k, const struct ran_config *c,
                          const struct ran_params *p, size_t V, struct ran_error *err);
/* Fills v and returns true if the document is known. */
bool ran_vector_cache_find(struct ran_vector_cache *k, const struct ran_document *d, float *v);
/* Remembers v, unless memory is short: then it is computed again. */
void ran_vector_cache_add(struct ran_vector_cache *k, const struct ran_document *d, const float *v);

#endif
