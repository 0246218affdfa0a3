/* run.c - questions about a run, and small changes of it, which all of the training shares. */
#include "tensors/compact.h"
#include "train/trainer.h"

#include <string.h>

/* ---- the job --------------------------------------------------------------------------------- */

size_t ran_train_batch(const struct ran_train_job *job)
{
        size_t by_size = job->train->B / 100;

        if (job->settings->batch > 0)
                return job->settings->batch;
        return by_size < 4 ? 4 : by_size > 32 ? 32 : by_size;
}

bool ran_train_has_dev(const struct ran_train_job *job)
{
        return job->dev != NULL && job->dev->B > 0;
}

bool ran_train_refits(const struct ran_train_job *job)
{
        return ran_train_has_dev(job) && job->held_out != NULL && job->settings->refit;
}

/* ---- where it stands ------------------------------------------------------------------------- */

bool ran_trainer_drops_encoder(const struct ran_trainer *t)
{
        if (!ran_config_trains_encoder(t->c) && ran_config_has_features(t->c))
                return t->at.linear.fitted != 0 && t->at.linear.chosen.dense == 0;
        return ran_config_trains_encoder(t->c) && t->at.best.epoch > 0 && t->linear.rows > 0 &&
               t->at.best.ensemble.encoder == 0;
}

bool ran_trainer_drops_linear(const struct ran_trainer *t)
{
        return ran_config_trains_encoder(t->c) && t->at.best.epoch > 0 && t->linear.rows > 0 &&
               t->at.best.ensemble.linear == 0 && t->at.best.ensemble.encoder > 0;
}

void ran_trainer_list_documents(struct ran_trainer *t)
{
        const bool *held_out = t->at.epochs.refit == 0 ? t->job->held_out : NULL;

        t->loop.documents = 0;
        for (size_t b = 0; b < t->job->train->B; b++)
                if (held_out == NULL || !held_out[b])
                        t->loop.document[t->loop.documents++] = b;
}

void ran_trainer_begin_epoch(struct ran_trainer *t)
{
        size_t epoch = (size_t)t->at.epochs.epoch, done = (size_t)t->at.epochs.batch;

        ran_random_shuffle(t->loop.order, t->loop.document, t->loop.documents, t->s->seed, epoch);
        t->loop.batches = ran_plan_steps(&t->loop.plan, t->loop.order, t->loop.documents);
        t->loop.steps =
                (size_t)t->loop.optimiser.step - done + t->loop.batches * (t->s->epochs - epoch);
        if (t->at.epochs.limit > 0 && t->at.epochs.limit < (double)t->loop.steps)
                t->loop.steps = (size_t)t->at.epochs.limit;
        while (done-- > 0 && ran_plan_next(&t->loop.plan))
                ;
}

void ran_trainer_round_encoder(struct ran_trainer *t)
{
        for (size_t i = 0; i < t->weights.layout.n; i++) {
                const struct ran_tensor_spec *s = &t->weights.layout.spec[i];

                ran_compact_round(t->job->storage, t->weights.p.block + s->offset, s->rows,
                                  s->cols);
        }
        ran_compact_round(t->job->storage, t->weights.table.x, t->weights.table.rows,
                          t->weights.table.width);
}

void ran_trainer_copy_tables(struct ran_trainer *t, const struct ran_params *from, size_t n,
                             size_t spelling)
{
        const size_t D = t->D;

        for (size_t id = 0; id < n && D > 0; id++)
                ran_embed_row(from, id, D, t->weights.table.x + id * D);
        if (spelling > 0)
                memcpy(t->weights.table.x + t->V * D, from->spelling, spelling * D * sizeof(float));
}
