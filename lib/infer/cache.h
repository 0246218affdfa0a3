/* cache.h - a cache over the recent past, for scoring. ran/model.h has the equations, cache.c the
 * method. */
#ifndef RAN_MODEL_CACHE_H
#define RAN_MODEL_CACHE_H

#include "ran/model.h"

/* Makes room for n more positions and, with logits, for V tokens (else 0), so that ran_cache_mix
 * cannot fail. RAN_EINVAL: its model has another width than D. */
int ran_cache_reserve(struct ran_cache *c, size_t D, size_t n, size_t V, struct ran_error *err);

/* n successive positions: h (n, D) are the encoder's outputs, gold (n) the next tokens; nll (n)
 * and logits (n, V), either or both NULL, the model's. Replaces nll by that of the mixture and
 * logits by its log-probabilities, and remembers the positions. A position whose gold is
 * RAN_NO_ID is not remembered: its next token is unknown. */
void ran_cache_mix(struct ran_cache *c, struct ran_pool *pool, const float *h, const uint32_t *gold,
                   size_t n, float *nll, float *logits, size_t V);

#endif
