/* weights.c - the tensors of a folder, in one file or in shards, by their names without the
 * prefix of the encoder. See folder.h. */
#include "base/string-table.h"
#include "hf/folder.h"
#include "tensors/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ----------------------------------------------------------------------------------- */

static int open_file(struct ran_hf_weights *w, const struct ran_hf *f, const char *base,
                     const char *name, bool *absent, struct ran_error *err)
{
        struct ran_error why = {0};

        RAN_ROOM(w->file, w->cap, w->files + 1);
        struct ran_hf_file *file = &w->file[w->files];
        RAN_TRY(ran_folder_open(&file->bytes, f->folder, base, name, SIZE_MAX, absent, err));
        const int rc = ran_tensors_read(&file->tensors, &file->bytes, &why);
        if (rc == RAN_OK) {
                w->files++;
                return RAN_OK;
        }
        ran_bytes_release(&file->bytes);
        return ran_hf_blame(rc, base, name, &why, err);
}

/* Opens each shard once. */
static int read_index(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const cJSON *map = ran_cjson_member(all, "weight_map"), *item;
        struct ran_string_table seen = {0};
        int rc = RAN_OK;

        if (!cJSON_IsObject(map) || map->child == NULL)
                return ran_fail(err, RAN_EFORMAT, "it has no \"weight_map\"");
        cJSON_ArrayForEach(item, map)
        {
                const char *name = cJSON_GetStringValue(item);

                if (rc != RAN_OK)
                        break;
                if (name == NULL || strchr(name, '/') != NULL)
                        rc = ran_fail(err, RAN_EFORMAT, "the shard of %s is no name of a file",
                                      item->string);
                else if (ran_string_table_add(&seen, name, strlen(name)) == seen.n - 1 &&
                         f->weights.files < seen.n)
                        rc = open_file(&f->weights, f, f->base, name, NULL, err);
        }
        ran_string_table_release(&seen);
        return rc;
}

/* name: that of the checkpoint, which stays as it is. */
static int open_with(struct ran_bytes *file, const struct ran_hf *f, struct ran_buf *name,
                     const char *suffix, size_t most, struct ran_error *err)
{
        const size_t n = name->len;

        ran_buf_add(name, suffix, strlen(suffix) + 1);
        const int rc = ran_folder_open(file, f->folder, "", name->data, most, NULL, err);
        name->len = n;
        return rc;
}

