/* sparse.c - attention over a pattern: a block of queries, or of keys, against lines of scores.
 *
 * A tile of bands is one matrix product; a diagonal pairs rows one by one. The softmax runs over
 * lines element by element: largest score so far, sum and weighted values of each centre are
 * updated line after line, for both kinds alike.
 *
 * Runs of keys are read as bands. They are diagonals, too, if most of a tile would be masked, or if
 * the similarity is not a product.
 */
#include "nn/sparse.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"
#include "ran/math.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
        BLOCK = RAN_SPARSE_BLOCK,
        STRIPE = 256,  /* the most centres whose lines are read at a time */
        SHORT = 64,    /* the same for short runs, so that little of a tile is masked */
        LINES = 128,   /* of a tile */
        DIAGONALS = 32 /* read between two updates of the softmax */
};

/* ---- pairs of queries and keys -------------------------------------------------------------- */

/* The tokens of the block are its centres: queries, or in the second half of the backward pass
 * keys. The other tokens are those they see, or are seen by. A line pairs a run of neighbouring
 * centres with other tokens:
 *
 *      band       all with the same one: a row of a tile
 *      diagonal   each with the one at the same distance
 */
struct centres {
        const struct ran_mask *mask;
        bool keys; /* the centres are keys */
        size_t from, n;
};
struct line {
        size_t from, to; /* the centres, counted from the block's first */
        size_t other;    /* token of the first of them */
};

/* The run of token t, a query or a key: its neighbours [from, to). */
static struct line run_of(const struct ran_mask *m, bool key, size_t t)
{
        size_t before = key && t >= m->sources ? 0 : t;
        size_t after = key ? m->N - 1 - t : ran_mask_ahead(m, t);

        return (struct line){t - ran_least(before, m->near), t + ran_least(after, m->near) + 1, t};
}

/* For each of `lines` other tokens from t on, the part of its line among these centres (from = to:
 * none). */
static void list_bands(struct line *line, const struct centres *c, size_t t, size_t lines,
                       size_t first, size_t n)
{
        size_t low = c->from + first, high = low + n;

        for (size_t k = 0; k < lines; k++) {
                /* keys of a query and queries of a key: the same with the sides exchanged */
                struct line l = run_of(c->mask, !c->keys, t + k);

                l.from = ran_least(ran_most(l.from, low), high);
                l.to = ran_most(ran_least(l.to, high), l.from);
                line[k] = (struct line){l.from - c->from, l.to - c->from, t + k};
        }
}

/* Diagonals: all of them, or (far) without those that runs cover. Gives the next `room` at most,
 * none empty. Start with *pos = 0. Keys to the left
 * come first: neighbours then read nearly the same rows. */
static size_t list_diagonals(struct line *line, const struct centres *c, bool far, size_t *pos,
                             size_t room)
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
                size_t from = right ? c->from : ran_most(c->from, distance);
                size_t to = right     ? ran_least(end, seen > distance ? seen - distance : 0)
                            : c->keys ? ran_least(end, m->sources)
                                      : end;

                if (distance == 0)
                        to = right ? from : end; /* the token itself, once */
                if (from < to)
                        line[lines++] = (struct line){from - c->from, to - c->from,
                                                      right ? from + distance : from - distance};
        }
        return lines;
}

/* The parts of diagonals at the n centres from `first` on; returns their number. */
static size_t cut_diagonals(struct line *part, const struct line *line, size_t lines, size_t first,
                            size_t n)
{
        size_t parts = 0;

        for (size_t k = 0; k < lines; k++) {
                size_t from = ran_most(line[k].from, first), to = ran_least(line[k].to, first + n);

                if (from < to)
                        part[parts++] =
                                (struct line){from, to, line[k].other + (from - line[k].from)};
        }
        return parts;
}

/* ---- a block -------------------------------------------------------------------------------- */

/* The operands of a block. Rows are indexed by token; x.y makes a score, u.w the adjoint of a
 * weight.
 */
struct block {
        const struct ran_sparse *s;
        struct centres c;
        const float *x, *y, *u, *w;   /* (L, d_k) */
        const float *log_sum, *delta; /* by query */
        /* Scratch. */
        float *score, *dscore; /* (LINES, STRIPE) */
        float *raw;            /* the same: similarities for their adjoint */
        float *acc, *acc_w;    /* (BLOCK, d_k) */
        float *top, *sum;      /* (BLOCK) */
        float *length;         /* (BLOCK) of the centres' x, for cosine */
        float *self;           /* (BLOCK) factor of the centre itself in the adjoint */
        float *other;          /* (STRIPE) length of the others' y, for cosine */
        float *row0, *row1;    /* (STRIPE) */
};

