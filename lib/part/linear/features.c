/* features.c - see svm.h. */
#include "part/linear/svm.h"
#include "part/linear/linear-model.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ----------------------------------------------------------------------------------- */

/* Documents are hashed so many tokens at a time, one document at least, into scratch that threads
 * share; what remains of each is then appended in order. */
enum { BLOCK_TOKENS = 1 << 15 };

struct block {
        const struct ran_config *c;
        const struct ran_dataset *d;
        const uint32_t *subwords;
        size_t from, n;                      /* documents */
        struct ran_posting *posting, *spare; /* room for all features of the block */
        size_t posting_cap, spare_cap, count_cap;
        size_t *count; /* (n) postings of each document */
};

static size_t room_of(const struct block *k, size_t b)
{
        return (k->d->first[b] - k->d->first[k->from]) * ran_linear_model_features(k->c);
}

static void hash_document(void *arg, size_t i)
{
        const struct block *k = arg;
        size_t b = k->from + i, at = room_of(k, b);

        k->count[i] = ran_linear_model_list(k->posting + at, k->spare + at, k->c, k->subwords,
                                            k->d->ids + k->d->first[b],
                                            k->d->first[b + 1] - k->d->first[b]);
}

static int read_block(struct ran_feature_lists *l, struct block *k, struct ran_pool *pool,
                      struct ran_error *err)
{
        const struct ran_dataset *d = k->d;

        for (k->n = 1; k->from + k->n < d->B; k->n++)
                if (d->first[k->from + k->n + 1] - d->first[k->from] > BLOCK_TOKENS)
                        break;
        const size_t tokens = d->first[k->from + k->n] - d->first[k->from];
        const size_t room = k->n == 1 /* a document of more tokens than a block is alone */
                                    ? ran_linear_model_room(k->c, tokens)
                                    : room_of(k, k->from + k->n);
        RAN_TRY(RAN_GROW(k->posting, k->posting_cap, room, err));
        RAN_TRY(RAN_GROW(k->spare, k->spare_cap, room, err));
        RAN_ROOM(k->count, k->count_cap, k->n);
        ran_parallel(pool, k->n, hash_document, k);
        for (size_t i = 0; i < k->n; i++) {
                size_t b = k->from + i, end = l->first[b] + k->count[i];

                RAN_TRY(RAN_SPOOL(l->spool, l->posting, end, err));
                if (k->count[i] > 0)
                        memcpy(l->posting + l->first[b], k->posting + room_of(k, b),
                               k->count[i] * sizeof *l->posting);
                l->first[b + 1] = end;
        }
        k->from += k->n;
        return RAN_OK;
}

int ran_feature_lists_read(struct ran_feature_lists *l, const struct ran_config *c,
                           const struct ran_dataset *d, const uint32_t *subwords, size_t keep,
                           struct ran_pool *pool, struct ran_error *err)
{
        struct block k = {.c = c, .d = d, .subwords = subwords};
        int rc = RAN_OK;

        l->spool.keep = l->first_spool.keep = keep;
        RAN_TRY(RAN_SPOOL(l->first_spool, l->first, d->B + 1, err));
        l->first[0] = 0;
        while (k.from < d->B && rc == RAN_OK)
                rc = read_block(l, &k, pool, err);
        free(k.posting);
        free(k.spare);
        free(k.count);
        if (rc != RAN_OK)
                ran_feature_lists_release(l);
        return rc;
}

void ran_feature_lists_release(struct ran_feature_lists *l)
{
        ran_spool_release(&l->spool);
        ran_spool_release(&l->first_spool);
        *l = (struct ran_feature_lists){0};
}

void ran_feature_lists_idf(const struct ran_feature_lists *l, const struct ran_config *c,
                           const size_t *document, size_t n, float *idf)
{
        memset(idf, 0, c->linear.wide * sizeof *idf);
        for (size_t i = 0; i < n; i++)
                for (size_t g = l->first[document[i]]; g < l->first[document[i] + 1]; g++)
                        idf[l->posting[g].id]++; /* exact up to 2^24, where it stays */
        float few[64]; /* of the counts that nearly all have: a logarithm takes long */
        const size_t n_few = sizeof few / sizeof *few;
        for (size_t count = 0; count < n_few; count++)
                few[count] = ran_linear_model_idf((double)count, (double)n);
        for (size_t g = 0; g < c->linear.wide; g++)
                idf[g] = idf[g] < (float)n_few ? few[(size_t)idf[g]]
                                               : ran_linear_model_idf((double)idf[g], (double)n);
}

