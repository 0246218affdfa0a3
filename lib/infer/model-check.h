/* model-check.h - whether a state, a document and a model belong together. */
#ifndef RAN_MODEL_MODEL_CHECK_H
#define RAN_MODEL_MODEL_CHECK_H

#include "file/model.h"

/* RAN_EINVAL when a state was made for another model. */
int ran_model_check_state(const struct ran_model *m, const struct ran_state *s,
                          struct ran_error *err);
/* The same, and when the model is for another task. */
int ran_model_check_task(const struct ran_model *m, const struct ran_state *s,
                         const struct ran_task *task, struct ran_error *err);
/* RAN_EINVAL when one of the ids is not in the vocabulary. */
int ran_model_check_ids(const struct ran_model *m, const uint32_t *ids, size_t L,
                        struct ran_error *err);
/* The same for a document, and when it lacks the spelling that the model needs. */
int ran_model_check_document(const struct ran_model *m, const struct ran_document *d,
                             struct ran_error *err);
/* RAN_EINVAL when a word of a document has no token, or words are out of order. */
int ran_model_check_positions(const struct ran_document *d, struct ran_error *err);

#endif
