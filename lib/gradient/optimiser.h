/* optimiser.h - Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019).
 *
 * A row of the embedding is updated only by steps in which its id occurs ("lazy" Adam): its moments
 * stay unchanged in between, and the next update applies the missed decay. So the cost of a step
 * depends on its documents and not on the size of the vocabulary.
 *
 * If the output is tied to the embedding, every row has a gradient at every step, mostly a small
 * one that pushes all rare ids the same way. Adam would amplify it, and a common direction would
 * hide the meaning of rare ids. So ids of similar frequency use one second moment, the mean of
 * their squares ("coupled" Adam: Stollenwerk and Stollenwerk, ACL 2025, with one for the whole
 * vocabulary). Ids are ordered by frequency: here those from 256 2^k on, below 256 2^(k+1), have
 * one; those below 256 one each.
 */
#ifndef RAN_TRAIN_OPTIMISER_H
#define RAN_TRAIN_OPTIMISER_H

#include "gradient/grad.h"

/* State of the embedding and the spelling table. */
struct ran_table_state {
        size_t rows, width;
        float *m;          /* (rows, width) moments */
        float *v;          /* (rows, width), (bands, width) if tied */
        size_t moments;    /* numbers of v */
        float *shared;     /* (blocks of rows, width) if tied: scratch of a step */
        double *last_step; /* (rows) decay that a row has met */
        float *rate_scale; /* (rows) see below */
};

struct ran_optimiser {
        const struct ran_train_settings *s;
        const struct ran_layout *layout;
        struct ran_pool *pool;
        uint64_t step; /* steps done */
        double decay;  /* sum of log(1 - lr wd) over the steps done */
        float *m, *v;  /* moments, blocks */
        struct ran_table_state table;
        /* Factors of learning rate and decay for each tensor of the layout (n) and for a row of
         * the table: 1 unless the caller changes them; 0: not trained. */
        float *rate_scale;
        size_t from; /* of the block: the tensors before it are not trained, and have no gradient */
};

/* For a table of this shape; tied: gradients of the embedding are dense. */
void ran_optimiser_init(struct ran_optimiser *o, const struct ran_train_settings *s,
                        const struct ran_layout *layout, const struct ran_table *table, bool tied,
                        struct ran_pool *pool);
void ran_optimiser_release(struct ran_optimiser *o);
/* Learning rate of a step, from 0 on, out of `steps`. */
double ran_learning_rate(const struct ran_train_settings *s, uint64_t step, uint64_t steps);
/* Norm of the whole gradient, summed in a fixed order. */
double ran_grad_norm(const struct ran_optimiser *o, const struct ran_grad *g);
/* Clears the gradient of tensors that are not trained; call it before ran_optimiser_norm. */
void ran_optimiser_clear(const struct ran_optimiser *o, struct ran_grad *g);
/* One step on block and table with the gradient gscale g. */
void ran_optimiser_step(struct ran_optimiser *o, float *block, const struct ran_table *table,
                        const struct ran_grad *g, double gscale, double rate);
/* Flushes the lazy decay of every row; call it before the weights are used elsewhere. */
void ran_optimiser_flush(struct ran_optimiser *o, const struct ran_table *table);

/* Bytes of a table's rows. */
size_t ran_table_bytes(const struct ran_table *t);

#endif
