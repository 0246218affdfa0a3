/* estimate.c - the cost of a training run: parameters, steps, arithmetic; estimate.h: memory. */
#include "base/error.h"
#include "train/estimate.h"
#include "model/encoder.h"
#include "model/lm.h"
#include "model/task.h"
#include "train/task.h"
#include "ran/train.h"

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
                ran_plan_shuffle(order, document, k->documents, job->settings->seed, 0);
                k->steps = ran_plan_steps(&plan, order, k->documents) * job->settings->epochs;
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

int ran_train_estimate(const struct ran_train_job *job, struct ran_train_estimate *e,
                       struct ran_error *err)
{
        const struct ran_dataset *d = job->train;
        const struct ran_config *c = job->config;
        struct ran_run_sizes k = {.job = job,
                                  .V = job->tokenizer != NULL ? ran_tokenizer_size(job->tokenizer)
                                                              : job->V};
        double bytes = 0, file = 0;

        err = ran_error_or_spare(err);
        RAN_TRY(ran_config_check(c, err));
        RAN_TRY(ran_train_settings_check(job->settings, c, err));
        k.C = ran_task_is_tied(c) ? k.V : d->C;
        RAN_TRY(count_parameters(&k, err));
        const size_t linear = c->wide > 0 ? c->wide * k.C : 0;
        *e = (struct ran_train_estimate){.parameters = k.block,
                                         .embedding_parameters =
                                                 k.table.rows * k.table.width + linear};
        RAN_TRY(count_flops(job, k.V, &e->flops, err));
        size_t *document = ran_alloc(d->B, sizeof *document, err);
        int rc = document != NULL ? count_steps(&k, document, err) : RAN_ENOMEM;
        if (rc == RAN_OK)
                rc = ran_estimate_memory(&k, &bytes, &file, err);
        free(document);
        e->steps = ran_config_trains_encoder(c) ? k.steps : 0;
        e->bytes = whole(bytes);
        e->file_bytes = whole(file + mapped_bytes(d));
        return rc;
}
