/* model-write.c - model files and checkpoints. The bytes depend on the contents alone. */
#include "tensors/compact.h"
#include "file/model.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

static int add_bytes(struct ran_compact_tensors *to, const char *name, enum ran_dtype dtype,
                     const void *data, size_t n, struct ran_error *err)
{
        const struct ran_tensor_source source = {
                .name = name, .dtype = dtype, .rank = 1, .shape = {n}, .data = data};

        return ran_compact_add(to, &source, err);
}

/* Weights of the configuration. written: what parts need for it, until all is written. */
static int add_weights(struct ran_compact_tensors *to, const struct ran_parts *p,
                       void *written[RAN_PARTS_MOST], struct ran_error *err)
{
        const struct ran_part_list parts = ran_parts_of(p->config);
        struct ran_params params = *p->params;
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];
        size_t rows = 0;

        for (size_t i = 0; i < parts.n; i++) {
                const struct ran_part_file *file = parts.part[i]->file;
                void **its = &written[parts.number[i]];

                if (file == NULL)
                        continue;
                *its = ran_alloc(1, file->written_size, err);
                if (*its == NULL)
                        return RAN_ENOMEM;
                RAN_TRY(file->gather(*its, &params, p->config, p->C, to, &rows, err));
        }
        size_t n = ran_params_mapped_tables(mapped, &params, p->config, p->V, p->C, rows);
        for (size_t i = 0; i < n; i++) {
                const struct ran_mapped_table *t = &mapped[i];

                RAN_TRY(t->halves
                                ? ran_compact_add_idf(to, p->storage, t->name, *t->at, t->cols, err)
                                : ran_compact_add_weights(to, p->storage, t->name, *t->at, t->rows,
                                                          t->cols, err));
        }
        for (size_t i = 0; i < p->layout->n; i++) {
                const struct ran_tensor_spec *s = &p->layout->spec[i];

                RAN_TRY(ran_compact_add_weights(to, p->storage, s->name, params.block + s->offset,
                                                s->rows, s->cols, err));
        }
        return RAN_OK;
}

static void release_written(void *written[RAN_PARTS_MOST])
{
        for (int i = 0; i < RAN_PARTS_MOST; i++) {
                if (written[i] != NULL)
                        ran_part_table[i]->file->release_written(written[i]);
                free(written[i]);
        }
}

static int gather(struct ran_compact_tensors *to, const struct ran_parts *p,
                  void *written[RAN_PARTS_MOST], struct ran_error *err)
{
        RAN_TRY(add_weights(to, p, written, err));
        for (size_t i = 0; i < p->extras; i++)
                RAN_TRY(add_bytes(to, p->extra[i].name, p->extra[i].dtype, p->extra[i].data,
                                  p->extra[i].n, err));
        if (p->tokenizer == NULL)
                return RAN_OK;
        size_t size;
        const char *json = ran_tokenizer_json(p->tokenizer, &size);
        if (json == NULL)
                return ran_fail(err, RAN_ENOMEM, "out of memory for the vocabulary of the model");
        return add_bytes(to, "tokenizer.json", RAN_DTYPE_U8, json, size, err);
}

static void labels_json(struct ran_buf *out, const struct ran_parts *p)
{
        for (size_t c = 0; c < p->C; c++) {
                ran_buf_char(out, c == 0 ? '[' : ',');
                ran_buf_json(out, p->labels[c], strlen(p->labels[c]));
        }
        ran_buf_add(out, "]", 2); /* with the NUL that ends it */
}

/* What is written beside the tensors. */
struct texts {
        struct ran_buf config, labels;
        struct ran_metadata_source meta[8];
        size_t n;
};

static void add_text(struct texts *t, const char *key, const char *text)
{
        if (text != NULL)
                t->meta[t->n++] = (struct ran_metadata_source){key, text};
}

