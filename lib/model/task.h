/* task.h - what a model is trained for: an entry of a table for each task (RAN_TASK_...). What
 * training adds to a task is in train/task.h. */
#ifndef RAN_MODEL_TASK_H
#define RAN_MODEL_TASK_H

#include "ran.h"

/* What an output stands for: a document, a word, or a token of the vocabulary to be predicted. */
enum ran_output { RAN_OUTPUT_DOCUMENT, RAN_OUTPUT_WORD, RAN_OUTPUT_TOKEN };

/* The linear model beside the encoder, where c->wide > 0: an SVM over the features of documents
 * (linear-model.h), a CRF over those of words (linear-words.h). */
enum ran_linear_kind { RAN_LINEAR_NONE, RAN_LINEAR_SVM, RAN_LINEAR_CRF };

struct ran_task {
        const char *name;
        enum ran_output output;
        enum ran_linear_kind linear;
        bool words;   /* documents say where words begin */
        bool sources; /* documents may begin with a source */
};

/* The entry of a task, a value that ran_config_check accepts. */
const struct ran_task *ran_task_of(const struct ran_config *c);

/* Whether outputs are the vocabulary (C = V), tied to the embedding: no labels, and a dense
 * gradient of the embedding. */
static inline bool ran_task_is_tied(const struct ran_config *c)
{
        return ran_task_of(c)->output == RAN_OUTPUT_TOKEN;
}

extern const struct ran_task ran_task_classify, ran_task_tag, ran_task_lm, ran_task_mlm;

#endif
