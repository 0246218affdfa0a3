/* linear-rows.c - see linear-rows.h. */
#include "part/linear/linear-rows.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- the index ------------------------------------------------------------------------------- */

static int check(const uint32_t *bucket, size_t n, size_t buckets, struct ran_error *err)
{
        if (n > buckets)
                return ran_fail(err, RAN_EFORMAT,
                                "the linear model has %zu rows, more than its %zu buckets", n,
                                buckets);
        unsigned wrong = n > 0 && bucket[n - 1] >= buckets;

        for (size_t i = 1; i < n; i++) /* without a branch: half a million of them */
                wrong |= bucket[i] <= bucket[i - 1];
        if (wrong != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor wide.rows is not an ascending list of buckets below %zu",
                                buckets);
        return RAN_OK;
}

int ran_linear_rows_init(struct ran_linear_rows *r, const uint32_t *bucket, size_t n,
                         size_t buckets, struct ran_error *err)
{
        *r = (struct ran_linear_rows){.bucket = bucket, .n = n};
        RAN_TRY(check(bucket, n, buckets, err));
        r->group = ran_alloc(buckets / 64 + 1, sizeof *r->group, err);
        if (r->group == NULL)
                return RAN_ENOMEM;
        for (size_t row = 0; row < n; row++) {
                struct ran_linear_group *g = &r->group[bucket[row] / 64];

                if (g->has == 0)
                        g->row = row;
                g->has |= (uint64_t)1 << bucket[row] % 64;
        }
        return RAN_OK;
}

void ran_linear_rows_release(struct ran_linear_rows *r)
{
        free(r->group);
        *r = (struct ran_linear_rows){0};
}

/* ---- tensors and tables ---------------------------------------------------------------------- */

void ran_linear_tensors(struct ran_tensor_walk *k, struct ran_params *params,
                        const struct ran_config *c, size_t C)
{
        const size_t features = params->own[RAN_PART_LINEAR] != NULL ? ran_parts_features(c) : 0;
        struct ran_linear_params *p = ran_linear_of(params);

        RAN_LINEAR_PARAMS(RAN_TENSOR_FIELD)
}

/* Those of a tagger have no idf. */
size_t ran_linear_tables(struct ran_mapped_table *to, struct ran_params *p,
                         const struct ran_config *c, size_t V, size_t C, size_t rows)
{
        struct ran_linear_params *own = ran_linear_of(p);

        (void)V;
        rows = rows > 0 ? rows : c->linear.wide;
        to[0] = (struct ran_mapped_table){"wide.weight", rows, C, &own->wide, false};
        to[1] = (struct ran_mapped_table){"wide.idf", 0, rows, &own->idf, .halves = true};
        return p->own[RAN_PART_LINEAR] != NULL ? 2 : 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void ran_linear_sum(float *y, const struct ran_linear_params *p, const float *x,
                    const uint32_t *row, size_t K, size_t C)
{
        const struct ran_linear_compact *c = &p->compact;

        if (p->wide != NULL)
                ran_simd->sparse_sum(y, x, row, K, p->wide, C, C);
        else if (c->f16 != NULL)
                ran_simd->sparse_sum_f16(y, x, row, K, c->f16, C, c->rows * C, C);
        else
                ran_simd->sparse_sum_i8(y, x, row, K, c->i8, c->scale, C, c->rows * C, C);
}

void ran_linear_read_row(float *y, const struct ran_linear_params *p, uint32_t row, size_t C)
{
        const float one = 1;

        if (p->wide != NULL) { /* to the bit, with the sign of a zero */
                memcpy(y, p->wide + row * C, C * sizeof *y);
                return;
        }
        memset(y, 0, C * sizeof *y);
        ran_linear_sum(y, p, &one, &row, 1, C);
}

double ran_linear_dot(const float *weight, const struct ran_linear_params *p, uint32_t row,
                      size_t C)
{
        const struct ran_linear_compact *k = &p->compact;
        double sum = 0;

        if (p->wide != NULL)
                return ran_dot(weight, p->wide + row * C, C);
        for (size_t c = 0; c < C; c++) {
                size_t i = row * C + c;

                sum += (double)weight[c] * (double)(k->f16 != NULL
                                                            ? ran_float_of_half(k->f16[i])
                                                            : k->scale[row] * (float)k->i8[i]);
        }
        return sum;
}

/* ---- between sparse and dense ---------------------------------------------------------------- */

/* Whether the row says anything; a row with an idf does without weights, too: a document's length
 * counts it. */
static bool counts(const struct ran_linear_params *p, uint32_t row, size_t C)
{
        const struct ran_linear_compact *k = &p->compact;

        if (ran_linear_has_idf(p) && ran_linear_idf(p, row) != 0)
                return true;
        for (size_t i = row * C; i < (row + 1) * C; i++)
                if (p->wide != NULL  ? p->wide[i] != 0
                    : k->f16 != NULL ? (k->f16[i] & 0x7fff) != 0
                                     : k->i8[i] != 0)
                        return true;
        return false;
}

/* The row of bucket g, if it counts; else RAN_NO_ROW. */
static uint32_t counted_row(const struct ran_linear_params *p, uint32_t g, size_t C)
{
        const uint32_t row = ran_linear_row(p, g);

        return row != RAN_NO_ROW && counts(p, row, C) ? row : RAN_NO_ROW;
}

void ran_linear_sparse_init(struct ran_linear_sparse *s, const struct ran_linear_params *p,
                            size_t buckets, size_t C)
{
        const bool idf = ran_linear_has_idf(p);
        size_t n = 0, at = 0;

        for (uint32_t g = 0; g < buckets; g++)
                n += counted_row(p, g, C) != RAN_NO_ROW;
        n = n > 0 ? n : 1;
        *s = (struct ran_linear_sparse){.n = n,
                                        .bucket = ran_new(n, sizeof *s->bucket),
                                        .weight = ran_new_floats(n * C),
                                        .idf = idf ? ran_new_floats(n) : NULL};
        for (uint32_t g = 0; g < buckets; g++) {
                const uint32_t row = counted_row(p, g, C);

                if (row == RAN_NO_ROW)
                        continue;
                s->bucket[at] = g;
                ran_linear_read_row(s->weight + at * C, p, row, C);
                if (idf)
                        s->idf[at] = ran_linear_idf(p, row);
                at++;
        }
}

void ran_linear_sparse_release(struct ran_linear_sparse *s)
{
        free(s->bucket);
        free(s->weight);
        free(s->idf);
        *s = (struct ran_linear_sparse){0};
}

void ran_linear_rows_spread(const struct ran_linear_params *p, size_t buckets, size_t C,
                            float *weight, float *idf)
{
        memset(weight, 0, buckets * C * sizeof *weight);
        if (idf != NULL)
                memset(idf, 0, buckets * sizeof *idf);
        for (uint32_t g = 0; g < buckets; g++) {
                uint32_t row = ran_linear_row(p, g);

                if (row == RAN_NO_ROW)
                        continue;
                ran_linear_read_row(weight + g * C, p, row, C);
                if (idf != NULL)
                        idf[g] = ran_linear_idf(p, row);
        }
}
