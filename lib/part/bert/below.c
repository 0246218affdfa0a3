/* below.c - see below.h. */
#include "part/bert/below.h"
#include "base/error.h"
#include "base/string-table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ran_below {
        size_t layers, D, most;
        struct ran_string_table windows; /* their ids, as bytes */
        size_t *end;                     /* (windows.n) the end of each one's rows */
        size_t end_cap;
        struct ran_spool rows; /* (end[n - 1], D) */
        bool full;
        pthread_mutex_t lock;
};

struct ran_below *ran_below_new(size_t layers, size_t D, size_t keep, size_t most,
                                struct ran_error *err)
{
        struct ran_below *k = ran_alloc(1, sizeof *k, err);

        if (k == NULL)
                return NULL;
        *k = (struct ran_below){.layers = layers, .D = D, .most = most, .rows = {.keep = keep}};
        pthread_mutex_init(&k->lock, NULL);
        return k;
}

void ran_below_free(struct ran_below *k)
{
        if (k == NULL)
                return;
        ran_string_table_release(&k->windows);
        ran_spool_release(&k->rows);
        free(k->end);
        pthread_mutex_destroy(&k->lock);
        free(k);
}

size_t ran_below_layers(const struct ran_below *k)
{
        return k != NULL ? k->layers : 0;
}

static uint64_t hash_of(const uint32_t *ids, size_t n)
{
        return ran_string_table_hash(ran_string_table_seed, (const char *)ids, n * sizeof *ids);
}

/* The rows of window i. */
static float *rows_of(const struct ran_below *k, uint32_t i)
{
        float *all = k->rows.data;

        return all + (i > 0 ? k->end[i - 1] : 0) * k->D;
}

static uint32_t find(const struct ran_below *k, uint64_t hash, const uint32_t *ids, size_t n)
{
        return ran_string_table_find(&k->windows, hash, (const char *)ids, n * sizeof *ids, NULL,
                                     0);
}

/* The rows may move while another thread adds some. */
bool ran_below_find(struct ran_below *k, const uint32_t *ids, size_t n, float *x, size_t rows)
{
        const uint64_t hash = hash_of(ids, n);

        pthread_mutex_lock(&k->lock);
        const uint32_t i = find(k, hash, ids, n);
        if (i != RAN_STRING_TABLE_NONE)
                memcpy(x, rows_of(k, i), rows * k->D * sizeof *x);
        pthread_mutex_unlock(&k->lock);
        return i != RAN_STRING_TABLE_NONE;
}

/* Room for one more window of so many rows; false: there is none. */
static bool has_room(struct ran_below *k, size_t rows)
{
        const size_t n = k->windows.n, used = n > 0 ? k->end[n - 1] : 0;
        const size_t row = k->D * sizeof(float);
        struct ran_error err;

        if (rows > k->most / row || used > k->most / row - rows)
                return false;
        size_t *end = ran_grow(k->end, &k->end_cap, n + 1, sizeof *end, &err);
        if (end == NULL)
                return false;
        k->end = end;
        end[n] = used + rows;
        return ran_spool_reserve(&k->rows, used + rows, row, &err) != NULL;
}

void ran_below_add(struct ran_below *k, const uint32_t *ids, size_t n, const float *x, size_t rows)
{
        const uint64_t hash = hash_of(ids, n);
        struct ran_error err;

        pthread_mutex_lock(&k->lock);
        if (!k->full && find(k, hash, ids, n) == RAN_STRING_TABLE_NONE) {
                k->full = !has_room(k, rows);
                const uint32_t i =
                        k->full ? RAN_STRING_TABLE_NONE
                                : ran_string_table_add(&k->windows, hash, (const char *)ids,
                                                       n * sizeof *ids, &err);
                k->full = i == RAN_STRING_TABLE_NONE;
                if (!k->full)
                        memcpy(rows_of(k, i), x, rows * k->D * sizeof *x);
        }
        pthread_mutex_unlock(&k->lock);
}
