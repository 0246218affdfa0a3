/* workers.c - see workers.h. */
#include "nn/workers.h"

#include <stdatomic.h>

void ran_workers_lay_out(struct ran_workers *k, struct ran_arena *arena, size_t floats, bool aside)
{
        double all = (double)k->n * (double)floats;

        k->floats = floats;
        k->scratch = ran_arena_take(arena, all);
        k->aside = aside ? ran_arena_take(arena, all) : k->scratch;
}

struct run {
        void (*fn)(void *arg, size_t i, float *scratch);
        void *arg;
        float *scratch;
        size_t floats, to;
        atomic_size_t next;
};

static void run_worker(void *arg, size_t worker)
{
        struct run *r = arg;
        size_t i;

        while ((i = atomic_fetch_add(&r->next, 1)) < r->to)
                r->fn(r->arg, i, r->scratch + worker * r->floats);
}

static void each(const struct ran_workers *k, float *scratch, size_t from, size_t to,
                 void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        struct run r = {.fn = fn, .arg = arg, .scratch = scratch, .floats = k->floats, .to = to};

        atomic_init(&r.next, from);
        ran_parallel(k->pool, to - from < k->n ? to - from : k->n, run_worker, &r);
}

void ran_workers_each(struct ran_workers *k, size_t from, size_t to,
                      void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        each(k, k->scratch, from, to, fn, arg);
}

void ran_workers_each_aside(struct ran_workers *k, size_t from, size_t to,
                            void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        each(k, k->aside, from, to, fn, arg);
}
