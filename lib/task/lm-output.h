/* lm.h - the output of language models: a softmax over the vocabulary, tied to the embedding.
 *
 *   full:      logits = h E^T + b           E (V, D): embed.weight, b (V): lm.bias
 *
 *   adaptive:  the first softmax is over the ids below S = shortlist and one entry a tail; a tail
 *              has a softmax of its own over its ids, tail k: ids from S 4^k on, below S 4^(k+1)
 *              and V (Grave et al., ICML 2017, with rows of full width that stay tied). Frequent
 *              ids come first in a vocabulary, so that most tokens need the first softmax alone.
 *
 * The logits of all positions would be the largest array: a block of positions is computed and used
 * at a time.
 */
#ifndef RAN_MODEL_LM_H
#define RAN_MODEL_LM_H

#include "nn/workspace.h"

/* Initialises the biases of the output with the log frequencies of the ids, from count (V), at
 * least 0. Otherwise the embedding would learn these frequencies as a direction that all rare
 * ids share, which hides their differences. */
void ran_lm_init_bias(const struct ran_config *c, const struct ran_params *p, size_t V,
                      const double *count);

/* After ran_encode of w->packed: nll (positions) of gold, 0 where gold is RAN_NO_ID; and logits
 * (positions, V), log-probabilities if adaptive. Each may be NULL. */
void ran_lm_score(struct ran_workspace *w, const struct ran_params *p, size_t V,
                  const uint32_t *gold, float *nll, float *logits);
/* The same, but take is called with the logits of each position in order; logits (RAN_LM_ROWS, V),
 * or (positions, V) if that is smaller, is scratch; NULL: nobody takes any. Stops at the first code
 * of take other than RAN_OK and returns it. */
int ran_lm_each(struct ran_workspace *w, const struct ran_params *p, size_t V, const uint32_t *gold,
                float *nll, float *logits, ran_lm_take *take, void *arg, struct ran_error *err);
/* ran_lm_score for training: returns the sum over positions of scale (positions) times nll, or of
 * that against targets of which all tokens share the part `smoothing` (0 in an adaptive softmax);
 * adds the gradients of the output layer to dp (dp->dembed among them) and leaves the adjoints of
 * the encoder's output in w->dx and w->dlast, as ran_head_bwd does. */
double ran_lm_loss(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                   size_t V, const uint32_t *gold, const float *scale, double smoothing);

#endif
