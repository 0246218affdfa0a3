/* reduce.h - the sum of a batch's gradients over several processes (ranks.h).
 *
 * Each rank holds neighbouring shards, and the sums of what subtrees of grad.h they make up. Ranks
 * send these to a neighbour, which goes on adding where both halves of a larger subtree are there,
 * until rank 0 has the whole:
 *
 *     shards  0 1 2 | 3 4 | 5 6 7      three ranks
 *             (01)2   3 4   5(67)      what each can sum up
 *             ((01)(23)) 4  5(67)      rank 1 has sent 3 and 4 to rank 0
 *             (((01)(23))((45)(67)))   rank 2 has sent 5 and (67)
 *
 * So every sum is of the two that one process would add, and comes out the same. Of the rows of
 * tables only those are sent that are not zero.
 */
#ifndef RAN_TRAIN_REDUCE_H
#define RAN_TRAIN_REDUCE_H

#include "train/grad.h"
#include "train/ranks.h"

/* When the gradients of this rank's shards [bound[me], bound[me + 1]) are in t, and their losses in
 * loss (shards): the sum of all, on every rank, to be handed back with ran_tree_give; *total is
 * that of the losses, one after another. A failure breaks the ranks. */
int ran_reduce(struct ran_tree *t, struct ran_ranks *ranks, const size_t *bound, double *loss,
               double *total, struct ran_grad **sum, struct ran_error *err);

#endif
