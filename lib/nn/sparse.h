/* sparse.h - attention over a pattern, at the cost of its scores: one document, any mask of
 * ran/mask.h, no array of L x L, forward or backward.
 *
 *      a_i = sum over the keys j that query i sees of p_ij v_j,    p_ij = softmax over j of s(q_i,
 * k_j)
 *
 * The work is divided into blocks of queries, or of keys, of one head. Any thread may run them in
 * any order: they are independent. Runs of keys become matrix products, single keys the diagonals
 * that they form with the queries of a block (mask.h). The backward pass computes scores anew, from
 * the log-sum of each row.
 */
#ifndef RAN_MODEL_SPARSE_H
#define RAN_MODEL_SPARSE_H

#include "mask/mask.h"

struct ran_sparse {
        const struct ran_mask *mask; /* (h) of each head; its N is L */
        int similarity;              /* RAN_SIMILARITY_... */
        size_t L, h, d_k;
        /* By heads: with heads side by side, reading single keys of a long text is several times
         * slower. q, k and v, q and k after rotary: */
        const float *qkv; /* (3h, L, d_k) */
        const float *da;  /* (h, L, d_k): read backward */
        float *a;         /* (L, E), E = h d_k: heads side by side */
        float *log_sum; /* (h, L) of the exp of each row's scores: written forward, read backward */
};

/* Sorts n rows (n, heads d_k) by heads: out (heads, L, d_k), of each head its first n rows; and
 * back.
 */
void ran_sparse_pack(float *out, size_t L, const float *rows, size_t n, size_t heads, size_t d_k);
void ran_sparse_unpack(float *rows, const float *in, size_t L, size_t n, size_t heads, size_t d_k);

/* The most queries or keys of one call. Blocks should begin at multiples of it: then results
 * depend on the document alone, to the last bit. */
enum { RAN_SPARSE_BLOCK = 1024 };
/* Scratch of one call. */
size_t ran_sparse_floats(size_t d_k);

/* a and log_sum of head `head` for the queries [i0, i1). */
void ran_sparse_queries(const struct ran_sparse *x, size_t head, size_t i0, size_t i1,
                        float *scratch);
/* p (n): the weights that query i, with its log_sum known, gives to the keys [j, j + n); it must
 * see all of them; n is RAN_SPARSE_BLOCK at most. */
void ran_sparse_weights(float *p, const struct ran_sparse *x, size_t head, size_t i, size_t j,
                        size_t n, float *scratch);
/* Adjoints, from x->da, into dqkv (L, 3E), q, k and v of all heads side by side, overwritten: dq
 * of a block of queries, and dk and dv of a block of keys. delta (h, L) is a_i . da_i of each
 * head: the first function writes it, the second reads it, so do all queries before all keys. */
void ran_sparse_queries_bwd(float *dqkv, float *delta, const struct ran_sparse *x, size_t head,
                            size_t i0, size_t i1, float *scratch);
void ran_sparse_keys_bwd(float *dqkv, const float *delta, const struct ran_sparse *x, size_t head,
                         size_t j0, size_t j1, float *scratch);

#endif
