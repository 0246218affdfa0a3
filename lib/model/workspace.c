/* workspace.c - memory of a computation, laid out in one arena. See workspace.h. */
#include "model/workspace.h"
#include "model/encoder.h"
#include "model/lm.h"
#include "model/linear-model.h"
#include "math/elementary.h"
#include "math/simd.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* CHUNK_ROWS: eight windows of 256 tokens and their cells, or four of 512, or 64 of 32: so many as
 * two, four or eight threads can share evenly. KEEP_FLOATS: 512 MB. */
enum { CHUNK_ROWS = 2112, KEEP_FLOATS = 1 << 27 };

/* Sizes that every encoder has. */
static void measure(struct ran_workspace *w, const struct ran_packed *rows, size_t C)
{
        const struct ran_config *c = w->c;
        struct ran_dims *x = &w->size;

        *x = (struct ran_dims){.L = rows->L, .m = rows->m, .B = rows->B, .C = C};
        x->O = c->task == RAN_TASK_CLASSIFY ? rows->B : rows->places;
        x->P = c->task == RAN_TASK_CLASSIFY && c->encoder != RAN_ENCODER_CONTEXTUALIZER ? rows->B
                                                                                        : 0;
        x->Q = x->O;
        x->A = C;
        if (ran_is_tied(c)) {
                x->Q = x->O < RAN_LM_ROWS ? x->O : RAN_LM_ROWS;
                x->A = ran_lm_first(c, C) + ran_lm_tails(c, C);
                x->Z = ran_lm_widest(c, C);
        }
}

/* ---- the arena ------------------------------------------------------------------------------ */

float *ran_arena_take(struct ran_arena *k, double floats)
{
        float *at = k->base != NULL ? k->base + (size_t)k->count : NULL;

        k->count += ceil(floats / 16.0) * 16.0;
        return at;
}

#define FLOATS_OF(type) ((double)(sizeof(type) / sizeof(float)))

static void cut_head(struct ran_workspace *w, struct ran_arena *k, struct ran_head *out)
{
        RAN_DIMS;
        RAN_HEAD(RAN_ARENA_FIELD)
        if (w->training) {
                RAN_HEAD_ADJOINTS(RAN_ARENA_FIELD)
        }
        out->argmax = (uint32_t *)ran_arena_take(k, P * D);
        if (ran_has_linear_model(w->c)) {
                double runs = L * (double)ran_linear_model_features(w->c);

                out->grams = (size_t *)ran_arena_take(k, FLOATS_OF(size_t) * B);
                out->gram = (struct ran_gram *)ran_arena_take(k, FLOATS_OF(struct ran_gram) * runs);
                out->gram_posting = (struct ran_posting *)ran_arena_take(
                        k, FLOATS_OF(struct ran_posting) * runs);
                out->gram_spare = (struct ran_posting *)ran_arena_take(
                        k, FLOATS_OF(struct ran_posting) * runs);
        }
}

/* Everything in order; with k->base NULL the pointers it leaves are NULL and only the count is
 * of use. */
static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        const double rows = (double)w->size.L * (double)w->D;

        w->x[0] = ran_arena_take(k, rows);
        if (w->training) {
                w->dx = ran_arena_take(k, rows);
                w->dlast = ran_arena_take(k, (double)w->size.B * (double)w->D);
        }
        ran_encoder_of(w->c)->lay_out(w, k);
        cut_head(w, k, &w->head);
}

static int prepare(struct ran_workspace *w, const struct ran_packed *rows, size_t C,
                   struct ran_error *err)
{
        w->rows = rows;
        measure(w, rows, C);
        return ran_encoder_of(w->c)->prepare(w, err);
}

/* A document that goes on by a token at a time asks for one more each time: room for it is made
 * ahead, by an eighth of what there is. */
static size_t ahead(size_t had, size_t wanted)
{
        return wanted > had + had / 8 ? wanted : had + had / 8;
}

