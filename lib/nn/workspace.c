/* workspace.c - memory of a computation, laid out in one arena; its threads; dropout. */
#include "math/gemm.h"
#include "math/simd.h"
#include "nn/part.h"
#include "ran/model.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

float *ran_arena_take(struct ran_arena *k, double floats)
{
        float *at = k->base != NULL ? k->base + (size_t)k->count : NULL;

        k->count += ceil(floats / 16.0) * 16.0;
        return at;
}

/* SLAB_ROWS, of training: eight windows of 256 tokens and their cells, or four of 512, or 64 of 32:
 * two, four or eight threads can divide them evenly. SCORED_ROWS: a quarter, whose activations stay
 * in the cache from product to product; documents of 5,000 tokens take 12 to 16 % less time.
 * KEEP_FLOATS: 512 MB. */
enum { SLAB_ROWS = 2112, SCORED_ROWS = 528, KEEP_FLOATS = 1 << 27 };

/* Sizes that every encoder has. */
static void measure(struct ran_workspace *w, const struct ran_packed *packed, size_t C)
{
        const struct ran_task *task = ran_task_of(w->c);
        struct ran_dims *x = &w->size;

        *x = (struct ran_dims){.B = packed->B, .L = packed->L, .C = C};
        x->outputs = task->output == RAN_OUTPUT_DOCUMENT ? packed->B : packed->positions;
        x->logit_rows = x->outputs;
        x->logit_width = C;
        if (task->measure != NULL)
                task->measure(w->c, x);
}

static void lay_out_head(struct ran_workspace *w, struct ran_arena *k, struct ran_head *out)
{
        const struct ran_dims *x = &w->size;
        const double C = (double)x->C, H = ran_config_has_encoder(w->c) ? (double)w->D : 0;
        const double outputs = (double)x->outputs, logit_rows = (double)x->logit_rows,
                     logit_width = (double)x->logit_width, tail_width = (double)x->tail_width;

        RAN_HEAD(RAN_ARENA_FIELD)
        if (w->training) {
                RAN_HEAD_ADJOINTS(RAN_ARENA_FIELD)
        }
}

/* Lays everything out in order. Without k->base all pointers become NULL and only the count is
 * valid. */
static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        const struct ran_part_list *parts = &w->parts;
        const double floats = (double)w->size.L * (double)w->D;

        w->x[0] = ran_arena_take(k, w->streams ? 0 : floats);
        if (w->training) {
                w->dx = ran_arena_take(k, floats);
                w->dlast = ran_arena_take(k, (double)w->size.B * (double)w->D);
        }
        for (size_t i = 0; i < parts->n; i++)
                if (parts->part[i]->lay_out != NULL)
                        parts->part[i]->lay_out(w, k);
        lay_out_head(w, k, &w->head);
}

int ran_workspace_bytes(struct ran_workspace *w, const struct ran_packed *packed, size_t C,
                        double *bytes, struct ran_error *err)
{
        const struct ran_part_list *parts = &w->parts;
        struct ran_arena k = {0};

        w->packed = packed;
        measure(w, packed, C);
        for (size_t i = 0; i < parts->n; i++)
                if (parts->part[i]->prepare != NULL)
                        RAN_TRY(parts->part[i]->prepare(w, err));
        lay_out(w, &k);
        *bytes = k.count * sizeof(float);
        return RAN_OK;
}

int ran_workspace_fit(struct ran_workspace *w, const struct ran_packed *packed, size_t C,
                      struct ran_error *err)
{
        struct ran_arena k;
        double bytes;

        RAN_TRY(ran_workspace_bytes(w, packed, C, &bytes, err));
        const double count = bytes / sizeof(float);
        if (count > (double)(SIZE_MAX / sizeof(float) / 2))
                return ran_fail(err, RAN_ENOMEM,
                                "%zu tokens at once need %.0f GB of memory: a smaller "
                                "--dim, --heads or --head-dim needs less",
                                packed->L, 1e-9 * bytes);
        if ((size_t)count > w->arena_floats) {
                size_t floats = ran_rotary_ahead(w->arena_floats, (size_t)count);

                free(w->arena);
                w->arena_floats = 0;
                w->arena = ran_alloc_floats(floats, err);
                if (w->arena == NULL)
                        return RAN_ENOMEM;
                w->arena_floats = floats;
        }
        k = (struct ran_arena){.base = w->arena};
        lay_out(w, &k);
        return RAN_OK;
}

void ran_workspace_init(struct ran_workspace *w, const struct ran_config *c, bool training,
                        struct ran_pool *pool)
{
        *w = (struct ran_workspace){.c = c,
                                    .parts = ran_parts_of(c),
                                    .pool = pool,
                                    .training = training,
                                    .slab_rows = training ? SLAB_ROWS : SCORED_ROWS,
                                    .keep_floats = KEEP_FLOATS,
                                    .linear_weight = 1,
                                    .D = ran_config_has_encoder(c) ? c->dim : 0,
                                    .E = c->heads * c->head_dim,
                                    .h = c->heads,
                                    .d_k = c->head_dim};
        w->workers =
                (struct ran_workers){.pool = pool, .n = pool != NULL ? ran_pool_threads(pool) : 1};
        w->x = ran_new(c->layers + 1, sizeof *w->x);
        for (size_t i = 0; i < w->parts.n; i++) {
                const struct ran_part *part = w->parts.part[i];

                if (part->own_size > 0)
                        w->own[w->parts.number[i]] = ran_new(1, part->own_size);
                if (part->act_size > 0)
                        w->act = ran_new(c->layers, part->act_size);
        }
}

void ran_workspace_linear(const struct ran_workspace *w, struct ran_kept_panels *kept, float *y,
                          const float *x, const float *weight, const float *b, size_t I, size_t O)
{
        (ran_workspace_stands_alone(w) ? ran_gemm_linear_alone : ran_gemm_linear_kept)(
                w->pool, kept, y, O, x, I, weight, b, w->packed->B, I, O);
}

void ran_workspace_release(struct ran_workspace *w)
{
        for (size_t i = 0; i < RAN_PARTS_MOST; i++) {
                if (w->own[i] != NULL && ran_part_table[i]->release != NULL)
                        ran_part_table[i]->release(w);
                free(w->own[i]);
        }
        free(w->act);
        free(w->x);
        ran_rotary_release(&w->rotary);
        free(w->arena);
        *w = (struct ran_workspace){0};
}

/* ---- workers --------------------------------------------------------------------------------- */

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

void ran_workers_each_on(const struct ran_workers *k, float *scratch, size_t from, size_t to,
                         void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        struct run r = {.fn = fn, .arg = arg, .scratch = scratch, .floats = k->floats, .to = to};

        atomic_init(&r.next, from);
        ran_parallel(k->pool, to - from < k->n ? to - from : k->n, run_worker, &r);
}

void ran_workers_each(const struct ran_workers *k, size_t from, size_t to,
                      void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        ran_workers_each_on(k, k->scratch, from, to, fn, arg);
}

/* ---- dropout --------------------------------------------------------------------------------- */

void ran_dropout(const struct ran_noise *noise, uint64_t record, size_t layer, int site, double p,
                 float *x, size_t n, size_t at)
{
        uint64_t purpose = RAN_FOR_DROPOUT + 16 * (layer * RAN_DROP_SITES + (uint64_t)site);

        if (p > 0)
                ran_simd->dropout(x, n, ran_random_key(noise->seed, purpose, noise->epoch, record),
                                  at, p);
}
