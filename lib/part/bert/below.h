/* below.h - what is below the tuned layers of an encoder: layers that stay as they are, and the
 * rows that they make of windows. Windows do not see each other, so that the rows of one are a
 * function of its ids: they are computed once, and kept (struct ran_below in ran/train.h).
 *
 * Threads may share it. What it has no room for is computed again, to the same bits. */
#ifndef RAN_PART_BERT_BELOW_H
#define RAN_PART_BERT_BELOW_H

#include "nn/params.h"
#include "ran/train.h"

/* The most that is kept, in bytes: `keep` of them in memory, the rest in a file, as ran_spool does
 * it; less where that cannot be addressed. */
#define RAN_BELOW_MOST ((size_t)1 << (sizeof(size_t) > 4 ? 32 : 30))

/* layers: of the encoder, the lowest, that stay; D: the width of a row; keep 0: RAN_SPOOL_KEEP.
 * NULL: memory ran out. */
struct ran_below *ran_below_new(size_t layers, size_t D, size_t keep, size_t most,
                                struct ran_error *err);
/* Says whose rows they are. RAN_EFORMAT: it has those of another encoder, or of other layers. Call
 * it before the others. */
int ran_below_bind(struct ran_below *k, const struct ran_config *c, const struct ran_params *p,
                   size_t V, size_t layers, struct ran_error *err);
/* The layers that stay; 0 without k. */
size_t ran_below_layers(const struct ran_below *k);
/* Copies the rows (rows, D) of the window with these n ids; false: they are not there. */
bool ran_below_find(struct ran_below *k, const uint32_t *ids, size_t n, float *x, size_t rows);
/* Keeps them, where there is room. */
void ran_below_add(struct ran_below *k, const uint32_t *ids, size_t n, const float *x, size_t rows);

#endif
