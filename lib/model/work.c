/* work.c - memory of a computation, laid out in one arena. See work.h. */
#include "model/work.h"
#include "model/lm.h"
#include "math/simd.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 2048 };

/* Sizes of a layout. As doubles when they are added up, so that nothing overflows unseen. */
struct extent {
        size_t T, R, L, m, B, S, K, C, Y, O, P, Q, A, Z, layers, acts, longest;
};

/* ---- chunks --------------------------------------------------------------------------------- */

/* Cuts the windows into chunks of whole windows; fills w->chunk and the largest chunk's T and R. */
static int cut_chunks(struct ran_work *w, const struct ran_rows *rows, struct extent *x,
                      struct ran_error *err)
{
        w->chunks = 0;
        x->T = x->R = 0;
        for (size_t from = 0, to; from < rows->m; from = to) {
                size_t T, R;

                for (to = from + 1; to < rows->m; to++)
                        if (ran_row(rows, to + 1) - ran_row(rows, from) > w->chunk_rows)
                                break;
                T = rows->win[to] - rows->win[from];
                R = ran_row(rows, to) - ran_row(rows, from);
                x->T = T > x->T ? T : x->T;
                x->R = R > x->R ? R : x->R;
                size_t *chunk =
                        ran_grow(w->chunk, &w->chunk_cap, w->chunks + 2, sizeof *chunk, err);
                if (chunk == NULL)
                        return RAN_ENOMEM;
                w->chunk = chunk;
                w->chunk[w->chunks++] = from;
                w->chunk[w->chunks] = to;
        }
        return RAN_OK;
}

static struct extent measure(const struct ran_work *w, const struct ran_rows *rows, size_t C)
{
        struct extent x = {.L = rows->L,
                           .m = rows->m,
                           .B = rows->B,
                           .S = rows->m + rows->B,
                           .K = rows->B > 0 ? rows->key[rows->B] : 0,
                           .C = C,
                           .layers = w->c->layers};

        x.O = w->c->task == RAN_TASK_CLASSIFY ? rows->B : rows->places;
        x.P = w->c->task == RAN_TASK_CLASSIFY ? rows->B : 0;
        x.Q = x.O;
        x.A = C;
        if (ran_is_tied(w->c)) {
                x.Q = x.O < RAN_LM_ROWS ? x.O : RAN_LM_ROWS;
                x.A = ran_lm_first(w->c, C) + ran_tails(w->c, C);
                x.Z = ran_lm_widest(w->c, C);
        }
        for (size_t b = 0; b < rows->B; b++) {
                size_t states = rows->key[b + 1] - rows->key[b];

                x.Y = states > x.Y ? states : x.Y;
        }
        for (size_t i = 0; i < rows->m; i++) {
                size_t tokens = ran_row(rows, i + 1) - ran_row(rows, i) - 1;

                x.longest = tokens > x.longest ? tokens : x.longest;
        }
        return x;
}

/* ---- the arena ------------------------------------------------------------------------------ */

/* Hands out floats in order, each run at a multiple of 64 bytes. base NULL: only counts. */
struct cutter {
        float *base;
        double count;
};

static float *cut(struct cutter *k, double floats)
{
        float *at = k->base != NULL ? k->base + (size_t)k->count : NULL;

        k->count += ceil(floats / 16.0) * 16.0;
        return at;
}

#define LETTERS                                                                                   \
        const double T = (double)x->T, R = (double)x->R, S = (double)x->S, K = (double)x->K,      \
                     B = (double)x->B, C = (double)x->C, m = (double)x->m, O = (double)x->O,      \
                     P = (double)x->P, Q = (double)x->Q, A = (double)x->A, Z = (double)x->Z,      \
                     D = (double)w->D, E = (double)w->E, F = (double)w->F, U = (double)w->U;      \
        (void)T, (void)R, (void)S, (void)K, (void)B, (void)C, (void)m, (void)O, (void)P, (void)Q, \
                (void)A, (void)Z, (void)D, (void)E, (void)F, (void)U

static void cut_chunk(struct ran_work *w, const struct extent *x, struct cutter *k,
                      struct ran_chunk *out)
{
        LETTERS;
#define X(field, floats) out->field = cut(k, floats);
        RAN_CHUNK(X)
        (void)w;
}

