/* vector-cache.h - vectors that a pretrained encoder has made of texts, so that none is computed
 * twice: of documents, or of the tokens of windows below the layers that are tuned (struct
 * ran_vector_cache in ran/model.h).
 *
 * A key stands for all that the encoder reads of a text. Windows do not see each other, so that the
 * rows of one are a function of its ids. Threads may share a cache. What it has no room for is
 * computed again, to the same bits. */
#ifndef RAN_NN_VECTOR_CACHE_H
#define RAN_NN_VECTOR_CACHE_H

#include "nn/params.h"
#include "ran/model.h"

/* One in memory alone. layers: of the encoder, the lowest, that make the vectors; 0: all. */
struct ran_vector_cache *ran_vector_cache_new(size_t layers, size_t keep, size_t most);
/* Says whose vectors they are, by a digest of the encoder's weights (V rows of the embedding) and
 * of the settings that change a vector. RAN_EFORMAT: the cache has those of another one, or of
 * other layers. Call it before those below. */
int ran_vector_cache_bind(struct ran_vector_cache *k, const struct ran_config *c,
                          const struct ran_params *p, size_t V, size_t layers,
                          struct ran_error *err);
/* 0 without k. */
size_t ran_vector_cache_layers(const struct ran_vector_cache *k);

/* The SHA-256 of ids, and of the ids of their spelling (m; 0: it is not read). */
struct ran_vector_key {
        char hex[65];
};
struct ran_vector_key ran_vector_key(const uint32_t *ids, size_t n, const uint32_t *spelling,
                                     size_t m);
/* Copies the n floats of a key; false: they are not there. */
bool ran_vector_cache_find(struct ran_vector_cache *k, struct ran_vector_key key, float *x,
                           size_t n);
/* Keeps them, where there is room. */
void ran_vector_cache_add(struct ran_vector_cache *k, struct ran_vector_key key, const float *x,
                          size_t n);

#endif
