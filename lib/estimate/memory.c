/* memory.c - the most memory of a run. Its phases follow each other, and what one has
 * freed the next one takes:
 *
 *      weights, moments, the best epoch's       always
 *      linear model       |  shards  |  validation  |  writing       one of them
 *      features                 until the linear model is refitted
 */
#include "estimate/estimate.h"
#include "nn/encoder.h"
#include "nn/vector-cache.h"
#include "part/linear/linear-model.h"
#include "nn/task.h"
#include "part/linear/crf-train.h"

#include <math.h>
#include <stdlib.h>

/* What a thread has of its own: the panels of products, a stack, and an arena of the allocator. */
static const double of_thread = 1.5e6;
/* Code and tables that no run has touched before it begins. */
static const double of_program = 3e6;

static double larger(double a, double b)
{
        return a > b ? a : b;
}

static double weights_bytes(const struct ran_run_sizes *k)
{
        const struct ran_config *c = k->job->config;
        const double copies = ran_train_has_dev(k->job) ? 2 : 1; /* the best epoch's */
        const double table = (double)k->table.rows * (double)k->table.width;
        const double rows = (double)ran_parts_rows(c), C = (double)k->C;
        double bytes = 4 * copies * ((double)k->block + table) +
                       ran_optimiser_bytes(k->block, &k->table, ran_task_is_tied(c));

        if (rows > 0)
                bytes += 4 * rows * (C + 1) + 8 * (double)ran_crf_train_floats(k->C);
        if (ran_linear_model_wants_affixes(c))
                bytes += 4 * (double)k->V * RAN_AFFIX_ROW;
        return bytes + 16 * (double)k->job->train->B;
}

/* One of the longest validation documents. */
struct longest {
        const struct ran_dataset *d;
        size_t *document, n, most;
};

static void find_longest(struct longest *x)
{
        const size_t *first = x->d->first;

        for (size_t b = 0; b < x->d->B; b++) {
                size_t at = x->n, L = first[b + 1] - first[b];

                for (; at > 0; at--) {
                        size_t other = x->document[at - 1];

                        if (first[other + 1] - first[other] >= L)
                                break;
                        x->document[at] = other;
                }
                x->document[at] = b;
                x->n += x->n < x->most;
        }
}

/* Scratch for scoring document b. */
static int scoring_bytes(const struct ran_run_sizes *k, const struct ran_dataset *d, size_t b,
                         double *bytes, struct ran_error *err)
{
        const struct ran_config *c = k->job->config;
        const size_t L = d->first[b + 1] - d->first[b], outputs = ran_run_outputs(k->job, d, L);
        struct ran_packed packed = {0};
        struct ran_workspace w;
        double own = 0;

        RAN_TRY(ran_workspace_init(&w, c, false, k->job->pool, err));
        int rc = ran_packed_add(&packed, c, d->ids + d->first[b], L, 0, err);
        for (uint32_t t = 0; t < outputs && rc == RAN_OK; t++)
                rc = ran_packed_positions(&packed, &t, 1, err);
        if (rc == RAN_OK)
                rc = ran_workspace_bytes(&w, &packed, k->C, &own, err);
        *bytes += own + 64 * (double)L + 8 * (double)w.d_k * ((double)w.rotary.longest + 1);
        ran_packed_release(&packed);
        ran_workspace_release(&w);
        return rc;
}

/* A state for each thread, with the longest documents, and the panels that they share. */
static int states_bytes(const struct ran_run_sizes *k, const struct ran_dataset *d, double *bytes,
                        struct ran_error *err)
{
        const struct ran_train_job *job = k->job;
        const size_t threads = job->pool != NULL ? ran_pool_threads(job->pool) : 1;
        struct longest x = {.d = d, .most = threads};
        int rc = RAN_OK;

        x.document = ran_alloc(threads + 1, sizeof *x.document, err);
        if (x.document == NULL)
                return RAN_ENOMEM;
        find_longest(&x);
        for (size_t i = 0; i < x.n && rc == RAN_OK; i++)
                rc = scoring_bytes(k, d, x.document[i], bytes, err);
        free(x.document);
        *bytes += 4 * (double)ran_parts_kept(job->config);
        return rc;
}

/* Validation documents: their states, and all results. */
static int validation_bytes(const struct ran_run_sizes *k, double *bytes, struct ran_error *err)
{
        const struct ran_train_job *job = k->job;

        *bytes = 0;
        if (!ran_train_has_dev(job))
                return RAN_OK;
        RAN_TRY(states_bytes(k, job->dev, bytes, err));
        const bool words = ran_task_of(job->config)->output == RAN_OUTPUT_WORD;
        const double outputs = (double)(words ? job->dev->label_first[job->dev->B] : job->dev->B);
        *bytes += outputs * (ran_task_is_tied(job->config) ? 8 : 24 + 12 * (double)k->C);
        return RAN_OK;
}

/* The rows that layers below the tuned ones have made. */
static double below_bytes(const struct ran_train_job *job)
{
        const struct ran_config *c = job->config;
        const size_t around = c->bert.prefix + c->bert.suffix;
        const struct ran_dataset *set[] = {job->train, ran_train_has_dev(job) ? job->dev : NULL};
        double rows = 0;

        if (ran_train_below(job->settings, c) == 0)
                return 0;
        for (size_t i = 0; i < 2; i++)
                for (size_t b = 0; set[i] != NULL && b < set[i]->B; b++) {
                        const size_t L = set[i]->first[b + 1] - set[i]->first[b];
                        const size_t windows = L / (c->bert.max_length - around) + 1;

                        rows += (double)(L + around * windows);
                }
        return fmin((double)RAN_VECTOR_CACHE_MOST, rows * (double)c->dim * 4);
}

int ran_estimate_memory(const struct ran_run_sizes *k, struct ran_memory_estimate *e,
                        struct ran_error *err)
{
        const struct ran_train_job *job = k->job;
        const size_t threads = job->pool != NULL ? ran_pool_threads(job->pool) : 1;
        struct ran_linear_estimate linear;
        struct ran_shards_estimate shards;
        double validation, reading = 0; /* reading: by a frozen encoder */

        if (ran_config_has_features(job->config))
                RAN_TRY(states_bytes(k, job->train, &reading, err));
        RAN_TRY(ran_estimate_linear(k, &linear, err));
        RAN_TRY(ran_estimate_shards(k, &shards, err));
        RAN_TRY(validation_bytes(k, &validation, err));

        const double stays = shards.brief + shards.gradient;
        const double write = linear.write + 64 * (double)k->V;
        const double at_work = larger(larger(shards.longer, validation), write);
        linear.fit = larger(linear.fit, linear.features + reading);
        const double refitting = ran_train_refits(job) ? stays + linear.fit : linear.fit;
        const double below = below_bytes(job), keep = (double)job->train->keep;
        const bool spills = below > (keep > 0 ? keep : (double)RAN_SPOOL_KEEP);
        const double weights =
                of_program + (double)threads * of_thread + weights_bytes(k) + (spills ? 0 : below);
        e->always = weights + linear.features;
        e->most = weights + larger(refitting, linear.features + stays + at_work);
        e->file = linear.file + (spills ? below : 0);
        return RAN_OK;
}