/* TensorFlow's checkpoint: of the two files the data stays open. */
static int open_bundle(struct ran_hf *f, struct ran_error *err)
{
        struct ran_hf_weights *w = &f->weights;
        struct ran_error why = {0};
        struct ran_bytes index = {0};
        struct ran_buf name = {0};
        int rc = ran_hf_rannet_checkpoint(&name, f->folder, err);

        RAN_ROOM(w->file, w->cap, 1);
        *w->file = (struct ran_hf_file){0};
        if (rc == RAN_OK)
                rc = open_with(&index, f, &name, ".index", RAN_HF_TEXT_MOST, err);
        if (rc == RAN_OK)
                rc = open_with(&w->file->bytes, f, &name, ".data-00000-of-00001", SIZE_MAX, err);
        w->files = rc == RAN_OK;
        if (rc == RAN_OK) {
                rc = ran_bundle_read(&w->file->tensors, &index, &w->file->bytes, &why);
                if (rc != RAN_OK)
                        ran_fail(err, rc, "%.*s: %s", (int)name.len, name.data, why.text);
        }
        ran_bytes_release(&index);
        ran_buf_release(&name);
        return rc;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *without(const char *name, const char *prefix)
{
        return strncmp(name, prefix, strlen(prefix)) == 0 ? name + strlen(prefix) : name;
}

static int by_name(const void *a, const void *b)
{
        return strcmp(((const struct ran_hf_tensor *)a)->name,
                      ((const struct ran_hf_tensor *)b)->name);
}

/* All tensors of all files, by name. */
static int list(struct ran_hf_weights *w, const char *prefix, struct ran_error *err)
{
        size_t n = 0;

        for (size_t i = 0; i < w->files; i++)
                n += w->file[i].tensors.n;
        w->tensor = ran_new(n, sizeof *w->tensor);
        for (size_t i = 0; i < w->files; i++)
                for (size_t j = 0; j < w->file[i].tensors.n; j++) {
                        const struct ran_tensor *t = &w->file[i].tensors.tensor[j];
                        const char *name = without(t->name, "0.auto_model.");

                        w->tensor[w->n++] = (struct ran_hf_tensor){
                                .name = without(without(name, "module."), prefix),
                                .file = &w->file[i].tensors,
                                .tensor = t};
                }
        qsort(w->tensor, w->n, sizeof *w->tensor, by_name);
        for (size_t i = 1; i < w->n; i++)
                if (by_name(&w->tensor[i - 1], &w->tensor[i]) == 0)
                        return ran_fail(err, RAN_EFORMAT, "tensor %s is there twice, also as %s",
                                        w->tensor[i - 1].tensor->name, w->tensor[i].tensor->name);
        return RAN_OK;
}

int ran_hf_weights_open(struct ran_hf *f, struct ran_error *err)
{
        static const char name[] = "model.safetensors";
        struct ran_hf_weights *w = &f->weights;
        bool absent = false;
        int rc = f->family == RAN_HF_RANNET ? open_bundle(f, err)
                                            : open_file(w, f, f->base, name, &absent, err);

        if (absent)
                rc = ran_hf_read_file(f, f->base, "model.safetensors.index.json", true, read_index,
                                      err);
        RAN_TRY(rc);
        if (w->files == 0)
                return ran_hf_refuse(f, f->base, name, err);
        RAN_TRY(list(w, ran_hf_kinds[f->family].prefix, err));
        if (f->dense_folder == NULL)
                return RAN_OK;
        rc = open_file(&f->dense, f, f->dense_folder, name, &absent, err);
        if (absent)
                return ran_hf_refuse(f, f->dense_folder, name, err);
        return rc == RAN_OK ? list(&f->dense, "", err) : rc;
}

void ran_hf_weights_release(struct ran_hf_weights *w)
{
        for (size_t i = 0; i < w->files; i++) {
                ran_tensors_release(&w->file[i].tensors);
                ran_bytes_release(&w->file[i].bytes);
        }
        free(w->file);
        free(w->tensor);
        *w = (struct ran_hf_weights){0};
}

static struct ran_hf_tensor *search(const struct ran_hf_weights *w, const char *name)
{
        const struct ran_hf_tensor key = {.name = name};

        return w->n > 0 ? bsearch(&key, w->tensor, w->n, sizeof key, by_name) : NULL;
}

/* An old file has LayerNorm.gamma for LayerNorm.weight. */
struct ran_hf_tensor *ran_hf_find(const struct ran_hf_weights *w, const char *name)
{
        static const char *const old[][2] = {{".weight", ".gamma"}, {".bias", ".beta"}};
        struct ran_hf_tensor *found = search(w, name);
        const size_t n = strlen(name);
        char other[128];

        for (size_t i = 0; i < 2 && found == NULL; i++) {
                const size_t end = strlen(old[i][0]);

                if (n < end || strcmp(name + n - end, old[i][0]) != 0 || n >= sizeof other)
                        continue;
                snprintf(other, sizeof other, "%.*s%s", (int)(n - end), name, old[i][1]);
                found = search(w, other);
        }
        return found;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_shape(struct ran_buf *out, const size_t *shape, size_t rank)
{
        for (size_t i = 0; i < rank; i++)
                ran_buf_printf(out, "%s%zu", i > 0 ? ", " : "", shape[i]);
}

int ran_hf_check(struct ran_hf_tensor *t, size_t rows, size_t cols, struct ran_error *err)
{
        const struct ran_tensor *x = t->tensor;
        const size_t shape[] = {rows > 0 ? rows : cols, cols}, rank = rows > 0 ? 2 : 1;
        struct ran_buf has = {0}, wants = {0};

        t->used = true;
        if (x->dtype != RAN_DTYPE_F32 && x->dtype != RAN_DTYPE_F16 && x->dtype != RAN_DTYPE_BF16 &&
            x->dtype != RAN_DTYPE_F64)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor %s is %s: F32, F16, BF16 or F64 is needed", x->name,
                                ran_dtype_name(x->dtype));
        if (x->rank == rank && memcmp(x->shape, shape, rank * sizeof *shape) == 0)
                return RAN_OK;
        put_shape(&has, x->shape, x->rank);
        put_shape(&wants, shape, rank);
        int rc = ran_fail(err, RAN_EFORMAT,
                          "tensor %s has the shape [%.*s], but config.json asks for [%.*s]",
                          x->name, (int)has.len, has.len > 0 ? has.data : "", (int)wants.len,
                          wants.len > 0 ? wants.data : "");
        ran_buf_release(&has);
        ran_buf_release(&wants);
        return rc;
}

static int not_finite(const struct ran_hf_tensor *t, struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT,
                        "tensor %s has a number that is not finite: the file is damaged, or its "
                        "training failed",
                        t->tensor->name);
}

