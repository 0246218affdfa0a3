/* crf-train.h - training of the linear model of a tagger (part/linear/linear-words.h): a
 * linear-chain conditional random field,
 *
 *   min over w   1/2 |w|² + cost Σ_s -log p(tags of s | w)
 *
 * over sentences s, where w are the weights of the features, the bias and the crf.
 *
 * Stochastic gradient descent, one sentence at a time (Bottou 2010), with a step size that falls
 * linearly to 0. A sentence touches a few thousand weights; one common factor applies the shrinkage
 * of |w|² to all. One thread does it, so that sums have a fixed order.
 */
#ifndef RAN_TRAIN_CRF_TRAIN_H
#define RAN_TRAIN_CRF_TRAIN_H

#include "part/crf/crf.h"

struct ran_crf_train {
        const struct ran_config *c;
        const struct ran_dataset *d;
        const size_t *document; /* (n) to train on */
        size_t n;
        double cost;
        size_t passes;
        uint64_t seed; /* of the order of sentences */
        /* Called after each pass, with its number and the share that is done; a value other than 0
         * ends training with RAN_EINTR. May be NULL. */
        int (*pass)(void *arg, size_t passes, double share);
        void *arg;
};

/* The default cost: from 0.3 to 3 the F1 on three collections is about the same. */
extern const double ran_crf_train_cost;
enum { RAN_CRF_TRAIN_PASSES = 20 };

/* The crf of C tags as one run of floats: start (C), end (C), transition (C, C). */
size_t ran_crf_train_floats(size_t C);
/* Views of such a run; of NULL: no crf. */
struct ran_crf ran_crf_train_view(const float *x, size_t C);
struct ran_crf_grad ran_crf_train_grad_view(float *x, size_t C);

/* Learns weight (c->linear.wide, C) and bias (C), starting from their values (w is the difference
 * from these), and the crf, unless NULL, from 0. A failure leaves them unchanged. */
int ran_crf_train_run(const struct ran_crf_train *k, float *weight, float *bias, float *crf,
                      struct ran_error *err);

#endif
