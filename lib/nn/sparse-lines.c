/* sparse-lines.c - pairs of queries and keys of a pattern, for a block of tokens: see sparse.h. */
#include "base/size.h"
#include "nn/sparse.h"

static size_t most(size_t a, size_t b)
{
        return a > b ? a : b;
}

/* ---- bands ---------------------------------------------------------------------------------- */

/* The run of token t, a query or a key: its neighbours [from, to). */
static struct ran_sparse_line run_of(const struct ran_mask *m, bool key, size_t t)
{
        size_t before = key && t >= m->sources ? 0 : t;
        size_t after = key ? m->N - 1 - t : ran_mask_ahead(m, t);

        return (struct ran_sparse_line){t - ran_least(before, m->near),
                                        t + ran_least(after, m->near) + 1, t};
}

void ran_sparse_lines_run(const struct ran_sparse_centres *c, size_t first, size_t n, size_t *from,
                          size_t *to)
{
        /* runs begin and end in the order of their centres */
        *from = run_of(c->mask, c->keys, c->from + first).from;
        *to = run_of(c->mask, c->keys, c->from + first + n - 1).to;
}

void ran_sparse_lines_bands(struct ran_sparse_line *line, const struct ran_sparse_centres *c,
                            size_t t, size_t lines, size_t first, size_t n)
{
        size_t low = c->from + first, high = low + n;

        for (size_t k = 0; k < lines; k++) {
                /* keys of a query and queries of a key: the same with the sides exchanged */
                struct ran_sparse_line l = run_of(c->mask, !c->keys, t + k);

                l.from = ran_least(most(l.from, low), high);
                l.to = most(ran_least(l.to, high), l.from);
                line[k] = (struct ran_sparse_line){l.from - c->from, l.to - c->from, t + k};
        }
}

/* ---- diagonals ------------------------------------------------------------------------------ */

/* Keys to the left come first: neighbours then read nearly the same rows. */
size_t ran_sparse_lines_diagonals(struct ran_sparse_line *line, const struct ran_sparse_centres *c,
                                  bool far, size_t *pos, size_t room)
{
        const struct ran_mask *m = c->mask;
        size_t skip = far ? m->near + 1 : 0, end = c->from + c->n, lines = 0;
        size_t distances = m->near + m->far + 1 - skip;

        for (; lines < room && *pos < 2 * distances; (*pos)++) {
                bool right = *pos >= distances;
                size_t k = *pos % distances + skip;
                size_t distance = k <= m->near ? k : ran_mask_far(m, k - m->near);
                /* the centres whose other token exists */
                size_t seen = c->keys ? m->N : m->sources;
                size_t from = right ? c->from : most(c->from, distance);
                size_t to = right     ? ran_least(end, seen > distance ? seen - distance : 0)
                            : c->keys ? ran_least(end, m->sources)
                                      : end;

                if (distance == 0)
                        to = right ? from : end; /* the token itself, once */
                if (from < to)
                        line[lines++] =
                                (struct ran_sparse_line){from - c->from, to - c->from,
                                                         right ? from + distance : from - distance};
        }
        return lines;
}

size_t ran_sparse_lines_cut(struct ran_sparse_line *part, const struct ran_sparse_line *line,
                            size_t lines, size_t first, size_t n)
{
        size_t parts = 0;

        for (size_t k = 0; k < lines; k++) {
                size_t from = most(line[k].from, first), to = ran_least(line[k].to, first + n);

                if (from < to)
                        part[parts++] = (struct ran_sparse_line){
                                from, to, line[k].other + (from - line[k].from)};
        }
        return parts;
}
