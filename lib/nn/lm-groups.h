/* lm-groups.h - sizes of the output of language models. An adaptive softmax divides the vocabulary
 * into a shortlist of the S most frequent ids and tails: tail k has the ids from S 4^k on, below
 * S 4^(k+1) and V. See lm.h. */
#ifndef RAN_MODEL_LM_GROUPS_H
#define RAN_MODEL_LM_GROUPS_H

#include "ran/model.h"

enum { RAN_LM_ROWS = 512 }; /* positions whose logits are computed at once */

/* Ids [from, end) with one softmax. */
struct ran_lm_group {
        size_t from, end;
};

/* Ids in the first softmax: the shortlist S, or V. */
size_t ran_lm_first(const struct ran_config *c, size_t V);
/* The number of tails; tail k; and the ids in the widest, 0 without tails. */
size_t ran_lm_tails(const struct ran_config *c, size_t V);
struct ran_lm_group ran_lm_tail(const struct ran_config *c, size_t V, size_t k);
size_t ran_lm_widest(const struct ran_config *c, size_t V);

#endif