static void cut_cells(struct ran_work *w, const struct extent *x, struct cutter *k,
                      struct ran_cells *out)
{
        LETTERS;
        RAN_CELLS(X)
        (void)w;
}

static void cut_head(struct ran_work *w, const struct extent *x, struct cutter *k,
                     struct ran_head *out)
{
        LETTERS;
        RAN_HEAD(X)
        if (w->training) {
                RAN_HEAD_ADJOINTS(X)
        }
        out->argmax = (uint32_t *)cut(k, P * D);
}

static void cut_adjoints(struct ran_work *w, const struct extent *x, struct cutter *k,
                         struct ran_adjoints *out)
{
        LETTERS;
        RAN_ADJOINTS(X)
        (void)w;
}
#undef X

/* Two score matrices of a window with its cell (attention.c), or the rows of a cell (scan.c). */
static size_t lane_floats(const struct ran_work *w, size_t longest)
{
        return 2 * (longest + 1) * (longest + 1) + w->F + 2 * w->E + 6 * w->D;
}

/* Everything in order; with k->base NULL the pointers it leaves are NULL and only the count is
 * of use. */
static void lay_out(struct ran_work *w, const struct extent *x, struct cutter *k)
{
        const double rows = (double)x->L * (double)w->D;

        w->x[0] = cut(k, rows);
        for (size_t l = 0; l < x->layers; l++) {
                cut_cells(w, x, k, &w->cells[l]);
                if (w->training) {
                        w->y[l] = cut(k, rows);
                        w->x[l + 1] = cut(k, rows);
                } else {
                        w->y[l] = w->x[l + 1] = w->x[0]; /* rows are read once: in place */
                }
                if (l < x->acts)
                        cut_chunk(w, x, k, &w->acts[l]);
                else
                        w->acts[l] = w->acts[0];
        }
        cut_head(w, x, k, &w->head);
        w->score = cut(k, (double)x->T * (double)x->Y);
        if (w->training) {
                cut_adjoints(w, x, k, &w->adj);
                w->dscore = cut(k, (double)x->T * (double)x->Y);
                w->dx = cut(k, rows);
                w->dy = cut(k, rows);
                w->dlast = cut(k, (double)x->B * (double)w->D);
        }
        w->lane_floats = lane_floats(w, x->longest);
        w->scratch = cut(k, (double)w->lanes * (double)w->lane_floats);
}

static int extent_of(struct ran_work *w, const struct ran_rows *rows, size_t C, struct extent *x,
                     struct ran_error *err)
{
        *x = measure(w, rows, C);
        if (cut_chunks(w, rows, x, err) != RAN_OK)
                return RAN_ENOMEM;
        /* Activations are kept for the backward pass when there is one chunk; see work.h. */
        x->acts = w->training && w->chunks == 1 ? x->layers : 1;
        return RAN_OK;
}

/* The table for windows of up to `longest` tokens. Angles in double: in
 * float32 a cosine is off by 1e-2 at position 10^6. */
static int grow_rotary(struct ran_work *w, size_t longest, struct ran_error *err)
{
        size_t d = w->d;
        float *table = ran_alloc_floats((longest + 1) * 2 * d, err);

        if (table == NULL)
                return RAN_ENOMEM;
        for (size_t r = 0; r <= longest; r++)
                for (size_t i = 0; i < d; i++) {
                        double angle = (double)r * pow(10000.0, -(double)(i / 2 * 2) / (double)d);

                        table[r * 2 * d + i] = (float)cos(angle);
                        table[r * 2 * d + d + i] = (float)(i % 2 == 0 ? -sin(angle) : sin(angle));
                }
        free(w->rotary);
        w->rotary = table;
        w->longest = longest;
        return RAN_OK;
}

/* Room for what ran_encode will leave in the documents' carries. */
static int reserve_carries(const struct ran_work *w, const struct ran_rows *rows,
                           struct ran_error *err)
{
        for (size_t b = 0; b < rows->B; b++)
                if (rows->carry[b] != NULL &&
                    ran_carry_reserve(rows->carry[b], rows->key[b + 1] - rows->key[b],
                                      w->training ? 0 : w->c->window, err) != RAN_OK)
                        return RAN_ENOMEM;
        return RAN_OK;
}

