/* alignment.c - what the tokens of a target looked at in their source, as one table.
 *
 * A document of a source and a target is read once, with probes for each layer. A position of the
 * target attends to source tokens in its heads, as far as its window or pattern sees them, and with
 * review_source in the memory review as well: the mean of the heads and the review are added.
 * Layers are averaged. What falls on cells and on target tokens is left out.
 */
#include "ran/model.h"

#include <stdint.h>
#include <stdlib.h>

/* The most weights that are read at once. */
enum { MOST_WEIGHTS = 1 << 26 };

struct alignment {
        struct ran_probe_shape shape;
        size_t sources, rows; /* positions of the target, the last token of the source first */
        size_t layer_from, layer_to;
        struct ran_probe *probe;
        size_t n, each; /* probes, and weights of the largest */
        double *sum;
};

/* A probe of table `table`: positions of the target and tokens of the source. */
static struct ran_probe probe_of(const struct alignment *k, int table, size_t layer, size_t head)
{
        const bool rows = k->shape.table[table].queries == RAN_AXIS_ROWS;
        const size_t first = k->sources - 1, last = first + k->rows - 1;

        return (struct ran_probe){
                .table = table,
                .layer = layer,
                .head = head,
                .query_from = rows ? ran_probe_row(&k->shape, first) : first,
                .query_to = 1 + (rows ? ran_probe_row(&k->shape, last) : last),
                .key_to = 1 + (rows ? ran_probe_row(&k->shape, first) : first),
                .down = 1,
                .across = 1,
        };
}

static int check_alignment(const struct ran_model *m, const struct alignment *k, size_t n,
                           size_t layer, size_t head, struct ran_error *err)
{
        if (ran_model_config(m)->mask != RAN_MASK_PREFIX)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no source tokens: its mask is not 'prefix'");
        if (k->sources == 0 || k->sources > n)
                return ran_fail(err, RAN_EINVAL, "a document of %zu tokens, of them %zu source", n,
                                k->sources);
        if (layer != RAN_PROBE_MEAN && layer >= k->shape.layers)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no layer %zu: it has %zu, and the first is 0", layer,
                                k->shape.layers);
        if (head == RAN_ALIGN_REVIEW && k->shape.table[RAN_PROBE_SOURCE].heads == 0)
                return ran_fail(err, RAN_EINVAL, "the model has no review of source tokens");
        if (head < RAN_ALIGN_REVIEW && head >= k->shape.table[RAN_PROBE_HEADS].heads)
                return ran_fail(err, RAN_EINVAL,
                                "the model has no head %zu: it has %zu, and the first is 0", head,
                                k->shape.table[RAN_PROBE_HEADS].heads);
        return RAN_OK;
}

static int make_room(struct alignment *k, size_t head, struct ran_error *err)
{
        const bool review = k->shape.table[RAN_PROBE_SOURCE].heads > 0 && head >= RAN_ALIGN_REVIEW;
        size_t all;

        k->probe = ran_new(2 * (k->layer_to - k->layer_from), sizeof *k->probe);
        for (size_t l = k->layer_from; l < k->layer_to; l++) {
                if (head != RAN_ALIGN_REVIEW)
                        k->probe[k->n++] = probe_of(k, RAN_PROBE_HEADS, l, head);
                if (review)
                        k->probe[k->n++] = probe_of(k, RAN_PROBE_SOURCE, l, 0);
        }
        for (size_t i = 0; i < k->n; i++) {
                size_t cells = 0;

                if (__builtin_mul_overflow(ran_probe_height(&k->probe[i]),
                                           ran_probe_width(&k->probe[i]), &cells))
                        cells = SIZE_MAX;
                k->each = cells > k->each ? cells : k->each;
        }
        if (__builtin_mul_overflow(k->each, k->n, &all) || all > MOST_WEIGHTS)
                return ran_fail(err, RAN_EINVAL,
                                "%zu target and %zu source tokens have more than %d weights in %zu "
                                "tables of attention: choose one layer",
                                k->rows, k->sources, MOST_WEIGHTS, k->n);
        k->sum = ran_alloc(all, sizeof *k->sum, err);
        for (size_t i = 0; i < k->n && k->sum != NULL; i++)
                k->probe[i].sum = k->sum + i * k->each;
        return k->sum != NULL ? RAN_OK : RAN_ENOMEM;
}

/* weight (rows, sources) += the probe's weights of source tokens */
static void add(const struct alignment *k, const struct ran_probe *p, double *weight)
{
        const bool rows = k->shape.table[p->table].queries == RAN_AXIS_ROWS;
        const size_t width = ran_probe_width(p);

        for (size_t i = 0; i < k->rows; i++) {
                size_t at = k->sources - 1 + i,
                       y = (rows ? ran_probe_row(&k->shape, at) : at) - p->query_from;

                for (size_t j = 0; j < k->sources; j++)
                        weight[i * k->sources + j] +=
                                p->sum[y * width + (rows ? ran_probe_row(&k->shape, j) : j)];
        }
}

/* The mean of the weights that the probes give. */
static int align(struct alignment *k, const struct ran_model *m, struct ran_state *s,
                 const struct ran_document *d, size_t head, double *weight, struct ran_error *err)
{
        RAN_TRY(make_room(k, head, err));
        RAN_TRY(ran_probe(m, s, d, k->sources, k->probe, k->n, err));
        for (size_t i = 0; i < k->rows * k->sources; i++)
                weight[i] = 0;
        for (size_t i = 0; i < k->n; i++)
                add(k, &k->probe[i], weight);
        for (size_t i = 0; i < k->rows * k->sources; i++)
                weight[i] /= (double)(k->layer_to - k->layer_from);
        return RAN_OK;
}

int ran_alignment(const struct ran_model *m, struct ran_state *s, const struct ran_document *d,
                  size_t sources, size_t layer, size_t head, double *weight, struct ran_error *err)
{
        struct alignment k = {.sources = sources, .rows = d->L - sources + 1};
        const bool all = layer == RAN_PROBE_MEAN;

        ran_probe_shape(&k.shape, ran_model_config(m), d->L > 0 ? d->L : 1);
        RAN_TRY(check_alignment(m, &k, d->L, layer, head, err));
        k.layer_from = all ? 0 : layer;
        k.layer_to = all ? k.shape.layers : layer + 1;
        int rc = align(&k, m, s, d, head, weight, err);
        free(k.probe);
        free(k.sum);
        return rc;
}
