/* estimate.c - what a training run will cost, from sizes alone. */
#include "train/trainer.h"

#include <math.h>
#include <stdlib.h>

/* Arithmetic of one token in one layer, forward. What is done once a
 * window, not once a token, is left out. */
static double flops_per_token(const struct ran_config *c, double m)
{
        double D = (double)c->dim, E = (double)(c->heads * c->head_dim), W = (double)c->window;
        double products = c->cell == RAN_CELL_GATED ? 4 * D * E + 6 * D * D : 4 * D * E + D * D;

        return 2 * products + 4 * (W + 1) * E + (c->review ? 4 * m * D : 0);
}

/* Bytes of scratch for the longest document of the data beside a shard's worth of others. */
static int scratch(const struct ran_train_job *job, size_t longest, size_t C, double *bytes,
                   struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        size_t L = d->first[longest + 1] - d->first[longest];
        struct ran_rows rows = {0};
        struct ran_work w;
        int rc = ran_work_init(&w, job->config, true, job->pool, err);

        if (rc != RAN_OK)
                return rc;
        do
                rc = ran_rows_add(&rows, job->config, d->ids + d->first[longest], L, 0, err);
        while (rc == RAN_OK && rows.L + L <= 2048);
        if (rc == RAN_OK)
                *bytes = ran_work_bytes(&w, &rows, C);
        ran_rows_release(&rows);
        ran_work_release(&w);
        return rc;
}

/* Steps of a run, as the first epoch has them. */
static int steps(const struct ran_train_job *job, size_t *n, struct ran_error *err)
{
        size_t B = job->train->B, *order = ran_alloc(B, sizeof *order, err);
        struct ran_plan plan = {0};
        int rc = RAN_ENOMEM;

        if (order != NULL)
                rc = ran_plan_init(&plan, job->config, job->train, ran_train_batch(job),
                                   job->settings->bptt, err);
        if (rc == RAN_OK) {
                ran_plan_shuffle(order, B, job->settings->seed, 0);
                *n = ran_plan_steps(&plan, order, B) * job->settings->epochs;
        }
        ran_plan_release(&plan);
        free(order);
        return rc;
}

int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct ran_config *c = job->config;
        size_t V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        size_t threads = job->pool != NULL ? ran_pool_threads(job->pool) : 1, longest = 0;
        struct ran_layout layout;
        double work = 0, copies = job->dev != NULL && job->dev->B > 0 ? 4 : 3;
        int rc = ran_config_check(c, err);

        if (rc == RAN_OK)
                rc = ran_layout_init(&layout, c, d->C, err);
        if (rc != RAN_OK)
                return rc;
        *e = (struct ran_train_estimate){.parameters = layout.size,
                                         .embedding_parameters = (V + c->spelling) * c->dim};
        ran_layout_release(&layout);
        for (size_t b = 0; b < d->B; b++) {
                double L = (double)(d->first[b + 1] - d->first[b]);

                if (L > (double)(d->first[longest + 1] - d->first[longest]))
                        longest = b;
                e->flops +=
                        3 * L * (double)c->layers * flops_per_token(c, ceil(L / (double)c->window));
        }
        if (d->B > 0 && (rc = scratch(job, longest, d->C, &work, err)) != RAN_OK)
                return rc;
        if ((rc = steps(job, &e->steps, err)) != RAN_OK)
                return rc;
        /* weights, two moments and the best so far; gradients of the shards in flight; scratch;
         * data */
        e->bytes = (size_t)(4 * copies * (double)(e->parameters + e->embedding_parameters) +
                            4 * (double)(threads + 4) * (double)e->parameters +
                            (double)threads * work + 4 * (double)d->first[d->B]);
        return RAN_OK;
}