/* ---- matrix ---------------------------------------------------------------------------------- */

struct maker {
        struct ran_features *f;
        const struct ran_feature_lists *l;
        const struct ran_config *c;
        const size_t *document;
        const float *idf;
        const uint32_t *column_of; /* (c->linear.wide) */
};

static void make_row(void *arg, size_t i)
{
        const struct maker *k = arg;
        const size_t b = k->document[i];
        const struct ran_posting *list = k->l->posting + k->l->first[b];
        uint32_t *column = k->f->column + k->f->first[i];

        for (size_t g = 0; g < k->l->first[b + 1] - k->l->first[b]; g++)
                if (k->idf[list[g].id] > 0)
                        *column++ = k->column_of[list[g].id];
        ran_linear_model_weigh(k->f->x + k->f->first[i], list, k->l->first[b + 1] - k->l->first[b],
                               k->idf, ran_linear_model_ngram_buckets(k->c));
}

/* Numbers the buckets that count, the most frequent first, so that what most features read lies
 * together; column_of (c->linear.wide). */
static void number_columns(struct ran_features *f, const struct ran_config *c, const float *idf,
                           uint32_t *column_of)
{
        size_t n = 0, at = 0;

        for (size_t g = 0; g < c->linear.wide; g++)
                n += idf[g] > 0;
        struct ran_posting *order = ran_new(2 * n, sizeof *order);
        f->columns = n;
        f->bucket = ran_new(n, sizeof *f->bucket);
        for (size_t g = 0; g < c->linear.wide; g++)
                if (idf[g] > 0) { /* positive floats are in the order of their bits */
                        memcpy(&order[at].id, &idf[g], sizeof order->id);
                        order[at++].at = (uint32_t)g;
                }
        const struct ran_posting *sorted = ran_posting_sort(order, order + n, n);
        for (size_t column = 0; column < n; column++) {
                f->bucket[column] = sorted[column].at;
                column_of[sorted[column].at] = (uint32_t)column;
        }
        free(order);
}

static void measure_row(void *arg, size_t i)
{
        const struct maker *k = arg;
        const size_t b = k->document[i];
        size_t count = 0;

        for (size_t g = k->l->first[b]; g < k->l->first[b + 1]; g++)
                count += k->idf[k->l->posting[g].id] > 0;
        k->f->first[i + 1] = count;
}

int ran_features_make(struct ran_features *f, const struct ran_feature_lists *l,
                      const struct ran_config *c, const size_t *document, size_t n,
                      const float *idf, size_t keep, struct ran_pool *pool, struct ran_error *err)
{
        uint32_t *column_of = ran_alloc(c->linear.wide, sizeof *column_of, err);
        struct maker k = {f, l, c, document, idf, column_of};

        if (column_of == NULL)
                return RAN_ENOMEM;
        f->affixes = c->linear.affixes ? ran_linear_model_ngram_buckets(c) : SIZE_MAX;
        number_columns(f, c, idf, column_of);
        f->n = n;
        f->first = ran_new(n + 1, sizeof *f->first);
        ran_parallel(pool, n, measure_row, &k);
        for (size_t i = 0; i < n; i++)
                f->first[i + 1] += f->first[i];
        f->column_spool.keep = f->x_spool.keep = keep;
        int rc = RAN_SPOOL(f->column_spool, f->column, f->first[n], err);
        if (rc == RAN_OK)
                rc = RAN_SPOOL(f->x_spool, f->x, f->first[n], err);
        if (rc == RAN_OK)
                ran_parallel(pool, n, make_row, &k);
        free(column_of);
        return rc;
}

void ran_features_release(struct ran_features *f)
{
        free(f->bucket);
        free(f->first);
        ran_spool_release(&f->column_spool);
        ran_spool_release(&f->x_spool);
        *f = (struct ran_features){0};
}
