/* gradients.c - loss and gradients of one batch as a file, so that anyone can compare them. */
#include "model/model.h"
#include "train/batch.h"

#include <stdlib.h>
#include <string.h>

/* Names of the gradients: "grad." and the tensor's. */
struct names {
        char (*name)[80];
        struct ran_tensor_source *source;
};

static int write(const struct ran_model *m, const struct ran_layout *layout,
                 const struct ran_grad *g, double loss, const float *embed, const char *output,
                 struct ran_error *err)
{
        struct names k = {.name = ran_alloc(layout->n, sizeof *k.name, err),
                          .source = ran_alloc(layout->n + 3, sizeof *k.source, err)};
        struct ran_metadata_source meta = {"format", "gradients"};
        size_t n = layout->n, D = m->config.dim;
        int rc = RAN_ENOMEM;

        if (k.name == NULL || k.source == NULL)
                goto out;
        for (size_t i = 0; i < layout->n; i++) {
                const struct ran_tensor_spec *s = &layout->spec[i];

                snprintf(k.name[i], sizeof k.name[i], "grad.%s", s->name);
                k.source[i] = (struct ran_tensor_source){.name = k.name[i],
                                                         .dtype = RAN_DTYPE_F32,
                                                         .rank = 1,
                                                         .shape = {s->cols},
                                                         .data = g->p.block + s->offset};
                if (s->rows > 0) {
                        k.source[i].rank = 2;
                        k.source[i].shape[0] = s->rows;
                        k.source[i].shape[1] = s->cols;
                }
        }
        k.source[n++] = (struct ran_tensor_source){.name = "grad.embed.weight",
                                                   .dtype = RAN_DTYPE_F32,
                                                   .rank = 2,
                                                   .shape = {m->V, D},
                                                   .data = embed};
        if (m->config.spelling > 0)
                k.source[n++] = (struct ran_tensor_source){.name = "grad.spelling.weight",
                                                           .dtype = RAN_DTYPE_F32,
                                                           .rank = 2,
                                                           .shape = {m->config.spelling, D},
                                                           .data = embed + m->V * D};
        k.source[n++] = (struct ran_tensor_source){
                .name = "loss", .dtype = RAN_DTYPE_F64, .rank = 1, .shape = {1}, .data = &loss};
        rc = ran_tensors_write(output, k.source, n, &meta, 1, err);
out:
        free(k.name);
        free(k.source);
        return rc;
}

static int dump(const struct ran_model *m, struct ran_batcher *k, size_t documents,
                const char *output, struct ran_error *err)
{
        size_t D = m->config.dim, *order = ran_alloc(documents, sizeof *order, err);
        float *embed = ran_alloc_floats((m->V + m->config.spelling) * D, err);
        struct ran_layout layout = {0};
        struct ran_plan plan = {0};
        struct ran_grad *g = NULL;
        double loss;
        int rc = RAN_ENOMEM;

        if (order == NULL || embed == NULL)
                goto out;
        for (size_t b = 0; b < documents; b++)
                order[b] = b;
        if ((rc = ran_layout_init(&layout, &m->config, m->C, err)) != RAN_OK ||
            (rc = ran_plan_init(&plan, &m->config, k->data, documents, 0, err)) != RAN_OK)
                goto out;
        ran_plan_begin(&plan, order, documents);
        ran_plan_next(&plan);
        if ((rc = ran_batch_gradient(k, plan.piece, plan.n, &loss, &g, err)) != RAN_OK)
                goto out;
        for (size_t i = 0; i < g->n && g->p.dembed == NULL; i++)
                memcpy(embed + g->ids[i] * D, g->rows + i * D, D * sizeof *embed);
        rc = write(m, &layout, g, loss, g->p.dembed != NULL ? g->p.dembed : embed, output, err);
        ran_tree_give(&k->tree, g);
out:
        ran_layout_release(&layout);
        ran_plan_release(&plan);
        free(order);
        free(embed);
        return rc;
}

int ran_dump_gradients(const char *model, const struct ran_dataset *data, size_t documents,
                       struct ran_pool *pool, const char *output, struct ran_error *err)
{
        struct ran_model *m = ran_model_open(model, false, err);
        struct ran_batcher k = {0};
        int rc;

        if (m == NULL)
                return err->code;
        rc = data->B > 0 && documents > 0 ? ran_batch_check(data, &m->config, m->V, err)
                                          : ran_fail(err, RAN_EINVAL, "gradients of no documents");
        if (rc == RAN_OK)
                rc = ran_batcher_init(&k, &m->config, &m->params, m->V, m->C, data, pool, err);
        if (rc == RAN_OK && m->config.task == RAN_TASK_MLM)
                rc = ran_gaps_mask(&k.mask, m->tokenizer, err);
        if (rc == RAN_OK)
                rc = dump(m, &k, documents < data->B ? documents : data->B, output, err);
        ran_batcher_release(&k);
        ran_model_free(m);
        return rc;
}
