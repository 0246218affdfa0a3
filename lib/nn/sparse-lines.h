/* sparse-lines.h - pairs of queries and keys of an attention pattern, for a block of tokens.
 *
 * The tokens of the block are its centres: queries, or in the second half of the backward pass
 * keys. The other tokens are those they see, or are seen by. A line pairs a run of neighbouring
 * centres with other tokens:
 *
 *      band       all with the same one: a row of a tile
 *      diagonal   each with the one at the same distance
 */
#ifndef RAN_MODEL_SPARSE_LINES_H
#define RAN_MODEL_SPARSE_LINES_H

#include "mask/mask.h"

struct ran_sparse_centres {
        const struct ran_mask *mask;
        bool keys; /* the centres are keys */
        size_t from, n;
};
struct ran_sparse_line {
        size_t from, to; /* the centres, counted from the block's first */
        size_t other;    /* token of the first of them */
};

/* Bands: the other tokens [*from, *to) in the runs of the n centres from `first` on; and, for
 * each of `lines` other tokens from t on, the part of its line among these centres (from = to:
 * none). */
void ran_sparse_lines_run(const struct ran_sparse_centres *c, size_t first, size_t n, size_t *from,
                          size_t *to);
void ran_sparse_lines_bands(struct ran_sparse_line *line, const struct ran_sparse_centres *c,
                            size_t t, size_t lines, size_t first, size_t n);

/* Diagonals: all of them, or (far) without those that runs cover. Gives the next `room` at most,
 * none empty. Start with *pos = 0. */
size_t ran_sparse_lines_diagonals(struct ran_sparse_line *line, const struct ran_sparse_centres *c,
                                  bool far, size_t *pos, size_t room);
/* The parts of diagonals at the n centres from `first` on; returns their number. */
size_t ran_sparse_lines_cut(struct ran_sparse_line *part, const struct ran_sparse_line *line,
                            size_t lines, size_t first, size_t n);

#endif
