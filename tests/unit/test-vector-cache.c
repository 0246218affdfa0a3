/* Rows of windows that are kept below the tuned layers: found again, within a bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nn/vector-cache.h"
#include "test.h"
#include "toy.h"

enum { D = 3, MOST = 5 };

/* The ids and rows of window i, of n tokens and n + 1 rows. */
static void window(size_t i, size_t n, uint32_t *ids, float *x)
{
        for (size_t t = 0; t < n; t++)
                ids[t] = (uint32_t)(7 * i + t);
        for (size_t k = 0; k < (n + 1) * D; k++)
                x[k] = (float)(100 * i + k);
}

static bool has(struct ran_vector_cache *k, size_t i, size_t n)
{
        uint32_t ids[MOST];
        float want[(MOST + 1) * D], x[(MOST + 1) * D];

        window(i, n, ids, want);
        return ran_vector_cache_find(k, ran_vector_key(ids, n, NULL, 0), x, (n + 1) * D) &&
               memcmp(x, want, (n + 1) * D * sizeof(*x)) == 0;
}

static void add(struct ran_vector_cache *k, size_t i, size_t n)
{
        uint32_t ids[MOST];
        float x[(MOST + 1) * D];

        window(i, n, ids, x);
        ran_vector_cache_add(k, ran_vector_key(ids, n, NULL, 0), x, (n + 1) * D);
}

TEST(below_finds_what_was_added)
{
        struct ran_vector_cache *k = ran_vector_cache_new(2, 0, SIZE_MAX);

        CHECK(ran_vector_cache_layers(k) == 2 && ran_vector_cache_layers(NULL) == 0);
        CHECK(!has(k, 0, 1));
        for (size_t i = 0; i < 1000; i++)
                add(k, i, 1 + i % MOST);
        for (size_t i = 0; i < 1000; i++)
                CHECK(has(k, i, 1 + i % MOST));
        CHECK(!has(k, 1000, 1));
        CHECK(!has(k, 4, 4)); /* the beginning of another window */
        ran_vector_cache_close(k, NULL);
        ran_vector_cache_close(NULL, NULL);
}

/* Rows of 3 numbers: 12 bytes. Windows of 2 rows. */
TEST(below_keeps_no_more_than_it_may)
{
        struct ran_vector_cache *k = ran_vector_cache_new(1, 0, 5 * D * sizeof(float));

        add(k, 0, 1);
        add(k, 0, 1); /* known */
        add(k, 1, 1);
        add(k, 2, 1);
        CHECK(has(k, 0, 1) && has(k, 1, 1) && !has(k, 2, 1));
        ran_vector_cache_close(k, NULL);
}

/* Beyond `keep` bytes they are in a file. */
TEST(below_keeps_rows_in_a_file)
{
        struct ran_vector_cache *k = ran_vector_cache_new(1, 1, SIZE_MAX);

        for (size_t i = 0; i < 20000; i++)
                add(k, i, MOST);
        for (size_t i = 0; i < 20000; i += 999)
                CHECK(has(k, i, MOST));
        ran_vector_cache_close(k, NULL);
}

/* ---- in a file ------------------------------------------------------------------------------- */

static const char *path_of(const char *name)
{
        static char path[256];

        snprintf(path, sizeof path, "%s/%s.%ld",
                 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", name, (long)getpid());
        return path;
}

/* An encoder whose rows have the width of the tests. */
static void toy_encoder(struct toy *t)
{
        struct dice dice = {.key = 3};
        struct ran_config c = toy_bert(&dice);

        c.dim = D;
        c.bert.dense = 0;
        c.layers = 2;
        toy_init(t, &c, 1, 0.3);
}

static void write_some(const char *path, const struct toy *t, const size_t *order, size_t n)
{
        struct ran_error err = {0};
        struct ran_vector_cache *k = ran_vector_cache_open(path, 0, SIZE_MAX, &err);

        CHECK(k != NULL);
        CHECK_OK(ran_vector_cache_bind(k, &t->c, &t->p, t->V, 1, &err), err);
        for (size_t i = 0; i < n; i++)
                add(k, order[i], 1 + order[i] % MOST);
        CHECK_OK(ran_vector_cache_close(k, &err), err);
}

static char *bytes_of(const char *path, size_t *n)
{
        FILE *f = fopen(path, "rb");
        char *bytes = malloc(1 << 16);

        *n = f != NULL ? fread(bytes, 1, 1 << 16, f) : 0;
        if (f != NULL)
                fclose(f);
        return bytes;
}

TEST(below_is_in_a_file_the_next_time_in_whatever_order_it_was_made)
{
        static const size_t order[] = {3, 0, 8, 5}, other[] = {5, 8, 0, 3};
        const char *path = path_of("below");
        struct ran_error err = {0};
        size_t n, m, found, computed;
        struct toy t;

        toy_encoder(&t);
        write_some(path, &t, order, 4);
        char *a = bytes_of(path, &n);
        unlink(path);
        write_some(path, &t, other, 4);
        char *b = bytes_of(path, &m);
        CHECK(n > 0 && n == m && memcmp(a, b, n) == 0);

        struct ran_vector_cache *k = ran_vector_cache_open(path, 0, SIZE_MAX, &err);
        CHECK_OK(ran_vector_cache_bind(k, &t.c, &t.p, t.V, 1, &err), err);
        for (size_t i = 0; i < 4; i++)
                CHECK(has(k, order[i], 1 + order[i] % MOST));
        add(k, 9, 2);
        ran_vector_cache_counts(k, &found, &computed);
        CHECK(found == 4 && computed == 1);
        CHECK(ran_vector_cache_bind(k, &t.c, &t.p, t.V, 2, &err) == RAN_EFORMAT);
        ((float *)t.p.block)[0] += 1;
        CHECK(ran_vector_cache_bind(k, &t.c, &t.p, t.V, 1, &err) == RAN_EFORMAT);
        CHECK_OK(ran_vector_cache_close(k, &err), err);
        unlink(path);
        free(a);
        free(b);
        toy_release(&t);
}

/* Cut anywhere, or with a byte changed, it is refused. */
TEST(below_of_a_damaged_file_is_refused)
{
        static const size_t order[] = {3, 0};
        const char *path = path_of("below-damaged");
        size_t n;
        struct toy t;

        toy_encoder(&t);
        write_some(path, &t, order, 2);
        char *bytes = bytes_of(path, &n);
        for (size_t i = 0; i < 2 * n; i++) {
                const size_t at = i / 2, size = i % 2 > 0 ? n : at;
                struct ran_error err = {0};
                FILE *f = fopen(path, "wb");

                bytes[at] ^= i % 2 > 0 ? 0x20 : 0;
                fwrite(bytes, 1, size, f);
                fclose(f);
                bytes[at] ^= i % 2 > 0 ? 0x20 : 0;
                struct ran_vector_cache *k = ran_vector_cache_open(path, 0, SIZE_MAX, &err);
                /* a digest of another encoder, or another number of layers, is no damage */
                if (k != NULL && !CHECK(i % 2 > 0 && ran_vector_cache_bind(k, &t.c, &t.p, t.V, 1,
                                                                           &err) != RAN_OK))
                        printf("%s at %zu of %zu\n", i % 2 > 0 ? "changed" : "cut", at, n);
                ran_vector_cache_close(k, NULL);
        }
        unlink(path);
        free(bytes);
        toy_release(&t);
}
