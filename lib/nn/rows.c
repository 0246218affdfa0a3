/* rows.c - see rows.h. */
#include "nn/rows.h"
#include "math/simd.h"

#include <string.h>

struct task {
        const struct ran_rows *k;
        ran_rows_block *fn;
        void *arg;
        const struct ran_norm *norm;
        float *out;
        const float *x, *y;
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
        const struct task *task = arg;
        const struct ran_norm *norm = task->norm;
        const size_t D = task->k->D, from = block * task->k->block;

        ran_simd->norm(norm->y + from * D, D, norm->stat + from * 2, norm->x + from * D, D, norm->w,
                       norm->b != NULL ? norm->b : task->k->zero, task->k->eps,
                       rows_of(task->k, from), D);
}

void ran_rows_norm(const struct ran_rows *k, const struct ran_norm *norm)
{
        run(k, norm_block, &(struct task){.norm = norm});
}

static void norm_block_bwd(void *arg, size_t block)
{
        const struct task *task = arg;
        const struct ran_norm *norm = task->norm;
        const size_t D = task->k->D, from = block * task->k->block, n = rows_of(task->k, from);
        float *part = memset(task->k->part + block * 2 * D, 0, 2 * D * sizeof *part);
        float *dy = norm->dy + from * D;

        ran_simd->norm_bwd(dy, D, part, part + D, dy, D, norm->x + from * D, D,
                           norm->stat + from * 2, norm->w, n, D);
        if (norm->dx != norm->dy)
                ran_simd->add(norm->dx + from * D, dy, n * D);
}

void ran_rows_norm_bwd(const struct ran_rows *k, const struct ran_norm *norm)
{
        const size_t D = k->D;

        run(k, norm_block_bwd, &(struct task){.norm = norm});
        for (size_t i = 0; i < ran_rows_blocks(k->n, k->block); i++) {
                if (norm->dw != NULL)
                        ran_simd->add(norm->dw, k->part + i * 2 * D, D);
                if (norm->db != NULL)
                        ran_simd->add(norm->db, k->part + i * 2 * D + D, D);
        }
}
