/* vector-cache.c - see vector-cache.h. The file is a safetensors file:
 *
 *      metadata   format "ran-vectors"; encoder: a digest, and of vectors of tokens "/" and the
 *                 layers that make them; digest: of the data
 *      key        U8 (n, 32): keys of documents or windows, ascending
 *      numbers    U32 (n): how many floats each has
 *      vector     F32 (their sum)
 *
 * It is read and written as a whole: vectors that a run made since the last time are lost if it is
 * killed. */
#include "nn/vector-cache.h"
#include "base/string-table.h"
#include "nn/part.h"
#include "tensors/tensors.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY = 32 }; /* hexadecimal digits of a key */

struct ran_vector_cache {
        char *path; /* NULL: in memory alone */
        char encoder[90];
        size_t layers, most; /* floats to keep */
        struct ran_string_table keys;
        size_t *end; /* (keys.n) of the floats of each */
        size_t end_cap;
        struct ran_spool floats;
        size_t olds;  /* keys that the file had */
        size_t saved; /* keys in the file */
        bool full;
        pthread_mutex_t lock;
};

struct ran_vector_cache *ran_vector_cache_new(size_t layers, size_t keep, size_t most)
{
        struct ran_vector_cache *k = ran_new(1, sizeof *k);

        k->layers = layers;
        k->floats.keep = keep;
        k->most = most / sizeof(float);
        pthread_mutex_init(&k->lock, NULL);
        return k;
}

static void free_cache(struct ran_vector_cache *k)
{
        pthread_mutex_destroy(&k->lock);
        ran_string_table_release(&k->keys);
        ran_spool_release(&k->floats);
        free(k->end);
        free(k->path);
        free(k);
}

size_t ran_vector_cache_layers(const struct ran_vector_cache *k)
{
        return k != NULL ? k->layers : 0;
}

int ran_vector_cache_bind(struct ran_vector_cache *k, const struct ran_config *c,
                          const struct ran_params *p, size_t V, size_t layers,
                          struct ran_error *err)
{
        char encoder[sizeof k->encoder];

        ran_encoder_digest(encoder, c, p, V);
        if (layers > 0)
                snprintf(encoder + 64, sizeof encoder - 64, "/%zu", layers);
        if (k->encoder[0] != '\0' && strcmp(encoder, k->encoder) != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "%s: holds vectors of another encoder, or of other layers: name "
                                "another file",
                                k->path != NULL ? k->path : "the cache");
        memcpy(k->encoder, encoder, sizeof encoder);
        k->layers = layers;
        return RAN_OK;
}

/* ---- use ------------------------------------------------------------------------------------ */

/* Ids in the same order of bytes on each machine. */
static void add_ids(struct ran_sha256 *sha, const uint32_t *ids, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const uint32_t id = htole32(ids[i]);

                ran_sha256_add(sha, &id, sizeof id);
        }
}

struct ran_vector_key ran_vector_key(const uint32_t *ids, size_t n, const uint32_t *spelling,
                                     size_t m)
{
        struct ran_vector_key key = {0};
        struct ran_sha256 sha;

        ran_sha256_init(&sha);
        add_ids(&sha, ids, n);
        add_ids(&sha, spelling, m);
        ran_sha256_hex(&sha, key.hex);
        return key;
}

/* The floats of key i, n of them. They move when some are added. */
static const float *floats_of(const struct ran_vector_cache *k, size_t i, size_t *n)
{
        const size_t begin = i > 0 ? k->end[i - 1] : 0;

        *n = k->end[i] - begin;
        return (const float *)k->floats.data + begin;
}

bool ran_vector_cache_find(struct ran_vector_cache *k, struct ran_vector_key key, float *x,
                           size_t n)
{
        size_t has = 0;

        pthread_mutex_lock(&k->lock);
        const uint32_t i = ran_string_table_find(&k->keys, key.hex, KEY);
        const float *found = i != RAN_STRING_TABLE_NONE ? floats_of(k, i, &has) : NULL;
        if (found != NULL && has == n)
                memcpy(x, found, n * sizeof *x);
        pthread_mutex_unlock(&k->lock);
        return found != NULL && has == n;
}

