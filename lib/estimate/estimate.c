/* estimate.c - the cost of a training run: parameters, steps, arithmetic; estimate.h: memory. */
#include "base/error.h"
#include "estimate/estimate.h"
#include "nn/encoder.h"
#include "task/lm-output.h"
#include "nn/task.h"
#include "data/masking.h"
#include "task/train.h"
#include "ran/train.h"

#include <math.h>
#include <stdlib.h>

/* Documents to train on before a refit, and the steps of all epochs of that. */
static int count_steps(struct ran_run_sizes *k, size_t *document, struct ran_error *err)
{
        const struct ran_train_job *job = k->job;
        const size_t B = job->train->B;
        size_t *order = ran_alloc(B, sizeof *order, err);
        struct ran_plan plan = {0};
        int rc = RAN_ENOMEM;

        for (size_t b = 0; b < B; b++)
                if (job->held_out == NULL || !job->held_out[b])
                        document[k->documents++] = b;
        k->document = document;
        if (order != NULL)
                rc = ran_plan_init(&plan, job->config, job->train, ran_train_batch(job),
                                   job->settings->bptt, err);
        if (rc == RAN_OK) {
                ran_random_shuffle(order, document, k->documents, job->settings->seed, 0);
                k->steps = ran_plan_steps(&plan, order, k->documents) * job->settings->epochs;
        }
        ran_plan_release(&plan);
        free(order);
        return rc;
}

/* The mean cost of one token: a predicted one needs products with all rows of the first softmax. */
static double output_flops(const struct ran_train_job *job, size_t V)
{
        const struct ran_config *c = job->config;
        const double rows = (double)(ran_lm_first(c, V) + ran_lm_tails(c, V));

        return ran_task_is_tied(c) ? ran_run_mean_outputs(job) * 2 * (double)c->dim * rows : 0;
}

/* Parameters, apart from the linear model's. */
static int count_parameters(struct ran_run_sizes *k, struct ran_error *err)
{
        const struct ran_config *c = k->job->config;
        struct ran_layout layout;

        if (!ran_table_shape(&k->table, c, k->V))
                return ran_fail(err, RAN_EINVAL, "the vocabulary is too large");
        RAN_TRY(ran_layout_init(&layout, c, k->C, err));
        k->block = layout.size;
        ran_layout_release(&layout);
        return RAN_OK;
}

static int count_flops(const struct ran_train_job *job, size_t V, double *sum,
                       struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct ran_config *c = job->config;
        /* layers that stay read each document once, which is no part of an epoch */
        const size_t below = ran_train_below(job->settings, c);
        const double share = 1 - (double)below / (double)c->layers;

        for (size_t b = 0; b < d->B; b++) {
                size_t L = d->first[b + 1] - d->first[b];
                double flops;

                if (L == 0)
                        return ran_fail(err, RAN_EINVAL, "a document without tokens");
                const size_t sources = d->sources != NULL ? d->sources[b] : 0;

                RAN_TRY(ran_parts_flops(c, L, sources, &flops, err));
                *sum += 3 * (share * flops + (double)L * output_flops(job, V));
        }
        return RAN_OK;
}

/* Bytes of the data that are in temporary files. */
static double mapped_bytes(const struct ran_dataset *d)
{
        const struct ran_spool *spool = (const struct ran_spool *)&d->spool;
        double bytes = 0;

        for (size_t i = 0; i < sizeof d->spool / sizeof *spool; i++)
                bytes += spool[i].mapped ? (double)spool[i].room : 0;
        return bytes;
}

static size_t whole(double bytes)
{
        return bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

static int measure_size(struct ran_run_sizes *k, struct ran_train_estimate *e,
                        struct ran_error *err)
{
        const struct ran_train_job *job = k->job;
        const struct ran_config *c = job->config;

        RAN_TRY(ran_config_check(c, err));
        RAN_TRY(ran_train_settings_check(job->settings, c, err));
        k->V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer) : job->V;
        k->C = ran_task_is_tied(c) ? k->V : job->train->C;
        RAN_TRY(count_parameters(k, err));
        const size_t linear = ran_parts_rows(c) * k->C;
        *e = (struct ran_train_estimate){.parameters = k->block,
                                         .embedding_parameters =
                                                 k->table.rows * k->table.width + linear};
        return count_flops(job, k->V, &e->flops, err);
}

int ran_estimate_size(const struct ran_train_job *job, struct ran_train_estimate *e,
                      struct ran_error *err)
{
        struct ran_run_sizes k = {.job = job};

        return measure_size(&k, e, err);
}

/* Estimates one phase, without the texts. */
static int estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                    struct ran_memory_estimate *memory, struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        struct ran_run_sizes k = {.job = job};

        RAN_TRY(measure_size(&k, e, err));
        size_t *document = ran_alloc(d->B, sizeof *document, err);
        if (document == NULL)
                return RAN_ENOMEM;
        int rc = count_steps(&k, document, err);
        if (rc == RAN_OK)
                rc = ran_estimate_memory(&k, memory, err);
        free(document);
        RAN_TRY(rc);
        e->steps = ran_config_trains_encoder(job->config) ? k.steps : 0;
        memory->file += mapped_bytes(d);
        return RAN_OK;
}

int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err)
{
        struct ran_memory_estimate memory;

        err = ran_error_or_spare(err);
        RAN_TRY(estimate(job, e, &memory, err));
        e->bytes = whole(memory.most);
        e->file_bytes = whole(memory.file);
        return RAN_OK;
}
