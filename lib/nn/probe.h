/* probe.h - attention probes: sums over blocks of the attention tables that ran/model.h describes.
 *
 * An encoder adds its weights row by row, as it computes them, and keeps none: memory is
 * proportional to the sums, not the attention.
 */
#ifndef RAN_MODEL_PROBE_H
#define RAN_MODEL_PROBE_H

#include "ran/model.h"

/* The probes of one pass over one document. */
struct ran_probes {
        struct ran_probe *probe; /* (n) each filled by one thread, in the order of its rows */
        size_t n;
};

static inline bool ran_probe_matches(const struct ran_probe *k, int table, size_t layer)
{
        return k->table == table && k->layer == layer;
}

/* The heads of a probe: [*from, *to) of h. Returns the weight of each. */
float ran_probe_heads(const struct ran_probe *k, size_t h, size_t *from, size_t *to);

/* The part [*from, *to) of n queries, or keys, from `first` on that a probe covers, counted from
 * first.
 */
bool ran_probe_queries(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to);
bool ran_probe_keys(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to);

/* Adds `scale` times the weights (n) of a query of the probe for the keys from `key` on. */
void ran_probe_add(struct ran_probe *k, size_t query, size_t key, const float *weight, size_t n,
                   float scale);

#endif
