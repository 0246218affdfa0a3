/* vector-cache.c - see vector-cache.h. The file is a safetensors file:
 *
 *      metadata   format "ran-vectors", encoder: a digest, digest: of the data
 *      document   U8 (n, 16): the beginning of the SHA-256 of a document's ids, ascending; of an
 *                 encoder that reads spelling, of the ids of its spelling as well
 *      vector     F32 (n, width)
 *
 * It is read and written as a whole: vectors that a run made since the last time are lost if it is
 * killed. */
#include "part/vectors/vector-cache.h"
#include "base/error.h"
#include "base/string-table.h"
#include "nn/digest.h"
#include "nn/kept-file.h"
#include "nn/part.h"
#include "part/vectors/document-vector.h"
#include "ran/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 16 };

struct ran_vector_cache {
        char *path; /* NULL: in memory alone */
        struct ran_kept_file file;
        const float *old; /* (olds, width) of the file */
        float *copy;      /* of them, where they cannot be used in place */
        size_t olds, width;
        char encoder[65];
        bool spells; /* the encoder reads the spelling of words */
        struct ran_string_table keys; /* those of the file first */
        float *vector;                /* (keys.n - olds, width) */
        size_t vector_cap;
        size_t found;
        size_t saved; /* keys in the file since it was written; 0: it was not */
        pthread_mutex_t lock;
};

/* ---- keys ----------------------------------------------------------------------------------- */

/* Ids in the same order of bytes on each machine. */
static void add_ids(struct ran_sha256 *sha, const uint32_t *ids, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const unsigned char bytes[4] = {
                        (unsigned char)ids[i], (unsigned char)(ids[i] >> 8),
                        (unsigned char)(ids[i] >> 16), (unsigned char)(ids[i] >> 24)};

                ran_sha256_add(sha, bytes, sizeof bytes);
        }
}

/* Of all that the encoder reads: "Wet" and "wet" may have the same ids. */
static void key_of(const struct ran_vector_cache *k, const struct ran_document *d, char key[KEY])
{
        struct ran_sha256 sha;
        char hex[65];

        ran_sha256_init(&sha);
        add_ids(&sha, d->ids, d->L);
        if (k->spells && d->spelling != NULL)
                add_ids(&sha, d->spelling, d->L * RAN_SPELLING);
        ran_sha256_hex(&sha, hex);
        for (size_t i = 0; i < KEY; i++) {
                const char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

                key[i] = (char)strtoul(two, NULL, 16);
        }
}

static uint64_t hash_of(const char *key)
{
        return ran_string_table_hash(ran_string_table_seed, key, KEY);
}

