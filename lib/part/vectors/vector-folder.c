/* vector-folder.c - a folder of static vectors in the form of Model2Vec.
 *
 *      tokenizer.json       the vocabulary: V tokens
 *      model.safetensors    embeddings (rows, D), or the same as embedding.weight or "0"
 *                           mapping (V)    the row of each token; without it, rows = V
 *                           weights (V)    a factor for each token; without it, 1
 *      config.json          {"normalize": true, ...}
 *
 * The vector of token t is weights[t] * embeddings[mapping[t]]. Vocabularies with fewer rows than
 * tokens come from clustering; eight bits come without a scale, because only the direction of a
 * mean counts. A folder of Sentence Transformers has embedding.weight and needs no config.json.
 */
#include "part/vectors/vector-folder.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cjson.h"
#include "tensors/tensors.h"

enum { WIDEST = 1 << 16, CONFIG_BYTES = 1 << 20 };

/* ---- the tensors ---------------------------------------------------------------------------- */

/* A file's rows, and what leads from a token to its own. */
struct source {
        struct ran_tensors tensors;
        const struct ran_tensor *rows, *mapping, *weights; /* the last two may be NULL */
        size_t n, D;
        size_t bytes;  /* of a row */
        float *weight; /* (V); NULL: all are 1 */
};

static bool is_number(enum ran_dtype dtype)
{
        return dtype == RAN_DTYPE_F32 || dtype == RAN_DTYPE_F16 || dtype == RAN_DTYPE_I8 ||
               dtype == RAN_DTYPE_BF16 || dtype == RAN_DTYPE_F64;
}

static int find_rows(struct source *s, bool *static_embedding, struct ran_error *err)
{
        static const char *const names[] = {"embeddings", "embedding.weight", "0"};

        for (size_t i = 0; i < sizeof names / sizeof *names && s->rows == NULL; i++)
                s->rows = ran_tensors_find(&s->tensors, names[i]);
        if (s->rows == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "there is no tensor \"embeddings\" or \"embedding.weight\"");
        *static_embedding = strcmp(s->rows->name, "embedding.weight") == 0;
        if (!is_number(s->rows->dtype))
                return ran_fail(err, RAN_EFORMAT,
                                "tensor \"%s\" has elements of type %s: F32, F16 or I8 is needed",
                                s->rows->name, ran_dtype_name(s->rows->dtype));
        if (s->rows->rank != 2 || s->rows->elements == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor \"%s\" is not a matrix with a row or more", s->rows->name);
        s->n = s->rows->shape[0];
        s->D = s->rows->shape[1];
        if (s->D > WIDEST)
                return ran_fail(err, RAN_EFORMAT, "vectors of %zu numbers: the maximum is %d", s->D,
                                WIDEST);
        s->bytes = (s->rows->end - s->rows->begin) / s->n;
        return RAN_OK;
}

/* A tensor with one element for each token; *t stays NULL if there is none. */
static int find_vector(const struct source *s, const char *name, size_t V,
                       const struct ran_tensor **t, struct ran_error *err)
{
        *t = ran_tensors_find(&s->tensors, name);
        if (*t != NULL && ((*t)->rank != 1 || (*t)->elements != V))
                return ran_fail(err, RAN_EFORMAT,
                                "tensor \"%s\" is not a vector of %zu elements, one for each token "
                                "of tokenizer.json",
                                name, V);
        return RAN_OK;
}

static int read_weights(struct source *s, size_t V, struct ran_error *err)
{
        if (s->weights == NULL)
                return RAN_OK;
        if (!is_number(s->weights->dtype) || s->weights->dtype == RAN_DTYPE_I8)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor \"weights\" has elements of type %s: F64, F32 or F16 is "
                                "needed",
                                ran_dtype_name(s->weights->dtype));
        s->weight = ran_alloc_floats(V, err);
        return s->weight != NULL ? ran_tensor_floats(&s->tensors, s->weights, s->weight, err)
                                 : RAN_ENOMEM;
}

static int find_tensors(struct source *s, size_t V, bool *static_embedding, struct ran_error *err)
{
        RAN_TRY(find_rows(s, static_embedding, err));
        RAN_TRY(find_vector(s, "mapping", V, &s->mapping, err));
        RAN_TRY(find_vector(s, "weights", V, &s->weights, err));
        if (s->mapping != NULL && s->mapping->dtype != RAN_DTYPE_I64 &&
            s->mapping->dtype != RAN_DTYPE_I32)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor \"mapping\" has elements of type %s: I64 or I32 is needed",
                                ran_dtype_name(s->mapping->dtype));
        if (s->mapping == NULL && s->n != V)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "tensor \"%s\" has %zu rows, but tokenizer.json has %zu tokens, and "
                        "there is no tensor \"mapping\"",
                        s->rows->name, s->n, V);
        return read_weights(s, V, err);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The row of a token; a negative number in the file is larger than any. */
static uint64_t row_of(const struct source *s, size_t id)
{
        if (s->mapping == NULL)
                return id;
        size_t width = ran_dtype_bytes(s->mapping->dtype);
        const unsigned char *p = s->tensors.data + s->mapping->begin + id * width;
        uint64_t row = 0;
        for (size_t i = 0; i < width; i++)
                row |= (uint64_t)p[i] << 8 * i;
        return row;
}

