/* probe-document.c - reads a document for attention probes. See ran/model.h for what they are. */
#include "nn/part.h"
#include "infer/infer.h"
#include "ran/model.h"

#include <string.h>

void ran_probe_shape(struct ran_probe_shape *shape, const struct ran_config *c, size_t L)
{
        const struct ran_part *encoder = ran_encoder_of(c);

        *shape = (struct ran_probe_shape){.L = L, .layers = c->layers, .windows = 1, .window = L};
        if (encoder != NULL && encoder->probe_shape != NULL)
                encoder->probe_shape(c, shape);
        else
                shape->layers = 0;
}

int ran_probe_check(const struct ran_probe_shape *shape, const struct ran_probe *k,
                    struct ran_error *err)
{
        if (k->table < 0 || k->table >= RAN_PROBE_TABLES)
                return ran_fail(err, RAN_EINVAL, "there is no table %d of attention", k->table);
        const struct ran_probe_table *t = &shape->table[k->table];
        if (k->table == RAN_PROBE_REVIEW && t->heads == 0)
                return ran_fail(err, RAN_EINVAL, "the model has no review");
        if (k->layer >= shape->layers)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no layer %zu: it has %zu, and the first is 0",
                                k->layer, shape->layers);
        if (k->head != RAN_PROBE_MEAN && k->head >= t->heads)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no head %zu: it has %zu, and the first is 0",
                                k->head, t->heads);
        if (k->down == 0 || k->across == 0)
                return ran_fail(err, RAN_EINVAL, "a block of no queries or keys");
        if (k->query_from >= k->query_to || k->query_to > t->n_queries)
                return ran_fail(err, RAN_EINVAL, "there are no queries %zu to %zu: there are %zu",
                                k->query_from, k->query_to, t->n_queries);
        if (k->key_from >= k->key_to || k->key_to > t->n_keys)
                return ran_fail(err, RAN_EINVAL, "there are no keys %zu to %zu: there are %zu",
                                k->key_from, k->key_to, t->n_keys);
        return RAN_OK;
}

int ran_probe(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
              size_t sources, struct ran_probe *probe, size_t n, struct ran_error *err)
{
        struct ran_probes probes = {probe, n};
        struct ran_probe_shape shape;

        RAN_TRY(ran_model_check_state(m, s, err));
        RAN_TRY(ran_model_check_document(m, d, err));
        if (!ran_config_has_encoder(&m->config))
                return ran_fail(err, RAN_EINVAL, "the model has no encoder, and so no attention");
        if (d->L == 0 || sources > d->L)
                return ran_fail(err, RAN_EINVAL, "a document of %zu tokens, of them %zu source",
                                d->L, sources);
        ran_probe_shape(&shape, &m->config, d->L);
        for (size_t i = 0; i < n; i++) {
                RAN_TRY(ran_probe_check(&shape, &probe[i], err));
                memset(probe[i].sum, 0,
                       ran_probe_height(&probe[i]) * ran_probe_width(&probe[i]) *
                               sizeof *probe[i].sum);
                probe[i].update = probe[i].context = 0;
        }
        return ran_score_probed(s, d, sources, &probes, err);
}