/* Adds floats behind all others; false: there is no room for them. */
static bool add(struct ran_vector_cache *k, const char *key, const float *x, size_t n)
{
        const size_t at = k->keys.n, used = at > 0 ? k->end[at - 1] : 0;
        float *all;

        if (n > k->most || used > k->most - n ||
            RAN_GROW(k->end, k->end_cap, at + 1, NULL) != RAN_OK ||
            RAN_SPOOL(k->floats, all, used + n, NULL) != RAN_OK)
                return false;
        k->end[at] = used + n;
        ran_string_table_add(&k->keys, key, KEY);
        memcpy(all + used, x, n * sizeof *all);
        return true;
}

void ran_vector_cache_add(struct ran_vector_cache *k, struct ran_vector_key key, const float *x,
                          size_t n)
{
        pthread_mutex_lock(&k->lock);
        if (!k->full && ran_string_table_find(&k->keys, key.hex, KEY) == RAN_STRING_TABLE_NONE)
                k->full = !add(k, key.hex, x, n);
        pthread_mutex_unlock(&k->lock);
}

void ran_vector_cache_counts(const struct ran_vector_cache *k, size_t *found, size_t *computed)
{
        *found = k->olds;
        *computed = k->keys.n - k->olds;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int damaged(const struct ran_vector_cache *k, struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT,
                        "%s: this is no file of vectors that this version of ran wrote, or it is "
                        "damaged: remove it or name another",
                        k->path);
}

/* The text of a member of the metadata; empty: there is none. */
static const char *metadata(const struct ran_tensors *t, const char *name)
{
        const struct ran_metadata *found = ran_tensors_metadata(t, name);

        return found != NULL && found->text_n == strlen(found->text) ? found->text : "";
}

/* A tensor of n elements, of n keys or, with n SIZE_MAX, any; NULL: there is none. */
static const struct ran_tensor *tensor_of(const struct ran_tensors *t, const char *name,
                                          enum ran_dtype dtype, size_t n)
{
        const struct ran_tensor *found = ran_tensors_find(t, name);

        return found != NULL && found->dtype == dtype && (found->elements == n || n == SIZE_MAX)
                       ? found
                       : NULL;
}

static int read_tensors(struct ran_vector_cache *k, const struct ran_tensors *t,
                        struct ran_error *err)
{
        const char *encoder = metadata(t, "encoder");
        const struct ran_tensor *keys = tensor_of(t, "key", RAN_DTYPE_U8, SIZE_MAX),
                                *vectors = tensor_of(t, "vector", RAN_DTYPE_F32, SIZE_MAX);
        const size_t n = keys != NULL ? keys->elements / KEY : 0;
        const struct ran_tensor *numbers = tensor_of(t, "numbers", RAN_DTYPE_U32, n);
        uint32_t *copy = NULL;
        size_t end = 0;
        float *all;

        if (strcmp(metadata(t, "format"), "ran-vectors") != 0 || encoder[0] == '\0' ||
            strlen(encoder) >= sizeof k->encoder || keys == NULL || keys->elements % KEY != 0 ||
            n >= RAN_STRING_TABLE_NONE / 2 || numbers == NULL || vectors == NULL)
                return damaged(k, err);
        memcpy(k->encoder, encoder, strlen(encoder));
        RAN_TRY(RAN_SPOOL(k->floats, all, vectors->elements, err));
        RAN_TRY(ran_tensor_floats(t, vectors, all, err));
        RAN_ROOM(k->end, k->end_cap, n); /* the file has as many keys */
        ran_string_table_reserve(&k->keys, n);
        const uint32_t *list = ran_tensor_integers(t, numbers, &copy);
        const char *key = (const char *)t->data + keys->begin;
        bool fits = true;
        for (; k->olds < n && fits; key += KEY) {
                fits = list[k->olds] <= vectors->elements - end &&
                       (k->olds == 0 || memcmp(key - KEY, key, KEY) < 0);
                end += list[k->olds];
                k->end[k->olds++] = end;
                ran_string_table_add(&k->keys, key, KEY);
        }
        free(copy);
        k->saved = n;
        return fits && end == vectors->elements ? RAN_OK : damaged(k, err);
}

