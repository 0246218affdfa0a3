/* vector-cache.c - see vector-cache.h. The file is a safetensors file:
 *
 *      metadata   format "ran-vectors" (of documents) or "ran-rows" (of tokens), encoder: a digest,
 *                 layers (of tokens only), digest: of the data
 *      document   U8 (n, 16): keys of documents or windows, ascending
 *      rows       U32 (n): the vectors of each window; a document has one, and no such tensor
 *      vector     F32 (sum of rows, width)
 *
 * It is read and written as a whole: vectors that a run made since the last time are lost if it is
 * killed. */
#include "nn/vector-cache.h"
#include "base/error.h"
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

enum { KEY = sizeof(struct ran_vector_key) };

static const struct {
        const char *format, *name, *holds, *others;
} kinds[] = {
        [RAN_VECTORS_OF_DOCUMENTS] = {"ran-vectors", "vectors", "vectors of documents",
                                      "vectors of another encoder"},
        [RAN_VECTORS_OF_TOKENS] = {"ran-rows", "rows", "rows of tokens",
                                   "rows of another encoder, or of other layers"},
};

struct ran_vector_cache {
        enum ran_vectors_of of;
        char *path; /* NULL: in memory alone */
        char encoder[65];
        size_t layers, width, most;
        struct ran_string_table keys; /* those of the file first */
        size_t *end;                  /* (keys.n) the end of the rows of each */
        size_t end_cap;

        struct ran_bytes bytes; /* the file, */
        struct ran_tensors tensors;
        const float *old;      /* its rows, */
        float *copy;           /* a copy where they cannot be used in place, */
        size_t olds;           /* and its keys */
        struct ran_spool rows; /* behind those of the file */

        size_t found; /* how often a key of the file was asked for */
        size_t saved; /* keys in the file */
        bool full;
        pthread_mutex_t lock;
};

struct ran_vector_cache *ran_vector_cache_new(enum ran_vectors_of of, size_t layers, size_t width,
                                              size_t keep, size_t most)
{
        struct ran_vector_cache *k = ran_new(1, sizeof *k);

        k->of = of;
        k->layers = layers;
        k->width = width;
        k->rows.keep = keep;
        k->most = most;
        pthread_mutex_init(&k->lock, NULL);
        return k;
}

static void free_cache(struct ran_vector_cache *k)
{
        pthread_mutex_destroy(&k->lock);
        ran_string_table_release(&k->keys);
        ran_tensors_release(&k->tensors);
        ran_bytes_release(&k->bytes);
        ran_spool_release(&k->rows);
        free(k->end);
        free(k->copy);
        free(k->path);
        free(k);
}

size_t ran_vector_cache_layers(const struct ran_vector_cache *k)
{
        return k != NULL ? k->layers : 0;
}

int ran_vector_cache_bind(struct ran_vector_cache *k, const struct ran_config *c,
                          const struct ran_params *p, size_t V, size_t layers, size_t width,
                          struct ran_error *err)
{
        char encoder[65];

        RAN_TRY(ran_encoder_digest(encoder, c, p, V, err));
        if (k->encoder[0] != '\0' &&
            (strcmp(encoder, k->encoder) != 0 || k->layers != layers || k->width != width))
                return ran_fail(err, RAN_EFORMAT, "%s: holds %s: name another file",
                                k->path != NULL ? k->path : "the cache", kinds[k->of].others);
        memcpy(k->encoder, encoder, sizeof encoder);
        k->layers = layers;
        k->width = width;
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
        struct ran_vector_key key = {{0}};
        struct ran_sha256 sha;
        char hex[65];

        ran_sha256_init(&sha);
        add_ids(&sha, ids, n);
        add_ids(&sha, spelling, m);
        ran_sha256_hex(&sha, hex);
        for (size_t i = 0; i < KEY; i++) {
                const char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

                key.bytes[i] = (char)strtoul(two, NULL, 16);
        }
        return key;
}

static size_t begin_of(const struct ran_vector_cache *k, size_t i)
{
        return i > 0 ? k->end[i - 1] : 0;
}

static const float *rows_of(const struct ran_vector_cache *k, size_t i)
{
        const size_t begin = begin_of(k, i);
        const float *added = k->rows.data;

        return i < k->olds ? k->old + begin * k->width
                           : added + (begin - begin_of(k, k->olds)) * k->width;
}