int ran_vector_cache_bind(struct ran_vector_cache *k, const struct ran_config *c,
                          const struct ran_params *p, size_t V, struct ran_error *err)
{
        char encoder[65];

        RAN_TRY(ran_encoder_digest(encoder, c, p, V, err));
        const bool same =
                strcmp(encoder, k->encoder) == 0 && k->width == ran_document_vector_width(c);
        if (k->encoder[0] != '\0' && !same)
                return ran_fail(err, RAN_EFORMAT,
                                "%s: holds vectors of another encoder: name another file",
                                k->path != NULL ? k->path : "the cache");
        memcpy(k->encoder, encoder, sizeof encoder);
        k->spells = ran_encoder_spelling(c) > 0;
        k->width = ran_document_vector_width(c);
        return RAN_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int read_keys(struct ran_vector_cache *k, const struct ran_tensor *t, struct ran_error *err)
{
        const char *key = (const char *)k->file.tensors.data + t->begin;

        RAN_TRY(ran_string_table_reserve(&k->keys, k->olds, err));
        for (size_t i = 0; i < k->olds; i++, key += KEY) {
                if (i > 0 && memcmp(key - KEY, key, KEY) >= 0)
                        return ran_kept_file_damaged(k->path, RAN_KEPT_VECTORS, err);
                if (ran_string_table_add(&k->keys, hash_of(key), key, KEY, err) ==
                    RAN_STRING_TABLE_NONE)
                        return RAN_ENOMEM;
        }
        return RAN_OK;
}

static int read_file(struct ran_vector_cache *k, struct ran_error *err)
{
        RAN_TRY(ran_kept_file_read(&k->file, k->path, RAN_KEPT_VECTORS, k->encoder, err));
        const struct ran_tensors *file = &k->file.tensors;
        const struct ran_tensor *keys = ran_tensors_find(file, "document");
        const struct ran_tensor *vectors = ran_tensors_find(file, "vector");
        if (keys == NULL || vectors == NULL || keys->dtype != RAN_DTYPE_U8 || keys->rank != 2 ||
            keys->shape[1] != KEY || vectors->dtype != RAN_DTYPE_F32 || vectors->rank != 2 ||
            vectors->shape[0] != keys->shape[0] || vectors->shape[1] == 0 ||
            keys->shape[0] >= RAN_STRING_TABLE_NONE / 2)
                return ran_kept_file_damaged(k->path, RAN_KEPT_VECTORS, err);
        k->olds = keys->shape[0];
        k->width = vectors->shape[1];
        k->old = ran_tensor_in_place(file, vectors);
        if (k->old == NULL) {
                k->old = k->copy = ran_alloc_floats(vectors->elements, err);
                if (k->copy == NULL)
                        return RAN_ENOMEM;
                RAN_TRY(ran_tensor_floats(file, vectors, k->copy, err));
        }
        return read_keys(k, keys, err);
}

static void free_cache(struct ran_vector_cache *k)
{
        pthread_mutex_destroy(&k->lock);
        ran_string_table_release(&k->keys);
        ran_kept_file_release(&k->file);
        free(k->copy);
        free(k->vector);
        free(k->path);
        free(k);
}

struct ran_vector_cache *ran_vector_cache_open(const char *path, struct ran_error *err)
{
        err = ran_error_or_spare(err);
        struct ran_vector_cache *k = ran_alloc(1, sizeof *k, err);
        bool is_there = false;
        int rc = RAN_OK;

        if (k == NULL)
                return NULL;
        pthread_mutex_init(&k->lock, NULL);
        if (path != NULL) {
                k->path = ran_kept_path(path, &is_there, err);
                rc = k->path == NULL ? RAN_ENOMEM : is_there ? read_file(k, err) : RAN_OK;
        }
        if (rc == RAN_OK)
                return k;
        free_cache(k);
        return NULL;
}

/* ---- use ------------------------------------------------------------------------------------ */

static const float *vector_at(const struct ran_vector_cache *k, size_t i)
{
        return i < k->olds ? k->old + i * k->width : k->vector + (i - k->olds) * k->width;
}

bool ran_vector_cache_find(struct ran_vector_cache *k, const struct ran_document *d, float *v)
{
        char key[KEY];

        key_of(k, d, key);
        pthread_mutex_lock(&k->lock);
        const uint32_t at = ran_string_table_find(&k->keys, hash_of(key), "", 0, key, KEY);
        if (at != RAN_STRING_TABLE_NONE) {
                memcpy(v, vector_at(k, at), k->width * sizeof *v);
                k->found += at < k->olds;
        }
        pthread_mutex_unlock(&k->lock);
        return at != RAN_STRING_TABLE_NONE;
}

void ran_vector_cache_add(struct ran_vector_cache *k, const struct ran_document *d, const float *v)
{
        char key[KEY];
        size_t room;

        key_of(k, d, key);
        pthread_mutex_lock(&k->lock);
        const size_t at = k->keys.n - k->olds;
        float *grown = NULL;
        if (ran_string_table_find(&k->keys, hash_of(key), "", 0, key, KEY) ==
                    RAN_STRING_TABLE_NONE &&
            !__builtin_mul_overflow(at + 1, k->width, &room))
                grown = ran_grow(k->vector, &k->vector_cap, room, sizeof *grown, NULL);
        if (grown != NULL) {
                k->vector = grown;
                memcpy(grown + at * k->width, v, k->width * sizeof *v);
                ran_string_table_add(&k->keys, hash_of(key), key, KEY, NULL);
        }
        pthread_mutex_unlock(&k->lock);
}

void ran_vector_cache_counts(const struct ran_vector_cache *k, size_t *found, size_t *computed)
{
        *found = k->found;
        *computed = k->keys.n - k->olds;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct entry {
        const char *key;
        const float *vector;
};

static int compare(const void *a, const void *b)
{
        return memcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key, KEY);
}

static int write_file(const struct ran_vector_cache *k, struct ran_error *err)
{
        const size_t n = k->keys.n, width = k->width;
        struct entry *entry = ran_alloc(n, sizeof *entry, err);
        char *keys = ran_alloc(n, KEY, err);
        float *vectors = NULL;
        size_t all;
        int rc = RAN_ENOMEM;

        if (!__builtin_mul_overflow(n, width, &all))
                vectors = ran_alloc_floats(all, err);
        if (entry != NULL && keys != NULL && vectors != NULL) {
                size_t ignored;

                for (size_t i = 0; i < n; i++)
                        entry[i] = (struct entry){
                                ran_string_table_get(&k->keys, (uint32_t)i, &ignored),
                                vector_at(k, i)};
                qsort(entry, n, sizeof *entry, compare);
                for (size_t i = 0; i < n; i++) {
                        memcpy(keys + i * KEY, entry[i].key, KEY);
                        memcpy(vectors + i * width, entry[i].vector, width * sizeof *vectors);
                }
                const struct ran_tensor_source tensors[] = {
                        {"document", RAN_DTYPE_U8, 2, {n, KEY}, keys},
                        {"vector", RAN_DTYPE_F32, 2, {n, width}, vectors}};
                const struct ran_metadata_source meta[] = {
                        {"format", ran_kept_format(RAN_KEPT_VECTORS)}, {"encoder", k->encoder}};

                rc = ran_tensors_write(k->path, tensors, 2, meta, 2, err);
        }
        free(entry);
        free(keys);
        free(vectors);
        return rc;
}

int ran_vector_cache_save(struct ran_vector_cache *k, struct ran_error *err)
{
        if (k->path == NULL || k->keys.n == (k->saved > 0 ? k->saved : k->olds))
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
