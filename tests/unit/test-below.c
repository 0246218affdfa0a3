/* Rows of windows that are kept below the tuned layers: found again, within a bound. */
#include <string.h>

#include "part/bert/below.h"
#include "test.h"

enum { D = 3, MOST = 5 };

/* The ids and rows of window i, of n tokens and n + 1 rows. */
static void window(size_t i, size_t n, uint32_t *ids, float *x)
{
        for (size_t t = 0; t < n; t++)
                ids[t] = (uint32_t)(7 * i + t);
        for (size_t k = 0; k < (n + 1) * D; k++)
                x[k] = (float)(100 * i + k);
}

static bool has(struct ran_below *k, size_t i, size_t n)
{
        uint32_t ids[MOST];
        float want[(MOST + 1) * D], x[(MOST + 1) * D];

        window(i, n, ids, want);
        return ran_below_find(k, ids, n, x, n + 1) &&
               memcmp(x, want, (n + 1) * D * sizeof(*x)) == 0;
}

static void add(struct ran_below *k, size_t i, size_t n)
{
        uint32_t ids[MOST];
        float x[(MOST + 1) * D];

        window(i, n, ids, x);
        ran_below_add(k, ids, n, x, n + 1);
}

TEST(below_finds_what_was_added)
{
        struct ran_error err;
        struct ran_below *k = ran_below_new(2, D, 0, SIZE_MAX, &err);

        CHECK(ran_below_layers(k) == 2 && ran_below_layers(NULL) == 0);
        CHECK(!has(k, 0, 1));
        for (size_t i = 0; i < 1000; i++)
                add(k, i, 1 + i % MOST);
        for (size_t i = 0; i < 1000; i++)
                CHECK(has(k, i, 1 + i % MOST));
        CHECK(!has(k, 1000, 1));
        CHECK(!has(k, 4, 4)); /* the beginning of another window */
        ran_below_free(k);
        ran_below_free(NULL);
}

/* Rows of 3 numbers: 12 bytes. Windows of 2 rows. */
TEST(below_keeps_no_more_than_it_may)
{
        struct ran_error err;
        struct ran_below *k = ran_below_new(1, D, 0, 5 * D * sizeof(float), &err);

        add(k, 0, 1);
        add(k, 0, 1); /* known */
        add(k, 1, 1);
        add(k, 2, 1);
        CHECK(has(k, 0, 1) && has(k, 1, 1) && !has(k, 2, 1));
        ran_below_free(k);
}

/* Beyond `keep` bytes they are in a file. */
TEST(below_keeps_rows_in_a_file)
{
        struct ran_error err;
        struct ran_below *k = ran_below_new(1, D, 1, SIZE_MAX, &err);

        for (size_t i = 0; i < 20000; i++)
                add(k, i, MOST);
        for (size_t i = 0; i < 20000; i += 999)
                CHECK(has(k, i, MOST));
        ran_below_free(k);
}