/* The rows may move while another thread adds some. */
bool ran_vector_cache_find(struct ran_vector_cache *k, struct ran_vector_key key, float *x,
                           size_t rows)
{
        pthread_mutex_lock(&k->lock);
        const uint32_t i = ran_string_table_find(&k->keys, key.bytes, KEY);
        const bool found = i != RAN_STRING_TABLE_NONE && k->end[i] - begin_of(k, i) == rows;
        if (found) {
                memcpy(x, rows_of(k, i), rows * k->width * sizeof *x);
                k->found += i < k->olds;
        }
        pthread_mutex_unlock(&k->lock);
        return found;
}

/* Adds rows behind all others; false: there is no room for them. */
static bool add(struct ran_vector_cache *k, const char *key, const float *x, size_t rows)
{
        const size_t n = k->keys.n, used = begin_of(k, n), row = k->width * sizeof *x;
        const size_t added = used - begin_of(k, k->olds);

        if (rows > k->most / row || used > k->most / row - rows)
                return false;
        if (RAN_GROW(k->end, k->end_cap, n + 1, NULL) != RAN_OK)
                return false;
        k->end[n] = used + rows;
        float *all = ran_spool_reserve(&k->rows, added + rows, row, NULL);
        if (all == NULL)
                return false;
        ran_string_table_add(&k->keys, key, KEY);
        memcpy(all + added * k->width, x, rows * row);
        return true;
}

void ran_vector_cache_add(struct ran_vector_cache *k, struct ran_vector_key key, const float *x,
                          size_t rows)
{
        pthread_mutex_lock(&k->lock);
        if (!k->full && ran_string_table_find(&k->keys, key.bytes, KEY) == RAN_STRING_TABLE_NONE)
                k->full = !add(k, key.bytes, x, rows);
        pthread_mutex_unlock(&k->lock);
}

void ran_vector_cache_counts(const struct ran_vector_cache *k, size_t *found, size_t *computed)
{
        *found = k->of == RAN_VECTORS_OF_DOCUMENTS ? k->found : k->olds;
        *computed = k->keys.n - k->olds;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int damaged(const struct ran_vector_cache *k, struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT,
                        "%s: this is no file of %s that ran wrote, or it is damaged: remove it "
                        "or name another",
                        k->path, kinds[k->of].name);
}

/* The text of a member of the metadata; empty: there is none. */
static const char *metadata(const struct ran_vector_cache *k, const char *name)
{
        const struct ran_metadata *found = ran_tensors_metadata(&k->tensors, name);

        return found != NULL && found->text_n == strlen(found->text) ? found->text : "";
}

static int read_metadata(struct ran_vector_cache *k, struct ran_error *err)
{
        const char *format = metadata(k, "format"), *encoder = metadata(k, "encoder");
        const char *layers = metadata(k, "layers");
        const bool tokens = k->of == RAN_VECTORS_OF_TOKENS;

        if (strcmp(format, kinds[!tokens].format) == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "%s: holds %s, and %s are needed here: name another file", k->path,
                                kinds[!tokens].holds, kinds[tokens].holds);
        if (strcmp(format, kinds[tokens].format) != 0 || strlen(encoder) != 64 ||
            (tokens && !ran_parse_size(layers, strlen(layers), &k->layers)))
                return damaged(k, err);
        memcpy(k->encoder, encoder, sizeof k->encoder);
        return RAN_OK;
}

static int read_keys(struct ran_vector_cache *k, const struct ran_tensor *keys,
                     struct ran_error *err)
{
        const char *key = (const char *)k->tensors.data + keys->begin;

        ran_string_table_reserve(&k->keys, k->olds);
        for (size_t i = 0; i < k->olds; i++, key += KEY) {
                if (i > 0 && memcmp(key - KEY, key, KEY) >= 0)
                        return damaged(k, err);
                ran_string_table_add(&k->keys, key, KEY);
        }
        return RAN_OK;
}

/* Where the rows of each key end. all: the rows of the file. */
static int read_ends(struct ran_vector_cache *k, const struct ran_tensor *rows, size_t all,
                     struct ran_error *err)
{
        uint32_t *copy = NULL;
        const uint32_t *list = rows != NULL ? ran_tensor_integers(&k->tensors, rows, &copy) : NULL;
        size_t end = 0;
        bool fits = true;

        RAN_ROOM(k->end, k->end_cap, k->olds); /* the file has as many keys */
        for (size_t i = 0; i < k->olds && fits; i++) {
                const size_t n = list != NULL ? list[i] : 1;

                fits = n <= all - end;
                k->end[i] = end += n;
        }
        free(copy);
        return fits && end == all ? RAN_OK : damaged(k, err);
}

