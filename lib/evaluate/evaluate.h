/* evaluate.h - results on a dataset under given weights. With several ranks, each scores some of
 * the documents; rank 0 gathers the scores, and only its results are complete. */
#ifndef RAN_TRAIN_EVALUATE_H
#define RAN_TRAIN_EVALUATE_H

#include "data/rates.h"
#include "nn/params.h"
#include "infer/infer.h"
#include "ranks/ranks.h"

/* Logits (B, C) of all documents, or (words, C) of all their words, computed as in ran-classify
 * and ran-tag: of the encoder and, unless `linear` is NULL, of the linear model, if there is
 * one. */
int ran_evaluate_predict(const struct ran_config *c, const struct ran_params *p, size_t C,
                         const struct ran_dataset *d, struct ran_pool *pool,
                         struct ran_ranks *ranks, float *encoder, float *linear,
                         struct ran_error *err);

/* A language model has the loss alone, the mean over predicted tokens of -log of their
 * probability. Documents are read whole, even if training reads chunks. mlm: always the same
 * tokens are masked; `mask` is [MASK]. */
int ran_evaluate_texts(struct ran_rates *rates, const struct ran_config *c,
                       const struct ran_params *p, size_t V, const struct ran_dataset *d,
                       uint32_t mask, struct ran_pool *pool, struct ran_ranks *ranks,
                       struct ran_error *err);

/* A language model of sources and targets has BLEU and chrF of the targets that it generates, with
 * the most probable token each time. Documents without a source are left out. */
int ran_evaluate_generated(struct ran_rates *rates, const struct ran_config *c,
                           const struct ran_params *p, size_t V, const struct ran_dataset *d,
                           const struct ran_tokenizer *tokenizer, struct ran_pool *pool,
                           struct ran_error *err);

#endif