static int write_texts(struct texts *t, const struct ran_parts *p, struct ran_error *err)
{
        ran_buf_char(&t->config, '{');
        ran_fields_json(ran_config_fields, p->config, &t->config);
        ran_buf_add(&t->config, "}", 2);
        if (p->labels != NULL)
                labels_json(&t->labels, p);
        if (t->config.failed || t->labels.failed)
                return ran_fail(err, RAN_ENOMEM, "memory ran out while the model was written");
        add_text(t, "format", RAN_FORMAT);
        add_text(t, "format_version", RAN_FORMAT_VERSION);
        add_text(t, "config", t->config.data);
        add_text(t, "labels", p->labels != NULL ? t->labels.data : NULL);
        add_text(t, "training", p->training);
        add_text(t, "converted", p->converted);
        add_text(t, "pretrained", p->pretrained);
        add_text(t, "prompts", p->prompts);
        return RAN_OK;
}

/* All that is written, until it is. */
struct contents {
        void *written[RAN_PARTS_MOST];
        struct ran_compact_tensors tensors;
        struct texts texts;
};

static int write_contents(struct contents *k, const char *path, struct ran_bytes *to,
                          const struct ran_parts *p, struct ran_error *err)
{
        const struct ran_compact_tensors *tensors = &k->tensors;
        const struct texts *texts = &k->texts;

        RAN_TRY(gather(&k->tensors, p, k->written, err));
        RAN_TRY(write_texts(&k->texts, p, err));
        return to != NULL ? ran_tensors_write_bytes(to, tensors->source, tensors->n, texts->meta,
                                                    texts->n, err)
                          : ran_tensors_write(path, tensors->source, tensors->n, texts->meta,
                                              texts->n, err);
}

/* To a file, or into memory. */
static int write_parts(const char *path, struct ran_bytes *to, const struct ran_parts *p,
                       struct ran_error *err)
{
        struct contents k = {0};
        int rc = write_contents(&k, path, to, p, err);

        ran_buf_release(&k.texts.config);
        ran_buf_release(&k.texts.labels);
        ran_compact_release(&k.tensors);
        release_written(k.written);
        return rc;
}

int ran_model_write(const char *path, const struct ran_parts *p, struct ran_error *err)
{
        return write_parts(path, NULL, p, err);
}

int ran_model_write_bytes(struct ran_bytes *to, const struct ran_parts *p, struct ran_error *err)
{
        return write_parts(NULL, to, p, err);
}

/* ---- converting ------------------------------------------------------------------------------ */

static struct ran_parts parts_of(const struct ran_model *m, const struct ran_layout *layout,
                                 int storage)
{
        return (struct ran_parts){.config = &m->config,
                                  .layout = layout,
                                  .params = &m->params,
                                  .V = m->V,
                                  .C = m->C,
                                  .labels = m->named ? m->labels : NULL,
                                  .tokenizer = m->tokenizer,
                                  .training = ran_model_metadata(m, "training"),
                                  .pretrained = ran_model_metadata(m, "pretrained"),
                                  .prompts = ran_model_metadata(m, "prompts"),
                                  .storage = storage};
}

static int write_converted(const struct ran_model *m, const struct ran_layout *layout, int storage,
                           bool fingerprints, const char *path, struct ran_error *err)
{
        const struct ran_extra known = ran_model_known(m);
        const char *digest = ran_model_metadata(m, "digest");
        struct ran_parts parts = parts_of(m, layout, storage);
        struct ran_buf converted = {0};

        parts.extra = &known;
        parts.extras = fingerprints && known.n > 0;
        ran_buf_printf(&converted, "{\"weights\":\"%s\",\"from\":", ran_storage_names[storage]);
        ran_buf_json(&converted, digest != NULL ? digest : "", digest != NULL ? strlen(digest) : 0);
        ran_buf_add(&converted, "}", 2);
        parts.converted = converted.data;
        int rc = converted.failed ? ran_fail(err, RAN_ENOMEM, "out of memory")
                                  : ran_model_write(path, &parts, err);
        ran_buf_release(&converted);
        return rc;
}

int ran_model_convert(const struct ran_model *m, int storage, bool fingerprints, const char *path,
                      struct ran_error *err)
{
        struct ran_layout layout;

        RAN_TRY(ran_layout_init(&layout, &m->config, m->C, err));
        int rc = write_converted(m, &layout, storage, fingerprints, path, err);
        ran_layout_release(&layout);
        return rc;
}
