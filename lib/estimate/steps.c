/* steps.c - the memory of the steps of an encoder. Steps of short shards are alike in all epochs:
 * the first epoch stands for them. Of long chunks the longest may meet in a step, in this epoch or
 * another.
 */
#include "estimate/estimate.h"
#include "nn/encoder.h"
#include "nn/part.h"
#include "task/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct walk {
        const struct ran_run_sizes *run;
        struct ran_workspace work;
        struct ran_packed packed;
        struct ran_plan plan;
        size_t threads;
        size_t *order, *shard, *begin;
        struct ran_recurrent_state *recurrent; /* (streams) of the chunks in `packed` */
        uint64_t *seen;                        /* (V) the step that last had the id */
        uint64_t step;
        size_t rows, shards; /* different rows of a step, and shards of a step, at most */
        double *top;     /* (threads + 1) the largest scratch of long chunks in a step, in order */
        double brief;    /* the largest scratch of a short shard, */
        double most;     /* of a long chunk whose scratch is kept, */
        size_t at_once;  /* so many of them at the same time, */
        double together; /* and of all long chunks of a step */
};

double ran_run_mean_outputs(const struct ran_train_job *job)
{
        if (job->config->task == RAN_TASK_MLM && job->settings->mask_share > 0)
                return job->settings->mask_share;
        return ran_train_task_of(job->config)->outputs;
}

size_t ran_run_outputs(const struct ran_train_job *job, const struct ran_dataset *d, size_t L)
{
        const double share = d == job->train ? ran_run_mean_outputs(job) : RAN_MASK_SHARE;
        const double mean = share * (double)L, most = ceil(mean + 3 * sqrt(mean));

        if (job->config->task != RAN_TASK_MLM || d->given || most > (double)L)
                return L;
        return (size_t)most;
}

static int pack(struct walk *k, const struct ran_chunk *chunk, size_t n, struct ran_error *err)
{
        const struct ran_train_job *job = k->run->job;
        const struct ran_dataset *d = job->train;

        size_t total = 0;

        for (size_t i = 0; i < n; i++)
                total += chunk[i].to - chunk[i].from;
        const double outputs = (double)ran_run_outputs(job, d, total) / (double)total;

        ran_packed_clear(&k->packed);
        for (size_t i = 0; i < n; i++) {
                struct ran_recurrent_state *recurrent = &k->recurrent[i];
                const uint32_t *ids = d->ids + d->first[chunk[i].document] + chunk[i].from;
                size_t L = chunk[i].to - chunk[i].from;

                *recurrent = (struct ran_recurrent_state){
                        .states = ran_encoder_states(job->config, chunk[i].from)};
                RAN_TRY(ran_packed_add_after(&k->packed, job->config, ids, L, 0,
                                             chunk[i].recurrent != NULL ? recurrent : NULL, err));
                if (d->sources != NULL && chunk[i].from == 0)
                        k->packed.sources[i] = d->sources[chunk[i].document];
                const size_t before = k->packed.L - L;
                for (uint32_t t = 0; t < L; t++)
                        if ((double)k->packed.positions < outputs * (double)(before + t + 1))
                                RAN_TRY(ran_packed_positions(&k->packed, &t, 1, err));
        }
        return RAN_OK;
}

/* Beside the arena: the packed tokens, their postings, and rotary positions. */
static double beside(const struct walk *k)
{
        const double positions = (double)k->work.rotary.longest + 1;

        return 64 * (double)k->packed.L + 8 * (double)k->work.d_k * positions;
}

static int measure(struct walk *k, const struct ran_chunk *chunk, size_t n, double *bytes,
                   struct ran_error *err)
{
        RAN_TRY(pack(k, chunk, n, err));
        RAN_TRY(ran_workspace_bytes(&k->work, &k->packed, k->run->C, bytes, err));
        *bytes += beside(k);
        return RAN_OK;
}

/* Keeps the largest of a step in order. */
static void add_top(struct walk *k, double bytes)
{
        size_t at = k->threads;

        for (; at > 0 && k->top[at - 1] < bytes; at--)
                k->top[at] = k->top[at - 1];
        k->top[at] = bytes;
}

/* What long chunks of a step need at the same time. */
static void sum_top(struct walk *k)
{
        double sum = 0;
        size_t n = 0;

        for (; n < k->threads && k->top[n] > 0; n++)
                sum += k->top[n];
        k->at_once = n > k->at_once ? n : k->at_once;
        k->together = sum > k->together ? sum : k->together;
}

/* Counts the rows of a step's gradient. */
static void count_rows(struct walk *k)
{
        const struct ran_dataset *d = k->run->job->train;
        size_t rows = 0;

        for (size_t i = 0; i < k->plan.n; i++) {
                const struct ran_chunk *p = &k->plan.chunk[i];
                const size_t first = d->first[p->document];

                for (size_t t = first + p->from; t < first + p->to; t++) {
                        uint32_t id = d->ids[t];

                        rows += id < k->run->V && k->seen[id] != k->step;
                        if (id < k->run->V)
                                k->seen[id] = k->step;
                }
                if (ran_encoder_spelling(k->run->job->config) > 0)
                        rows += (p->to - p->from) * RAN_SPELLING;
        }
        rows = rows < k->run->table.rows ? rows : k->run->table.rows;
        k->rows = rows > k->rows ? rows : k->rows;
}

static int measure_shard(struct walk *k, size_t i, bool all, struct ran_error *err)
{
        const size_t tokens = k->begin[i + 1] - k->begin[i];
        double bytes;

        if (tokens <= RAN_SHARD_TOKENS && !all)
                return RAN_OK;
        RAN_TRY(measure(k, k->plan.chunk + k->shard[i], k->shard[i + 1] - k->shard[i], &bytes,
                        err));
        if (tokens <= RAN_SHARD_TOKENS) {
                k->brief = bytes > k->brief ? bytes : k->brief;
                return RAN_OK;
        }
        if (tokens <= RAN_KEEP_TOKENS)
                k->most = bytes > k->most ? bytes : k->most;
        add_top(k, bytes);
        return RAN_OK;
}

