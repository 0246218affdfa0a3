/* model-write.c - model files and checkpoints. The bytes depend on the contents alone. */
#include "tensors/compact.h"
#include "file/model.h"
#include "ran/model.h"
#include "nn/unread.h"

#include <stdlib.h>
#include <string.h>

/* All that is written, until it is. */
struct contents {
        struct ran_linear_written linear;
        struct ran_compact_tensors tensors;
        struct ran_buf config, labels;
        struct ran_metadata_source text[8];
        size_t texts;
};

/* Weights of the configuration. */
static void add_weights(struct contents *k, const struct ran_parts *p)
{
        struct ran_compact_tensors *to = &k->tensors;
        struct ran_params params = *p->params;
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];
        if (ran_config_has_predictor(p->config))
                ran_linear_gather(&k->linear, &params, p->config, p->C, to);
        size_t n = ran_params_mapped_tables(mapped, &params, p->config, p->V, p->C,
                                            k->linear.sparse.n);
        for (size_t i = 0; i < n; i++) {
                const struct ran_mapped_table *t = &mapped[i];

                if (ran_compact_add_from(to, p->from, t->name, t->rows, t->cols))
                        continue;
                if (t->halves)
                        ran_compact_add_idf(to, p->storage, t->name, *t->at, t->cols);
                else
                        ran_compact_add_weights(to, p->storage, t->name, *t->at, t->rows, t->cols);
        }
        for (size_t i = 0; i < p->layout->n; i++) {
                const struct ran_tensor_spec *s = &p->layout->spec[i];

                if (!ran_compact_add_from(to, p->from, s->name, s->rows, s->cols))
                        ran_compact_add_weights(to, p->storage, s->name, params.block + s->offset,
                                                s->rows, s->cols);
        }
}

static void add_bytes(struct contents *k, const char *name, enum ran_dtype dtype, const void *data,
                      size_t n)
{
        ran_compact_add(
                &k->tensors,
                &(const struct ran_tensor_source){
                        .name = name, .dtype = dtype, .rank = 1, .shape = {n}, .data = data});
}

static void add_text(struct contents *k, const char *key, const char *text)
{
        if (text != NULL)
                k->text[k->texts++] = (struct ran_metadata_source){key, text};
}

/* What is written beside the tensors. */
static void add_texts(struct contents *k, const struct ran_parts *p)
{
        ran_buf_char(&k->config, '{');
        ran_fields_json(ran_config_fields, p->config, &k->config);
        ran_buf_add(&k->config, "}", 2); /* with the NUL that ends it */
        for (size_t c = 0; p->labels != NULL && c < p->C; c++) {
                ran_buf_char(&k->labels, c == 0 ? '[' : ',');
                ran_buf_json(&k->labels, p->labels[c], strlen(p->labels[c]));
        }
        ran_buf_add(&k->labels, "]", 2);
        add_text(k, "format", RAN_FORMAT);
        add_text(k, "format_version", RAN_FORMAT_VERSION);
        add_text(k, "config", k->config.data);
        add_text(k, "labels", p->labels != NULL ? k->labels.data : NULL);
        add_text(k, "training", p->training);
        add_text(k, "converted", p->converted);
        add_text(k, "pretrained", p->pretrained);
        add_text(k, "prompts", p->prompts);
}

int ran_model_write(const char *path, struct ran_bytes *to, const struct ran_parts *p,
                    struct ran_error *err)
{
        struct contents k = {0};
        size_t size = 0;

        add_weights(&k, p);
        for (size_t i = 0; i < p->extras; i++)
                add_bytes(&k, p->extra[i].name, p->extra[i].dtype, p->extra[i].data, p->extra[i].n);
        add_texts(&k, p);
        const char *json = p->tokenizer != NULL ? ran_tokenizer_json(p->tokenizer, &size) : NULL;
        if (json != NULL)
                add_bytes(&k, "tokenizer.json", RAN_DTYPE_U8, json, size);
        const int rc =
                ran_tensors_write(path, to, k.tensors.source, k.tensors.n, k.text, k.texts, err);
        ran_buf_release(&k.config);
        ran_buf_release(&k.labels);
        ran_compact_release(&k.tensors);
        ran_linear_sparse_release(&k.linear.sparse);
        return rc;
}

/* ---- converting ------------------------------------------------------------------------------ */

int ran_model_convert(const struct ran_model *m, int storage, bool fingerprints, const char *path,
                      struct ran_error *err)
{
        const struct ran_extra known = ran_model_known(m);
        const char *digest = ran_model_metadata(m, "digest");
        struct ran_buf converted = {0};
        struct ran_layout layout;
        struct ran_params params = m->params;
        float *rows = NULL;

        RAN_TRY(ran_layout_init(&layout, &m->config, m->C, err));
        ran_unread_read(params.unread);
        if (params.embed_code != NULL) { /* as floats: f16 may be asked for */
                const size_t D = m->config.dim;

                params.embed = rows = ran_new_floats(m->V * D);
                for (size_t id = 0; id < m->V; id++)
                        ran_embed_row(&m->params, id, D, rows + id * D);
        }
        ran_buf_printf(&converted, "{\"weights\":\"%s\",\"from\":", ran_storage_names[storage]);
        ran_buf_json(&converted, digest != NULL ? digest : "", digest != NULL ? strlen(digest) : 0);
        ran_buf_add(&converted, "}", 2);
        const struct ran_parts parts = {.config = &m->config,
                                        .layout = &layout,
                                        .params = &params,
                                        .V = m->V,
                                        .C = m->C,
                                        .labels = m->named ? m->labels : NULL,
                                        .tokenizer = m->tokenizer,
                                        .training = ran_model_metadata(m, "training"),
                                        .converted = converted.data,
                                        .pretrained = ran_model_metadata(m, "pretrained"),
                                        .prompts = ran_model_metadata(m, "prompts"),
                                        .extra = &known,
                                        .extras = fingerprints && known.n > 0,
                                        .storage = storage};
        const int rc = ran_model_write(path, NULL, &parts, err);
        free(rows);
        ran_buf_release(&converted);
        ran_layout_release(&layout);
        return rc;
}