size_t ran_sparse_floats(size_t d_k)
{
        return 3 * (size_t)LINES * STRIPE + 2 * BLOCK * d_k + 4 * BLOCK + 3 * STRIPE;
}

static struct block block_of(const struct ran_sparse *s, size_t head, size_t from, size_t to,
                             float *scratch)
{
        struct block b = {.s = s, .c = {.mask = &s->mask[head], .from = from, .n = to - from}};
        const struct {
                float **row;
                size_t n;
        } parts[] = {{&b.score, LINES * STRIPE},
                     {&b.dscore, LINES * STRIPE},
                     {&b.raw, LINES * STRIPE},
                     {&b.acc, BLOCK * s->d_k},
                     {&b.acc_w, BLOCK * s->d_k},
                     {&b.top, BLOCK},
                     {&b.sum, BLOCK},
                     {&b.length, BLOCK},
                     {&b.self, BLOCK},
                     {&b.other, STRIPE},
                     {&b.row0, STRIPE},
                     {&b.row1, STRIPE}};

        for (size_t i = 0; i < sizeof parts / sizeof *parts; scratch += parts[i++].n)
                *parts[i].row = scratch;
        memset(b.acc, 0, b.c.n * s->d_k * sizeof *b.acc);
        memset(b.acc_w, 0, b.c.n * s->d_k * sizeof *b.acc_w);
        return b;
}

/* ---- similarity ----------------------------------------------------------------------------- */

/* A score is `scale` times the result of score_diagonal or score_tile. */
static float scale_of(const struct ran_sparse *s)
{
        switch (s->similarity) {
        case RAN_SIMILARITY_COSINE:
                return sqrtf((float)s->d_k);
        case RAN_SIMILARITY_EUCLIDEAN:
                return 1.0f;
        default:
                return (float)(1.0 / sqrt((double)s->d_k));
        }
}

static int how_of(const struct ran_sparse *s)
{
        switch (s->similarity) {
        case RAN_SIMILARITY_EUCLIDEAN:
                return RAN_ROWS_SQUARED;
        case RAN_SIMILARITY_MANHATTAN:
                return RAN_ROWS_ABSOLUTE;
        default:
                return RAN_ROWS_DOT;
        }
}

/* Lengths of n rows. */
static void lengths(float *out, const float *x, size_t n, size_t d_k)
{
        ran_simd->similarity(RAN_ROWS_DOT, out, x, d_k, x, d_k, n, d_k);
        for (size_t i = 0; i < n; i++)
                out[i] = sqrtf(out[i]);
}

/* Finishes similarities, but for their scale; x, y: the lengths, for cosine. */
static void finish_similarity(const struct ran_sparse *s, float *score, const float *x,
                              const float *y, size_t n)
{
        if (s->similarity == RAN_SIMILARITY_COSINE)
                for (size_t i = 0; i < n; i++)
                        score[i] /= x[i] * y[i] + 1e-8f;
        else if (s->similarity == RAN_SIMILARITY_EUCLIDEAN)
                for (size_t i = 0; i < n; i++)
                        score[i] = -sqrtf(score[i] + 1e-8f);
        else if (s->similarity == RAN_SIMILARITY_MANHATTAN)
                for (size_t i = 0; i < n; i++)
                        score[i] = -score[i];
}

/* Adjoint: weights for `weighted_sum`; for cosine also those of the centres themselves, added to
 * `self`. raw: the similarities. */
static void finish_similarity_bwd(const struct ran_sparse *s, float *dscore, float *self,
                                  const float *raw, const float *x, const float *y, size_t n)
{
        if (s->similarity == RAN_SIMILARITY_COSINE)
                for (size_t i = 0; i < n; i++) {
                        dscore[i] /= x[i] * y[i] + 1e-8f;
                        self[i] += x[i] > 0 ? dscore[i] * raw[i] * y[i] / x[i] : 0;
                }
        else if (s->similarity == RAN_SIMILARITY_EUCLIDEAN)
                for (size_t i = 0; i < n; i++)
                        dscore[i] /= -raw[i];
}

