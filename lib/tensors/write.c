/* Writing safetensors files. The same contents give the same bytes: everything is sorted, and the
 * header is compact but for the spaces at its end. */
#include "tensors/tensors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LENGTH_BYTES = 8, ALIGNMENT = 64, MAX_HEADER = 100000000 };

/* A tensor and its offsets; the sources themselves stay in the caller's order. */
struct entry {
        const struct ran_tensor_source *source;
        size_t begin, end;
};

/* ---- order ----------------------------------------------------------------------------------- */

/* Wide elements first, so that every tensor is aligned if the first is. */
static int by_alignment(const void *a, const void *b)
{
        const struct ran_tensor_source *x = ((const struct entry *)a)->source;
        const struct ran_tensor_source *y = ((const struct entry *)b)->source;

        if (x->dtype != y->dtype)
                return x->dtype > y->dtype ? -1 : 1;
        return strcmp(x->name, y->name);
}

static int by_key(const void *a, const void *b)
{
        const struct ran_metadata_source *x = a, *y = b;

        return strcmp(x->key, y->key);
}

/* Sorts the tensors and gives each its offsets. */
static int place_tensors(struct entry *entries, const struct ran_tensor_source *tensors, size_t n,
                         struct ran_error *err)
{
        size_t at = 0;

        for (size_t i = 0; i < n; i++)
                entries[i].source = &tensors[i];
        qsort(entries, n, sizeof *entries, by_alignment);
        for (size_t i = 0; i < n; i++) {
                const struct ran_tensor_source *t = entries[i].source;
                size_t elements, bytes;
                RAN_TRY(ran_dtype_size(t->dtype, t->shape, t->rank, &elements, &bytes, err));
                if (bytes > SIZE_MAX - at)
                        return ran_fail(err, RAN_EINVAL, "the tensors are too large for one file");
                entries[i].begin = at;
                entries[i].end = at += bytes;
        }
        return RAN_OK;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* The destination of little-endian bytes: first the digest, which the header needs, then a file
 * or memory. */
struct sink {
        struct ran_sha256 *sha;
        struct ran_writer *writer;
        unsigned char *memory; /* the next byte */
};

static void put(struct sink *sink, const void *bytes, size_t n)
{
        if (sink->sha != NULL)
                ran_sha256_add(sink->sha, bytes, n);
        if (sink->writer != NULL)
                ran_writer_write(sink->writer, bytes, n);
        if (sink->memory != NULL) {
                memcpy(sink->memory, bytes, n);
                sink->memory += n;
        }
}

/* Least significant byte first: as it lies, or in blocks where this machine has the other order. */
static void put_tensor(struct sink *sink, const struct entry *e)
{
        const unsigned char *p = e->source->data;
        const size_t width = ran_dtype_bytes(e->source->dtype);
        size_t left = e->end - e->begin;
        unsigned char block[4096];

        if (width == 1 || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
                put(sink, p, left);
                return;
        }
        while (left > 0) {
                size_t n = 0;

                for (; n < sizeof(block) && left > 0; n += width, p += width, left -= width)
                        for (size_t i = 0; i < width; i++)
                                block[n + i] = p[width - 1 - i];
                put(sink, block, n);
        }
}

static void put_tensors(struct sink *sink, const struct entry *entries, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (entries[i].end > entries[i].begin)
                        put_tensor(sink, &entries[i]);
        }
}

/* ---- header ---------------------------------------------------------------------------------- */

static void add_tensor(struct ran_buf *out, const struct entry *e)
{
        const struct ran_tensor_source *t = e->source;

        ran_buf_char(out, ',');
        ran_buf_json(out, t->name, strlen(t->name));
        ran_buf_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", ran_dtype_name(t->dtype));
        for (size_t i = 0; i < t->rank; i++)
                ran_buf_printf(out, "%s%zu", i > 0 ? "," : "", t->shape[i]);
        ran_buf_printf(out, "],\"data_offsets\":[%zu,%zu]}", e->begin, e->end);
}

/* The length and the header, padded so that the data that follows is aligned in memory. */
static int build_header(struct ran_buf *out, const struct ran_metadata_source *metadata,
                        size_t metadata_n, const struct entry *entries, size_t n,
                        struct ran_error *err)
{
        static const char no_length[LENGTH_BYTES];

