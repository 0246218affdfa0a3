/* optimiser.c - see optimiser.h. */
#include "gradient/optimiser.h"
#include "math/elementary.h"
#include "math/simd.h"
#include "ran/train.h"
#include "ran/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 15, ROWS = 256 }; /* floats, or rows of a table, that one task takes */

static size_t blocks_of(size_t rows)
{
        return rows / ROWS + (rows % ROWS > 0);
}

/* The row of second moments that the ids from `id` up to *end have in common. A block of ROWS
 * ids lies within one band, or in the first, where each id has its own. */
static size_t band_of(size_t id, size_t V, size_t *end)
{
        size_t band = ROWS, last = 2 * (size_t)ROWS;

        for (; id >= last; band++)
                last = last > V / 2 ? V : 2 * last;
        *end = id < ROWS ? id + 1 : last < V ? last : V;
        return id < ROWS ? id : band;
}

static void table_init(struct ran_table_state *t, const struct ran_table *like, bool tied)
{
        size_t rows = like->rows, width = like->width, end,
               bands = tied && rows > 0 ? band_of(rows - 1, rows, &end) + 1 : rows;

        t->rows = rows;
        t->width = width;
        t->moments = bands * width;
        t->m = ran_new_floats(rows * width);
        t->v = ran_new_floats(t->moments);
        t->shared = ran_new_floats(tied ? blocks_of(rows) * width : 0);
        t->last_step = ran_new(rows, sizeof *t->last_step);
        t->rate_scale = ran_new(rows, sizeof *t->rate_scale);
        for (size_t id = 0; id < rows; id++)
                t->rate_scale[id] = 1;
}

void ran_optimiser_init(struct ran_optimiser *o, const struct ran_train_settings *s,
                        const struct ran_layout *layout, const struct ran_table *table, bool tied,
                        struct ran_pool *pool)
{
        *o = (struct ran_optimiser){.s = s, .layout = layout, .pool = pool};
        o->m = ran_new_floats(layout->size);
        o->v = ran_new_floats(layout->size);
        o->rate_scale = ran_new(layout->n, sizeof *o->rate_scale);
        table_init(&o->table, table, tied);
        for (size_t i = 0; i < layout->n; i++)
                o->rate_scale[i] = 1;
}

void ran_optimiser_release(struct ran_optimiser *o)
{
        free(o->m);
        free(o->v);
        free(o->rate_scale);
        free(o->table.m);
        free(o->table.v);
        free(o->table.shared);
        free(o->table.last_step);
        free(o->table.rate_scale);
        *o = (struct ran_optimiser){0};
}

double ran_learning_rate(const struct ran_train_settings *s, uint64_t step, uint64_t steps)
{
        double warm = floor(s->warmup * (double)steps), low = s->min_learning_rate;
        double top = s->learning_rate, left;

        if (low > top)
                low = top;
        if ((double)step < warm)
                return top * (double)(step + 1) / warm;
        left = ((double)steps - (double)step) / fmax(1.0, (double)steps - warm);
        switch (s->schedule) {
        case RAN_SCHEDULE_LINEAR:
                return low + (top - low) * left;
        case RAN_SCHEDULE_COSINE:
                return low + (top - low) * 0.5 * (1.0 - ran_cos(3.141592653589793 * left));
        default:
                return top;
        }
}

/* ---- norm ----------------------------------------------------------------------------------- */

struct norm {
        const float *x;
        size_t n;
        double *part;
};

static void square_block(void *arg, size_t i)
{
        struct norm *k = arg;
        size_t at = i * BLOCK, n = k->n - at < BLOCK ? k->n - at : BLOCK;

        k->part[i] = (double)ran_simd->dot(k->x + at, k->x + at, n);
}

static double squares(struct ran_pool *pool, const float *x, size_t n)
{
        enum { AT_ONCE = 64 };
        double part[AT_ONCE], sum = 0;

        for (size_t at = 0; at < n; at += (size_t)AT_ONCE * BLOCK) {
                struct norm k = {.x = x + at, .n = n - at, .part = part};
                size_t blocks = (k.n + BLOCK - 1) / BLOCK;

                blocks = blocks < AT_ONCE ? blocks : AT_ONCE;
                ran_parallel(pool, blocks, square_block, &k);
                for (size_t i = 0; i < blocks; i++)
                        sum += part[i];
        }
        return sum;
}

double ran_grad_norm(const struct ran_optimiser *o, const struct ran_grad *g)
{
        double sum;

        sum = squares(o->pool, g->p.block + o->from, o->layout->size - o->from);
        sum += squares(o->pool, g->rows.rows, g->rows.n * o->table.width);
        return sqrt(sum);
}

/* ---- what stays ----------------------------------------------------------------------------- */

static size_t elements(const struct ran_tensor_spec *spec)
{
        return (spec->rows > 0 ? spec->rows : 1) * spec->cols;
}

/* The id of row r of a gradient. */
static size_t id_of(const struct ran_grad_rows *g, size_t r)
{
        return g->ids != NULL ? g->ids[r] : r;
}

void ran_optimiser_clear(const struct ran_optimiser *o, struct ran_grad *g)
{
        const struct ran_tensor_spec *spec = o->layout->spec;

        for (size_t i = 0; i < o->layout->n; i++)
                if (o->rate_scale[i] == 0 && spec[i].offset >= o->from)
                        memset(g->p.block + spec[i].offset, 0, elements(&spec[i]) * sizeof(float));
        for (size_t r = 0; r < g->rows.n; r++)
                if (o->table.rate_scale[id_of(&g->rows, r)] == 0)
                        memset(g->rows.rows + r * o->table.width, 0,
                               o->table.width * sizeof(float));
}

