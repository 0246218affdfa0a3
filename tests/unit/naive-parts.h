/* naive-parts.h - what the plain loops of naive.h share: parameters by their names, building
 * blocks; and the vectors of documents, an encoder a file. */
#ifndef RAN_TESTS_UNIT_NAIVE_PARTS_H
#define RAN_TESTS_UNIT_NAIVE_PARTS_H

#include "naive.h"

/* ---- parameters ------------------------------------------------------------------------------ */

/* A weight (O, I), or scales (O), and a bias (O). Absent ones are NULL. */
struct pair {
        const double *w, *b;
        size_t O, I;
};

struct glu {
        struct pair value, gate;
};

struct naive_layer {
        size_t l;
        struct pair gpc, gpc_norm, input_norm, output_norm, update_norm, review_norm;
        struct pair q, k, v, out, review_q, review_k, review_v, review_out;
        struct glu output, update, review;
        struct pair cell_out, cell_norm, update_gate, feed_norm, feed_value, feed_gate,
                feed_down; /* prenorm */
};

struct naive_head {
        struct pair wide, pool, pool_norm, cell, gpc, out;
        struct glu gpc_glu;
};

/* "name.weight" and "name.bias", or "name" as it is. */
struct pair naive_pair(const struct naive *n, const char *name);

/* ---- building blocks ------------------------------------------------------------------------- */

bool naive_is_published(const struct naive *n);
/* phi and GLUs: a published cell has them, too. */
bool naive_is_gated(const struct naive *n);
bool naive_is_prenorm(const struct naive *n);
double naive_sigmoid(double x);
/* SiLU in a gated cell, else the identity. */
double naive_phi(const struct naive *n, double x);
/* y (N, O) = x (N, I) W^T + b; with `activated` phi of it. */
void naive_linear(const struct naive *n, double *y, const double *x, struct pair p, size_t N,
                  bool activated);
/* y (N, D) += GLU(x) */
void naive_add_glu(const struct naive *n, double *y, const double *x, struct glu g, size_t N);
/* LN with the parameters of p, or SN where p is NULL, in place. A published cell divides by the
 * root of the mean square. */
void naive_norm(const struct naive *n, double *x, const struct pair *p, size_t N);
void naive_softmax(double *x, size_t n);
/* Dropout of n values that stand at `at` among those of a site: 16 bits of a draw for each. */
void naive_drop(const struct naive *n, double *x, size_t count, size_t at, size_t layer, int site,
                double p);
/* Pairs of numbers of a row (h d), turned by its position. */
void naive_rotate(double *row, size_t position, size_t h, size_t d);
/* x (L, D): rows of the embedding, after dropout. */
void naive_read_tokens(const struct naive *n, double *x, const uint32_t *ids, size_t L);
/* v (D): the maximum or mean of x (L, D). */
void naive_pool(const struct naive *n, double *v, const double *x, size_t L);

/* ---- vectors of documents -------------------------------------------------------------------- */

/* Of a RAN: equation (10). */
void naive_read_cells(const struct naive *n, double *sum, const uint32_t *ids, size_t L);
/* What a RAN learned to make: see part/ran/vector.c; as long as heads want it. */
void naive_read_learned(const struct naive *n, double *v, const uint32_t *ids, size_t L);
/* The last context of a Contextualizer. */
void naive_read_context(const struct naive *n, double *c, const uint32_t *ids, size_t L);
/* Of a Transformer: tokens alone, there is no cell. */
void naive_read_pooled(const struct naive *n, double *v, const uint32_t *ids, size_t L);

#endif