static bool keeps_raw(const struct ran_sparse *s)
{
        return s->similarity == RAN_SIMILARITY_COSINE || s->similarity == RAN_SIMILARITY_EUCLIDEAN;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Whether to read runs of keys as bands: the tiles of a stripe, which span all keys of its
 * centres, are at least two thirds full. In a short text nearly all are. */
static bool has_bands(const struct block *b)
{
        const struct ran_mask *m = b->c.mask;
        size_t wide = ran_least(m->N, SHORT + 2 * m->near);

        return how_of(b->s) == RAN_ROWS_DOT && 3 * ran_least(m->N, 2 * m->near + 1) >= 2 * wide;
}

/* acc += the rows of x paired with each centre, weighted by the lines of p; lines with the same
 * centres are added together. */
static void weighted_sum_lines(float *acc, size_t d_k, const float *p, const struct line *line,
                               size_t lines, size_t first, const float *x)
{
        for (size_t k = 0, same; k < lines; k += same, p += same * STRIPE) {
                size_t from = line[k].from, to = line[k].to;
                const float *row[DIAGONALS];

                for (same = 0;
                     k + same < lines && line[k + same].from == from && line[k + same].to == to;
                     same++)
                        row[same] = x + line[k + same].other * d_k;
                ran_simd->weighted_sum(acc + from * d_k, d_k, p + from - first, STRIPE, row, d_k,
                                       same, to - from, d_k);
        }
}

/* ---- forward -------------------------------------------------------------------------------- */

/* Updates the softmax of the n centres from `first` on with `lines` lines. */
static void update_softmax(struct block *b, const struct line *line, size_t lines, size_t first,
                           size_t n)
{
        size_t d_k = b->s->d_k;
        float scale = scale_of(b->s), *top = b->top + first, *sum = b->sum + first,
              *acc = b->acc + first * d_k, *before = b->row0, *unused = b->row1;

        memcpy(before, top, n * sizeof *top);
        for (size_t k = 0; k < lines; k++) {
                size_t at = line[k].from - first;

                ran_simd->online_max(top + at, b->score + k * STRIPE + at,
                                     line[k].to - line[k].from);
        }
        memset(unused, 0, n * sizeof *unused);
        ran_simd->online_exp(before, unused, top, scale, n);
        for (size_t i = 0; i < n; i++)
                if (before[i] != 1.0f) {
                        sum[i] *= before[i];
                        for (size_t c = 0; c < d_k; c++)
                                acc[i * d_k + c] *= before[i];
                }
        for (size_t k = 0; k < lines; k++) {
                size_t at = line[k].from - first;

                ran_simd->online_exp(b->score + k * STRIPE + at, sum + at, top + at, scale,
                                     line[k].to - line[k].from);
        }
}

/* The similarities of a diagonal. */
static void score_diagonal(struct block *b, float *score, const struct line *l)
{
        const struct ran_sparse *s = b->s;
        size_t n = l->to - l->from, d_k = s->d_k;
        const float *y = b->y + l->other * d_k;

        ran_simd->similarity(how_of(s), score, b->x + (b->c.from + l->from) * d_k, d_k, y, d_k, n,
                             d_k);
        if (s->similarity == RAN_SIMILARITY_COSINE)
                lengths(b->other, y, n, d_k);
        finish_similarity(s, score, b->length + l->from, b->other, n);
}

/* Calls fn with each stripe of all diagonals, some of them at a time. */
static void each_diagonal(struct block *b, void (*fn)(struct block *b, const struct line *line,
                                                      size_t lines, size_t first, size_t n))
{
        /* Centres of a stripe: so few that their rows stay in the first-level cache, as the next
         * diagonal needs most of them again. The backward pass has two more kinds of rows. */
        const size_t floats = b->u == NULL ? 4096 : 2048,
                     stripe = ran_most(16, ran_least(STRIPE, floats / b->s->d_k));
        struct line line[DIAGONALS], part[DIAGONALS];
        size_t pos = 0, lines;

        while ((lines = list_diagonals(line, &b->c, has_bands(b), &pos, DIAGONALS)) > 0)
                for (size_t first = 0; first < b->c.n; first += stripe) {
                        size_t n = ran_least(stripe, b->c.n - first);
                        size_t parts = cut_diagonals(part, line, lines, first, n);

                        if (parts > 0)
                                fn(b, part, parts, first, n);
                }
}

static void read_diagonals(struct block *b, const struct line *line, size_t lines, size_t first,
                           size_t n)
{
        for (size_t k = 0; k < lines; k++)
                score_diagonal(b, b->score + k * STRIPE + line[k].from - first, &line[k]);
        update_softmax(b, line, lines, first, n);
        weighted_sum_lines(b->acc, b->s->d_k, b->score, line, lines, first, b->w);
}

/* row (n) = x */
static const float *fill(float *row, float x, size_t n)
{
        for (size_t i = 0; i < n; i++)
                row[i] = x;
        return row;
}

/* Similarities of the others [t, t + lines) with the n centres from `first` on: a line each. */
static void score_tile(struct block *b, size_t t, size_t lines, size_t first, size_t n)
{
        const struct ran_sparse *s = b->s;
        size_t d_k = s->d_k;

        ran_gemm(b->score, STRIPE, b->y + t * d_k, d_k, 1, b->x + (b->c.from + first) * d_k, 1, d_k,
                 lines, n, d_k, false);
        if (s->similarity != RAN_SIMILARITY_COSINE)
                return;
        lengths(b->other, b->y + t * d_k, lines, d_k);
        for (size_t k = 0; k < lines; k++)
                finish_similarity(s, b->score + k * STRIPE, b->length + first,
                                  fill(b->row0, b->other[k], n), n);
}

/* Masks what is outside the lines. */
static void clear_outside(float *score, const struct line *line, size_t lines, size_t first,
                          size_t n)
{
        for (size_t k = 0; k < lines; k++, score += STRIPE) {
                size_t from = line[k].from - first, to = line[k].to - first;

                memset(score, 0, from * sizeof *score);
                memset(score + to, 0, (n - to) * sizeof *score);
        }
}

/* Calls fn with each tile of the bands. */
static void each_tile(struct block *b,
                      void (*fn)(struct block *b, size_t t, size_t lines, size_t first, size_t n))
{
        const struct centres *c = &b->c;
        const size_t stripe = c->mask->near < 3 * SHORT ? SHORT : STRIPE; /* of centres */

        for (size_t first = 0, n; first < c->n; first += n) {
                n = ran_least(stripe, c->n - first);
                /* runs begin and end in the order of their centres */
                const size_t end = run_of(c->mask, c->keys, c->from + first + n - 1).to;

                for (size_t t = run_of(c->mask, c->keys, c->from + first).from; t < end; t += LINES)
                        fn(b, t, ran_least(LINES, end - t), first, n);
        }
}

static void read_tile(struct block *b, size_t t, size_t lines, size_t first, size_t n)
{
        size_t d_k = b->s->d_k;
        struct line line[LINES];

        score_tile(b, t, lines, first, n);
        list_bands(line, &b->c, t, lines, first, n);
        update_softmax(b, line, lines, first, n);
        clear_outside(b->score, line, lines, first, n);
        ran_gemm(b->acc + first * d_k, d_k, b->score, 1, STRIPE, b->w + t * d_k, d_k, 1, n, d_k,
                 lines, true);
}

/* Rows of q, k and v of a head: part 0, 1 and 2. */
static const float *rows_of(const struct ran_sparse *s, size_t head, size_t part)
{
        return s->qkv + (part * s->h + head) * s->L * s->d_k;
}

void ran_sparse_pack(float *out, size_t L, const float *rows, size_t n, size_t heads, size_t d_k)
{
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < heads; j++)
                        memcpy(out + (j * L + i) * d_k, rows + (i * heads + j) * d_k,
                               d_k * sizeof *out);
}