/* ---- steps ---------------------------------------------------------------------------------- */

struct update {
        struct ran_optimiser *o;
        float *block;
        const struct ran_grad *g;
        float *x;                   /* the embedding */
        double gscale, rate, decay; /* decay: log of this step's */
        double first, second;       /* 1 / (1 - beta^t) */
};

/* Updates w and its first and second moments m, v; beta2 = 1 leaves v unchanged. */
static void step(const struct update *u, float *w, float *m, float *v, const float *g, size_t n,
                 float rate_scale, double decay, double beta2)
{
        const struct ran_train_settings *s = u->o->s;

        ran_simd->adam(w, m, v, g, n, (float)u->gscale, (float)s->beta1, (float)beta2,
                       (float)(u->rate * (double)rate_scale * u->first), (float)u->second,
                       (float)s->epsilon, (float)ran_exp((double)rate_scale * decay));
}

/* Only matrices decay: scales and biases need not be small. */
static void step_tensor(void *arg, size_t i)
{
        const struct update *u = arg;
        struct ran_optimiser *o = u->o;
        const struct ran_tensor_spec *spec = &o->layout->spec[i];
        size_t at = spec->offset, n = elements(spec);

        if (o->rate_scale[i] == 0)
                return;
        step(u, u->block + at, o->m + at, o->v + at, u->g->p.block + at, n, o->rate_scale[i],
             spec->rows > 0 ? u->decay : 0.0, o->s->beta2);
}

/* ---- rows of the table ----------------------------------------------------------------------- */

static size_t end_of_block(const struct update *u, size_t i)
{
        size_t n = u->g->rows.n;

        return (i + 1) * ROWS < n ? (i + 1) * ROWS : n;
}

static void step_rows(void *arg, size_t i)
{
        const struct update *u = arg;
        struct ran_table_state *t = &u->o->table;
        const struct ran_grad_rows *rows = &u->g->rows;
        bool shares = rows->ids == NULL && i > 0;

        for (size_t r = i * ROWS; r < end_of_block(u, i); r++) {
                size_t id = id_of(rows, r), at = id * t->width;

                step(u, u->x + at, t->m + at, shares ? t->shared + i * t->width : t->v + at,
                     rows->rows + r * t->width, t->width, t->rate_scale[id],
                     u->o->decay - t->last_step[id], shares ? 1.0 : u->o->s->beta2);
                t->last_step[id] = u->o->decay;
        }
}

/* The sum of the squares of a block, column by column. */
static void square_rows(void *arg, size_t i)
{
        const struct update *u = arg;
        size_t D = u->o->table.width;
        float *sum = u->o->table.shared + i * D;

        memset(sum, 0, D * sizeof *sum);
        for (size_t r = i * ROWS; r < end_of_block(u, i); r++)
                for (size_t d = 0; d < D; d++)
                        sum[d] += u->g->rows.rows[r * D + d] * u->g->rows.rows[r * D + d];
}

/* Computes the second moments of the bands, and copies them to each block. */
static void share_moments(const struct update *u)
{
        struct ran_table_state *t = &u->o->table;
        size_t V = t->rows, D = t->width;
        double beta2 = u->o->s->beta2, scale = (1 - beta2) * u->gscale * u->gscale;

        ran_parallel(u->o->pool, blocks_of(V), square_rows, (void *)u);
        for (size_t from = ROWS, end; from < V; from = end) {
                float *v = t->v + band_of(from, V, &end) * D;

                for (size_t d = 0; d < D; d++) {
                        double sum = 0;

                        for (size_t i = from / ROWS; i < blocks_of(end); i++)
                                sum += (double)t->shared[i * D + d];
                        v[d] = (float)(beta2 * (double)v[d] + scale * sum / (double)(end - from));
                }
                for (size_t i = from / ROWS; i < blocks_of(end); i++)
                        memcpy(t->shared + i * D, v, D * sizeof *v);
        }
}

void ran_optimiser_step(struct ran_optimiser *o, float *block, const struct ran_table *table,
                        const struct ran_grad *g, double gscale, double rate)
{
        struct update u = {.o = o,
                           .block = block,
                           .x = table->x,
                           .g = g,
                           .gscale = gscale,
                           .rate = rate,
                           .decay = ran_log1p(-fmin(rate * o->s->weight_decay, 0.999))};

        o->step++;
        o->decay += u.decay;
        u.first = -1.0 / ran_expm1((double)o->step * ran_log(o->s->beta1));
        u.second = -1.0 / ran_expm1((double)o->step * ran_log(o->s->beta2));
        ran_parallel(o->pool, o->layout->n, step_tensor, &u);
        if (g->rows.n > 0 && g->rows.ids == NULL)
                share_moments(&u);
        ran_parallel(o->pool, blocks_of(g->rows.n), step_rows, &u);
}

void ran_optimiser_flush(struct ran_optimiser *o, const struct ran_table *table)
{
        struct ran_table_state *t = &o->table;

        for (size_t id = 0; id < t->rows; id++) {
                float keep =
                        (float)ran_exp((double)t->rate_scale[id] * (o->decay - t->last_step[id]));
                float *row = table->x + id * t->width;

                for (size_t d = 0; d < t->width && keep != 1.0f; d++)
                        row[d] *= keep;
                t->last_step[id] = o->decay;
        }
}

size_t ran_table_bytes(const struct ran_table *t)
{
        return t->rows * t->width * sizeof *t->x;
}
