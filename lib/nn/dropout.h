/* dropout.h - dropout from random numbers with keys: the same in the forward and backward pass, and
 * for any number of threads. */
#ifndef RAN_MODEL_DROPOUT_H
#define RAN_MODEL_DROPOUT_H

#include "ran/model.h"

/* The random numbers of a training step. All zero when scoring. */
struct ran_noise {
        uint64_t seed, epoch;
        double dropout, embed_dropout;
};

/* Sites: a random-number purpose each, so that no two use the same number. The order is part of
 * the keys. */
enum {
        RAN_DROP_EMBED,
        RAN_DROP_HEAD,
        RAN_DROP_INPUT,
        RAN_DROP_ATTENTION,
        RAN_DROP_REVIEW,
        RAN_DROP_FEED,
        RAN_DROP_SITES
};
/* Applies dropout of probability p, or its adjoint, to n values of a document at position `at`
 * of a site. */
void ran_dropout(const struct ran_noise *noise, uint64_t record, size_t layer, int site, double p,
                 float *x, size_t n, size_t at);

#endif