/* Angles in double: in float32 a cosine is off by 1e-2 at position 10^6. */
int ran_workspace_rotary(struct ran_workspace *w, size_t longest, struct ran_error *err)
{
        size_t d = w->d, had = w->rotary != NULL ? w->longest + 1 : 0;

        if (!w->c->rotary || longest < had)
                return RAN_OK;
        longest = ahead(had, longest);
        float *table = ran_alloc_floats((longest + 1) * 2 * d, err);
        if (table == NULL)
                return RAN_ENOMEM;
        if (had > 0)
                memcpy(table, w->rotary, had * 2 * d * sizeof *table);
        for (size_t i = 0; i < d; i += 2) {
                double frequency = ran_exp((double)i / (double)d * -ran_log(10000));

                for (size_t r = had; r <= longest; r++) {
                        double angle = (double)r * frequency;
                        float *cosine = table + r * 2 * d + i, *sine = cosine + d;

                        cosine[0] = cosine[1] = (float)ran_cos(angle);
                        sine[1] = (float)ran_sin(angle);
                        sine[0] = -sine[1];
                }
        }
        free(w->rotary);
        w->rotary = table;
        w->longest = longest;
        return RAN_OK;
}

int ran_workspace_fit(struct ran_workspace *w, const struct ran_packed *rows, size_t C,
                      struct ran_error *err)
{
        struct ran_arena k = {0};

        ran_phase = RAN_PHASE_REST;
        int rc = prepare(w, rows, C, err);
        if (rc != RAN_OK)
                return rc;
        lay_out(w, &k);
        if (k.count > (double)(SIZE_MAX / sizeof(float) / 2))
                return ran_fail(err, RAN_ENOMEM,
                                "%zu tokens at once need %.0f GB of memory: a smaller "
                                "--dim, --heads or --head-dim needs less",
                                rows->L, k.count * 4e-9);
        if ((size_t)k.count > w->arena_floats) {
                size_t floats = ahead(w->arena_floats, (size_t)k.count);

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

/* ---- life ----------------------------------------------------------------------------------- */

int ran_workspace_init(struct ran_workspace *w, const struct ran_config *c, bool training,
                       struct ran_pool *pool, struct ran_error *err)
{
        size_t N = c->layers;

        *w = (struct ran_workspace){.c = c,
                                    .pool = pool,
                                    .training = training,
                                    .chunk_rows = CHUNK_ROWS,
                                    .keep_floats = KEEP_FLOATS,
                                    .linear_weight = 1,
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
        w->transformer_acts = ran_alloc(N, sizeof *w->transformer_acts, err);
        if (w->x == NULL || w->y == NULL || w->cells == NULL || w->transformer_acts == NULL) {
                ran_workspace_release(w);
                return RAN_ENOMEM;
        }
        return RAN_OK;
}

void ran_workspace_release(struct ran_workspace *w)
{
        if (w->c != NULL && ran_encoder_of(w->c)->release != NULL)
                ran_encoder_of(w->c)->release(w);
        free(w->x);
        free(w->y);
        free(w->cells);
        free(w->acts);
        free(w->transformer_acts);
        free(w->mask);
        free(w->task);
        free(w->rotary);
        free(w->chunk);
        free(w->arena);
        *w = (struct ran_workspace){0};
}

int ran_workspace_bytes(struct ran_workspace *w, const struct ran_packed *rows, size_t C,
                        double *bytes, struct ran_error *err)
{
        struct ran_arena k = {0};
        int rc = prepare(w, rows, C, err);

        if (rc != RAN_OK)
                return rc;
        lay_out(w, &k);
        *bytes = k.count * sizeof(float);
        return RAN_OK;
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

static void each(struct ran_workspace *w, float *scratch, size_t from, size_t to,
                 void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        struct lanes l = {
                .fn = fn, .arg = arg, .scratch = scratch, .lane_floats = w->lane_floats, .to = to};

        atomic_init(&l.next, from);
        ran_parallel(w->pool, to - from < w->lanes ? to - from : w->lanes, run_lane, &l);
}

void ran_workspace_each(struct ran_workspace *w, size_t from, size_t to,
                        void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        each(w, w->scratch, from, to, fn, arg);
}

void ran_workspace_each_aside(struct ran_workspace *w, size_t from, size_t to,
                              void (*fn)(void *arg, size_t i, float *scratch), void *arg)
{
        each(w, w->aside, from, to, fn, arg);
}

void ran_workspace_dropout(const struct ran_workspace *w, size_t b, size_t layer, int site,
                           double p, float *x, size_t n, size_t at)
{
        uint64_t purpose = RAN_FOR_DROPOUT + 16 * (layer * RAN_DROP_SITES + (uint64_t)site);

        if (w->training && p > 0)
                ran_simd->dropout(
                        x, n,
                        ran_random_key(w->noise.seed, purpose, w->noise.epoch, w->rows->record[b]),
                        at, p);
}
