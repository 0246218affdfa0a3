/* cache.h - what the scorer and the file of a state do with a cache over the recent past. See ran.h
 * for what it is, and cache.c for how it is done. */
#ifndef RAN_MODEL_CACHE_H
#define RAN_MODEL_CACHE_H

#include "ran.h"

/* Makes room for n positions more, and for the logits of V tokens if those are wanted (else 0):
 * then ran_cache_mix cannot fail. */
int ran_cache_reserve(struct ran_cache *c, size_t n, size_t V, struct ran_error *err);

/* n positions, one after another: h (n, D) is the output that tells what follows each, gold (n)
 * what does, nll (n) and logits (n, V), either or both NULL, what the model says. Puts what model
 * and cache together say in their place, the logits as log-probabilities, and remembers the
 * positions. Those whose gold is RAN_NO_ID are not remembered: what follows them is not known. */
void ran_cache_mix(struct ran_cache *c, struct ran_pool *pool, const float *h, const uint32_t *gold,
                   size_t n, float *nll, float *logits, size_t V);

/* What is remembered, the oldest first: key (rows, D) of length 1, next (rows). */
size_t ran_cache_rows(const struct ran_cache *c);
size_t ran_cache_positions(const struct ran_cache *c); /* as many at most */
size_t ran_cache_width(const struct ran_cache *c);     /* D */
void ran_cache_pack(const struct ran_cache *c, float *key, uint32_t *next);
/* Remembers the last `positions` of that and nothing else, after `seen` positions in all. */
int ran_cache_unpack(struct ran_cache *c, const float *key, const uint32_t *next, size_t rows,
                     size_t seen, struct ran_error *err);

#endif
