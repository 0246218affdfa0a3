/* probe.h - the attention that is paid while an encoder is at work, for those who want to see it.
 *
 * An encoder that computes weights hands them out row by row, as they are, while they are at hand;
 * nothing else keeps them. What is asked for are sums over blocks of the tables that ran.h
 * describes, so that memory follows the answer and not the attention.
 */
#ifndef RAN_MODEL_PROBE_H
#define RAN_MODEL_PROBE_H

#include "ran/model.h"

/* All that is looked at in one pass over one document. */
struct ran_probes {
        struct ran_probe *probe; /* (n) each summed up by one thread, in the order of its rows */
        size_t n;
};

static inline bool ran_probe_matches(const struct ran_probe *k, int table, size_t layer)
{
        return k->table == table && k->layer == layer;
}

/* The heads that it looks at: [*from, *to) of h; each counts for as much as is returned. */
float ran_probe_heads(const struct ran_probe *k, size_t h, size_t *from, size_t *to);

/* Which of the n queries, or keys, from `first` on are looked at: [*from, *to), counted from first.
 */
bool ran_probe_queries(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to);
bool ran_probe_keys(const struct ran_probe *k, size_t first, size_t n, size_t *from, size_t *to);

/* Adds share times the weights (n) that a query, which is looked at, gives to the keys from `key`
 * on. */
void ran_probe_add(struct ran_probe *k, size_t query, size_t key, const float *weight, size_t n,
                   float share);

#endif