int ran_hf_numbers(const struct ran_hf_tensor *t, size_t from, size_t n, float *out,
                   struct ran_error *err)
{
        struct ran_tensor part = *t->tensor;
        const size_t bytes = ran_dtype_bytes(part.dtype);

        part.begin += from * bytes;
        part.end = part.begin + n * bytes;
        part.elements = n;
        RAN_TRY(ran_tensor_floats(t->file, &part, out, err));
        for (size_t i = 0; i < n; i++)
                if (!isfinite(out[i]))
                        return not_finite(t, err);
        return RAN_OK;
}

const float *ran_hf_table(const struct ran_hf_tensor *t, size_t n, float **copy,
                          struct ran_error *err)
{
        const float *there = ran_tensor_in_place(t->file, t->tensor);

        for (size_t i = 0; there != NULL && i < n; i++)
                if (!isfinite(there[i])) {
                        not_finite(t, err);
                        return NULL;
                }
        if (there != NULL)
                return there;
        *copy = ran_alloc_floats(n, err);
        return *copy != NULL && ran_hf_numbers(t, 0, n, *copy, err) == RAN_OK ? *copy : NULL;
}

/* ---- what is left over ----------------------------------------------------------------------- */

/* Heads of other tasks, the pooler of such a head, and numbers that no model needs. */
static bool is_useless(const struct ran_hf *f, const char *name)
{
        if (f->family == RAN_HF_RANNET) /* an optimiser's; or part of a head */
                return strncmp(name, "ran-", 4) != 0;

        static const char *const begins[] = {"pooler.",           "cls.",
                                             "lm_head.",          "vocab_transform.",
                                             "vocab_layer_norm.", "vocab_projector.",
                                             "classifier.",       "pre_classifier.",
                                             "qa_outputs.",       "head.",
                                             "decoder.",          "score."};
        static const char *const ends[] = {"position_ids", "token_type_ids", "inv_freq"};
        const size_t n = strlen(name);

        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
                if (strncmp(name, begins[i], strlen(begins[i])) == 0)
                        return true;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
                if (n >= strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
                        return true;
        return false;
}

int ran_hf_check_rest(const struct ran_hf *f, struct ran_error *err)
{
        const struct ran_hf_tensor *t = f->weights.tensor, *end = t + f->weights.n;

        while (t < end && (t->used || is_useless(f, t->name)))
                t++;
        return t == end ? RAN_OK
                        : ran_fail(err, RAN_EFORMAT,
                                   "tensor %s is not part of a model of model_type \"%s\" with the "
                                   "sizes in config.json: the two do not belong together",
                                   t->tensor->name, f->type);
}
