/* token-vectors.h - vectors of tokens from the texts that they occur in: see token-vectors.c. */
#ifndef RAN_PART_TOKEN_VECTORS_H
#define RAN_PART_TOKEN_VECTORS_H

#include "math/eigen.h"
#include "ran/train.h"

enum { RAN_TOKEN_VECTOR = 128 }; /* numbers of a vector */

/* What the pairs of tokens of texts, with ids below V, are: positive PMI of pairs that are near
 * each other. first NULL: nothing. The arrays may be in files. */
struct ran_token_pairs {
        struct ran_sparse pmi;      /* (V, V) symmetric */
        size_t *count;              /* (V) how often each token occurs */
        struct ran_spool column, x; /* where pmi has them */
};
/* Of the first texts of each set, as many as make `most` positions: one for each token, and one
 * between texts. The others would say the same. */
#define RAN_TOKEN_PAIRS_MOST ((size_t)UINT32_MAX - 1)
int ran_token_pairs_count(struct ran_token_pairs *p, const struct ran_dataset *const *set,
                          size_t sets, size_t V, size_t most, struct ran_pool *pool,
                          struct ran_error *err);
void ran_token_pairs_release(struct ran_token_pairs *p);

/* rows (V, RAN_TOKEN_VECTOR) from pairs: unit vectors; 0 for a token that has none. step: as in
 * ran_eigen_sparse. */
int ran_token_vectors(const struct ran_token_pairs *p, float *rows, uint64_t seed,
                      struct ran_pool *pool, int (*step)(void *arg, double share), void *arg,
                      struct ran_error *err);

#endif
