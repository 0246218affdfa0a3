/* linear-rows.h - which row of the linear model's tables a bucket has.
 *
 * In training the tables have a row for each bucket. A model file holds only rows that are not
 * zero, a small part of them, with their buckets in ascending order (wide.rows); then an index
 * leads from a bucket to its row. A bucket without a row counts as one of zeros.
 *
 *   bucket    3 17 18 40 ...                   of row 0, 1, 2 ...
 *   group     of 64 buckets: which of them have a row, and the row of the first of these
 */
#ifndef RAN_MODEL_LINEAR_ROWS_H
#define RAN_MODEL_LINEAR_ROWS_H

#include "nn/part.h"
#include "tensors/compact.h"

struct ran_linear_rows {
        const uint32_t *bucket; /* (n) ascending */
        size_t n;
        struct ran_linear_group {
                uint64_t has;
                uint64_t row;
        } * group;
};
/* For buckets that are not to be trusted: RAN_EFORMAT unless they ascend below `buckets`. They stay
 * the caller's. A group of buckets without a row is memory that nobody touches. */
int ran_linear_rows_init(struct ran_linear_rows *r, const uint32_t *bucket, size_t n,
                         size_t buckets, struct ran_error *err);
void ran_linear_rows_release(struct ran_linear_rows *r);
/* The first of x [from, end), which ascend, that is not below `least`; end: there is none. */
static inline uint32_t ran_linear_lower_bound(const uint32_t *x, size_t from, size_t end,
                                              size_t least)
{
        while (from < end) {
                const size_t middle = from + (end - from) / 2;

                if (x[middle] < least)
                        from = middle + 1;
                else
                        end = middle;
        }
        return (uint32_t)from;
}

/* Not __builtin_popcountll, which is a function where not all processors have the instruction. */
static inline uint32_t ran_linear_count_bits(uint64_t x)
{
        x -= x >> 1 & UINT64_C(0x5555555555555555);
        x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
        x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
        return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* The table as a file has it in fewer bits (compact.h), in place of wide and idf. */
struct ran_linear_compact {
        const uint16_t *f16; /* (rows, C), or */
        const int8_t *i8;    /* (rows, C), */
        const float *scale;  /* (rows) of those; else NULL */
        const uint16_t *idf; /* (rows) F16; NULL: the other has them, or there are none */
        size_t rows;
};

/* Tensors and mapped tables of the parts "linear" and "words". */
struct ran_linear_params {
        float *bias;       /* (C) */
        float *dense;      /* (F, C) of features that other parts make, or NULL */
        const float *wide; /* (rows, C); NULL: compact */
        const float *idf;  /* (rows) of a classifier's; NULL: none, or compact */
        struct ran_linear_compact compact;
        const struct ran_linear_rows *rows; /* of which buckets; NULL: all c->linear.wide */
        const uint32_t *affixes; /* (V, RAN_AFFIX_ROW) prefixes and suffixes of subwords, as rows of
                                    the table; or NULL */
};
/* X(field, name, rows, cols, init, present when) of its tensors. */
#define RAN_LINEAR_PARAMS(X)                   \
        X(bias, "wide.bias", 0, C, ZERO, true) \
        X(dense, "wide.dense", features, C, ZERO, features > 0)

/* Lists them, and the tables, for both parts (nn/part.h). */
void ran_linear_tensors(struct ran_tensor_walk *k, struct ran_params *params,
                        const struct ran_config *c, size_t C);
size_t ran_linear_tables(struct ran_mapped_table *to, struct ran_params *p,
                         const struct ran_config *c, size_t V, size_t C, size_t rows);

/* Those of a model, which has one of the two parts or none: then NULL. */
static inline struct ran_linear_params *ran_linear_of(const struct ran_params *p)
{
        return p->own[RAN_PART_LINEAR] != NULL ? p->own[RAN_PART_LINEAR] : p->own[RAN_PART_WORDS];
}

/* The row of a bucket in p->wide and p->idf. */
#define RAN_NO_ROW UINT32_MAX
static inline uint32_t ran_linear_row(const struct ran_linear_params *p, uint32_t bucket)
{
        const struct ran_linear_rows *r = p->rows;

        if (r == NULL)
                return bucket;
        const struct ran_linear_group *g = r->group + bucket / 64;
        const uint64_t bit = (uint64_t)1 << bucket % 64;

        return (g->has & bit) != 0 ? (uint32_t)g->row + ran_linear_count_bits(g->has & (bit - 1))
                                   : RAN_NO_ROW;
}

/* What is in a row, however it is stored. */
static inline float ran_linear_idf(const struct ran_linear_params *p, uint32_t row)
{
        return p->idf != NULL ? p->idf[row] : ran_float_of_half(p->compact.idf[row]);
}
static inline void ran_linear_fetch_idf(const struct ran_linear_params *p, uint32_t row)
{
        if (p->idf != NULL)
                __builtin_prefetch(p->idf + row);
        else
                __builtin_prefetch(p->compact.idf + row);
}
/* Fetches the beginning of a row of C weights. */
static inline void ran_linear_fetch_row(const struct ran_linear_params *p, uint32_t row, size_t C)
{
        if (p->wide != NULL)
                __builtin_prefetch(p->wide + row * C);
        else if (p->compact.f16 != NULL)
                __builtin_prefetch(p->compact.f16 + row * C);
        else if (p->compact.i8 != NULL)
                __builtin_prefetch(p->compact.i8 + row * C);
}
static inline bool ran_linear_has_idf(const struct ran_linear_params *p)
{
        return p->idf != NULL || p->compact.idf != NULL;
}
/* y (C) += sum of x_k times row[k] (K). */
void ran_linear_sum(float *y, const struct ran_linear_params *p, const float *x,
                    const uint32_t *row, size_t K, size_t C);
/* y (C) = the row. */
void ran_linear_read_row(float *y, const struct ran_linear_params *p, uint32_t row, size_t C);
/* The product of weight (C) and the row. */
double ran_linear_dot(const float *weight, const struct ran_linear_params *p, uint32_t row,
                      size_t C);

/* Rows of p that are not zero, in weight or idf, with their buckets, for a model file; where all
 * are, that of bucket 0: a file has one row at least. */
struct ran_linear_sparse {
        size_t n;
        uint32_t *bucket;    /* (n) */
        float *weight, *idf; /* (n, C), (n); idf NULL: p has none */
};
void ran_linear_sparse_init(struct ran_linear_sparse *s, const struct ran_linear_params *p,
                            size_t buckets, size_t C);
void ran_linear_sparse_release(struct ran_linear_sparse *s);

/* The other way: weight (buckets, C) and, unless NULL, idf (buckets) with a row for each bucket. */
void ran_linear_rows_spread(const struct ran_linear_params *p, size_t buckets, size_t C,
                            float *weight, float *idf);

#endif