void ran_sparse_unpack(float *rows, const float *in, size_t L, size_t n, size_t heads, size_t d_k)
{
        for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < heads; j++)
                        memcpy(rows + (i * heads + j) * d_k, in + (j * L + i) * d_k,
                               d_k * sizeof *rows);
}

void ran_sparse_queries(const struct ran_sparse *x, size_t head, size_t i0, size_t i1,
                        float *scratch)
{
        size_t d_k = x->d_k, E = x->h * d_k;
        struct block b = block_of(x, head, i0, i1, scratch);
        float scale = scale_of(x);

        b.x = rows_of(x, head, 0);
        b.y = rows_of(x, head, 1);
        b.w = rows_of(x, head, 2);
        for (size_t i = 0; i < b.c.n; i++) {
                b.top[i] = -FLT_MAX;
                b.sum[i] = 0;
        }
        if (x->similarity == RAN_SIMILARITY_COSINE)
                lengths(b.length, b.x + i0 * d_k, b.c.n, d_k);
        if (has_bands(&b))
                each_tile(&b, read_tile);
        each_diagonal(&b, read_diagonals);
        for (size_t i = 0; i < b.c.n; i++) {
                float *a = x->a + (i0 + i) * E + head * d_k;

                x->log_sum[head * x->L + i0 + i] =
                        (float)((double)scale * (double)b.top[i] + ran_log((double)b.sum[i]));
                for (size_t c = 0; c < d_k; c++)
                        a[c] = b.acc[i * d_k + c] / b.sum[i];
        }
}

