/* grad.h - gradients of shards, and their sum in a fixed order.
 *
 * A gradient is a block of all tensors but the embedding, and the embedding's rows of the ids that
 * occurred, in ascending order. If the output is tied to the embedding, every row has a gradient:
 * then it is dense. Shards are summed in a balanced binary tree over their numbers,
 *
 *     0   1   2   3   4          (0+1) (2+3) (4)          ((0+1)+(2+3)) (4)          all
 *
 * whichever is ready first, so that the sum is the same for any number of threads, and so that
 * machines which hold neighbouring shards can send the sums of their subtrees (reduce.c).
 */
#ifndef RAN_TRAIN_GRAD_H
#define RAN_TRAIN_GRAD_H

#include "nn/workspace.h"

#include <pthread.h>

struct ran_grad_rows {
        uint32_t *ids; /* (n) ascending; NULL if dense: 0, 1, ... */
        float *rows;   /* (n, D); zeroed when handed out, if dense */
        size_t n, ids_cap, rows_cap;
};

struct ran_grad {
        struct ran_params p; /* p.block, zeroed when handed out; p.dembed: rows, if dense */
        struct ran_grad_rows rows;
        struct ran_grad *next; /* in the free list */
};

/* The sum of a subtree, waiting for its neighbour of the same span. */
struct ran_subtree {
        struct ran_grad *sum;
        size_t span;
};

struct ran_tree {
        const struct ran_config *c;
        size_t C, size; /* of a block */
        size_t from;    /* the tensors before it are not trained: nothing of them is summed */
        size_t V;       /* rows of a dense gradient; 0: they are sparse */
        pthread_mutex_t lock;
        struct ran_subtree *ready; /* (shards): by the first shard of each */
        size_t shards, ready_cap;
        struct ran_grad *free_list;
        struct ran_error error; /* the first that happened */
        uint32_t *touched;      /* scratch of reduce.c: ids of rows that are not zero */
        size_t touched_cap;
};

int ran_tree_init(struct ran_tree *t, const struct ran_config *c, size_t C, size_t block,
                  struct ran_error *err);
void ran_tree_release(struct ran_tree *t);
/* Begins a sum of n shards. */
void ran_tree_begin(struct ran_tree *t, size_t shards);
/* Hands out a cleared gradient. Thread-safe, as are _join and _fail. */
struct ran_grad *ran_tree_take(struct ran_tree *t);
/* Sets g's sparse rows from the adjoints dx (L, D) of the tokens, or adds them to its dense
 * rows; equal ids are summed in their order. spelling (L, RAN_SPELLING) or NULL: its rows are
 * sparse and follow those of the V ids. */
int ran_grad_embed(struct ran_grad *g, const uint32_t *ids, const uint32_t *spelling, size_t V,
                   const float *dx, size_t L, size_t D, struct ran_pool *pool,
                   struct ran_error *err);
void ran_grad_release(struct ran_grad *g);
/* Keeps the first error for ran_tree_sum. */
void ran_tree_fail(struct ran_tree *t, const struct ran_error *err);
/* Adds the sum of a subtree [at, at + span), span a power of two, to the sum, and sums neighbours
 * that are ready. A shard is a subtree with a span of 1. */
void ran_tree_join(struct ran_tree *t, size_t at, size_t span, struct ran_grad *g);
/* Makes room for n sparse rows. */
void ran_grad_room(struct ran_grad_rows *g, size_t n, size_t width);
/* After all shards: their sum; return it with _give. NULL: see t->error. */
struct ran_grad *ran_tree_sum(struct ran_tree *t);
void ran_tree_give(struct ran_tree *t, struct ran_grad *g);

#endif
