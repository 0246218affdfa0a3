/* sparse-lines.h - pairs of queries and keys of an attention pattern, for a block of tokens.
 *
 * The tokens of the block are its centres: queries, or in the second half of the backward pass
 * keys. The others are those that they see, or that see them. A line is some of the centres, one
 * beside the other, each with an other token of its own:
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

/* Bands. The others [*from, *to) that are in the run of one of the n centres from `first` on, and
 * what of the line of each of `lines` others from token t on is among these centres: from = to
 * where nothing is. */
void ran_sparse_lines_run(const struct ran_sparse_centres *c, size_t first, size_t n, size_t *from,
                          size_t *to);
void ran_sparse_lines_bands(struct ran_sparse_line *line, const struct ran_sparse_centres *c,
                            size_t t, size_t lines, size_t first, size_t n);

/* Diagonals, those that are no part of a run alone (far), or all: the next `room` of them, or as
 * many as there are left, none empty. Start with *pos = 0. */
size_t ran_sparse_lines_diagonals(struct ran_sparse_line *line, const struct ran_sparse_centres *c,
                                  bool far, size_t *pos, size_t room);
/* What there is of diagonals for the n centres from `first` on; returns how many that are. */
size_t ran_sparse_lines_cut(struct ran_sparse_line *part, const struct ran_sparse_line *line,
                            size_t lines, size_t first, size_t n);

#endif
