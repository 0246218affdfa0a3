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

/* The most bytes of vectors of tokens; less where that cannot be addressed. */
#define RAN_VECTOR_CACHE_MOST ((size_t)1 << (sizeof(size_t) > 4 ? 32 : 30))

/* One in memory alone. layers: of the encoder, the lowest, that make the vectors; 0: all. width:
 * the numbers in one. `keep` bytes of them are in memory, the rest in a file, as ran_spool does it
 * (0: RAN_SPOOL_KEEP); `most` bytes are kept. */
struct ran_vector_cache *ran_vector_cache_new(enum ran_vectors_of of, size_t layers, size_t width,
                                              size_t keep, size_t most);
/* Says whose vectors they are, by a digest of the encoder's weights (V rows of the embedding) and
 * of the settings that change a vector. RAN_EFORMAT: the cache has those of another one, or of
 * other layers. Call it before those below. */
int ran_vector_cache_bind(struct ran_vector_cache *k, const struct ran_config *c,
                          const struct ran_params *p, size_t V, size_t layers, size_t width,
                          struct ran_error *err);
/* 0 without k. */
size_t ran_vector_cache_layers(const struct ran_vector_cache *k);

/* The beginning of a SHA-256 of ids, and of the ids of their spelling (m; 0: it is not read). */
struct ran_vector_key {
        char bytes[16];
};
struct ran_vector_key ran_vector_key(const uint32_t *ids, size_t n, const uint32_t *spelling,
                                     size_t m);
/* Copies the vectors (rows, width) of a key; false: they are not there. */
bool ran_vector_cache_find(struct ran_vector_cache *k, struct ran_vector_key key, float *x,
                           size_t rows);
/* Keeps them, where there is room. */
void ran_vector_cache_add(struct ran_vector_cache *k, struct ran_vector_key key, const float *x,
                          size_t rows);

#endif