static int read_file(struct ran_vector_cache *k, struct ran_error *err)
{
        struct ran_error why = {0};
        struct ran_bytes bytes;
        struct ran_tensors t;

        RAN_TRY(ran_bytes_open(&bytes, k->path, err));
        int rc = ran_tensors_read(&t, &bytes, &why);
        if (rc == RAN_ENOMEM)
                ran_fail(err, rc, "%s", why.text);
        else if (rc != RAN_OK || ran_tensors_verify(&t, &why) != RAN_OK)
                rc = damaged(k, err);
        else
                rc = read_tensors(k, &t, err);
        ran_tensors_release(&t);
        ran_bytes_release(&bytes);
        return rc;
}

struct ran_vector_cache *ran_vector_cache_open(const char *path, size_t keep, size_t most,
                                               struct ran_error *err)
{
        struct ran_vector_cache *k = ran_vector_cache_new(0, keep, most);
        struct stat st;

        if (path == NULL)
                return k;
        k->path = ran_copy(path, strlen(path));
        if ((stat(path, &st) != 0 && errno == ENOENT) ||
            read_file(k, ran_error_or_spare(err)) == RAN_OK)
                return k;
        free_cache(k);
        return NULL;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct entry {
        const char *key;
        size_t number;
};

static int by_key(const void *a, const void *b)
{
        return memcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key, KEY);
}

/* In the order of the keys. */
static int write_file(const struct ran_vector_cache *k, struct ran_error *err)
{
        const size_t n = k->keys.n, all = n > 0 ? k->end[n - 1] : 0;
        struct ran_spool vectors = {.keep = k->floats.keep};
        float *vector;
        size_t has;

        RAN_TRY(RAN_SPOOL(vectors, vector, all, err));
        struct entry *entry = ran_new(n, sizeof *entry);
        char *keys = ran_new(n, KEY);
        uint32_t *numbers = ran_new(n, sizeof *numbers);
        for (size_t i = 0; i < n; i++)
                entry[i] = (struct entry){ran_string_table_get(&k->keys, (uint32_t)i, &has), i};
        qsort(entry, n, sizeof *entry, by_key);
        for (size_t i = 0; i < n; i++, vector += has) {
                const float *x = floats_of(k, entry[i].number, &has);

                memcpy(keys + i * KEY, entry[i].key, KEY);
                memcpy(vector, x, has * sizeof *x);
                numbers[i] = (uint32_t)has;
        }
        const struct ran_tensor_source tensors[] = {
                {"key", RAN_DTYPE_U8, 2, {n, KEY}, keys},
                {"numbers", RAN_DTYPE_U32, 1, {n}, numbers},
                {"vector", RAN_DTYPE_F32, 1, {all}, vectors.data}};
        const struct ran_metadata_source meta[] = {{"format", "ran-vectors"},
                                                   {"encoder", k->encoder}};
        const int rc = ran_tensors_write(k->path, NULL, tensors, 3, meta, 2, err);
        free(entry);
        free(keys);
        free(numbers);
        ran_spool_release(&vectors);
        return rc;
}

int ran_vector_cache_save(struct ran_vector_cache *k, struct ran_error *err)
{
        if (k->path == NULL || k->keys.n == k->saved)
                return RAN_OK;
        RAN_TRY(write_file(k, ran_error_or_spare(err)));
        k->saved = k->keys.n;
        return RAN_OK;
}

int ran_vector_cache_close(struct ran_vector_cache *k, struct ran_error *err)
{
        if (k == NULL)
                return RAN_OK;
        const int rc = ran_vector_cache_save(k, err);
        free_cache(k);
        return rc;
}
