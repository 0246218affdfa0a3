/* task.h - tasks: a struct for each, with what differs between them.
 *
 * To add a task: a line in RAN_VERB_TASKS (ran/model.h), a file with its struct ran_task here,
 * with its struct ran_train_task, too (task/train.h); and one with its struct train_task in
 * cmd/train/ (cmd/train/read/task.h); the program that applies it goes into cmd/content/model.c.
 */
#ifndef RAN_MODEL_TASK_H
#define RAN_MODEL_TASK_H

#include "nn/tensor-walk.h"

struct ran_dims;
struct ran_head_params;
struct ran_params;
struct ran_workspace;

/* What an output stands for: a document, a word, or a token of the vocabulary. */
enum ran_output { RAN_OUTPUT_DOCUMENT, RAN_OUTPUT_WORD, RAN_OUTPUT_TOKEN };

/* The linear model that the task has beside an encoder, if its part is in the list: an SVM over
 * features of the document (part/linear/linear-model.h), or a CRF over features of words
 * (part/linear/linear-words.h). */
enum ran_linear_kind { RAN_LINEAR_NONE, RAN_LINEAR_SVM, RAN_LINEAR_CRF };

struct ran_task {
        const char *what; /* its model, in messages: "a classifier" */
        enum ran_output output;
        enum ran_linear_kind linear;
        bool words;   /* documents say where words begin */
        bool sources; /* documents may begin with a source */

        /* Checks that involve several fields of the configuration. */
        int (*check)(const struct ran_config *c, struct ran_error *err);
        /* Sizes of logits; NULL: one row of C for each output. */
        void (*measure)(const struct ran_config *c, struct ran_dims *x);
        /* The head, see head.h; NULL: lm.h computes the output. */
        void (*head)(struct ran_workspace *w, const struct ran_params *p, size_t C);
        void (*head_bwd)(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                         size_t C);
};

/* ran_task_NAME, for each line of RAN_TASKS; task/train.h has another table for each. */
#define RAN_TASK_DECLARE(number, name) extern const struct ran_task ran_task_##name;
RAN_TASKS(RAN_TASK_DECLARE)

extern const struct ran_task *const ran_tasks[RAN_TASK_COUNT]; /* by number */
extern const char *const ran_task_names[];                     /* likewise; NULL at the end */
const struct ran_task *ran_task_of(const struct ran_config *c);

/* Whether outputs are the vocabulary (C = V), tied to the embedding: there are no labels, and the
 * gradient of the embedding is dense. */
static inline bool ran_task_is_tied(const struct ran_config *c)
{
        return ran_task_of(c)->output == RAN_OUTPUT_TOKEN;
}

/* RAN_EINVAL if a mask hides what follows, for tasks that read whole documents. */
int ran_task_check_no_mask(const struct ran_config *c, struct ran_error *err);

#endif
