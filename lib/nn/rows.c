/* rows.c - see rows.h. */
#include "nn/rows.h"
#include "math/simd.h"

#include <string.h>

struct task {
        const struct ran_rows *k;
        ran_rows_block *fn;
        void *arg;
        float *out, *dx, *stat_out;
        const float *x, *y, *stat, *w, *b;
};

static size_t rows_of(const struct ran_rows *k, size_t from)
{
        return k->n - from < k->block ? k->n - from : k->block;
}

static void run(const struct ran_rows *k, void (*fn)(void *arg, size_t block), struct task *task)
{
        task->k = k;
        ran_parallel(k->pool, ran_rows_blocks(k->n, k->block), fn, task);
}

static void call_block(void *arg, size_t block)
{
        const struct task *task = arg;
        const size_t from = block * task->k->block;

        task->fn(task->arg, from, rows_of(task->k, from));
}

void ran_rows_each(const struct ran_rows *k, ran_rows_block *fn, void *arg)
{
        run(k, call_block, &(struct task){.fn = fn, .arg = arg});
}

static void add_block(void *arg, size_t block)
{
        const struct task *task = arg;
        const size_t D = task->k->D, from = block * task->k->block, at = from * D;
        const size_t floats = rows_of(task->k, from) * D;

        if (task->out != task->x)
                memcpy(task->out + at, task->x + at, floats * sizeof *task->x);
        ran_simd->add(task->out + at, task->y + at, floats);
}

void ran_rows_add(const struct ran_rows *k, float *out, const float *x, const float *y)
{
        run(k, add_block, &(struct task){.out = out, .x = x, .y = y});
}

static void norm_block(void *arg, size_t block)
{
        const struct task *t = arg;
        const size_t D = t->k->D, from = block * t->k->block;

        ran_simd->norm(t->out + from * D, D, t->stat_out + from * 2, t->x + from * D, D, t->w,
                       t->b != NULL ? t->b : t->k->zero, t->k->eps, rows_of(t->k, from), D);
}

void ran_rows_norm(const struct ran_rows *k, float *y, float *stat, const float *x, const float *w,
                   const float *b)
{
        run(k, norm_block, &(struct task){.out = y, .stat_out = stat, .x = x, .w = w, .b = b});
}

static void norm_block_bwd(void *arg, size_t block)
{
        const struct task *t = arg;
        const size_t D = t->k->D, from = block * t->k->block, n = rows_of(t->k, from);
        float *part = memset(t->k->part + block * 2 * D, 0, 2 * D * sizeof *part);
        float *dy = t->out + from * D;

        ran_simd->norm_bwd(dy, D, part, part + D, dy, D, t->x + from * D, D, t->stat + from * 2,
                           t->w, n, D);
        if (t->dx != t->out)
                ran_simd->add(t->dx + from * D, dy, n * D);
}

void ran_rows_norm_bwd(const struct ran_rows *k, float *dx, float *dy, const float *x,
                       const float *stat, const float *w, float *dw, float *db)
{
        const size_t D = k->D;

        run(k, norm_block_bwd, &(struct task){.out = dy, .dx = dx, .x = x, .stat = stat, .w = w});
        for (size_t i = 0; i < ran_rows_blocks(k->n, k->block); i++) {
                if (dw != NULL)
                        ran_simd->add(dw, k->part + i * 2 * D, D);
                if (db != NULL)
                        ran_simd->add(db, k->part + i * 2 * D + D, D);
        }
}
