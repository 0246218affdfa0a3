/* batch.h - loss and gradient of a batch of documents, or of chunks of them, in shards.
 *
 * A shard holds whole chunks, some 2,048 tokens of them (fewer when the batch is small, so that
 * there is work for every core; a longer chunk is a shard of its own): a function of the batch
 * alone. Each shard's gradient is computed by one thread with the help of idle ones, and they are
 * summed in the order of grad.h. The loss is divided by the terms of the whole batch. Several ranks
 * take some neighbouring shards each.
 */
#ifndef RAN_TRAIN_BATCH_H
#define RAN_TRAIN_BATCH_H

#include "model/workspace.h"
#include "train/task.h"
#include "train/grad.h"
#include "train/masking.h"
#include "train/plan.h"
#include "train/ranks.h"

/* Memory of a shard at work. */
struct ran_batch_scratch {
        struct ran_workspace work;
        struct ran_packed packed;
        double *crf;        /* scratch of the CRF */
        uint32_t *gold;     /* (positions) language models: the token that each predicts */
        float *scale;       /* (positions) its weight in the loss */
        uint32_t *position; /* scratch: positions of one chunk */
        struct ran_masking masking;
        size_t crf_cap, gold_cap, scale_cap, position_cap;
        struct ran_batch_scratch *next;
};

struct ran_batcher {
        const struct ran_config *c;
        const struct ran_train_task *task;
        const struct ran_params *p; /* weights, which the caller may change between batches */
        size_t V, C;
        const struct ran_dataset *data;
        double *class_weight; /* (C) or NULL: all 1 */
        struct ran_noise noise;
        double smoothing;
        uint32_t mask;       /* mlm: the subword [MASK] */
        double word_dropout; /* fraction of the ids that become `unknown` */
        uint32_t unknown;
        struct ran_pool *pool;
        struct ran_ranks *ranks; /* who else works on the batch; the caller's, NULL: nobody */
        struct ran_tree tree;
        pthread_mutex_t lock;
        struct ran_batch_scratch *idle;
        /* the batch at work */
        const struct ran_chunk *chunk;
        size_t *shard; /* (shards + 1) first chunk of each */
        size_t *begin; /* (shards + 1) tokens before each */
        size_t *bound; /* (ranks + 1) the first shard of each rank */
        size_t shards, shard_cap, begin_cap, loss_cap;
        double *loss; /* (shards) */
        double terms;
};

int ran_batcher_init(struct ran_batcher *k, const struct ran_config *c, const struct ran_params *p,
                     size_t V, size_t C, const struct ran_dataset *data, struct ran_pool *pool,
                     struct ran_error *err);
void ran_batcher_release(struct ran_batcher *k);
/* For tasks: what output i of document b (its class, or the tag of a word) weighs in the loss. With
 * several labels a document there is no one class that it belongs to. */
double ran_batch_weight(const struct ran_batcher *k, size_t b, size_t i);
/* Grows one array of a scratch, or returns RAN_ENOMEM. */
#define RAN_BATCH_ROOM(s, array, want, err)                                                     \
        do {                                                                                    \
                void *moved = ran_grow(s->array, &s->array##_cap, want, sizeof *s->array, err); \
                if (moved == NULL)                                                              \
                        return RAN_ENOMEM;                                                      \
                s->array = moved;                                                               \
        } while (0)
/* Weights that make every class count the same: B / (C n_c). */
int ran_batcher_balance(struct ran_batcher *k, struct ran_error *err);
/* RAN_EINVAL where d (may be NULL) is not for this task, an id of it is not below V, a label none
 * of C classes, a word at no token, a document without any, or its spelling is not as c wants it.
 * unknown: labels may be RAN_LABEL_UNKNOWN. */
int ran_batch_check(const struct ran_dataset *d, const struct ran_config *c, size_t V, size_t C,
                    bool unknown, struct ran_error *err);
/* Whether the labels of document b are classes. */
int ran_batch_check_labels(const struct ran_dataset *d, size_t b, size_t C, bool unknown,
                           struct ran_error *err);
/* Mean loss of the chunks chunk[0..n) and its gradient, to be handed back with ran_tree_give; on
 * all ranks, of the same chunks. */
int ran_batch_gradient(struct ran_batcher *k, const struct ran_chunk *chunk, size_t n, double *loss,
                       struct ran_grad **gradient, struct ran_error *err);

#endif