void ran_sparse_weights(float *p, const struct ran_sparse *x, size_t head, size_t i, size_t j,
                        size_t n, float *scratch)
{
        float *own = scratch, *other = own + BLOCK, *log_sum = other + BLOCK,
              *unused = log_sum + BLOCK;
        const float *q = rows_of(x, head, 0) + i * x->d_k, *k = rows_of(x, head, 1) + j * x->d_k;

        ran_simd->similarity(how_of(x), p, q, 0, k, x->d_k, n, x->d_k);
        if (x->similarity == RAN_SIMILARITY_COSINE) {
                lengths(own, q, 1, x->d_k);
                fill(own, own[0], n);
                lengths(other, k, n, x->d_k);
        }
        finish_similarity(x, p, own, other, n);
        fill(log_sum, x->log_sum[head * x->L + i], n);
        memset(unused, 0, n * sizeof *unused);
        ran_simd->online_softmax_bwd(p, unused, log_sum, unused, scale_of(x), n);
}

/* ---- backward ------------------------------------------------------------------------------- */

/* With p = exp(score - log_sum) and dp = da.v: dscore = p (dp - delta). In place, for n centres of
 * a line from centre `at` on; other: of the first of them; band: of all of them. */
static void online_softmax_bwd(struct block *b, float *score, float *dscore, size_t at,
                               size_t other, bool band, size_t n)
{
        const float *log_sum = b->log_sum + (b->c.keys ? other : b->c.from + at);
        const float *delta = b->delta + (b->c.keys ? other : b->c.from + at);

        if (b->c.keys && band) {
                log_sum = fill(b->row0, *log_sum, n);
                delta = fill(b->row1, *delta, n);
        }
        ran_simd->online_softmax_bwd(score, dscore, log_sum, delta, scale_of(b->s), n);
}

static void diagonals_bwd(struct block *b, const struct line *line, size_t lines, size_t first,
                          size_t n)
{
        const struct ran_sparse *s = b->s;
        const size_t d_k = s->d_k;
        const int how = how_of(s);

        (void)n;
        for (size_t k = 0; k < lines; k++) {
                const struct line *l = &line[k];
                const size_t in = k * STRIPE + l->from - first, m = l->to - l->from;
                const float *x = b->x + (b->c.from + l->from) * d_k;
                float *score = b->score + in, *dscore = b->dscore + in;

                score_diagonal(b, score, l);
                if (keeps_raw(s))
                        memcpy(b->raw, score, m * sizeof *b->raw);
                ran_simd->similarity(RAN_ROWS_DOT, dscore, b->u + (b->c.from + l->from) * d_k, d_k,
                                     b->w + l->other * d_k, d_k, m, d_k);
                online_softmax_bwd(b, score, dscore, l->from, l->other, false, m);
                finish_similarity_bwd(s, dscore, b->self + l->from, b->raw, b->length + l->from,
                                      b->other, m);
                if (how != RAN_ROWS_DOT)
                        ran_simd->weighted_difference(how, b->acc + l->from * d_k, d_k, dscore,
                                                      b->y + l->other * d_k, d_k, x, d_k, m, d_k);
        }
        if (how == RAN_ROWS_DOT)
                weighted_sum_lines(b->acc, d_k, b->dscore, line, lines, first, b->y);
        if (b->c.keys)
                weighted_sum_lines(b->acc_w, d_k, b->score, line, lines, first, b->w);
}

