/* wide.c - see wide.h. */
#include "model/wide.h"
#include "math/simd.h"

#include <math.h>
#include <string.h>

/* Part of the format of model files: SplitMix64's finaliser (Steele, Lea and Flood 2014), id by id,
 * so that the runs which begin at a token come one out of another. */
static uint64_t extend(uint64_t hash, uint32_t id)
{
        uint64_t z = (hash ^ id) + UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
}

static uint32_t bucket_of(uint64_t hash, size_t buckets)
{
        return (uint32_t)(hash % buckets);
}

uint32_t ran_wide_bucket(const uint32_t *ids, size_t n, size_t buckets)
{
        uint64_t hash = 0;

        for (size_t i = 0; i < n; i++)
                hash = extend(hash, ids[i]);
        return bucket_of(hash, buckets);
}

size_t ran_wide_list(struct ran_place *to, struct ran_place *spare, const struct ran_config *c,
                     const uint32_t *ids, size_t L)
{
        struct ran_place *sorted;
        size_t runs = 0, n = 0;

        for (size_t t = 0; t < L; t++) {
                size_t most = L - t < c->ngrams ? L - t : c->ngrams;
                uint64_t hash = 0;

                for (size_t i = 0; i < most; i++) {
                        hash = extend(hash, ids[t + i]);
                        to[runs++].id = bucket_of(hash, c->wide);
                }
        }
        sorted = ran_places_sort(to, spare, runs);
        for (size_t i = 0, end; i < runs; i = end) {
                uint32_t id = sorted[i].id;

                for (end = i + 1; end < runs && sorted[end].id == id;)
                        end++;
                to[n++] = (struct ran_place){id, (uint32_t)(end - i)}; /* never ahead of i */
        }
        return n;
}

float ran_wide_idf(double having, double documents)
{
        return having < 2 ? 0.0f : (float)(1 + ran_log((1 + documents) / (1 + having)));
}

/* ---- the features of a document ------------------------------------------------------------- */

/* x of a document, its length 1; what does not count is left out. */
static size_t weigh(struct ran_gram *gram, const struct ran_place *list, size_t n, const float *idf)
{
        size_t grams = 0;
        double squares = 0;

        for (size_t i = 0; i < n; i++) {
                double x = (1 + ran_log((double)list[i].at)) * (double)idf[list[i].id];

                if (x == 0)
                        continue;
                gram[grams++] = (struct ran_gram){list[i].id, list[i].at, (float)x};
                squares += x * x;
        }
        for (size_t i = 0; i < grams; i++)
                gram[i].x = (float)((double)gram[i].x / sqrt(squares));
        return grams;
}

static void read_document(struct ran_work *w, const struct ran_params *p, size_t b)
{
        const struct ran_rows *rows = w->rows;
        struct ran_head *h = &w->head;
        size_t at = rows->doc[b] * w->c->ngrams, L = rows->doc[b + 1] - rows->doc[b];
        size_t n = ran_wide_list(h->gram_place, h->gram_spare, w->c, rows->ids + rows->doc[b], L);

        h->grams[b] = weigh(h->gram + at, h->gram_place, n, p->idf);
}

void ran_wide(struct ran_work *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;

        memset(h->wide, 0, w->rows->B * C * sizeof *h->wide);
        for (size_t b = 0; b < w->rows->B; b++) {
                const struct ran_gram *gram = h->gram + w->rows->doc[b] * w->c->ngrams;
                float *wide = h->wide + b * C;

                read_document(w, p, b);
                for (size_t i = 0; i < h->grams[b]; i++)
                        ran_simd->axpy(wide, gram[i].x, p->wide + gram[i].bucket * C, C);
                ran_simd->axpy(h->logits + b * C, w->wide_share, wide, C);
        }
}

/* ---- explaining ----------------------------------------------------------------------------- */

static const struct ran_gram *find(const struct ran_gram *gram, size_t n, uint32_t bucket)
{
        size_t from = 0, to = n;

        while (from < to) {
                size_t middle = from + (to - from) / 2;

                if (gram[middle].bucket < bucket)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < n && gram[from].bucket == bucket ? &gram[from] : NULL;
}

static double dot(const float *x, const float *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += (double)x[i] * (double)y[i];
        return sum;
}

void ran_wide_explain(const struct ran_work *w, const struct ran_params *p, size_t C,
                      const float *weight, double share, double *value)
{
        const struct ran_head *h = &w->head;
        const struct ran_config *c = w->c;
        const uint32_t *ids = w->rows->ids;
        size_t L = w->rows->L;

        for (size_t t = 0; t < L; t++)
                for (size_t n = 1; n <= c->ngrams && t + n <= L; n++) {
                        uint32_t bucket = ran_wide_bucket(ids + t, n, c->wide);
                        const struct ran_gram *gram = find(h->gram, h->grams[0], bucket);
                        double part;

                        if (gram == NULL)
                                continue;
                        part = share * (double)gram->x * dot(weight, p->wide + bucket * C, C) /
                               (double)(n * gram->times);
                        for (size_t i = t; i < t + n; i++)
                                value[i] += part;
                }
}
