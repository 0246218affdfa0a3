/* rows.h - what encoders do with rows one by one, in blocks for threads. */
#ifndef RAN_NN_ROWS_H
#define RAN_NN_ROWS_H

#include "ran/base.h"

/* n rows of D numbers, in blocks of `block`, each for one thread. */
struct ran_rows {
        struct ran_pool *pool;
        size_t n, block, D;
        double eps;        /* of norms */
        const float *zero; /* (D) for norms without a bias */
        float *part;       /* (blocks, 2 D) gradients of a norm's weights, block by block */
};
static inline size_t ran_rows_blocks(size_t n, size_t block)
{
        return (n + block - 1) / block;
}

/* Calls fn for each block: n rows from `from` on. */
typedef void ran_rows_block(void *arg, size_t from, size_t n);
void ran_rows_each(const struct ran_rows *k, ran_rows_block *fn, void *arg);

/* out = x + y; out may be x. */
void ran_rows_add(const struct ran_rows *k, float *out, const float *x, const float *y);

/* y = LN(x), stat (n, 2); b NULL: 0. Adjoint: dx += that of dy, which is overwritten; or in place
 * where they are the same. The gradients dw and db, NULL where they are not wanted or absent, are
 * summed in the order of the blocks. */
void ran_rows_norm(const struct ran_rows *k, float *y, float *stat, const float *x, const float *w,
                   const float *b);
void ran_rows_norm_bwd(const struct ran_rows *k, float *dx, float *dy, const float *x,
                       const float *stat, const float *w, float *dw, float *db);

#endif
