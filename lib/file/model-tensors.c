/* model-tensors.c - the tensors of a model file: compared with the configuration, then loaded.
 * Tables of which a document uses few rows stay in the file, others become floats. */
#include "base/error.h"
#include "tensors/compact.h"
#include "file/model.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

static const char rows_tensor[] = "wide.rows";

/* ---- checks ---------------------------------------------------------------------------------- */

/* Marks the tensor in `known`, in the order of the file's tensors. */
static int check_tensor(const struct ran_model *m, const char *name, size_t rows, size_t cols,
                        bool *known, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, name);

        if (t == NULL)
                return ran_fail(err, RAN_EFORMAT, "the model file has no tensor %s", name);
        if (t->dtype != RAN_DTYPE_F32 && t->dtype != RAN_DTYPE_F16 && t->dtype != RAN_DTYPE_BF16 &&
            t->dtype != RAN_DTYPE_I8)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor %s is %s; weights are F32, F16, BF16 or I8", name,
                                ran_dtype_name(t->dtype));
        if (rows == 0 ? t->rank != 1 || t->shape[0] != cols
                      : t->rank != 2 || t->shape[0] != rows || t->shape[1] != cols)
                return ran_fail(err, RAN_EFORMAT,
                                "tensor %s does not have the shape that the "
                                "configuration asks for",
                                name);
        known[t - m->tensors.tensor] = true;
        if (t->dtype != RAN_DTYPE_I8)
                return RAN_OK;
        const struct ran_tensor *scales = ran_tensor_scales(&m->tensors, t, err);
        if (scales == NULL)
                return (int)err->code;
        known[scales - m->tensors.tensor] = true;
        return RAN_OK;
}

/* Tensors that any configuration may have. */
static bool is_besides(const struct ran_tensor *t)
{
        return t->name_n == strlen(t->name) &&
               (strncmp(t->name, RAN_EXTRA_PREFIX, strlen(RAN_EXTRA_PREFIX)) == 0 ||
                strcmp(t->name, "tokenizer.json") == 0);
}

/* How many rows of the linear model the file has, where it does not have all. */
static int read_rows_size(struct ran_model *m, struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, rows_tensor);

        if (t == NULL || m->config.wide == 0)
                return RAN_OK;
        if (t->dtype != RAN_DTYPE_U32 || t->rank != 1 || t->elements == 0)
                return ran_fail(err, RAN_EFORMAT, "tensor %s is not a list of U32", rows_tensor);
        m->rows.n = t->elements;
        return RAN_OK;
}

/* Of a configuration, in the sizes of the file. */
static size_t mapped_tables(struct ran_model *m, struct ran_mapped_table mapped[RAN_MAPPED_TABLES])
{
        return ran_params_mapped_tables(mapped, &m->params, &m->config, m->V, m->C,
                                        m->rows.n > 0 ? m->rows.n : m->config.wide);
}

int ran_model_check_tensors(struct ran_model *m, const struct ran_layout *layout,
                            struct ran_error *err)
{
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];

        err = ran_error_or_spare(err);
        RAN_TRY(read_rows_size(m, err));
        size_t n = mapped_tables(m, mapped);
        bool *known = ran_alloc(m->tensors.n, sizeof *known, err);
        int rc = known != NULL ? RAN_OK : RAN_ENOMEM;

        if (m->rows.n > 0 && rc == RAN_OK)
                known[ran_tensors_find(&m->tensors, rows_tensor) - m->tensors.tensor] = true;

        for (size_t i = 0; i < n && rc == RAN_OK; i++)
                rc = check_tensor(m, mapped[i].name, mapped[i].rows, mapped[i].cols, known, err);
        for (size_t i = 0; i < layout->n && rc == RAN_OK; i++)
                rc = check_tensor(m, layout->spec[i].name, layout->spec[i].rows,
                                  layout->spec[i].cols, known, err);
        for (size_t i = 0; i < m->tensors.n && rc == RAN_OK; i++)
                if (!known[i] && !is_besides(&m->tensors.tensor[i]))
                        rc = ran_fail(err, RAN_EFORMAT,
                                      "tensor %s is not part of a model of this "
                                      "configuration: a newer version of ran may have written it",
                                      m->tensors.tensor[i].name);
        free(known);
        return rc;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The linear model's codes, if their scales can be used in place, too. */
static const int8_t *codes_in_place(struct ran_model *m, const struct ran_tensor *t,
                                    const float **scale)
{
        const struct ran_tensor *scales = ran_tensor_scales(&m->tensors, t, NULL);

        *scale = scales != NULL ? ran_tensor_in_place(&m->tensors, scales) : NULL;
        return *scale != NULL ? ran_tensor_elements(&m->tensors, t) : NULL;
}

/* The linear model's table and its idf, if the file has them in fewer bits. */
static bool stays_compact(struct ran_model *m, const float **table, const struct ran_tensor *t)
{
        struct ran_linear_compact *c = &m->params.compact;
        const bool halves = t->dtype == RAN_DTYPE_F16;

        if (table == &m->params.idf) {
                c->idf = halves ? ran_tensor_elements(&m->tensors, t) : NULL;
                return c->idf != NULL;
        }
        if (table != &m->params.wide)
                return false;
        c->rows = t->shape[0];
        c->f16 = halves ? ran_tensor_elements(&m->tensors, t) : NULL;
        c->i8 = t->dtype == RAN_DTYPE_I8 ? codes_in_place(m, t, &c->scale) : NULL;
        return c->f16 != NULL || c->i8 != NULL;
}

/* Maps a table from the file if its elements can be used in place; else copies it. A document needs
 * few of its rows. */
static int read_table(struct ran_model *m, const struct ran_mapped_table *table, float **copy,
                      struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, table->name);

        *table->at = ran_tensor_in_place(&m->tensors, t);
        if (*table->at != NULL || stays_compact(m, table->at, t))
                return RAN_OK;
        *table->at = *copy = ran_alloc_floats(t->elements, err);
        return *copy != NULL ? ran_tensor_floats(&m->tensors, t, *copy, err) : RAN_ENOMEM;
}

static int read_rows(struct ran_model *m, struct ran_error *err)
{
        if (m->rows.n == 0)
                return RAN_OK;
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, rows_tensor);
        const uint32_t *bucket = ran_tensor_integers(&m->tensors, t, &m->buckets, err);
        if (bucket == NULL)
                return RAN_ENOMEM;
        m->params.rows = &m->rows;
        return ran_linear_rows_init(&m->rows, bucket, t->elements, m->config.wide, err);
}

int ran_model_read_weights(struct ran_model *m, const struct ran_layout *layout,
                           struct ran_error *err)
{
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];
        size_t n = mapped_tables(m, mapped);

        RAN_TRY(ran_params_init(&m->params, &m->config, m->C, err));
        for (size_t i = 0; i < layout->n; i++)
                RAN_TRY(ran_tensor_floats(&m->tensors,
                                          ran_tensors_find(&m->tensors, layout->spec[i].name),
                                          m->params.block + layout->spec[i].offset, err));
        for (size_t i = 0; i < n; i++)
                RAN_TRY(read_table(m, &mapped[i], &m->copy[i], err));
        return read_rows(m, err);
}
