/* below.c - see below.h. The file is a safetensors file, of windows in the order of their ids:
 *
 *      metadata   format "ran-rows", encoder: a digest, layers, digest: of the data
 *      tokens     U32 (n): of each window          rows   U32 (n): of each
 *      ids        U32 (sum of tokens)              row    F32 (sum of rows, D)
 *
 * It is read and written as a whole: rows of a run that is killed are lost. */
#include "part/bert/below.h"
#include "base/error.h"
#include "base/string-table.h"
#include "nn/digest.h"
#include "nn/kept-file.h"
#include "ran/model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ran_below {
        char *path; /* NULL: in memory alone */
        char encoder[65];
        size_t layers, D, most;          /* layers and D 0: not known yet */
        struct ran_string_table windows; /* their ids, as bytes */
        size_t *end;                     /* (windows.n) the end of each one's rows */
        size_t end_cap, olds;            /* olds: windows of the file */
        struct ran_spool rows;           /* (end[n - 1], D) */
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

static void free_below(struct ran_below *k)
{
        ran_string_table_release(&k->windows);
        ran_spool_release(&k->rows);
        free(k->end);
        free(k->path);
        pthread_mutex_destroy(&k->lock);
        free(k);
}

size_t ran_below_layers(const struct ran_below *k)
{
        return k != NULL ? k->layers : 0;
}

int ran_below_bind(struct ran_below *k, const struct ran_config *c, const struct ran_params *p,
                   size_t V, size_t layers, struct ran_error *err)
{
        char encoder[65];

        RAN_TRY(ran_encoder_digest(encoder, c, p, V, err));
        if (k->encoder[0] != '\0' &&
            (strcmp(encoder, k->encoder) != 0 || k->layers != layers || k->D != c->dim))
                return ran_fail(err, RAN_EFORMAT,
                                "%s: holds rows of another encoder, or of other layers: name "
                                "another file",
                                k->path != NULL ? k->path : "the cache");
        memcpy(k->encoder, encoder, sizeof encoder);
        k->layers = layers;
        k->D = c->dim;
        return RAN_OK;
}

/* ---- use ------------------------------------------------------------------------------------ */

static uint64_t hash_of(const uint32_t *ids, size_t n)
{
        return ran_string_table_hash(ran_string_table_seed, (const char *)ids, n * sizeof *ids);
}

static size_t begin_of(const struct ran_below *k, size_t i)
{
        return i > 0 ? k->end[i - 1] : 0;
}

/* The rows of window i. */
static float *rows_of(const struct ran_below *k, size_t i)
{
        float *all = k->rows.data;

        return all + begin_of(k, i) * k->D;
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
        const bool found = i != RAN_STRING_TABLE_NONE && k->end[i] - begin_of(k, i) == rows;
        if (found)
                memcpy(x, rows_of(k, i), rows * k->D * sizeof *x);
        pthread_mutex_unlock(&k->lock);
        return found;
}

/* Room for one more window of so many rows; false: there is none. */
static bool has_room(struct ran_below *k, size_t rows)
{
        const size_t n = k->windows.n, used = begin_of(k, n), row = k->D * sizeof(float);
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

void ran_below_counts(const struct ran_below *k, size_t *found, size_t *computed)
{
        *found = k->olds;
        *computed = k->windows.n - k->olds;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The tensors of a file, and what they say. */
struct stored {
        struct ran_kept_file file;
        const uint32_t *tokens, *rows, *ids;
        uint32_t *owned[3]; /* copies of them, where they are none in place */
        const float *row;
        float *copy;
        size_t n, all_tokens, all_rows, D;
};

static void stored_release(struct stored *s)
{
        for (size_t i = 0; i < sizeof s->owned / sizeof *s->owned; i++)
                free(s->owned[i]);
        free(s->copy);
        ran_kept_file_release(&s->file);
}

/* A list of U32; *ok false: there is none of that name. */
static int read_list(struct stored *s, const char *name, uint32_t **owned, const uint32_t **list,
                     size_t *n, bool *ok, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&s->file.tensors, name);

        *ok = t != NULL && t->dtype == RAN_DTYPE_U32 && t->rank == 1;
        if (!*ok)
                return RAN_OK;
        *n = t->elements;
        *list = ran_tensor_integers(&s->file.tensors, t, owned, err);
        return *list != NULL || t->elements == 0 ? RAN_OK : RAN_ENOMEM;
}

static size_t sum_of(const uint32_t *x, size_t n)
{
        size_t sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i];
        return sum;
}

static int read_rows(struct stored *s, bool *ok, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&s->file.tensors, "row");

        *ok = t != NULL && t->dtype == RAN_DTYPE_F32 && t->rank == 2 && t->shape[1] > 0;
        if (!*ok)
                return RAN_OK;
        s->all_rows = t->shape[0];
        s->D = t->shape[1];
        s->row = ran_tensor_in_place(&s->file.tensors, t);
        if (s->row != NULL)
                return RAN_OK;
        s->row = s->copy = ran_alloc_floats(t->elements, err);
        return s->copy != NULL ? ran_tensor_floats(&s->file.tensors, t, s->copy, err) : RAN_ENOMEM;
}

static int read_stored(struct stored *s, const char *path, char encoder[65], struct ran_error *err)
{
        size_t rows = 0;
        bool ok[4] = {false};

        RAN_TRY(ran_kept_file_read(&s->file, path, RAN_KEPT_ROWS, encoder, err));
        RAN_TRY(read_list(s, "tokens", &s->owned[0], &s->tokens, &s->n, &ok[0], err));
        RAN_TRY(read_list(s, "rows", &s->owned[1], &s->rows, &rows, &ok[1], err));
        RAN_TRY(read_list(s, "ids", &s->owned[2], &s->ids, &s->all_tokens, &ok[2], err));
        RAN_TRY(read_rows(s, &ok[3], err));
        return ok[0] && ok[1] && ok[2] && ok[3] && rows == s->n &&
                               sum_of(s->tokens, s->n) == s->all_tokens &&
                               sum_of(s->rows, s->n) == s->all_rows
                       ? RAN_OK
                       : ran_kept_file_damaged(path, RAN_KEPT_ROWS, err);
}

