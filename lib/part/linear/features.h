/* features.h - the features of the linear model (part/linear/linear-model.h) for a data set, hashed
 * once.
 *
 * Hashing costs more than one pass of the solver, and passes are many. So each document is hashed
 * into its list of buckets once; the lists stay in memory or, beyond what the data set may keep
 * there, in a file. From the lists come the rows of a sparse matrix: only buckets that count (idf
 * above 0) have a column, so that the solver's arrays hold what occurs and nothing else.
 *
 *   lists      document 0: (bucket, times) (bucket, times) ...   ascending by bucket
 *   matrix     row 0:      (column, x)     (column, x) ...       |row| = 1
 *   bucket     column -> bucket              the most frequent first
 */
#ifndef RAN_TRAIN_FEATURES_H
#define RAN_TRAIN_FEATURES_H

#include "base/posting.h"
#include "ran/train.h"

/* Documents of a data set as lists. Zero-initialise. */
struct ran_feature_lists {
        struct ran_posting *posting; /* (first[B]): bucket, and how often it occurs */
        size_t *first;               /* (B+1) */
        struct ran_spool spool, first_spool;
};
/* subwords: those of the vocabulary where c wants them, as in linear-model.h. keep: bytes that may
 * stay in memory; 0: RAN_SPOOL_KEEP. */
int ran_feature_lists_read(struct ran_feature_lists *l, const struct ran_config *c,
                           const struct ran_dataset *d, const uint32_t *subwords, size_t keep,
                           struct ran_pool *pool, struct ran_error *err);
void ran_feature_lists_release(struct ran_feature_lists *l);
/* idf (c->linear.wide) of the n documents given. */
void ran_feature_lists_idf(const struct ran_feature_lists *l, const struct ran_config *c,
                           const size_t *document, size_t n, float *idf);

/* Rows of a sparse matrix, one for each of n documents. Zero-initialise. */
struct ran_features {
        size_t n, columns;
        size_t affixes;   /* the first bucket of affixes; SIZE_MAX: there are none */
        uint32_t *bucket; /* (columns) */
        size_t *first;    /* (n+1) */
        uint32_t *column; /* (first[n]), in the order of buckets */
        float *x;         /* (first[n]) */
        struct ran_spool column_spool, x_spool;
};
int ran_features_make(struct ran_features *f, const struct ran_feature_lists *l,
                      const struct ran_config *c, const size_t *document, size_t n,
                      const float *idf, size_t keep, struct ran_pool *pool, struct ran_error *err);
void ran_features_release(struct ran_features *f);

#endif
