/* lm-groups.h - how an adaptive softmax divides the vocabulary: a shortlist of the most frequent
 * ids, then tails. Tail k has the ids from S 4^k on, below S 4^(k+1) and V. See lm.h. */
#ifndef RAN_MODEL_LM_GROUPS_H
#define RAN_MODEL_LM_GROUPS_H

#include "ran.h"

/* Ids [from, end) with one softmax. */
struct ran_lm_group {
        size_t from, end;
};

/* Ids in the first softmax: the shortlist S, or V. */
size_t ran_lm_first(const struct ran_config *c, size_t V);
/* How many tails there are; tail k of them; and ids in the widest, 0 if there is none. */
size_t ran_lm_tails(const struct ran_config *c, size_t V);
struct ran_lm_group ran_lm_tail(const struct ran_config *c, size_t V, size_t k);
size_t ran_lm_widest(const struct ran_config *c, size_t V);

#endif
