/* wide.h - the wide path of a classifier: n-grams of a document straight to the labels.
 *
 *   logits += Σ_g x_g wide.weight[g]          beside those of the encoder
 *   x_g = (1 + ln n_g) idf[g] / |...|         so that the whole of x has the length 1
 *
 * g are buckets: each run of 1 to `ngrams` ids is hashed to one of `wide`, and n_g is how many runs
 * of the document fall there. idf[g] = 1 + ln((1 + B) / (1 + b_g)), if b_g of the B documents that
 * were learned from have the bucket; 0, which leaves it out, if fewer than two have. It is what a
 * linear model of n-grams does (TF-IDF), and costs a line of the table for each bucket of the
 * document, whatever its length.
 */
#ifndef RAN_MODEL_WIDE_H
#define RAN_MODEL_WIDE_H

#include "base/places.h"
#include "model/work.h"

/* The bucket of n ids in a row. */
uint32_t ran_wide_bucket(const uint32_t *ids, size_t n, size_t buckets);

/* Lists the buckets of L ids, ascending and each once, in `to` (room for L * c->ngrams), id a
 * bucket and `at` how often it is there; spare: room for as many. Returns how many there are. */
size_t ran_wide_list(struct ran_place *to, struct ran_place *spare, const struct ran_config *c,
                     const uint32_t *ids, size_t L);

/* What a bucket counts that `having` of so many documents have. */
float ran_wide_idf(double having, double documents);

/* Reads the documents at hand, leaves in w->head.wide (B, C) what the path says of them, and in
 * w->head.gram what its gradient needs; adds to the logits (B, C). */
void ran_wide(struct ran_work *w, const struct ran_params *p, size_t C);

/* Adds to value (L) what each token of the one document at hand has to do with Σ_c weight_c logit_c
 * of the wide path: each run divides its share evenly among its tokens. */
void ran_wide_explain(const struct ran_work *w, const struct ran_params *p, size_t C,
                      const float *weight, double share, double *value);

#endif
