/* known.c - which documents a model has learned from, and what it tells the next training. */
#include "base/error.h"
#include "train/known.h"
#include "train/trainer.h"
#include "ran/train.h"

#include <stdlib.h>
#include <string.h>

/* Whether a training for this task that begins with the weights of init knows documents already: a
 * training on texts says nothing of labels. */
static bool knows(const struct ran_model *init, int task)
{
        return init != NULL && ran_model_fingerprints(init) > 0 &&
               ran_task_has_labels(ran_model_config(init)->task) == ran_task_has_labels(task);
}

size_t ran_train_find_known(const struct ran_dataset *d, const struct ran_model *init, int task,
                            bool *known)
{
        size_t n = 0;

        for (size_t b = 0; b < d->B; b++) {
                const bool is = d->fingerprint != NULL && knows(init, task) &&
                                ran_model_knows(init, d->fingerprint[b]);

                if (known != NULL)
                        known[b] = is;
                n += is;
        }
        return n;
}

/* The documents that the training learned from: all after a refit, else those that were not held
 * out. */
int ran_known_make(const struct ran_train_job *job, bool refitted, struct ran_extra *extra,
                   struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const bool goes_on = knows(job->init, job->config->task);
        const size_t before = goes_on ? ran_model_fingerprints(job->init) : 0;
        size_t n = before;

        *extra = (struct ran_extra){.name = RAN_KNOWN_TENSOR, .dtype = RAN_DTYPE_U32};
        if (d->fingerprint == NULL && before == 0)
                return RAN_OK;
        uint32_t *known = ran_alloc(before + d->B, sizeof *known, err);
        if (known == NULL)
                return RAN_ENOMEM;
        if (before > 0)
                memcpy(known, ran_model_known(job->init).data, before * sizeof *known);
        for (size_t b = 0; d->fingerprint != NULL && b < d->B; b++)
                if (refitted || job->held_out == NULL || !job->held_out[b])
                        known[n++] = d->fingerprint[b];
        extra->data = known;
        extra->n = ran_known_sort(known, n);
        return RAN_OK;
}
