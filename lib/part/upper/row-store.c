/* row-store.c - see row-store.h. */
#include "part/upper/row-store.h"
#include "base/ids-key.h"
#include "base/string-table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ran_row_store {
        pthread_mutex_t lock;
        struct ran_string_table keys;
        size_t *at; /* (keys.n) where the floats of each begin */
        size_t at_cap;
        struct ran_spool floats;
        size_t used;
        bool full; /* there was no room: nothing more is remembered */
};

struct ran_row_store *ran_row_store_new(size_t keep, struct ran_error *err)
{
        struct ran_row_store *k = ran_alloc(1, sizeof *k, err);

        if (k != NULL && pthread_mutex_init(&k->lock, NULL) != 0) {
                ran_fail(err, RAN_ENOMEM, "cannot create a lock: out of memory");
                free(k);
                return NULL;
        }
        if (k != NULL)
                k->floats.keep = keep;
        return k;
}

void ran_row_store_free(struct ran_row_store *k)
{
        if (k == NULL)
                return;
        pthread_mutex_destroy(&k->lock);
        ran_string_table_release(&k->keys);
        ran_spool_release(&k->floats);
        free(k->at);
        free(k);
}

/* The number of a document, under the lock. */
static uint32_t find(const struct ran_row_store *k, const char key[RAN_IDS_KEY])
{
        const uint64_t hash = ran_string_table_hash(ran_string_table_seed, key, RAN_IDS_KEY);

        return ran_string_table_find(&k->keys, hash, "", 0, key, RAN_IDS_KEY);
}

bool ran_row_store_find(struct ran_row_store *k, const uint32_t *ids, size_t L, float *x, size_t n)
{
        char key[RAN_IDS_KEY];

        ran_ids_key(ids, L, key);
        pthread_mutex_lock(&k->lock);
        const uint32_t i = find(k, key);
        if (i != RAN_STRING_TABLE_NONE)
                memcpy(x, (const float *)k->floats.data + k->at[i], n * sizeof *x);
        pthread_mutex_unlock(&k->lock);
        return i != RAN_STRING_TABLE_NONE;
}

/* Room for n floats and one more key. */
static bool reserve(struct ran_row_store *k, size_t n)
{
        size_t room;

        if (k->full || __builtin_add_overflow(k->used, n, &room) ||
            ran_spool_reserve(&k->floats, room, sizeof(float), NULL) == NULL)
                return false;
        size_t *at = ran_grow(k->at, &k->at_cap, k->keys.n + 1, sizeof *at, NULL);
        if (at == NULL)
                return false;
        k->at = at;
        return true;
}

void ran_row_store_add(struct ran_row_store *k, const uint32_t *ids, size_t L, const float *x,
                       size_t n)
{
        char key[RAN_IDS_KEY];

        ran_ids_key(ids, L, key);
        pthread_mutex_lock(&k->lock);
        if (find(k, key) == RAN_STRING_TABLE_NONE) {
                const uint64_t hash =
                        ran_string_table_hash(ran_string_table_seed, key, RAN_IDS_KEY);

                k->full = !reserve(k, n) || ran_string_table_add(&k->keys, hash, key, RAN_IDS_KEY,
                                                                 NULL) == RAN_STRING_TABLE_NONE;
                if (!k->full) {
                        memcpy((float *)k->floats.data + k->used, x, n * sizeof *x);
                        k->at[k->keys.n - 1] = k->used;
                        k->used += n;
                }
        }
        pthread_mutex_unlock(&k->lock);
}