static int read_tensors(struct ran_vector_cache *k, struct ran_error *err)
{
        const struct ran_tensor *keys = ran_tensors_find(&k->tensors, "document");
        const struct ran_tensor *rows = ran_tensors_find(&k->tensors, "rows");
        const struct ran_tensor *vectors = ran_tensors_find(&k->tensors, "vector");

        if (keys == NULL || vectors == NULL || keys->dtype != RAN_DTYPE_U8 || keys->rank != 2 ||
            keys->shape[1] != KEY || vectors->dtype != RAN_DTYPE_F32 || vectors->rank != 2 ||
            vectors->shape[1] == 0 || keys->shape[0] >= RAN_STRING_TABLE_NONE / 2 ||
            (k->of == RAN_VECTORS_OF_TOKENS) != (rows != NULL) ||
            (rows != NULL &&
             (rows->dtype != RAN_DTYPE_U32 || rows->rank != 1 || rows->elements != keys->shape[0])))
                return damaged(k, err);
        k->olds = k->saved = keys->shape[0];
        k->width = vectors->shape[1];
        k->old = ran_tensor_in_place(&k->tensors, vectors);
        if (k->old == NULL) {
                k->old = k->copy = ran_new_floats(vectors->elements);
                RAN_TRY(ran_tensor_floats(&k->tensors, vectors, k->copy, err));
        }
        RAN_TRY(read_ends(k, rows, vectors->shape[0], err));
        return read_keys(k, keys, err);
}

static int read_file(struct ran_vector_cache *k, struct ran_error *err)
{
        struct ran_error why = {0};

        RAN_TRY(ran_bytes_open(&k->bytes, k->path, err));
        if (ran_tensors_read(&k->tensors, &k->bytes, &why) != RAN_OK)
                return why.code == RAN_ENOMEM ? ran_fail(err, RAN_ENOMEM, "%s", why.text)
                                              : damaged(k, err);
        RAN_TRY(read_metadata(k, err));
        if (ran_tensors_verify(&k->tensors, &why) != RAN_OK)
                return damaged(k, err);
        return read_tensors(k, err);
}

struct ran_vector_cache *ran_vector_cache_open(enum ran_vectors_of of, const char *path,
                                               size_t keep, struct ran_error *err)
{
        err = ran_error_or_spare(err);
        const size_t most = of == RAN_VECTORS_OF_TOKENS ? RAN_VECTOR_CACHE_MOST : SIZE_MAX;
        struct ran_vector_cache *k = ran_vector_cache_new(of, 0, 0, keep, most);
        struct stat st;

        if (path == NULL)
                return k;
        k->path = ran_copy(path, strlen(path));
        if ((stat(path, &st) != 0 && errno == ENOENT) || read_file(k, err) == RAN_OK)
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
        const size_t n = k->keys.n, all = begin_of(k, n), tokens = k->of == RAN_VECTORS_OF_TOKENS;
        struct entry *entry = ran_new(n, sizeof *entry);
        char *keys = ran_new(n, KEY), layers[24];
        uint32_t *rows = ran_new(n, sizeof *rows);
        struct ran_spool vectors = {.keep = k->rows.keep};
        float *vector = ran_spool_reserve(&vectors, all, k->width * sizeof *vector, err);
        int rc = vector != NULL ? RAN_OK : (int)err->code;

        for (size_t i = 0; i < n; i++) {
                size_t ignored;

                entry[i] = (struct entry){ran_string_table_get(&k->keys, (uint32_t)i, &ignored), i};
        }
        qsort(entry, n, sizeof *entry, by_key);
        for (size_t i = 0; i < n && vector != NULL && rc == RAN_OK; i++) {
                const size_t number = entry[i].number;

                memcpy(keys + i * KEY, entry[i].key, KEY);
                rows[i] = (uint32_t)(k->end[number] - begin_of(k, number));
                memcpy(vector, rows_of(k, number), rows[i] * k->width * sizeof *vector);
                vector += rows[i] * k->width;
        }
        snprintf(layers, sizeof layers, "%zu", k->layers);
        const struct ran_tensor_source tensors[] = {
                {"document", RAN_DTYPE_U8, 2, {n, KEY}, keys},
                {"vector", RAN_DTYPE_F32, 2, {all, k->width}, vectors.data},
                {"rows", RAN_DTYPE_U32, 1, {n}, rows}};
        const struct ran_metadata_source meta[] = {
                {"format", kinds[k->of].format}, {"encoder", k->encoder}, {"layers", layers}};
        if (rc == RAN_OK)
                rc = ran_tensors_write(k->path, tensors, 2 + tokens, meta, 2 + tokens, err);
        free(entry);
        free(keys);
        free(rows);
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
