/* optimiser.h - Adam with decoupled weight decay (Kingma and Ba 2015; Loshchilov and Hutter 2019).
 *
 * Rows of the embedding are updated when their id occurs in a step, as if the step were
 * the only kind there is for them ("lazy" Adam): their moments rest in between, and the decay that
 * they missed is made up for. A step then costs what its documents cost and not the size of the
 * vocabulary.
 *
 * Where the output is tied to the embedding every row has a gradient at every step, most of the
 * time a small one that pushes all rare ids the same way. Adam would enlarge just that, and rare
 * ids would end in a common direction that hides what they mean. So neighbours of similar frequency
 * share their second moment, the mean of its squares ("coupled" Adam: Stollenwerk and Stollenwerk,
 * ACL 2025, who have one for the whole vocabulary; ids are ordered by frequency, so that here ids
 * from 256 2^k on, below 256 2^(k+1), have one; those below 256 have one each).
 */
#ifndef RAN_TRAIN_OPTIMISER_H
#define RAN_TRAIN_OPTIMISER_H

#include "train/grad.h"

/* What is known of the embedding. */
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
        /* The share of the learning rate, and of the decay, that a tensor of the layout (n) and a
         * row of the table have: 1, unless the caller says otherwise; 0: they stay. */
        float *rate_scale;
};

/* For a table of this shape; tied: gradients of the embedding are dense. */
int ran_optimiser_init(struct ran_optimiser *o, const struct ran_train_settings *s,
                       const struct ran_layout *layout, const struct ran_table *table, bool tied,
                       struct ran_pool *pool, struct ran_error *err);
void ran_optimiser_release(struct ran_optimiser *o);
/* Learning rate of a step, from 0 on, out of `steps`. */
double ran_learning_rate(const struct ran_train_settings *s, uint64_t step, uint64_t steps);
/* Norm of the whole gradient, summed in a fixed order. */
double ran_grad_norm(const struct ran_optimiser *o, const struct ran_grad *g);
/* Clears the gradient of what stays: before it is measured. */
void ran_optimiser_clear(const struct ran_optimiser *o, struct ran_grad *g);
/* One step on block and table along g, which is scaled by gscale. */
void ran_optimiser_step(struct ran_optimiser *o, float *block, const struct ran_table *table,
                        const struct ran_grad *g, double gscale, double rate);
/* Lets every row meet the decay that it missed: before the weights are used elsewhere. */
void ran_optimiser_flush(struct ran_optimiser *o, const struct ran_table *table);

#endif