        ran_buf_add(out, no_length, LENGTH_BYTES);
        ran_buf_str(out, "{\"__metadata__\":{");
        for (size_t i = 0; i < metadata_n; i++) {
                ran_buf_str(out, i > 0 ? "," : "");
                ran_buf_json(out, metadata[i].key, strlen(metadata[i].key));
                ran_buf_char(out, ':');
                ran_buf_json(out, metadata[i].text, strlen(metadata[i].text));
        }
        ran_buf_char(out, '}');
        for (size_t i = 0; i < n; i++)
                add_tensor(out, &entries[i]);
        ran_buf_char(out, '}');
        while (out->len % ALIGNMENT != 0)
                ran_buf_char(out, ' ');

        size_t length = out->len - LENGTH_BYTES;
        if (length > MAX_HEADER)
                return ran_fail(err, RAN_EINVAL,
                                "names and metadata would take %zu bytes; the format allows %d",
                                length, MAX_HEADER);
        for (int i = 0; i < LENGTH_BYTES; i++)
                out->data[i] = (char)(length >> 8 * i & 0xff);
        return RAN_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int write_file(const char *path, const struct ran_buf *header, const struct entry *entries,
                      size_t n, struct ran_error *err)
{
        struct ran_error why = {0};
        struct sink sink = {.writer = ran_writer_open(path, &why)};

        if (sink.writer == NULL)
                return ran_fail(err, why.code, "%s", why.text);
        put(&sink, header->data, header->len);
        put_tensors(&sink, entries, n);
        return ran_writer_commit(sink.writer, err);
}

/* Until somebody asks for it, the digest of a file in memory. */
static const char open_digest[] =
        "0000000000000000000000000000000000000000000000000000000000000000";

/* Memory from the system, which gets it back whole. */
static int write_memory(struct ran_bytes *to, const struct ran_buf *header,
                        const struct entry *entries, size_t n, struct ran_error *err)
{
        const size_t data = n > 0 ? entries[n - 1].end : 0, size = header->len + data;
        void *p = size < data ? MAP_FAILED
                              : mmap(NULL, size, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
                return ran_fail(err, RAN_ENOMEM, "out of memory: %zu bytes of a model", size);
        ran_memory_huge(p, size, true);
        struct sink sink = {.memory = p};
        put(&sink, header->data, header->len);
        put_tensors(&sink, entries, n);
        *to = (struct ran_bytes){p, size, true};
        return RAN_OK;
}

int ran_tensors_write(const char *path, struct ran_bytes *to,
                      const struct ran_tensor_source *tensors, size_t n,
                      const struct ran_metadata_source *metadata, size_t metadata_n,
                      struct ran_error *err)
{
        struct entry *entries = ran_new(n, sizeof *entries);
        struct ran_metadata_source *all = ran_new(metadata_n + 1, sizeof *all);
        struct ran_buf header = {0};
        char digest[65];
        int rc = place_tensors(entries, tensors, n, err);

        if (rc == RAN_OK && to == NULL) {
                struct ran_sha256 sha;

                ran_sha256_init(&sha);
                put_tensors(&(struct sink){.sha = &sha}, entries, n);
                ran_sha256_hex(&sha, digest);
        }
        if (metadata_n > 0)
                memcpy(all, metadata, metadata_n * sizeof *all);
        all[metadata_n] = (struct ran_metadata_source){"digest", to == NULL ? digest : open_digest};
        qsort(all, metadata_n + 1, sizeof *all, by_key);
        if (rc == RAN_OK)
                rc = build_header(&header, all, metadata_n + 1, entries, n, err);
        if (rc == RAN_OK)
                rc = to != NULL ? write_memory(to, &header, entries, n, err)
                                : write_file(path, &header, entries, n, err);
        ran_buf_release(&header);
        free(all);
        free(entries);
        return rc;
}

const char *ran_tensors_close_digest(const struct ran_tensors *t, const struct ran_bytes *file)
{
        /* quotes in a text are escaped, so that no text has these */
        static const char key[] = "\"digest\":\"";
        const struct ran_metadata *digest = ran_tensors_metadata(t, "digest");
        const size_t header = (size_t)(t->data - file->data);
        char *there = memmem(file->data, header, key, sizeof key - 1);
        struct ran_sha256 sha;

        if (digest == NULL || there == NULL || strcmp(digest->text, open_digest) != 0)
                return digest != NULL ? digest->text : NULL;
        char *text = t->strings.data + (digest->text - t->strings.data);
        ran_sha256_init(&sha);
        ran_sha256_add(&sha, t->data, t->size);
        ran_sha256_hex(&sha, text);
        memcpy(there + sizeof key - 1, text, sizeof open_digest - 1);
        return text;
}