static int take_stored(struct ran_below *k, const struct stored *s, struct ran_error *err)
{
        const char *layers = ran_kept_file_metadata(&s->file, "layers");
        size_t at = 0, row = 0;

        if (!ran_parse_size(layers, strlen(layers), &k->layers))
                return ran_kept_file_damaged(k->path, RAN_KEPT_ROWS, err);
        k->D = s->D;
        for (size_t i = 0; i < s->n; i++) {
                ran_below_add(k, s->ids + at, s->tokens[i], s->row + row * s->D, s->rows[i]);
                at += s->tokens[i];
                row += s->rows[i];
        }
        k->olds = k->windows.n;
        return RAN_OK;
}

static int read_file(struct ran_below *k, struct ran_error *err)
{
        struct stored s = {0};
        int rc = read_stored(&s, k->path, k->encoder, err);

        if (rc == RAN_OK)
                rc = take_stored(k, &s, err);
        stored_release(&s);
        return rc;
}

struct ran_below *ran_below_open(const char *path, size_t keep, struct ran_error *err)
{
        err = ran_error_or_spare(err);
        struct ran_below *k = ran_below_new(0, 0, keep, RAN_BELOW_MOST, err);
        bool is_there = false;

        if (k == NULL || path == NULL)
                return k;
        k->path = ran_kept_path(path, &is_there, err);
        const int rc = k->path == NULL ? RAN_ENOMEM : is_there ? read_file(k, err) : RAN_OK;
        if (rc == RAN_OK)
                return k;
        free_below(k);
        return NULL;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A window, by its number, and its ids. */
struct entry {
        const char *ids;
        size_t n, number;
};

static int compare(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;
        const int c = memcmp(x->ids, y->ids, x->n < y->n ? x->n : y->n);

        return c != 0 ? c : (x->n > y->n) - (x->n < y->n);
}

/* What is written, in order. */
struct written {
        struct entry *entry;
        uint32_t *tokens, *rows, *ids;
        struct ran_spool row;
};

static void written_release(struct written *w)
{
        free(w->entry);
        free(w->tokens);
        free(w->rows);
        free(w->ids);
        ran_spool_release(&w->row);
}

static int sort_entries(const struct ran_below *k, struct written *w, struct ran_error *err)
{
        const size_t n = k->windows.n;

        w->entry = ran_alloc(n, sizeof *w->entry, err);
        w->tokens = ran_alloc(n, sizeof *w->tokens, err);
        w->rows = ran_alloc(n, sizeof *w->rows, err);
        w->ids = ran_alloc(k->windows.bytes_n, 1, err);
        w->row.keep = k->rows.keep;
        if (w->entry == NULL || w->tokens == NULL || w->rows == NULL || w->ids == NULL ||
            ran_spool_reserve(&w->row, begin_of(k, n), k->D * sizeof(float), err) == NULL)
                return err->code;
        for (size_t i = 0; i < n; i++) {
                w->entry[i].ids = ran_string_table_get(&k->windows, (uint32_t)i, &w->entry[i].n);
                w->entry[i].number = i;
        }
        qsort(w->entry, n, sizeof *w->entry, compare);
        return RAN_OK;
}

static void fill(const struct ran_below *k, struct written *w)
{
        char *ids = (char *)w->ids;
        float *row = w->row.data;

        for (size_t i = 0; i < k->windows.n; i++) {
                const struct entry *e = &w->entry[i];
                const size_t rows = k->end[e->number] - begin_of(k, e->number);

                w->tokens[i] = (uint32_t)(e->n / sizeof *w->ids);
                w->rows[i] = (uint32_t)rows;
                memcpy(ids, e->ids, e->n);
                memcpy(row, rows_of(k, e->number), rows * k->D * sizeof *row);
                ids += e->n;
                row += rows * k->D;
        }
}

static int write_file(const struct ran_below *k, struct ran_error *err)
{
        const size_t n = k->windows.n;
        struct written w = {0};
        char layers[24];
        int rc = sort_entries(k, &w, err);

        snprintf(layers, sizeof layers, "%zu", k->layers);
        if (rc == RAN_OK) {
                const struct ran_tensor_source tensors[] = {
                        {"tokens", RAN_DTYPE_U32, 1, {n}, w.tokens},
                        {"rows", RAN_DTYPE_U32, 1, {n}, w.rows},
                        {"ids", RAN_DTYPE_U32, 1, {k->windows.bytes_n / sizeof *w.ids}, w.ids},
                        {"row", RAN_DTYPE_F32, 2, {begin_of(k, n), k->D}, w.row.data}};
                const struct ran_metadata_source meta[] = {
                        {"format", ran_kept_format(RAN_KEPT_ROWS)},
                        {"encoder", k->encoder},
                        {"layers", layers}};

                fill(k, &w);
                rc = ran_tensors_write(k->path, tensors, 4, meta, 3, err);
        }
        written_release(&w);
        return rc;
}

int ran_below_close(struct ran_below *k, struct ran_error *err)
{
        int rc = RAN_OK;

        if (k == NULL)
                return RAN_OK;
        if (k->path != NULL && k->windows.n > k->olds)
                rc = write_file(k, ran_error_or_spare(err));
        free_below(k);
        return rc;
}
