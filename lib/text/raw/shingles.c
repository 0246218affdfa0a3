/* shingles.c - the pairs of adjacent words of a text, as a set of hashes. */
#include "base/error.h"
#include "base/random.h"
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

static int add(struct ran_shingles *to, uint64_t first, uint64_t second, struct ran_error *err)
{
        uint64_t *hash = ran_grow(to->hash, &to->cap, to->n + 1, sizeof *hash, err);

        if (hash == NULL)
                return RAN_ENOMEM;
        to->hash = hash;
        hash[to->n++] = ran_random_draw_inline(first, second);
        return RAN_OK;
}

int ran_shingles_of(struct ran_shingles *to, const char *words, size_t n, struct ran_error *err)
{
        const uint64_t edge = 0; /* before the first word, and behind the last */
        uint64_t before = edge;
        size_t kept = 0;

        to->n = 0;
        for (size_t at = 0; at < n;) {
                uint32_t length;

                if (n - at < sizeof length)
                        return ran_fail(err, RAN_EINVAL,
                                        "these words are not from ran_counter_words");
                memcpy(&length, words + at, sizeof length);
                at += sizeof length;
                if (length > n - at)
                        return ran_fail(err, RAN_EINVAL,
                                        "these words are not from ran_counter_words");
                const uint64_t word =
                        ran_string_table_hash(ran_string_table_seed, words + at, length);
                RAN_TRY(add(to, before, word, err));
                before = word;
                at += length;
        }
        if (n > 0)
                RAN_TRY(add(to, before, edge, err));
        if (to->n > 0)
                qsort(to->hash, to->n, sizeof *to->hash, ascending);
        for (size_t i = 0; i < to->n; i++)
                if (kept == 0 || to->hash[i] != to->hash[kept - 1])
                        to->hash[kept++] = to->hash[i];
        to->n = kept;
        return RAN_OK;
}

double ran_shingles_similarity(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
        size_t i = 0, k = 0, common = 0;

        while (i < n && k < m) {
                const uint64_t x = a[i], y = b[k];

                common += x == y;
                i += x <= y;
                k += y <= x;
        }
        return n + m == common ? 0 : (double)common / (double)(n + m - common);
}
