/* cache.h - a cache over the recent past, for scoring and for the file of a context. ran/model.h
 * has the equations, cache.c the method. */
#ifndef RAN_MODEL_CACHE_H
#define RAN_MODEL_CACHE_H

#include "ran/model.h"

/* Makes room for n more positions and, with logits, for V tokens (else 0), so that ran_cache_mix
 * cannot fail. */
int ran_cache_reserve(struct ran_cache *c, size_t n, size_t V, struct ran_error *err);

/* n successive positions: h (n, D) are the encoder's outputs, gold (n) the next tokens; nll (n)
 * and logits (n, V), either or both NULL, the model's. Replaces nll by that of the mixture and
 * logits by its log-probabilities, and remembers the positions. A position whose gold is
 * RAN_NO_ID is not remembered: its next token is unknown. */
void ran_cache_mix(struct ran_cache *c, struct ran_pool *pool, const float *h, const uint32_t *gold,
                   size_t n, float *nll, float *logits, size_t V);

/* The memory, the oldest position first: key (rows, D) of length 1, next (rows). */
size_t ran_cache_rows(const struct ran_cache *c);
size_t ran_cache_positions(const struct ran_cache *c); /* rows at most */
size_t ran_cache_width(const struct ran_cache *c);     /* D */
void ran_cache_pack(const struct ran_cache *c, float *key, uint32_t *next);
/* Replaces the memory by the last `positions` of these, after `seen` positions in all. */
int ran_cache_unpack(struct ran_cache *c, const float *key, const uint32_t *next, size_t rows,
                     size_t seen, struct ran_error *err);

#endif
