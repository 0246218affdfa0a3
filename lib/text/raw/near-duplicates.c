/* near-duplicates.c - texts found by similar ones: MinHash signatures in bands.
 *
 * A signature has a number for each of many hash functions: the smallest of a text's shingles under
 * it. Two texts have the same number with a probability of their similarity s (Broder, On the
 * resemblance and containment of documents, 1997). The numbers are cut into bands of r; texts whose
 * numbers in a band are all equal meet in a bucket, with probability 1 - (1 - s^r)^bands in at
 * least one (Indyk and Motwani, Approximate nearest neighbors, 1998). r is the largest for which
 * those that are just similar enough nearly always meet. */
#include "ran/text.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNATURE = 128 };
#define MEET 0.999

/* A text in a bucket. */
struct entry {
        uint32_t text, next; /* the entry before it in its bucket, from 1; 0: none */
};

/* A bucket: the key of a band's numbers. */
struct bucket {
        uint64_t key;
        uint32_t last; /* entry, from 1; 0: the bucket is not used */
};

struct ran_near_duplicates {
        double least;
        size_t rows, bands;
        uint32_t factor[SIGNATURE], offset[SIGNATURE];
        struct bucket *bucket; /* (1 << bits), by their keys: open addressing */
        size_t bits, used;
        struct ran_spool entries, shingles, end; /* (texts) of its shingles */
        size_t entry_count, texts;
        struct ran_spool compared; /* (texts) 1 + the search in which it was compared last */
        uint32_t search;
        uint64_t key[SIGNATURE]; /* (bands) of the text at hand */
};

static double power(double x, size_t n)
{
        double y = 1;

        while (n-- > 0)
                y *= x;
        return y;
}

struct ran_near_duplicates *ran_near_duplicates_new(double least)
{
        struct ran_near_duplicates *t = ran_new(1, sizeof *t);

        t->least = least;
        t->rows = 1; /* the most with which texts of this similarity meet */
        for (size_t r = 2; r <= 16; r++)
                if (1 - power(1 - power(least, r), SIGNATURE / r) >= MEET)
                        t->rows = r;
        t->bands = SIGNATURE / t->rows;
        t->bits = 12;
        for (size_t i = 0; i < SIGNATURE; i++) {
                t->factor[i] = (uint32_t)ran_random_draw(1, i) | 1;
                t->offset[i] = (uint32_t)ran_random_draw(2, i);
        }
        t->bucket = ran_new((size_t)1 << t->bits, sizeof *t->bucket);
        return t;
}

void ran_near_duplicates_free(struct ran_near_duplicates *t)
{
        if (t == NULL)
                return;
        free(t->bucket);
        ran_spool_release(&t->entries);
        ran_spool_release(&t->shingles);
        ran_spool_release(&t->end);
        ran_spool_release(&t->compared);
        free(t);
}

/* Fills t->key: a number for each band. */
static void make_keys(struct ran_near_duplicates *t, const struct ran_shingles *s)
{
        uint32_t least[SIGNATURE];

        memset(least, 0xff, sizeof least);
        for (size_t i = 0; i < s->n; i++) {
                const uint32_t x = (uint32_t)(s->hash[i] >> 32);

                for (size_t k = 0; k < SIGNATURE; k++) {
                        const uint32_t h = x * t->factor[k] + t->offset[k];

                        least[k] = h < least[k] ? h : least[k];
                }
        }
        for (size_t band = 0; band < t->bands; band++) {
                uint64_t key = band;

                for (size_t r = 0; r < t->rows; r++)
                        key = ran_random_draw(key, least[band * t->rows + r]);
                t->key[band] = key;
        }
}

static struct bucket *bucket_of(const struct ran_near_duplicates *t, uint64_t key)
{
        const size_t mask = ((size_t)1 << t->bits) - 1;
        size_t at = (size_t)key & mask;

        while (t->bucket[at].last != 0 && t->bucket[at].key != key)
                at = (at + 1) & mask;
        return &t->bucket[at];
}