int ran_work_fit(struct ran_work *w, const struct ran_rows *rows, size_t C, struct ran_error *err)
{
        struct cutter k = {0};
        struct extent x;

        if (extent_of(w, rows, C, &x, err) != RAN_OK)
                return RAN_ENOMEM;
        w->rows = rows;
        lay_out(w, &x, &k);
        if (k.count > (double)(SIZE_MAX / sizeof(float) / 2))
                return ran_fail(err, RAN_ENOMEM,
                                "%zu tokens at once need %.0f GB of memory: a smaller "
                                "--dim, --heads or --head-dim needs less",
                                rows->L, k.count * 4e-9);
        if (x.longest > w->longest && grow_rotary(w, x.longest, err) != RAN_OK)
                return RAN_ENOMEM;
        if ((size_t)k.count > w->arena_floats) {
                free(w->arena);
                w->arena_floats = 0;
                w->arena = ran_alloc_floats((size_t)k.count, err);
                if (w->arena == NULL)
                        return RAN_ENOMEM;
                w->arena_floats = (size_t)k.count;
        }
        k = (struct cutter){.base = w->arena};
        lay_out(w, &x, &k);
        return reserve_carries(w, rows, err);
}

/* ---- life ----------------------------------------------------------------------------------- */

int ran_work_init(struct ran_work *w, const struct ran_config *c, bool training,
                  struct ran_pool *pool, struct ran_error *err)
{
        size_t N = c->layers;

        *w = (struct ran_work){.c = c,
                               .pool = pool,
                               .training = training,
                               .chunk_rows = CHUNK_ROWS,
                               .D = c->dim,
                               .E = c->heads * c->head_dim,
                               .h = c->heads,
                               .d = c->head_dim};
        w->U = c->cell == RAN_CELL_GATED ? 2 * w->D : 0;
        w->F = 3 * w->E + w->U;
        w->lanes = pool != NULL ? ran_pool_threads(pool) : 1;
        w->x = ran_alloc(N + 1, sizeof *w->x, err);
        w->y = ran_alloc(N, sizeof *w->y, err);
        w->cells = ran_alloc(N, sizeof *w->cells, err);
        w->acts = ran_alloc(N, sizeof *w->acts, err);
        if (w->x == NULL || w->y == NULL || w->cells == NULL || w->acts == NULL) {
                ran_work_release(w);
                return RAN_ENOMEM;
        }
        return RAN_OK;
}

void ran_work_release(struct ran_work *w)
{
        free(w->x);
        free(w->y);
        free(w->cells);
        free(w->acts);
        free(w->rotary);
        free(w->chunk);
        free(w->arena);
        *w = (struct ran_work){0};
}

double ran_work_bytes(struct ran_work *w, const struct ran_rows *rows, size_t C)
{
        struct cutter k = {0};
        struct extent x;

        if (extent_of(w, rows, C, &x, NULL) != RAN_OK)
                return INFINITY;
        lay_out(w, &x, &k);
        return k.count * sizeof(float);
}

/* ---- sharing out ---------------------------------------------------------------------------- */

struct lanes {
        void (*fn)(void *arg, size_t i, float *scratch);
        void *arg;
        float *scratch;
        size_t lane_floats, to;
        atomic_size_t next;
};

static void run_lane(void *arg, size_t lane)
{
        struct lanes *l = arg;
        size_t i;

        while ((i = atomic_fetch_add(&l->next, 1)) < l->to)
                l->fn(l->arg, i, l->scratch + lane * l->lane_floats);
}

void ran_each(struct ran_work *w, size_t from, size_t to,
              void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        struct lanes l = {.fn = fn,
                          .arg = arg,
                          .scratch = w->scratch,
                          .lane_floats = w->lane_floats,
                          .to = to};

        atomic_init(&l.next, from);
        ran_parallel(w->pool, to - from < w->lanes ? to - from : w->lanes, run_lane, &l);
}

void ran_drop(const struct ran_work *w, size_t b, size_t layer, int site, double p, float *x,
              size_t n, size_t at)
{
        uint64_t purpose = RAN_FOR_DROPOUT + 16 * (layer * RAN_DROP_SITES + (uint64_t)site);

        if (w->training && p > 0)
                ran_simd->dropout(
                        x, n, ran_key(w->noise.seed, purpose, w->noise.epoch, w->rows->record[b]),
                        at, p);
}
