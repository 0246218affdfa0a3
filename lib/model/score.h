/* score.h - scoring under weights that need not come from a file: training evaluates with it. */
#ifndef RAN_MODEL_SCORE_H
#define RAN_MODEL_SCORE_H

#include "model/params.h"

/* As ran_state_new; config and params must outlive the state. */
struct ran_state *ran_scorer_new(const struct ran_config *c, const struct ran_params *p, size_t C,
                                 struct ran_pool *pool, struct ran_error *err);
/* As ran_classify. */
int ran_score(struct ran_state *s, const uint32_t *ids, size_t L, float *logits, float *embedding,
              struct ran_error *err);

#endif