/* Compares with the texts that are in a bucket with this one, the latest first. */
void ran_near_duplicates_each(struct ran_near_duplicates *t, const struct ran_shingles *s,
                              double (*tell)(void *arg, size_t text, double similarity), void *arg)
{
        const struct entry *entry = t->entries.data;
        uint32_t *compared = t->compared.data;
        const size_t *end = t->end.data;
        const uint64_t *hash = t->shingles.data;
        size_t left = RAN_NEAR_COMPARED;
        double least = t->least;

        if (s->n == 0 || t->texts == 0)
                return;
        if (++t->search == 0) {
                memset(compared, 0, t->texts * sizeof *compared);
                t->search = 1;
        }
        make_keys(t, s);
        for (size_t band = 0; band < t->bands; band++)
                for (uint32_t e = bucket_of(t, t->key[band])->last; e != 0; e = entry[e - 1].next) {
                        const uint32_t i = entry[e - 1].text;
                        const size_t first = i > 0 ? end[i - 1] : 0;

                        if (compared[i] == t->search)
                                continue;
                        compared[i] = t->search;
                        const double x = ran_shingles_similarity(s->hash, s->n, hash + first,
                                                                 end[i] - first, least);
                        least = x > 0 ? tell(arg, i, x) : least;
                        if (least > 1 || --left == 0)
                                return;
                }
}

struct best {
        size_t text;
        double similarity;
};

static double keep_best(void *arg, size_t text, double similarity)
{
        struct best *best = arg;

        if (similarity > best->similarity || text < best->text)
                best->text = text;
        best->similarity = similarity;
        return similarity < 1 ? similarity : 2;
}

size_t ran_near_duplicates_find(struct ran_near_duplicates *t, const struct ran_shingles *s,
                                double *similarity)
{
        struct best best = {RAN_NO_TEXT, 0};

        ran_near_duplicates_each(t, s, keep_best, &best);
        *similarity = best.similarity;
        return best.text;
}

/* Twice the buckets. */
static void widen(struct ran_near_duplicates *t)
{
        struct bucket *old = t->bucket;
        const size_t n = (size_t)1 << t->bits;
        struct bucket *bucket = ran_new(2 * n, sizeof *bucket);

        t->bucket = bucket;
        t->bits++;
        for (size_t i = 0; i < n; i++)
                if (old[i].last != 0)
                        *bucket_of(t, old[i].key) = old[i];
        free(old);
}

static int put(struct ran_near_duplicates *t, uint64_t key, struct ran_error *err)
{
        struct entry *entry;

        if (t->used >= (size_t)1 << (t->bits - 1))
                widen(t);
        RAN_TRY(RAN_SPOOL(t->entries, entry, t->entry_count + 1, err));
        struct bucket *b = bucket_of(t, key);
        t->used += b->last == 0;
        entry[t->entry_count++] = (struct entry){(uint32_t)t->texts, b->last};
        *b = (struct bucket){key, (uint32_t)t->entry_count};
        return RAN_OK;
}

int ran_near_duplicates_add(struct ran_near_duplicates *t, const struct ran_shingles *s,
                            struct ran_error *err)
{
        size_t *end;
        uint32_t *compared;
        uint64_t *hash;

        if (t->texts == UINT32_MAX - 1 || t->entry_count > UINT32_MAX - 1 - SIGNATURE)
                return ran_fail(err, RAN_EINVAL, "too many texts to look for near-duplicates");
        RAN_TRY(RAN_SPOOL(t->end, end, t->texts + 1, err));
        const size_t begin = t->texts > 0 ? end[t->texts - 1] : 0;
        RAN_TRY(RAN_SPOOL(t->compared, compared, t->texts + 1, err));
        RAN_TRY(RAN_SPOOL(t->shingles, hash, begin + s->n + 1, err));
        compared[t->texts] = 0;
        if (s->n > 0) {
                memcpy(hash + begin, s->hash, s->n * sizeof *hash);
                make_keys(t, s);
                for (size_t band = 0; band < t->bands; band++)
                        RAN_TRY(put(t, t->key[band], err));
        }
        end[t->texts++] = begin + s->n;
        return RAN_OK;
}
