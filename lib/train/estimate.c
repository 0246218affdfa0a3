/* estimate.c - the cost of a training run, from sizes alone. */
#include "base/error.h"
#include "train/trainer.h"
#include "model/encoder.h"
#include "model/lm.h"
#include "model/task.h"
#include "train/task.h"
#include "ran/train.h"

#include <stdlib.h>

/* Bytes of scratch for a shard that contains the longest chunk of the data. */
static int scratch(const struct ran_train_job *job, const struct ran_chunk *longest, size_t C,
                   double *bytes, struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const uint32_t *ids = d->ids + d->first[longest->document] + longest->from;
        struct ran_recurrent_state recurrent = {
                .states = ran_encoder_states(job->config, longest->from)};
        size_t L = longest->to - longest->from;
        struct ran_packed rows = {0};
        struct ran_workspace w;
        int rc = ran_workspace_init(&w, job->config, true, job->pool, err);

        if (rc != RAN_OK)
                return rc;
        do {
                rc = ran_packed_add_after(&rows, job->config, ids, L, 0, &recurrent, err);
                for (uint32_t t = 0; t < L && rc == RAN_OK; t++)
                        rc = ran_packed_positions(&rows, &t, 1, err);
        } while (rc == RAN_OK && rows.L + L <= 2048);
        if (rc == RAN_OK)
                rc = ran_workspace_bytes(&w, &rows, C, bytes, err);
        ran_packed_release(&rows);
        ran_workspace_release(&w);
        return rc;
}

static bool longer(const struct ran_chunk *a, const struct ran_chunk *b)
{
        size_t x = a->to - a->from, y = b->to - b->from;

        return x > y || (x == y && a->from > b->from); /* which looks back on more */
}

/* Steps of a run, by those of the first epoch, and their longest chunk. */
static int steps(const struct ran_train_job *job, size_t *n, struct ran_chunk *longest,
                 struct ran_error *err)
{
        size_t B = job->train->B, *order = ran_alloc(B, sizeof *order, err);
        struct ran_plan plan = {0};
        int rc = RAN_ENOMEM;

        if (order != NULL)
                rc = ran_plan_init(&plan, job->config, job->train, ran_train_batch(job),
                                   job->settings->bptt, err);
        if (rc == RAN_OK) {
                ran_plan_shuffle(order, NULL, B, job->settings->seed, 0);
                *n = ran_plan_steps(&plan, order, B) * job->settings->epochs;
                while (ran_plan_next(&plan))
                        for (size_t i = 0; i < plan.n; i++)
                                if (longer(&plan.chunk[i], longest))
                                        *longest = plan.chunk[i];
        }
        ran_plan_release(&plan);
        free(order);
        return rc;
}

/* The mean cost of one token: a predicted one needs products with all rows of the first softmax. */
static double output_flops(const struct ran_config *c, size_t V)
{
        double outputs = ran_train_task_of(c)->outputs;

        return ran_task_is_tied(c) ? outputs * 2 * (double)c->dim *
                                             (double)(ran_lm_first(c, V) + ran_lm_tails(c, V))
                                   : 0;
}

/* The part of the data, and of initial word vectors, that is in memory and not in files. */
static double data_bytes(const struct ran_train_job *job, double embedding)
{
        const struct ran_dataset *d = job->train;
        const struct ran_spool *const spools[] = {
                &d->spool.ids,         &d->spool.first,      &d->spool.labels,
                &d->spool.label_first, &d->spool.positions,  &d->spool.spelling,
                &d->spool.sources,     &d->spool.weight,     &d->spool.soft_labels,
                &d->spool.soft,        &d->spool.soft_first, &d->spool.guessed,
                &d->spool.group};
        double bytes = job->vectors != NULL ? 4 * embedding : 0;

        for (size_t i = 0; i < sizeof spools / sizeof *spools; i++)
                bytes += spools[i]->mapped ? 0 : (double)spools[i]->room;
        return bytes;
}

/* Parameters, apart from the linear model's. */
static int count_parameters(const struct ran_config *c, size_t V, size_t C,
                            struct ran_train_estimate *e, struct ran_error *err)
{
        struct ran_table table;
        struct ran_layout layout;

        if (!ran_table_shape(&table, c, V))
                return ran_fail(err, RAN_EINVAL, "the vocabulary is too large");
        RAN_TRY(ran_layout_init(&layout, c, C, err));
        *e = (struct ran_train_estimate){.parameters = layout.size,
                                         .embedding_parameters = table.rows * table.width};
        ran_layout_release(&layout);
        return RAN_OK;
}

static int count_flops(const struct ran_train_job *job, size_t V, double *sum,
                       struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct ran_config *c = job->config;

        for (size_t b = 0; b < d->B; b++) {
                size_t L = d->first[b + 1] - d->first[b];
                double flops;

                if (L == 0)
                        return ran_fail(err, RAN_EINVAL, "a document without tokens");
                RAN_TRY(ran_encoder_of(c)->flops(c, L, &flops, err));
                *sum += 3 * (flops + (double)L * output_flops(c, V));
        }
        return RAN_OK;
}

int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct ran_config *c = job->config;
        size_t V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        size_t threads = job->pool != NULL ? ran_pool_threads(job->pool) : 1;
        struct ran_chunk longest = {0};
        double work = 0, copies = job->dev != NULL && job->dev->B > 0 ? 4 : 3;

        err = ran_error_or_spare(err);
        RAN_TRY(ran_config_check(c, err));
        RAN_TRY(ran_train_settings_check(job->settings, c, err));
        const size_t C = ran_task_is_tied(c) ? V : d->C;
        RAN_TRY(count_parameters(c, V, C, e, err));
        RAN_TRY(count_flops(job, V, &e->flops, err));
        RAN_TRY(steps(job, &e->steps, &longest, err));
        if (!ran_config_has_encoder(c))
                e->steps = 0;
        if (d->B > 0)
                RAN_TRY(scratch(job, &longest, C, &work, err));

        const double outputs = c->wide > 0 ? (double)C : 0;
        const double linear = (double)c->wide * outputs;
        double shard = (double)e->parameters;
        if (ran_task_is_tied(c)) /* gradients hold all of the embedding */
                shard += (double)e->embedding_parameters;
        /* weights, two moments and the best so far; gradients of the shards in flight; scratch;
         * data; weights of the linear model, and three times as much while it is fitted */
        double bytes = 4 * copies * (double)(e->parameters + e->embedding_parameters) +
                       4 * (double)(threads + 4) * shard + (double)threads * work +
                       data_bytes(job, (double)V * (double)c->dim) +
                       4 * (4 * linear + (double)d->B * outputs);
        e->bytes = bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
        e->embedding_parameters += (size_t)linear;
        return RAN_OK;
}
