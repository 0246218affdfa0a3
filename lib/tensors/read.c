/* read.c - reading safetensors files. The header goes through the scanner of records, which checks
 * JSON and UTF-8 without recursion and leaves numbers as text: a double would lose 64-bit offsets.
 * Every number in it is checked before it is used, every sum and product before it is taken. */
#include "tensors/tensors.h"
#include "ran/record.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, MAX_HEADER = 100000000 /* the format's own limit */ };

/* ---- types ----------------------------------------------------------------------------------- */

#define ENTRY(name, bytes) {#name, bytes},
static const struct {
        const char *name;
        size_t bytes;
} dtypes[RAN_DTYPES] = {RAN_DTYPE_LIST(ENTRY)};

const char *ran_dtype_name(enum ran_dtype dtype)
{
        return dtypes[dtype].name;
}

size_t ran_dtype_bytes(enum ran_dtype dtype)
{
        return dtypes[dtype].bytes;
}

/* From left to right, as the format's validator does: [2^40, 2^40, 0] overflows, [0, 2^63] does
 * not. */
int ran_dtype_size(enum ran_dtype dtype, const size_t *shape, size_t rank, size_t *elements,
                   size_t *bytes, struct ran_error *err)
{
        *elements = 1;
        for (size_t i = 0; i < rank; i++)
                if (__builtin_mul_overflow(*elements, shape[i], elements))
                        return ran_fail(err, RAN_EFORMAT, "the product of its shape overflows");
        return __builtin_mul_overflow(*elements, dtypes[dtype].bytes, bytes)
                       ? ran_fail(err, RAN_EFORMAT, "its size overflows")
                       : RAN_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct reader {
        struct ran_tensors *t;
        const char *header;
        size_t tensors_cap, metadata_cap;
        bool metadata_seen;
        struct ran_error *err;
};

/* Decodes a string of the header and keeps it. Decoding never makes it longer, and its quotes
 * leave room for a NUL: t->strings, with room for the header, does not move. */
static int read_string(struct reader *r, struct ran_span value, const char **s, size_t *n)
{
        struct ran_buf *all = &r->t->strings;
        const size_t before = all->len;

        RAN_TRY(ran_json_decode(r->header, value, all, r->err));
        *s = all->data + before;
        *n = all->len - before;
        ran_buf_char(all, '\0');
        return RAN_OK;
}

static int read_dtype(struct reader *r, struct ran_span value, char type, enum ran_dtype *dtype)
{
        const char *name;
        size_t n;

        if (type != 's')
                return ran_fail(r->err, RAN_EFORMAT, "dtype is not a string");
        RAN_TRY(read_string(r, value, &name, &n));
        for (*dtype = 0; *dtype < RAN_DTYPES; ++*dtype)
                if (strlen(name) == n && strcmp(name, dtypes[*dtype].name) == 0)
                        return RAN_OK;
        return ran_fail(r->err, RAN_EFORMAT, "unknown dtype \"%s\"", name);
}

/* The numbers of an array, of which `to` has room for `most`. */
static int read_sizes(struct reader *r, struct ran_span value, char type, const char *what,
                      size_t *to, size_t most, size_t *count)
{
        size_t x;

        if (type != 'a')
                return ran_fail(r->err, RAN_EFORMAT, "%s is not an array", what);
        *count = 0;
        for (struct ran_items i = ran_items(r->header, value); ran_items_next(&i); ++*count) {
                const char *text = r->header + i.value.begin;
                const size_t n = i.value.end - i.value.begin;

                if (!ran_parse_size(text, n, &x))
                        return ran_fail(r->err, RAN_EFORMAT,
                                        "%s holds %.*s: a whole number from 0 to %zu is needed",
                                        what, (int)(n < 40 ? n : 40), text, SIZE_MAX);
                if (*count < most)
                        to[*count] = x;
        }
        return RAN_OK;
}

static int read_shape(struct reader *r, struct ran_span value, char type, struct ran_tensor *tensor)
{
        RAN_TRY(read_sizes(r, value, type, "shape", tensor->shape, RAN_TENSOR_MAX_RANK,
                           &tensor->rank));
        if (tensor->rank > RAN_TENSOR_MAX_RANK)
                return ran_fail(r->err, RAN_EFORMAT, "shape holds %zu numbers; at most %d",
                                tensor->rank, RAN_TENSOR_MAX_RANK);
        return RAN_OK;
}

static int read_offsets(struct reader *r, struct ran_span value, char type,
                        struct ran_tensor *tensor)
{
        size_t n, range[2];

        RAN_TRY(read_sizes(r, value, type, "data_offsets", range, 2, &n));
        if (n != 2)
                return ran_fail(r->err, RAN_EFORMAT, "data_offsets holds %zu numbers, not 2", n);
        tensor->begin = range[0];
        tensor->end = range[1];
        return RAN_OK;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static int read_described(struct reader *r, struct ran_span object, struct ran_tensor *tensor)
{
        enum { DTYPE, SHAPE, OFFSETS, MEMBERS };
        static const char *const names[MEMBERS] = {"dtype", "shape", "data_offsets"};
        bool seen[MEMBERS] = {false};

        for (struct ran_items i = ran_items(r->header, object); ran_items_next(&i);) {
                const size_t used = r->t->strings.len;
                const char *name;
                size_t n;
                int k = 0;

                RAN_TRY(read_string(r, i.name, &name, &n));
                r->t->strings.len = used; /* nobody asks for it again */
                while (k < MEMBERS && (strlen(names[k]) != n || memcmp(names[k], name, n) != 0))
                        k++;
                if (k == MEMBERS) /* the format ignores what it does not know */
                        continue;
                if (seen[k])
                        return ran_fail(r->err, RAN_EFORMAT, "%s is given twice", names[k]);
                seen[k] = true;
                RAN_TRY(k == DTYPE   ? read_dtype(r, i.value, i.type, &tensor->dtype)
                        : k == SHAPE ? read_shape(r, i.value, i.type, tensor)
                                     : read_offsets(r, i.value, i.type, tensor));
        }
        for (int k = 0; k < MEMBERS; k++)
                if (!seen[k])
                        return ran_fail(r->err, RAN_EFORMAT, "%s is missing", names[k]);
        return RAN_OK;
}

/* The size by type and shape must equal the size by the offsets. */
static int check_size(struct reader *r, struct ran_tensor *tensor)
{
        size_t bytes = 0;

        RAN_TRY(ran_dtype_size(tensor->dtype, tensor->shape, tensor->rank, &tensor->elements,
                               &bytes, r->err));
        if (tensor->end < tensor->begin || tensor->end - tensor->begin != bytes)
                return ran_fail(
                        r->err, RAN_EFORMAT,
                        "data_offsets are [%zu, %zu], but its type and shape take %zu bytes",
                        tensor->begin, tensor->end, bytes);
        return RAN_OK;
}

static int read_tensor(struct reader *r, struct ran_tensor of, const struct ran_items *at)
{
        struct ran_tensors *t = r->t;

        RAN_TRY(RAN_GROW(t->tensor, r->tensors_cap, t->n + 1, r->err));
        struct ran_tensor *tensor = &t->tensor[t->n++];
        *tensor = of;
        int rc = at->type == 'o' ? read_described(r, at->value, tensor)
                                 : ran_fail(r->err, RAN_EFORMAT, "it is not an object");
        if (rc == RAN_OK)
                rc = check_size(r, tensor);
        if (rc != RAN_OK)
                ran_fail(r->err, rc, "tensor \"%s\": %s", of.name, r->err->text);
        return rc;
}

static int read_metadata(struct reader *r, const struct ran_items *at)
{
        struct ran_tensors *t = r->t;

        if (r->metadata_seen)
                return ran_fail(r->err, RAN_EFORMAT, "__metadata__ is given twice");
        r->metadata_seen = true;
        if (at->type == '0') /* null, as good as none */
                return RAN_OK;
        if (at->type != 'o')
                return ran_fail(r->err, RAN_EFORMAT, "__metadata__ is not an object");
        for (struct ran_items i = ran_items(r->header, at->value); ran_items_next(&i);) {
                RAN_TRY(RAN_GROW(t->metadata, r->metadata_cap, t->metadata_n + 1, r->err));
                struct ran_metadata *pair = &t->metadata[t->metadata_n++];
                RAN_TRY(read_string(r, i.name, &pair->key, &pair->key_n));
                if (i.type != 's')
                        return ran_fail(r->err, RAN_EFORMAT, "__metadata__: \"%s\" is not a string",
                                        pair->key);
                RAN_TRY(read_string(r, i.value, &pair->text, &pair->text_n));
        }
        return RAN_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* How tensors and metadata begin. */
struct named {
        const char *name;
        size_t n;
};

static int by_name(const void *a, const void *b)
{
        const struct named *x = a, *y = b;

        return ran_order(x->name, x->n, y->name, y->n);
}

static int by_offset(const void *a, const void *b)
{
        const struct ran_tensor *x = a, *y = b;

        if (x->begin != y->begin)
                return x->begin < y->begin ? -1 : 1;
        return (x->end > y->end) - (x->end < y->end);
}

/* qsort and bsearch require an array even for 0 elements; t has none then. */
static void sort(void *p, size_t n, size_t size, int (*compare)(const void *, const void *))
{
        if (n > 1)
                qsort(p, n, size, compare);
}

static const void *search(const char *name, const void *p, size_t n, size_t size)
{
        const struct named key = {name, strlen(name)};

        return n > 0 ? bsearch(&key, p, n, size, by_name) : NULL;
}

static int check_names(const struct ran_tensors *t, struct ran_error *err)
{
        for (size_t i = 1; i < t->n; i++)
                if (by_name(&t->tensor[i - 1], &t->tensor[i]) == 0)
                        return ran_fail(err, RAN_EFORMAT, "tensor \"%s\" is given twice",
                                        t->tensor[i].name);
        for (size_t i = 1; i < t->metadata_n; i++)
                if (by_name(&t->metadata[i - 1], &t->metadata[i]) == 0)
                        return ran_fail(err, RAN_EFORMAT, "__metadata__: \"%s\" is given twice",
                                        t->metadata[i].key);
        return RAN_OK;
}

/* Tensors, in the order of their offsets, must cover the data without overlap. */
static int check_ranges(const struct ran_tensors *t, struct ran_error *err)
{
        size_t at = 0;

        for (size_t i = 0; i < t->n; i++) {
                const struct ran_tensor *tensor = &t->tensor[i];

                if (tensor->begin != at)
                        return ran_fail(
                                err, RAN_EFORMAT,
                                "tensor \"%s\" begins at byte %zu of the data, but the ones "
                                "before it end at %zu",
                                tensor->name, tensor->begin, at);
                at = tensor->end;
        }
        if (at != t->size)
                return ran_fail(err, RAN_EFORMAT,
                                "%zu bytes of data follow the header, but the "
                                "tensors take %zu: the file is damaged or cut short",
                                t->size, at);
        return RAN_OK;
}

/* After the whole header: sorts and checks them all. */
static int finish(struct ran_tensors *t, struct ran_error *err)
{
        sort(t->tensor, t->n, sizeof *t->tensor, by_name);
        sort(t->metadata, t->metadata_n, sizeof *t->metadata, by_name);
        RAN_TRY(check_names(t, err));
        sort(t->tensor, t->n, sizeof *t->tensor, by_offset);
        int rc = check_ranges(t, err);
        sort(t->tensor, t->n, sizeof *t->tensor, by_name);
        return rc;
}

static int read_header(struct ran_tensors *t, const char *header, size_t length,
                       struct ran_error *err)
{
        static const char reserved[] = "__metadata__";
        struct reader r = {.t = t, .header = header, .err = err};
        struct ran_record record = {0};
        const int rc = ran_record_scan(&record, header, length, err);
        const struct ran_span object = record.object;

        ran_record_release(&record);
        if (rc != RAN_OK)
                return ran_fail(err, rc, "bad header: %s", err->text);
        (void)ran_buf_room(&t->strings, length);
        for (struct ran_items i = ran_items(header, object); ran_items_next(&i);) {
                struct ran_tensor tensor = {0};

                RAN_TRY(read_string(&r, i.name, &tensor.name, &tensor.name_n));
                if (tensor.name_n == strlen(reserved) &&
                    memcmp(tensor.name, reserved, tensor.name_n) == 0)
                        RAN_TRY(read_metadata(&r, &i));
                else
                        RAN_TRY(read_tensor(&r, tensor, &i));
        }
        return finish(t, err);
}

int ran_tensors_read(struct ran_tensors *t, const struct ran_bytes *file, struct ran_error *err)
{
        uint64_t length = 0;

        err = ran_error_or_spare(err);
        *t = (struct ran_tensors){0};
        if (file->size < LENGTH_BYTES)
                return ran_fail(err, RAN_EFORMAT, "%zu bytes are too few for a safetensors file",
                                file->size);
        for (int i = 0; i < LENGTH_BYTES; i++)
                length |= (uint64_t)file->data[i] << 8 * i;
        if (length > MAX_HEADER)
                return ran_fail(err, RAN_EFORMAT,
                                "not a safetensors file: its header would take "
                                "%llu bytes",
                                (unsigned long long)length);
        if (length > file->size - LENGTH_BYTES)
                return ran_fail(err, RAN_EFORMAT,
                                "the header should take %zu bytes, but %zu follow: the file is no "
                                "safetensors file, or cut short",
                                (size_t)length, file->size - LENGTH_BYTES);
        t->data = file->data + LENGTH_BYTES + length;
        t->size = file->size - LENGTH_BYTES - (size_t)length;
        int rc = read_header(t, (const char *)file->data + LENGTH_BYTES, (size_t)length, err);
        if (rc != RAN_OK)
                ran_tensors_release(t);
        return rc;
}

void ran_tensors_release(struct ran_tensors *t)
{
        free(t->tensor);
        free(t->metadata);
        ran_buf_release(&t->strings);
        *t = (struct ran_tensors){0};
}

const struct ran_tensor *ran_tensors_find(const struct ran_tensors *t, const char *name)
{
        return search(name, t->tensor, t->n, sizeof *t->tensor);
}

const struct ran_metadata *ran_tensors_metadata(const struct ran_tensors *t, const char *key)
{
        return search(key, t->metadata, t->metadata_n, sizeof *t->metadata);
}

int ran_tensors_verify(const struct ran_tensors *t, struct ran_error *err)
{
        const struct ran_metadata *digest = ran_tensors_metadata(t, "digest");
        struct ran_sha256 sha;
        char hex[65];

        if (digest == NULL)
                return ran_fail(err, RAN_EFORMAT, "there is no digest to verify the data with");
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, t->data, t->size);
        ran_sha256_hex(&sha, hex);
        if (strcmp(hex, digest->text) != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the data does not match its digest: the file is "
                                "damaged");
        return RAN_OK;
}