static void tile_bwd(struct block *b, size_t t, size_t lines, size_t first, size_t n)
{
        const struct ran_sparse *s = b->s;
        size_t d_k = s->d_k;
        struct line line[LINES];

        score_tile(b, t, lines, first, n);
        list_bands(line, &b->c, t, lines, first, n);
        if (keeps_raw(s))
                memcpy(b->raw, b->score, LINES * STRIPE * sizeof *b->raw);
        ran_gemm(b->dscore, STRIPE, b->w + t * d_k, d_k, 1, b->u + (b->c.from + first) * d_k, 1,
                 d_k, lines, n, d_k, false);
        for (size_t k = 0; k < lines; k++) {
                size_t at = line[k].from, m = line[k].to - at, in = k * STRIPE + at - first;

                online_softmax_bwd(b, b->score + in, b->dscore + in, at, t + k, true, m);
                finish_similarity_bwd(s, b->dscore + in, b->self + at, b->raw + in, b->length + at,
                                      keeps_raw(s) ? fill(b->row0, b->other[k], m) : NULL, m);
        }
        clear_outside(b->dscore, line, lines, first, n);
        ran_gemm(b->acc + first * d_k, d_k, b->dscore, 1, STRIPE, b->y + t * d_k, d_k, 1, n, d_k,
                 lines, true);
        if (!b->c.keys)
                return;
        clear_outside(b->score, line, lines, first, n);
        ran_gemm(b->acc_w + first * d_k, d_k, b->score, 1, STRIPE, b->w + t * d_k, d_k, 1, n, d_k,
                 lines, true);
}

/* Runs the backward pass of a block and writes dx, the adjoint of its x, among rows of 3E. */
static void block_bwd(struct block *b, float *dx)
{
        size_t d_k = b->s->d_k, ld = 3 * b->s->h * d_k;
        float scale = scale_of(b->s);

        memset(b->self, 0, b->c.n * sizeof *b->self);
        if (b->s->similarity == RAN_SIMILARITY_COSINE)
                lengths(b->length, b->x + b->c.from * d_k, b->c.n, d_k);
        if (has_bands(b))
                each_tile(b, tile_bwd);
        each_diagonal(b, diagonals_bwd);
        for (size_t i = 0; i < b->c.n; i++) {
                const float *x = b->x + (b->c.from + i) * d_k;

                for (size_t c = 0; c < d_k; c++)
                        dx[i * ld + c] = scale * (b->acc[i * d_k + c] - b->self[i] * x[c]);
        }
}

void ran_sparse_queries_bwd(float *dqkv, float *delta, const struct ran_sparse *x, size_t head,
                            size_t i0, size_t i1, float *scratch)
{
        size_t d_k = x->d_k, E = x->h * d_k;
        struct block b = block_of(x, head, i0, i1, scratch);

        b.x = rows_of(x, head, 0);
        b.y = rows_of(x, head, 1);
        b.w = rows_of(x, head, 2);
        b.u = x->da + head * x->L * d_k;
        delta += head * x->L;
        ran_simd->similarity(RAN_ROWS_DOT, delta + i0, x->a + i0 * E + head * d_k, E,
                             b.u + i0 * d_k, d_k, b.c.n, d_k);
        b.log_sum = x->log_sum + head * x->L;
        b.delta = delta;
        block_bwd(&b, dqkv + i0 * 3 * E + head * d_k);
}

void ran_sparse_keys_bwd(float *dqkv, const float *delta, const struct ran_sparse *x, size_t head,
                         size_t j0, size_t j1, float *scratch)
{
        size_t d_k = x->d_k, E = x->h * d_k;
        struct block b = block_of(x, head, j0, j1, scratch);

        b.c.keys = true;
        b.x = rows_of(x, head, 1);
        b.y = rows_of(x, head, 0);
        b.u = rows_of(x, head, 2);
        b.w = x->da + head * x->L * d_k;
        b.log_sum = x->log_sum + head * x->L;
        b.delta = delta + head * x->L;
        block_bwd(&b, dqkv + j0 * 3 * E + E + head * d_k);
        for (size_t j = 0; j < b.c.n; j++)
                memcpy(dqkv + (j0 + j) * 3 * E + 2 * E + head * d_k, b.acc_w + j * d_k,
                       d_k * sizeof *dqkv);
}
