/* workers.h - the threads of a workspace, each with scratch of its own. */
#ifndef RAN_MODEL_WORKERS_H
#define RAN_MODEL_WORKERS_H

#include "ran/model.h"
#include "nn/arena.h"

struct ran_workers {
        struct ran_pool *pool; /* NULL: the calling thread alone */
        size_t n;              /* how many may work at once */
        size_t floats;         /* of a worker's scratch */
        float *scratch;        /* (n, floats) */
        float *aside;          /* a second scratch for `aside` work; or `scratch` */
};
/* Allocates scratch of so many floats for each worker; aside: a second one, too. */
void ran_workers_lay_out(struct ran_workers *k, struct ran_arena *arena, size_t floats, bool aside);
/* Runs fn for i in [from, to) on the workers. A call owns its worker's scratch; results must not
 * depend on the worker. */
void ran_workers_each(struct ran_workers *k, size_t from, size_t to,
                      void (*fn)(void *arg, size_t i, float *scratch), void *arg);
/* The same with `aside` as scratch, while another thread is in ran_workers_each. */
void ran_workers_each_aside(struct ran_workers *k, size_t from, size_t to,
                            void (*fn)(void *arg, size_t i, float *scratch), void *arg);

#endif
