/* shingles.c - the pairs of adjacent words of a text, as a set of hashes. */
#include "base/string-table.h"
#include "ran/text.h"

#include <stdlib.h>
#include <string.h>

void ran_shingles_release(struct ran_shingles *s)
{
        free(s->hash);
        *s = (struct ran_shingles){0};
}

static int ascending(const void *a, const void *b)
{
        const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static void add(struct ran_shingles *to, uint64_t first, uint64_t second)
{
        RAN_ROOM(to->hash, to->cap, to->n + 1);
        to->hash[to->n++] = ran_random_draw(first, second);
}

/* What is before the first word, and behind the last. */
static const uint64_t edge = 0;

/* Completes a set whose last word was `last`: in order, each hash once. */
static void finish(struct ran_shingles *to, uint64_t last)
{
        size_t kept = 0;

        if (to->n == 0)
                return;
        add(to, last, edge);
        qsort(to->hash, to->n, sizeof *to->hash, ascending);
        for (size_t i = 0; i < to->n; i++)
                if (kept == 0 || to->hash[i] != to->hash[kept - 1])
                        to->hash[kept++] = to->hash[i];
        to->n = kept;
}

int ran_counter_word(const char *words, size_t n, size_t *at, const char **word, size_t *length,
                     struct ran_error *err)
{
        uint32_t bytes = 0;

        if (n - *at >= sizeof bytes)
                memcpy(&bytes, words + *at, sizeof bytes);
        if (bytes == 0 || bytes > n - *at - sizeof bytes)
                return ran_fail(err, RAN_EINVAL, "these are no words");
        *word = words + *at + sizeof bytes;
        *length = bytes;
        *at += sizeof bytes + bytes;
        return RAN_OK;
}

int ran_shingles_of(struct ran_shingles *to, const char *words, size_t n, struct ran_error *err)
{
        uint64_t before = edge;
        const char *s = NULL;
        size_t length = 0;

        to->n = 0;
        for (size_t at = 0; at < n;) {
                RAN_TRY(ran_counter_word(words, n, &at, &s, &length, err));
                const uint64_t word = ran_string_table_hash(ran_string_table_seed, s, length);
                add(to, before, word);
                before = word;
        }
        finish(to, before);
        return RAN_OK;
}

void ran_shingles_of_ids(struct ran_shingles *to, const uint32_t *ids, size_t L)
{
        uint64_t before = edge;

        to->n = 0;
        for (size_t t = 0; t < L; t++) {
                const uint64_t word = ran_random_draw(ids[t], 0);

                add(to, before, word);
                before = word;
        }
        finish(to, before);
}

double ran_shingles_similarity(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
                               double least)
{
        /* With fewer common ones than these, less what rounding adds, the sets differ too much. */
        const double needed = least * (double)(n + m) / (1 + least) - 1e-6;
        const double lacking_a = (double)n - needed, lacking_b = (double)m - needed;
        size_t i = 0, k = 0, common = 0;

        while (i < n && k < m && (double)(i - common) <= lacking_a &&
               (double)(k - common) <= lacking_b) {
                const uint64_t x = a[i], y = b[k];

                common += x == y;
                i += x <= y;
                k += y <= x;
        }
        const double similarity = n + m == common ? 0 : (double)common / (double)(n + m - common);
        return similarity >= least ? similarity : 0;
}
