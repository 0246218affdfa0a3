/* model-check.c - see model-check.h. */
#include "infer/model-check.h"
#include "infer/score.h"
#include "ran/model.h"

int ran_model_check_state(const struct ran_model *m, const struct ran_state *s,
                          struct ran_error *err)
{
        return ran_score_params(s) == &m->params
                       ? RAN_OK
                       : ran_fail(err, RAN_EINVAL, "the state was made for another model");
}

int ran_model_check_task(const struct ran_model *m, const struct ran_state *s,
                         const struct ran_task *task, struct ran_error *err)
{
        const struct ran_task *own = ran_task_of(&m->config);

        if (own != task)
                return ran_fail(err, RAN_EINVAL, "the model is %s, not %s", own->what, task->what);
        return ran_model_check_state(m, s, err);
}

int ran_model_check_ids(const struct ran_model *m, const uint32_t *ids, size_t L,
                        struct ran_error *err)
{
        for (size_t t = 0; t < L; t++)
                if (ids[t] >= m->V)
                        return ran_fail(err, RAN_EINVAL,
                                        "id %u is not in the vocabulary of %zu tokens",
                                        (unsigned)ids[t], m->V);
        return RAN_OK;
}

int ran_model_check_document(const struct ran_model *m, const struct ran_document *d,
                             struct ran_error *err)
{
        size_t features = m->config.spelling > 0 && d->spelling != NULL ? RAN_SPELLING : 0;

        if (m->config.spelling > 0 && d->spelling == NULL)
                return ran_fail(err, RAN_EINVAL,
                                "the model reads the spelling of words, which ids lack: "
                                "it needs tokens or text");
        for (size_t i = 0; i < d->L * features; i++)
                if (d->spelling[i] >= m->config.spelling)
                        return ran_fail(err, RAN_EINVAL, "there is no bucket %u of spelling",
                                        (unsigned)d->spelling[i]);
        return ran_model_check_ids(m, d->ids, d->L, err);
}

int ran_model_check_positions(const struct ran_document *d, struct ran_error *err)
{
        for (size_t i = 0; i < d->words; i++)
                if (d->positions[i] >= d->L || (i > 0 && d->positions[i] < d->positions[i - 1]))
                        return ran_fail(err, RAN_EINVAL, "word %zu does not stand at a token", i);
        return RAN_OK;
}