static int take_row(const struct source *s, size_t id, float *out, struct ran_error *err)
{
        const uint64_t row = row_of(s, id);
        struct ran_tensor one = *s->rows;

        if (row >= s->n)
                return ran_fail(err, RAN_EFORMAT,
                                "\"mapping\" sends token %zu to a row that \"%s\", with %zu rows, "
                                "does not have",
                                id, s->rows->name, s->n);
        one.begin += (size_t)row * s->bytes;
        one.end = one.begin + s->bytes;
        one.elements = s->D;
        if (one.dtype != RAN_DTYPE_I8)
                RAN_TRY(ran_tensor_floats(&s->tensors, &one, out, err));
        for (size_t d = 0; d < s->D && one.dtype == RAN_DTYPE_I8; d++)
                out[d] = (float)(int8_t)s->tensors.data[one.begin + d];
        for (size_t d = 0; d < s->D; d++) {
                out[d] *= s->weight != NULL ? s->weight[id] : 1;
                if (!isfinite(out[d]))
                        return ran_fail(err, RAN_EFORMAT,
                                        "the vector of token %zu has a number that is not finite",
                                        id);
        }
        return RAN_OK;
}

int ran_vector_folder_rows(struct ran_embedding *rows, size_t V, const struct ran_bytes *file,
                           bool *static_embedding, struct ran_error *err)
{
        struct source s = {0};
        struct ran_sha256 digest;

        *rows = (struct ran_embedding){0};
        RAN_TRY(ran_tensors_read(&s.tensors, file, err));
        int rc = find_tensors(&s, V, static_embedding, err);
        if (rc == RAN_OK)
                rc = ran_embedding_init(rows, V, s.D, err);
        for (size_t id = 0; id < V && rc == RAN_OK; id++) {
                rc = take_row(&s, id, rows->rows + id * s.D, err);
                rows->given[id] = true;
        }
        ran_tensors_release(&s.tensors);
        free(s.weight);
        if (rc != RAN_OK) {
                ran_embedding_release(rows);
                return rc;
        }
        ran_sha256_init(&digest);
        ran_sha256_add(&digest, file->data, file->size);
        ran_sha256_hex(&digest, rows->digest);
        return RAN_OK;
}

/* ---- the folder ----------------------------------------------------------------------------- */

struct reading {
        struct ran_vector_folder *f;
        bool static_embedding;
};
typedef int reader(struct reading *r, const struct ran_bytes *file, struct ran_error *err);

static int read_tokenizer(struct reading *r, const struct ran_bytes *file, struct ran_error *err)
{
        r->f->tokenizer = ran_tokenizer_load((const char *)file->data, file->size, err);
        return r->f->tokenizer != NULL ? RAN_OK : (int)err->code;
}

static int read_rows(struct reading *r, const struct ran_bytes *file, struct ran_error *err)
{
        return ran_vector_folder_rows(&r->f->rows, ran_tokenizer_size(r->f->tokenizer), file,
                                      &r->static_embedding, err);
}

static int read_config(struct reading *r, const struct ran_bytes *file, struct ran_error *err)
{
        cJSON *all;

        RAN_TRY(ran_cjson_read(&all, (const char *)file->data, file->size, false, err));
        const int rc = ran_cjson_bool(all, "normalize", false, &r->f->normalize, err);
        cJSON_Delete(all);
        return rc;
}

/* Reads FOLDER/NAME, of at most `most` bytes; the sentence names it. */
static int read_file(struct reading *r, const char *folder, const char *name, size_t most,
                     bool optional, reader *read, struct ran_error *err)
{
        struct ran_bytes file;
        struct ran_error why = {0};
        bool absent;
        int rc = ran_folder_open(&file, folder, "", name, most, &absent, &why);

        if (absent && optional)
                return RAN_OK;
        if (rc != RAN_OK)
                return ran_fail(err, rc, "%s/%s", folder, why.text);
        rc = read(r, &file, &why);
        ran_bytes_release(&file);
        return rc == RAN_OK ? RAN_OK : ran_fail(err, rc, "%s/%s: %s", folder, name, why.text);
}

int ran_vector_folder_open(struct ran_vector_folder *f, const char *path, struct ran_error *err)
{
        struct reading r = {.f = f};

        err = ran_error_or_spare(err);
        *f = (struct ran_vector_folder){0};
        int rc = read_file(&r, path, "tokenizer.json", SIZE_MAX, false, read_tokenizer, err);
        if (rc == RAN_OK)
                rc = read_file(&r, path, "model.safetensors", SIZE_MAX, false, read_rows, err);
        if (rc == RAN_OK)
                rc = read_file(&r, path, "config.json", CONFIG_BYTES, r.static_embedding,
                               read_config, err);
        if (rc != RAN_OK)
                ran_vector_folder_release(f);
        return rc;
}

void ran_vector_folder_release(struct ran_vector_folder *f)
{
        ran_tokenizer_free(f->tokenizer);
        ran_embedding_release(&f->rows);
        *f = (struct ran_vector_folder){0};
}
