/* reduce.h - the sum of a batch's gradients over several processes (ranks.h).
 *
 * Each rank has neighbouring shards, and sums the subtrees of grad.h that they complete. Ranks send
 * these sums to a neighbour, which adds them wherever both halves of a larger subtree are there,
 * until rank 0 has the whole:
 *
 *     shards  0 1 2 | 3 4 | 5 6 7      three ranks
 *             (01)2   3 4   5(67)      what each can sum up
 *             ((01)(23)) 4  5(67)      rank 1 has sent 3 and 4 to rank 0
 *             (((01)(23))((45)(67)))   rank 2 has sent 5 and (67)
 *
 * So every addition has the same operands as in one process, and the same result. Only the non-zero
 * rows of tables are sent.
 */
#ifndef RAN_TRAIN_REDUCE_H
#define RAN_TRAIN_REDUCE_H

#include "gradient/grad.h"
#include "ranks/ranks.h"

/* Call it with the gradients of this rank's shards [bound[me], bound[me + 1]) in t and their
 * losses in loss (shards). Returns the sum over all shards, on every rank; return it with
 * ran_tree_give. *total is the sum of the losses, in order. A failure breaks the ranks. */
int ran_reduce(struct ran_tree *t, struct ran_ranks *ranks, const size_t *bound, double *loss,
               double *total, struct ran_grad **sum, struct ran_error *err);

#endif
