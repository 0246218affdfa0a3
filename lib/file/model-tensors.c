/* model-tensors.c - the tensors of a model file: compared with the configuration, then loaded.
 * Tables of which a document uses few rows stay in the file, others become floats. */
#include "tensors/compact.h"
#include "file/model.h"
#include "nn/unread.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

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

/* The tables of a configuration, in the sizes of the file. */
static size_t mapped_tables(struct ran_model *m, struct ran_mapped_table mapped[RAN_MAPPED_TABLES])
{
        return ran_params_mapped_tables(mapped, &m->params, &m->config, m->V, m->C,
                                        m->linear.rows.n);
}

/* known: room for all tensors of the file. */
static int check_all(struct ran_model *m, const struct ran_layout *layout, bool *known,
                     struct ran_error *err)
{
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];
        size_t n = mapped_tables(m, mapped);

        const struct ran_tensor *buckets = ran_tensors_find(&m->tensors, RAN_LINEAR_ROWS_TENSOR);

        if (buckets != NULL && ran_config_has_predictor(&m->config))
                known[buckets - m->tensors.tensor] = true;
        for (size_t i = 0; i < n; i++)
                RAN_TRY(check_tensor(m, mapped[i].name, mapped[i].rows, mapped[i].cols, known,
                                     err));
        for (size_t i = 0; i < layout->n; i++)
                RAN_TRY(check_tensor(m, layout->spec[i].name, layout->spec[i].rows,
                                     layout->spec[i].cols, known, err));
        for (size_t i = 0; i < m->tensors.n; i++) {
                const struct ran_tensor *t = &m->tensors.tensor[i];
                const bool beside = /* of any configuration */
                        t->name_n == strlen(t->name) &&
                        (strncmp(t->name, RAN_EXTRA_PREFIX, strlen(RAN_EXTRA_PREFIX)) == 0 ||
                         strcmp(t->name, "tokenizer.json") == 0);

                if (!known[i] && !beside)
                        return ran_fail(err, RAN_EFORMAT,
                                        "tensor %s is not part of a model of this configuration: a "
                                        "newer version of ran may have written it",
                                        t->name);
        }
        return RAN_OK;
}

int ran_model_check_tensors(struct ran_model *m, const struct ran_layout *layout,
                            struct ran_error *err)
{
        err = ran_error_or_spare(err);
        if (ran_config_has_predictor(&m->config))
                RAN_TRY(ran_linear_measure(&m->linear, &m->tensors, err));
        ran_params_none(&m->params, &m->config); /* tables are found by it */
        bool *known = ran_new(m->tensors.n, sizeof *known);
        int rc = check_all(m, layout, known, err);
        free(known);
        return rc;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The embedding in eight bits stays in the file where it is read row by row. */
static bool keep_embedding(struct ran_model *m, const struct ran_mapped_table *table,
                           const struct ran_tensor *t)
{
        struct ran_params *p = &m->params;

        if (table->at != &p->embed || t->dtype != RAN_DTYPE_I8 ||
            !ran_config_has_vector(&m->config) || ran_task_is_tied(&m->config))
                return false;
        p->embed_scale = ran_tensor_in_place(&m->tensors, ran_tensor_scales(&m->tensors, t, NULL));
        p->embed_code = p->embed_scale != NULL ? ran_tensor_elements(&m->tensors, t) : NULL;
        return p->embed_code != NULL;
}

/* Maps a table from the file if its elements can be used in place; else copies it. A document needs
 * few of its rows. */
static int read_table(struct ran_model *m, const struct ran_mapped_table *table, float **copy,
                      struct ran_error *err)
{
        const struct ran_tensor *t = ran_tensors_find(&m->tensors, table->name);

        *table->at = ran_tensor_in_place(&m->tensors, t);
        if (*table->at != NULL || keep_embedding(m, table, t) ||
            (ran_config_has_predictor(&m->config) &&
             ran_linear_keep(&m->params, table, &m->tensors, t)))
                return RAN_OK;
        *table->at = *copy = ran_alloc_floats(t->elements, err);
        return *copy != NULL ? ran_tensor_floats(&m->tensors, t, *copy, err) : RAN_ENOMEM;
}

int ran_model_read_weights(struct ran_model *m, const struct ran_layout *layout,
                           struct ran_error *err)
{
        struct ran_mapped_table mapped[RAN_MAPPED_TABLES];

        RAN_TRY(ran_params_fill(&m->params, &m->config, m->C, err));
        for (size_t i = 0; i < layout->n; i++)
                m->params.integers |=
                        ran_tensors_find(&m->tensors, layout->spec[i].name)->dtype == RAN_DTYPE_I8;
        ran_memory_huge(m->params.block, layout->size * sizeof(float), !m->params.integers);
        if (m->params.integers)
                m->params.unread = ran_unread_new(&m->tensors);
        for (size_t i = 0; i < layout->n; i++) {
                const struct ran_tensor_spec *s = &layout->spec[i];
                const struct ran_tensor *t = ran_tensors_find(&m->tensors, s->name);
                float *at = m->params.block + s->offset;

                if (!s->paneled || !ran_unread_leave(m->params.unread, t, at))
                        RAN_TRY(ran_tensor_floats(&m->tensors, t, at, err));
        }
        const size_t n = mapped_tables(m, mapped);
        for (size_t i = 0; i < n; i++)
                RAN_TRY(read_table(m, &mapped[i], &m->copy[i], err));
        return ran_config_has_predictor(&m->config)
                       ? ran_linear_read_rows(&m->linear, &m->params, &m->config, &m->tensors, err)
                       : RAN_OK;
}
