/* gradients.c - writes loss and gradients of one batch to a file, for comparison with other
 * implementations. */
#include "nn/part.h"
#include "file/model.h"
#include "gradient/batch.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* Names of the gradients: "grad." and the tensor's. */
struct names {
        char (*name)[80];
        struct ran_tensor_source *source;
};

static void add(struct names *k, size_t i, const char *tensor, size_t rows, size_t cols,
                const float *data)
{
        snprintf(k->name[i], sizeof k->name[i], "grad.%s", tensor);
        k->source[i] = (struct ran_tensor_source){.name = k->name[i],
                                                  .dtype = RAN_DTYPE_F32,
                                                  .rank = rows > 0 ? 2 : 1,
                                                  .shape = {rows > 0 ? rows : cols, cols},
                                                  .data = data};
}

/* table: the gradient of the embedding, every row. The linear model has none. */
static int write(const struct ran_model *m, const struct ran_layout *layout,
                 const struct ran_grad *g, double loss, const float *table, const char *output,
                 struct ran_error *err)
{
        size_t most = layout->n + 3, n = 0;
        struct names k = {.name = ran_new(most, sizeof *k.name),
                          .source = ran_new(most, sizeof *k.source)};
        struct ran_metadata_source meta = {"format", "gradients"};
        const struct ran_config *c = &m->config;

        for (size_t i = 0; i < layout->n; i++) {
                const struct ran_tensor_spec *s = &layout->spec[i];

                if (strncmp(s->name, "wide.", 5) == 0)
                        continue;
                add(&k, n++, s->name, s->rows, s->cols, g->p.block + s->offset);
        }
        add(&k, n++, "embed.weight", m->V, c->dim, table);
        if (ran_encoder_spelling(c) > 0)
                add(&k, n++, "spelling.weight", ran_encoder_spelling(c), c->dim,
                    table + m->V * c->dim);
        k.source[n++] = (struct ran_tensor_source){
                .name = "loss", .dtype = RAN_DTYPE_F64, .rank = 1, .shape = {1}, .data = &loss};
        const int rc = ran_tensors_write(output, NULL, k.source, n, &meta, 1, err);
        free(k.name);
        free(k.source);
        return rc;
}

static int dump_batch(const struct ran_model *m, struct ran_batcher *k, const struct ran_plan *plan,
                      const char *output, struct ran_error *err)
{
        struct ran_table table;
        struct ran_layout layout = {0};
        struct ran_grad *g = NULL;
        double loss;
        int rc;

        if (!ran_table_shape(&table, &m->config, m->V))
                return ran_fail(err, RAN_EINVAL, "the model is too large for a gradient in memory");
        table.x = ran_new_floats(table.rows * table.width);
        rc = ran_layout_init(&layout, &m->config, m->C, err);
        if (rc == RAN_OK)
                rc = ran_batch_gradient(k, plan->chunk, plan->n, &loss, &g, err);
        if (rc == RAN_OK) {
                for (size_t i = 0; i < g->rows.n; i++)
                        memcpy(table.x + (g->rows.ids != NULL ? g->rows.ids[i] : i) * table.width,
                               g->rows.rows + i * table.width, table.width * sizeof *table.x);
                rc = write(m, &layout, g, loss, table.x, output, err);
        }
        if (g != NULL)
                ran_tree_give(&k->tree, g);
        ran_layout_release(&layout);
        free(table.x);
        return rc;
}

/* Dumps the gradients of the first documents, as one batch. */
static int dump(const struct ran_model *m, struct ran_batcher *k, size_t documents,
                const char *output, struct ran_error *err)
{
        size_t *order = ran_new(documents, sizeof *order);
        struct ran_plan plan;

        for (size_t b = 0; b < documents; b++)
                order[b] = b;
        int rc = ran_plan_init(&plan, &m->config, k->of.data, documents, 0, err);
        if (rc == RAN_OK) {
                ran_plan_begin(&plan, order, documents);
                ran_plan_next(&plan);
                rc = dump_batch(m, k, &plan, output, err);
        }
        ran_plan_release(&plan);
        free(order);
        return rc;
}

static int dump_model(const struct ran_model *m, const char *name, struct ran_batcher *k,
                      const struct ran_dataset *data, size_t documents, struct ran_pool *pool,
                      const char *output, struct ran_error *err)
{
        if (!ran_config_trains_encoder(&m->config))
                return ran_fail(err, RAN_EINVAL,
                                "%s has %s encoder, and a linear model is not trained by "
                                "gradients of batches",
                                name, ran_config_has_features(&m->config) ? "a frozen" : "no");
        if (data->B == 0 || documents == 0)
                return ran_fail(err, RAN_EINVAL, "there are no documents to compute gradients of");
        RAN_TRY(ran_batch_check(data, &m->config, m->V, m->C, false, err));
        RAN_TRY(ran_batcher_init(k, &m->config, &m->params, m->V, m->C, data, pool, err));
        if (k->task->prepare != NULL)
                RAN_TRY(k->task->prepare(&k->of, m->tokenizer, err));
        return dump(m, k, documents < data->B ? documents : data->B, output, err);
}

int ran_dump_gradients(const char *model, const struct ran_dataset *data, size_t documents,
                       struct ran_pool *pool, const char *output, struct ran_error *err)
{
        struct ran_batcher k = {0};
        struct ran_model *m;
        int rc;

        err = ran_error_or_spare(err);
        m = ran_model_open(model, false, err);
        if (m == NULL)
                return err->code;
        rc = dump_model(m, model, &k, data, documents, pool, output, err);
        ran_batcher_release(&k);
        ran_model_free(m);
        return rc;
}
