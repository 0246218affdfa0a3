/* batch.h - loss and gradient of a batch of documents, or of chunks of them, in shards.
 *
 * A shard holds whole chunks, some 2,048 tokens of them (fewer when the batch is small, so that
 * there is work for every core; a longer chunk is a shard of its own): a function of the batch
 * alone. One thread computes each shard's gradient, with the help of idle ones; grad.h fixes the
 * order of their sum. The loss is divided by the terms of the whole batch. With several ranks, each
 * takes some neighbouring shards.
 */
#ifndef RAN_TRAIN_BATCH_H
#define RAN_TRAIN_BATCH_H

#include "gradient/grad.h"
#include "gradient/plan.h"
#include "ranks/ranks.h"
#include "task/train.h"

struct ran_batch_scratch {
        struct ran_task_scratch of;
        size_t tokens; /* of the longest chunk so far; 0: of short shards */
        struct ran_batch_scratch *next;
};

/* Shards of at most RAN_SHARD_TOKENS share scratch that every thread has. A longer chunk takes up
 * to a hundred times as much, so scratch for those is as scarce as they are: it is made for as many
 * as are at work at the same time, goes to the shortest chunk that fits, and is released rather
 * than kept beside a larger one. Beyond RAN_KEEP_TOKENS it is released after each step: to make it
 * anew then costs nothing beside the step. */
enum { RAN_SHARD_TOKENS = 2048, RAN_KEEP_TOKENS = 1 << 15 };

struct ran_batcher {
        const struct ran_train_task *task;
        struct ran_task_batch of; /* what the task knows of it */
        double word_dropout;      /* fraction of the ids that become `unknown` */
        uint32_t unknown;
        struct ran_pool *pool;
        struct ran_ranks *ranks; /* the other processes; not owned; NULL: none */
        struct ran_tree tree;
        pthread_mutex_t lock;
        struct ran_batch_scratch *idle, *idle_long;
        /* the batch at work */
        const struct ran_chunk *chunk;
        size_t *shard; /* (shards + 1) first chunk of each */
        size_t *begin; /* (shards + 1) tokens before each */
        size_t *bound; /* (ranks + 1) the first shard of each rank */
        size_t shards, shard_cap, begin_cap, loss_cap;
        double *loss; /* (shards) */
};

int ran_batcher_init(struct ran_batcher *k, const struct ran_config *c, const struct ran_params *p,
                     size_t V, size_t C, const struct ran_dataset *data, struct ran_pool *pool,
                     struct ran_error *err);
void ran_batcher_release(struct ran_batcher *k);
/* Releases the scratch of long chunks until the next batch. */
void ran_batcher_rest(struct ran_batcher *k);
/* Divides n chunks into shards: shard (n + 1) the first chunk of each and n, begin (n + 1) the
 * tokens before each and all of them. Returns the number of shards. */
size_t ran_batch_shards(const struct ran_chunk *chunk, size_t n, size_t *shard, size_t *begin);
/* Weights that make every class count the same: B / (C n_c). */
void ran_batcher_balance(struct ran_batcher *k);
/* RAN_EINVAL if d (may be NULL) is not for this task, an id is not below V, a label not one of C
 * classes, a word has no token, a document has no tokens, or the spelling does not match c.
 * unknown: labels may be RAN_LABEL_UNKNOWN. */
int ran_batch_check(const struct ran_dataset *d, const struct ran_config *c, size_t V, size_t C,
                    bool unknown, struct ran_error *err);
/* The mean loss of the chunks chunk[0..n) and its gradient, which the caller returns with
 * ran_tree_give. All ranks call it with the same chunks. */
int ran_batch_gradient(struct ran_batcher *k, const struct ran_chunk *chunk, size_t n, double *loss,
                       struct ran_grad **gradient, struct ran_error *err);

/* ---- the sum over several processes (reduce.c) ------------------------------------------------
 */

/* Call it with the gradients of this rank's shards [bound[me], bound[me + 1]) in t and their
 * losses in loss (shards). Returns the sum over all shards, on every rank; return it with
 * ran_tree_give. *total is the sum of the losses, in order. A failure breaks the ranks. */
int ran_reduce(struct ran_tree *t, struct ran_ranks *ranks, const size_t *bound, double *loss,
               double *total, struct ran_grad **sum, struct ran_error *err);

#endif