/* Measures the steps of an epoch of these documents; all: short shards and rows, too. */
static int measure_epoch(struct walk *k, const size_t *order, size_t n, bool all,
                         struct ran_error *err)
{
        ran_plan_begin(&k->plan, order, n);
        while (ran_plan_next(&k->plan)) {
                const size_t shards =
                        ran_batch_shards(k->plan.chunk, k->plan.n, k->shard, k->begin);

                k->step++;
                k->shards = shards > k->shards ? shards : k->shards;
                memset(k->top, 0, (k->threads + 1) * sizeof *k->top);
                for (size_t i = 0; i < shards; i++)
                        RAN_TRY(measure_shard(k, i, all, err));
                sum_top(k);
                if (all)
                        count_rows(k);
        }
        return RAN_OK;
}

struct length {
        size_t tokens, document;
};

static int compare_lengths(const void *a, const void *b)
{
        const struct length *x = a, *y = b;

        if (x->tokens != y->tokens)
                return x->tokens > y->tokens ? -1 : 1;
        return (x->document > y->document) - (x->document < y->document);
}

/* Lists the longest documents of the run, or of the refit that follows it: as many as a step has.
 */
static int list_longest(struct walk *k, size_t *n, struct ran_error *err)
{
        const struct ran_dataset *d = k->run->job->train;
        const bool refits = ran_train_refits(k->run->job);

        *n = refits ? d->B : k->run->documents;
        struct length *length = ran_alloc(*n, sizeof *length, err);
        if (length == NULL)
                return RAN_ENOMEM;
        for (size_t i = 0; i < *n; i++) {
                const size_t b = refits ? i : k->run->document[i];

                length[i] = (struct length){d->first[b + 1] - d->first[b], b};
        }
        qsort(length, *n, sizeof *length, compare_lengths);
        *n = *n < k->plan.streams ? *n : k->plan.streams;
        for (size_t i = 0; i < *n; i++)
                k->order[i] = length[i].document;
        free(length);
        return RAN_OK;
}

static int walk_init(struct walk *k, struct ran_error *err)
{
        const struct ran_train_job *job = k->run->job;
        const size_t B = job->train->B;

        RAN_TRY(ran_workspace_init(&k->work, job->config, true, job->pool, err));
        RAN_TRY(ran_plan_init(&k->plan, job->config, job->train, ran_train_batch(job),
                              job->settings->bptt, err));
        k->threads = job->pool != NULL ? ran_pool_threads(job->pool) : 1;
        k->order = ran_alloc(B, sizeof *k->order, err);
        k->shard = ran_alloc(k->plan.streams + 1, sizeof *k->shard, err);
        k->begin = ran_alloc(k->plan.streams + 1, sizeof *k->begin, err);
        k->recurrent = ran_alloc(k->plan.streams, sizeof *k->recurrent, err);
        k->seen = ran_alloc(k->run->V, sizeof *k->seen, err);
        k->top = ran_alloc(k->threads + 1, sizeof *k->top, err);
        return k->order != NULL && k->shard != NULL && k->begin != NULL && k->recurrent != NULL &&
                               k->seen != NULL && k->top != NULL
                       ? RAN_OK
                       : RAN_ENOMEM;
}

static void walk_release(struct walk *k)
{
        ran_workspace_release(&k->work);
        ran_packed_release(&k->packed);
        ran_plan_release(&k->plan);
        free(k->order);
        free(k->shard);
        free(k->begin);
        free(k->recurrent);
        free(k->seen);
        free(k->top);
}

/* Sums at work and waiting in the tree; their arrays grow ahead. */
static double gradient_bytes(const struct walk *k)
{
        const struct ran_run_sizes *run = k->run;
        const double width = (double)run->table.width, rows = (double)k->rows;
        double sums = 1 + (double)k->threads, bytes = 4 * (double)run->block;

        for (size_t span = 1; span < k->shards; span *= 2)
                sums++;
        sums = sums < (double)k->shards + 1 ? sums : (double)k->shards + 1;
        if (ran_task_is_tied(run->job->config))
                return sums * (bytes + 4 * (double)run->V * width);
        return sums * (bytes + 1.25 * rows * (4 + 4 * width));
}

static int walk_all(struct walk *k, struct ran_error *err)
{
        size_t n;

        RAN_TRY(walk_init(k, err));
        ran_random_shuffle(k->order, k->run->document, k->run->documents,
                           k->run->job->settings->seed, 0);
        RAN_TRY(measure_epoch(k, k->order, k->run->documents, true, err));
        RAN_TRY(list_longest(k, &n, err));
        return measure_epoch(k, k->order, n, false, err);
}

int ran_estimate_shards(const struct ran_run_sizes *run, struct ran_shards_estimate *e,
                        struct ran_error *err)
{
        struct walk k = {.run = run};

        *e = (struct ran_shards_estimate){0};
        if (run->documents == 0 || !ran_config_trains_encoder(run->job->config))
                return RAN_OK;
        int rc = walk_all(&k, err);
        if (rc == RAN_OK) {
                e->brief = (double)(k.threads < k.shards ? k.threads : k.shards) * k.brief;
                /* the need is not larger for each longer chunk: any scratch that is kept may come
                 * to have served the neediest */
                double kept = k.most * (double)k.at_once;

                e->longer = kept > k.together ? kept : k.together;
                e->gradient = gradient_bytes(&k);
        }
        walk_release(&k);
        return rc;
}
