/* model-write.c - model files and checkpoints. The bytes depend on the contents alone. */
#include "model/model.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

static struct ran_tensor_source source(const char *name, size_t rows, size_t cols,
                                       const float *data)
{
        if (rows == 0)
                return (struct ran_tensor_source){.name = name,
                                                  .dtype = RAN_DTYPE_F32,
                                                  .rank = 1,
                                                  .shape = {cols},
                                                  .data = data};
        return (struct ran_tensor_source){.name = name,
                                          .dtype = RAN_DTYPE_F32,
                                          .rank = 2,
                                          .shape = {rows, cols},
                                          .data = data};
}

/* Returns their number. sparse: the linear model, if there is one. */
static size_t gather(struct ran_tensor_source *to, const struct ran_parts *p,
                     const struct ran_linear_sparse *sparse)
{
        struct ran_params params = *p->params;
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];
        size_t n = ran_params_mapped_tables(mapped, &params, p->config, p->V, p->C, sparse->n);
        struct ran_tensor_source *out = to;

        params.wide = sparse->weight;
        params.idf = sparse->idf;
        if (sparse->n > 0)
                *out++ = (struct ran_tensor_source){.name = "wide.rows",
                                                    .dtype = RAN_DTYPE_U32,
                                                    .rank = 1,
                                                    .shape = {sparse->n},
                                                    .data = sparse->bucket};

        for (size_t i = 0; i < n; i++)
                *out++ = source(mapped[i].name, mapped[i].rows, mapped[i].cols, *mapped[i].at);
        for (size_t i = 0; i < p->layout->n; i++) {
                const struct ran_tensor_spec *s = &p->layout->spec[i];

                *out++ = source(s->name, s->rows, s->cols, params.block + s->offset);
        }
        for (size_t i = 0; i < p->extras; i++)
                *out++ = (struct ran_tensor_source){.name = p->extra[i].name,
                                                    .dtype = p->extra[i].dtype,
                                                    .rank = 1,
                                                    .shape = {p->extra[i].n},
                                                    .data = p->extra[i].data};
        if (p->tokenizer != NULL) {
                size_t size;
                const char *json = ran_tokenizer_json(p->tokenizer, &size);

                *out++ = (struct ran_tensor_source){.name = "tokenizer.json",
                                                    .dtype = RAN_DTYPE_U8,
                                                    .rank = 1,
                                                    .shape = {size},
                                                    .data = json};
        }
        return (size_t)(out - to);
}

static void labels_json(struct ran_buf *out, const struct ran_parts *p)
{
        for (size_t c = 0; c < p->C; c++) {
                ran_buf_char(out, c == 0 ? '[' : ',');
                ran_buf_json(out, p->labels[c], strlen(p->labels[c]));
        }
        ran_buf_add(out, "]", 2); /* with the NUL that ends it */
}

int ran_model_write(const char *path, const struct ran_parts *p, struct ran_error *err)
{
        size_t n = 1 + RAN_MAPPED_TABLES + p->layout->n + p->extras + 1, m = 0; /* at most */
        struct ran_linear_sparse sparse = {0};
        struct ran_tensor_source *tensors = ran_alloc(n, sizeof *tensors, err);
        struct ran_metadata_source meta[5];
        struct ran_buf config = {0}, labels = {0};
        int rc = RAN_ENOMEM;

        if (tensors == NULL ||
            (p->config->wide > 0 &&
             ran_linear_sparse_init(&sparse, p->params, p->config->wide, p->C, err) != RAN_OK)) {
                free(tensors);
                return RAN_ENOMEM;
        }
        n = gather(tensors, p, &sparse);
        ran_buf_char(&config, '{');
        ran_fields_json(ran_config_fields, p->config, &config);
        ran_buf_add(&config, "}", 2);
        meta[m++] = (struct ran_metadata_source){"format", RAN_FORMAT};
        meta[m++] = (struct ran_metadata_source){"format_version", RAN_FORMAT_VERSION};
        meta[m++] = (struct ran_metadata_source){"config", config.data};
        if (p->labels != NULL) {
                labels_json(&labels, p);
                meta[m++] = (struct ran_metadata_source){"labels", labels.data};
        }
        if (p->training != NULL)
                meta[m++] = (struct ran_metadata_source){"training", p->training};
        if (config.failed || labels.failed)
                ran_fail(err, RAN_ENOMEM, "memory ran out while the model was written");
        else
                rc = ran_tensors_write(path, tensors, n, meta, m, err);
        ran_buf_release(&config);
        ran_buf_release(&labels);
        ran_linear_sparse_release(&sparse);
        free(tensors);
        return rc;
}
