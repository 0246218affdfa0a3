/* batch-check.c - checks documents against a task and its model. */
#include "gradient/batch.h"
#include "infer/infer.h"
#include "nn/part.h"
#include "ran/train.h"

/* Whether the documents are of this task. */
static int check_kind(const struct ran_dataset *d, const struct ran_config *c,
                      struct ran_error *err)
{
        const struct ran_task *task = ran_task_of(c);

        if (task->words && d->positions == NULL && ran_task_is_tied(c))
                return ran_fail(err, RAN_EINVAL, "the documents do not say where words begin");
        if (task->sources != (d->sources != NULL) || task->words != (d->positions != NULL))
                return ran_fail(err, RAN_EINVAL, "the documents are for another task");
        for (size_t b = 0; b < d->B && d->sources != NULL && c->mask == RAN_MASK_CAUSAL; b++)
                if (d->sources[b] > 0)
                        return ran_fail(err, RAN_EINVAL,
                                        "a document has a source: mask must be 'prefix'");
        return RAN_OK;
}

static int check_spelling(const struct ran_dataset *d, const struct ran_config *c,
                          struct ran_error *err)
{
        size_t tokens = d->first[d->B];

        if (tokens > 0 && c->spelling > 0 && d->spelling == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the model reads the spelling of words (spelling %zu), but the "
                                "documents have none",
                                c->spelling);
        return ran_check_spelling(d->spelling, tokens * RAN_SPELLING, c, err);
}

static int check_labels(const struct ran_dataset *d, size_t b, const struct ran_config *c, size_t C,
                        bool unknown, struct ran_error *err)
{
        const size_t n = d->label_first[b + 1] - d->label_first[b];

        if (ran_train_task_of(c)->one_label && !c->classify.multilabel && n != 1)
                return ran_fail(err, RAN_EINVAL, "a document has %zu labels instead of one", n);
        for (size_t i = d->label_first[b]; i < d->label_first[b + 1]; i++)
                if (d->labels[i] >= C && !(unknown && d->labels[i] == RAN_LABEL_UNKNOWN))
                        return ran_fail(err, RAN_EINVAL, "label %u is none of %zu classes",
                                        (unsigned)d->labels[i], C);
        return RAN_OK;
}

static int check_documents(const struct ran_dataset *d, const struct ran_config *c, size_t C,
                           bool unknown, struct ran_error *err)
{
        for (size_t b = 0; b < d->B; b++) {
                const struct ran_document doc = ran_dataset_document(d, b);

                if (doc.L == 0)
                        return ran_fail(err, RAN_EINVAL, "a document without tokens");
                RAN_TRY(ran_model_check_positions(&doc, err));
                if (!ran_task_is_tied(c))
                        RAN_TRY(check_labels(d, b, c, C, unknown, err));
        }
        return RAN_OK;
}

int ran_batch_check(const struct ran_dataset *d, const struct ran_config *c, size_t V, size_t C,
                    bool unknown, struct ran_error *err)
{
        if (d == NULL || d->B == 0)
                return RAN_OK;
        RAN_TRY(check_kind(d, c, err));
        RAN_TRY(check_spelling(d, c, err));
        if (d->given)
                RAN_TRY(ran_check_ids(d->labels, d->label_first[d->B], V, err));
        RAN_TRY(ran_check_ids(d->ids, d->first[d->B], V, err));
        return check_documents(d, c, C, unknown, err);
}
