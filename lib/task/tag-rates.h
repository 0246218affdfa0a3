/* tag-rates.h - results of a tagger on a data set. */
#ifndef RAN_TASK_TAG_RATES_H
#define RAN_TASK_TAG_RATES_H

#include "data/rates.h"
#include "part/crf/crf.h"

/* Fills *rates from logits (words, C) and a CRF: accuracy of words; F1 of entities as
 * conlleval counts them, over all and the mean over types; mean -log of the probability of a word's
 * tag. losses (B) or NULL: the same of each document, as a sum over its words. */
int ran_tag_rates(struct ran_rates *rates, const struct ran_dataset *d, const float *logits,
                  const struct ran_crf *crf, double *losses, struct ran_pool *pool,
                  struct ran_error *err);

#endif
