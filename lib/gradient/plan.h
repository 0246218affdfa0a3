/* plan.h - the documents, or chunks of them, of each step of an epoch.
 *
 * A step has a stream for each document of a batch. A stream takes one document after another,
 * in the order of the epoch: whole, or under truncated back-propagation one chunk a step.
 *
 *            step 1   step 2   step 3   step 4          order: A B C D E
 *   stream 1   A 0-99   A 100-   C 0-99   C 100-199
 *   stream 2   B 0-57   D 0-99   D 100-   E 0-80
 *
 * A chunk ends at the end of a window: its last recurrent state is the first one of the next chunk.
 * Gradients do not cross chunks, through the cell or the review (truncated back-propagation through
 * time).
 */
#ifndef RAN_TRAIN_PLAN_H
#define RAN_TRAIN_PLAN_H

#include "nn/recurrent-state.h"
#include "ranks/ranks.h"

/* Tokens [from, to) of a document. */
struct ran_chunk {
        size_t document, from, to;
        size_t number; /* number within its document, from 0 */
        struct ran_recurrent_state
                *recurrent; /* the state before it and after it; NULL: documents are whole */
        size_t *holder;     /* the rank that holds it, or RAN_EVERY_RANK */
};
#define RAN_EVERY_RANK SIZE_MAX

struct ran_plan {
        const struct ran_config *c;
        const struct ran_dataset *d;
        size_t streams;
        size_t span;         /* tokens of a chunk */
        const size_t *order; /* (documents) of the epoch; the caller's */
        size_t documents, begun;
        struct ran_chunk *stream;              /* (streams) the last chunk of each */
        struct ran_recurrent_state *recurrent; /* (streams); NULL: documents are whole */
        size_t *holder;                        /* (streams) */
        struct ran_chunk *chunk;               /* (n) of the step at hand */
        size_t n;
};

/* bptt: windows of a chunk; 0: documents are whole. */
int ran_plan_init(struct ran_plan *p, const struct ran_config *c, const struct ran_dataset *d,
                  size_t streams, size_t bptt, struct ran_error *err);
void ran_plan_release(struct ran_plan *p);
/* Begins an epoch of these documents. */
void ran_plan_begin(struct ran_plan *p, const size_t *order, size_t documents);
/* The chunks of the next step; false when the epoch is over. */
bool ran_plan_next(struct ran_plan *p);
/* The number of steps of an epoch; begins it. */
size_t ran_plan_steps(struct ran_plan *p, const size_t *order, size_t documents);

/* The tokens [*from, returned) of a chunk whose next tokens are predicted, at least one; for
 * language models. The last token of a document is read only as a target's window requires it. */
size_t ran_plan_predicts(const struct ran_dataset *d, const struct ran_chunk *p, size_t *from);

/* The recurrent states of the streams as one array of floats: its size; writing it, for a
 * checkpoint; and reading it, with the plan at the same step. */
size_t ran_plan_floats(const struct ran_plan *p);
void ran_plan_pack(const struct ran_plan *p, float *out);
int ran_plan_unpack(struct ran_plan *p, const float *in, struct ran_error *err);
/* Several ranks: the recurrent state of a chunk moves to the rank that reads it next, its holder
 * from then on; _collect copies all states to rank 0. */
int ran_plan_move(const struct ran_chunk *chunk, const struct ran_config *c, size_t to,
                  struct ran_ranks *ranks, struct ran_error *err);
int ran_plan_collect(struct ran_plan *p, struct ran_ranks *ranks, struct ran_error *err);

#endif
