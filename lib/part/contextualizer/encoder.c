/* encoder.c - the steps of a Contextualizer. See contextualizer.h for the method. */
#include "part/contextualizer/contextualizer.h"
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "nn/part.h"
#include "ran/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_OF_PARTIAL = 4, MOST_PARTIALS = 32 };

/* ---- configuration and tensors -------------------------------------------------------------- */

RAN_PART_TENSORS(layer_tensors, struct ran_contextualizer_params, RAN_CONTEXTUALIZER_PARAMS,
                 const size_t D = c->dim, rank = c->contextualizer.rank)
RAN_PART_TENSORS(once_tensors, struct ran_contextualizer_once, RAN_CONTEXTUALIZER_ONCE,
                 const size_t D = c->dim)

/* ---- memory --------------------------------------------------------------------------------- */

static void make_partials(struct ran_workspace *w, size_t b)
{
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        size_t n = ran_contextualizer_length(w->packed, b), block = ran_contextualizer_block_of(w),
               blocks = (n - 1) / block + 1, partials;

        partials = ran_contextualizer_is_long(w, b) ? blocks / BLOCKS_OF_PARTIAL : 1;
        partials = partials < 1 ? 1 : partials > MOST_PARTIALS ? MOST_PARTIALS : partials;
        RAN_ROOM(k->partial, k->partial_cap, k->n_partials + partials);
        for (size_t i = 0; i < partials; i++) {
                size_t to = (i + 1) * blocks / partials * block;

                k->partial[k->n_partials++] = (struct ran_contextualizer_partial){
                        b, i * blocks / partials * block, to < n ? to : n};
        }
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const size_t block = ran_contextualizer_block_of(w);

        (void)err;
        RAN_ROOM(k->row, k->row_cap, packed->B);
        k->n_tokens = k->n_rows = k->n_partials = 0;
        for (int turn = 0; turn <= 1; turn++) { /* the short ones first */
                for (size_t b = 0; b < packed->B; b++) {
                        if (ran_contextualizer_is_long(w, b) != turn)
                                continue;
                        k->row[b] = k->n_rows;
                        k->n_rows += ran_contextualizer_rows_of(w, b);
                }
                k->n_short = turn == 0 ? k->n_rows : k->n_short;
        }
        for (size_t b = 0; b < packed->B; b++) {
                size_t n = ran_contextualizer_length(packed, b);

                n = n < block ? n : block;
                k->n_tokens = n > k->n_tokens ? n : k->n_tokens;
                make_partials(w, b);
        }
        k->n_later = k->n_partials - packed->B;
        return RAN_OK;
}

static void release(struct ran_workspace *w)
{
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];

        free(k->row);
        free(k->partial);
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_contextualizer_steps *out = w->own[RAN_PART_CONTEXTUALIZER];
        const size_t N = w->c->layers, block = out->n_tokens * w->D;
        const double probed =
                w->probes != NULL
                        ? (double)w->size.L +
                                  (double)out->n_tokens * 2 *
                                          ((double)w->D + (double)w->c->contextualizer.rank) +
                                  (double)w->D
                        : 0;
        const double n_tokens = (double)out->n_tokens, n_rows = (double)out->n_rows,
                     n_short = (double)out->n_short, n_later = (double)out->n_later,
                     n_partials = (double)out->n_partials, B = (double)w->packed->B,
                     D = (double)w->D, n_kept = w->training ? (double)N : 1,
                     rank = (double)w->c->contextualizer.rank;

        RAN_CONTEXTUALIZER_STEPS(RAN_ARENA_FIELD)
        if (w->training) {
                RAN_CONTEXTUALIZER_ADJOINTS(RAN_ARENA_FIELD)
        }
        for (size_t l = 1; l <= N; l++)
                w->x[l] = ran_arena_take(k, B * D);
        /* Scratch for a block of tokens and a few rows; and for its adjoint. */
        ran_workers_lay_out(&w->workers, k, w->training ? 2 * block + 5 * w->D : block + 2 * w->D,
                            false);
}

/* Offset of step l in an activation that training keeps for each step. */
static size_t kept(const struct ran_workspace *w, size_t l, size_t floats)
{
        return w->training ? l * floats : 0;
}

static const float *context(const struct ran_workspace *w, size_t l)
{
        return l > 0 ? w->x[l] : ran_contextualizer_steps_of(w)->first;
}

/* ---- the first context ---------------------------------------------------------------------- */

static void first_contexts(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_contextualizer_once *once = p->once;
        size_t D = w->D;

        for (size_t b = 0; b < w->packed->B; b++) {
                float *c = ran_contextualizer_steps_of(w)->first + b * D;
                uint64_t key;

                switch (w->c->contextualizer.context) {
                case RAN_CONTEXT_LEARNED:
                        memcpy(c, once->context, D * sizeof *c);
                        break;
                case RAN_CONTEXT_RANDOM:
                        if (w->training && !w->explains) {
                                key = ran_random_key(p->seed, RAN_FOR_CONTEXT, w->noise.epoch,
                                                     w->packed->record[b]);
                        } else { /* a function of the document's ids, as its results must be */
                                key = ran_contextualizer_length(w->packed, b);
                                for (size_t t = w->packed->doc[b]; t < w->packed->doc[b + 1]; t++)
                                        key = ran_random_draw(key, w->packed->ids[t]);
                                key = ran_random_key(p->seed, RAN_FOR_CONTEXT, UINT64_MAX, key);
                        }
                        for (size_t d = 0; d < D; d++)
                                c[d] = (float)(2 * ran_random_uniform(key, d) - 1);
                        break;
                default:
                        for (size_t d = 0; d < D; d++)
                                c[d] = 1.0f;
                }
        }
}

/* ---- a step --------------------------------------------------------------------------------- */

/* H ⊙ V c in the rows of document b. */
static void mix(void *arg, size_t b, float *scratch)
{
        const struct ran_contextualizer_stage *g = arg;
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        size_t rank = w->c->contextualizer.rank, at = k->row[b],
               n = ran_contextualizer_rows_of(w, b);
        const float *vc = k->vc + kept(w, g->l, w->packed->B * rank) + b * rank;
        const float *h = k->h + kept(w, g->l, k->n_rows * rank);

        (void)scratch;
        for (size_t i = at; i < at + n; i++)
                ran_simd->mul(k->hv + i * rank, h + i * rank, vc, rank);
}

/* What LN reads. */
static void attend(void *arg, size_t b, float *scratch)
{
        const struct ran_contextualizer_stage *g = arg;
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        size_t D = w->D, rank = w->c->contextualizer.rank, at = k->row[b];
        const struct ran_contextualizer_params *p = &g->p[g->l];
        const float *alpha = k->alpha + kept(w, g->l, k->n_short * D);
        float *out = k->before + kept(w, g->l, w->packed->B * D) + b * D;

        (void)scratch;
        ran_simd->mul(out, p->w_b, k->sum + b * D, D);
        if (ran_contextualizer_is_long(w, b))
                for (size_t d = 0; d < D; d++)
                        out[d] += ran_simd->dot(p->w_w + d * rank, k->hv + (at + d) * rank, rank);
        else
                for (size_t i = at; i < at + ran_contextualizer_length(w->packed, b); i++)
                        ran_simd->mul_add(out, alpha + i * D, k->rows + i * D, D);
}

static void drop_update(struct ran_workspace *w, size_t l, float *z)
{
        for (size_t b = 0; b < w->packed->B; b++)
                ran_workspace_dropout(w, b, l, RAN_DROP_ATTENTION, w->noise.dropout, z + b * w->D,
                                      w->D, 0);
}

static void step(struct ran_contextualizer_stage *g)
{
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const struct ran_contextualizer_params *p = &g->p[g->l];
        size_t D = w->D, rank = w->c->contextualizer.rank, B = w->packed->B;
        const float *c = context(w, g->l);
        float *z = w->x[g->l + 1];

        ran_gemm_linear(w->pool, k->vc + kept(w, g->l, B * rank), rank, c, D, p->v_w, NULL, B, D,
                        rank);
        ran_gemm_linear(w->pool, k->h + kept(w, g->l, k->n_rows * rank), rank, k->rows, D, p->u_w,
                        NULL, k->n_rows, D, rank);
        ran_workers_each(&w->workers, 0, B, mix, g);
        ran_gemm_linear(w->pool, k->alpha + kept(w, g->l, k->n_short * D), D, k->hv, rank, p->w_w,
                        NULL, k->n_short, rank, D);
        ran_workers_each(&w->workers, 0, B, attend, g);
        ran_simd->norm(z, D, k->stat + kept(w, g->l, B * 2), k->before + kept(w, g->l, B * D), D,
                       p->norm_w, p->norm_b, RAN_LN_EPS, B, D);
        drop_update(w, g->l, z);
        ran_simd->add(z, c, B * D);
}

/* ---- attention probes ----------------------------------------------------------------------- */

static void probe_shape(const struct ran_config *c, struct ran_probe_shape *s)
{
        (void)c;
        s->table[RAN_PROBE_HEADS] =
                (struct ran_probe_table){RAN_AXIS_DOCUMENT, RAN_AXIS_TOKENS, 1, s->L, 1};
}

static double size_of(const float *x, size_t n)
{
        return sqrt(ran_dot(x, x, n));
}

/* size (L): the length of each α_i ⊙ x_i in the step, for a batch of one document. Returns their
 * sum. */
static double token_sizes(struct ran_contextualizer_stage *g, float *size)
{
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const struct ran_contextualizer_params *p = &g->p[g->l];
        size_t D = w->D, rank = w->c->contextualizer.rank, L = w->size.L,
               block = ran_contextualizer_block_of(w);
        float *anchor = size + L, *x = anchor + D, *alpha = x + k->n_tokens * D,
              *h = alpha + k->n_tokens * D;
        double sum = 0;

        for (size_t from = 0, n; from < L; from += n) {
                n = L - from < block ? L - from : block;
                ran_contextualizer_weigh(w, g->once->position, 0, from, n, x, w->x[0] + from * D,
                                         anchor);
                ran_gemm_linear(w->pool, h, rank, x, D, p->u_w, NULL, n, D, rank);
                for (size_t i = 0; i < n; i++)
                        ran_simd->mul(h + i * rank, h + i * rank, k->vc, rank);
                ran_gemm_linear(w->pool, alpha, D, h, rank, p->w_w, p->w_b, n, rank, D);
                ran_simd->mul(alpha, alpha, x, n * D);
                for (size_t i = 0; i < n; i++) {
                        double one = size_of(alpha + i * D, D);

                        size[from + i] = (float)one;
                        sum += one;
                }
        }
        return sum;
}

/* After a step. */
static void fill_probes(struct ran_contextualizer_stage *g)
{
        struct ran_workspace *w = g->w;
        const float *before = context(w, g->l), *after = context(w, g->l + 1);
        float *size = ran_contextualizer_steps_of(w)->probe, *z = size + w->size.L;
        double sum = token_sizes(g, size);

        for (size_t d = 0; d < w->D; d++)
                z[d] = after[d] - before[d];
        for (size_t i = 0; i < w->probes->n; i++) {
                struct ran_probe *k = &w->probes->probe[i];

                if (!ran_probe_matches(k, RAN_PROBE_HEADS, g->l))
                        continue;
                k->update = size_of(z, w->D);
                k->context = size_of(after, w->D);
                ran_probe_add(k, 0, 0, size, w->size.L, sum > 0 ? (float)(1 / sum) : 0);
        }
}

/* ---- all steps ------------------------------------------------------------------------------ */

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        struct ran_contextualizer_stage g = ran_contextualizer_stage_of(w, p);

        ran_contextualizer_gather(&g);
        first_contexts(w, p);
        for (; g.l < w->c->layers; g.l++) {
                step(&g);
                if (w->probes != NULL)
                        fill_probes(&g);
        }
}

/* ---- a step, backward ----------------------------------------------------------------------- */

/* From dbefore to dalpha and the rows of short documents, and to dhv of long ones. */
static void attend_bwd(void *arg, size_t b, float *scratch)
{
        const struct ran_contextualizer_stage *g = arg;
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        size_t D = w->D, rank = w->c->contextualizer.rank, at = k->row[b];
        const float *alpha = k->alpha + kept(w, g->l, k->n_short * D), *dy = k->dbefore + b * D;

        mix(arg, b, scratch);
        ran_simd->mul_add(k->dsum + b * D, dy, g->p[g->l].w_b, D);
        if (ran_contextualizer_is_long(w, b)) {
                memset(k->dhv + at * rank, 0, D * rank * sizeof *k->dhv);
                for (size_t d = 0; d < D; d++)
                        ran_simd->axpy(k->dhv + (at + d) * rank, dy[d], g->p[g->l].w_w + d * rank,
                                       rank);
                return;
        }
        for (size_t i = at; i < at + ran_contextualizer_length(w->packed, b); i++) {
                ran_simd->mul(k->dalpha + i * D, dy, k->rows + i * D, D);
                ran_simd->mul_add(k->drows + i * D, dy, alpha + i * D, D);
        }
}

/* From dhv to dvc, and to dH in place. */
static void mix_bwd(void *arg, size_t b, float *scratch)
{
        const struct ran_contextualizer_stage *g = arg;
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        size_t rank = w->c->contextualizer.rank, at = k->row[b],
               n = ran_contextualizer_rows_of(w, b);
        const float *vc = k->vc + kept(w, g->l, w->packed->B * rank) + b * rank;
        const float *h = k->h + kept(w, g->l, k->n_rows * rank);
        float *dvc = k->dvc + b * rank;

        (void)scratch;
        memset(dvc, 0, rank * sizeof *dvc);
        for (size_t i = at; i < at + n; i++) {
                ran_simd->mul_add(dvc, k->dhv + i * rank, h + i * rank, rank);
                ran_simd->mul(k->dhv + i * rank, k->dhv + i * rank, vc, rank);
        }
}

/* Turns w->dlast from the adjoint of the context after the step into that of the context before
 * it. */
static void step_bwd(struct ran_contextualizer_stage *g)
{
        struct ran_workspace *w = g->w;
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        const struct ran_contextualizer_params *p = &g->p[g->l];
        struct ran_contextualizer_params *dp = &g->dp[g->l];
        size_t D = w->D, rank = w->c->contextualizer.rank, B = w->packed->B;

        memcpy(k->dbefore, w->dlast, B * D * sizeof *k->dbefore);
        drop_update(w, g->l, k->dbefore);
        ran_simd->norm_bwd(k->dbefore, D, dp->norm_w, dp->norm_b, k->dbefore, D,
                           k->before + kept(w, g->l, B * D), D, k->stat + kept(w, g->l, B * 2),
                           p->norm_w, B, D);
        ran_workers_each(&w->workers, 0, B, attend_bwd, g);
        ran_gemm_linear_bwd(w->pool, k->dhv, rank, false, dp->w_w, NULL, k->dalpha, D, k->hv, rank,
                            p->w_w, k->n_short, rank, D);
        for (size_t b = 0; b < B && dp->w_w != NULL; b++) { /* what no product adds to W and b */
                const float *dy = k->dbefore + b * D;

                ran_simd->mul_add(dp->w_b, dy, k->sum + b * D, D);
                for (size_t d = 0; d < D && ran_contextualizer_is_long(w, b); d++)
                        ran_simd->axpy(dp->w_w + d * rank, dy[d], k->hv + (k->row[b] + d) * rank,
                                       rank);
        }
        ran_workers_each(&w->workers, 0, B, mix_bwd, g);
        ran_gemm_linear_bwd(w->pool, k->drows, D, true, dp->u_w, NULL, k->dhv, rank, k->rows, D,
                            p->u_w, k->n_rows, D, rank);
        ran_gemm_linear_bwd(w->pool, w->dlast, D, true, dp->v_w, NULL, k->dvc, rank,
                            context(w, g->l), D, p->v_w, B, D, rank);
}

static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        struct ran_contextualizer_steps *k = w->own[RAN_PART_CONTEXTUALIZER];
        struct ran_contextualizer_stage g = ran_contextualizer_stage_of(w, p);
        size_t D = w->D;

        g.dp = dp->layers;
        g.donce = dp->once;
        memset(k->drows, 0, k->n_rows * D * sizeof *k->drows);
        memset(k->dsum, 0, w->packed->B * D * sizeof *k->dsum);
        for (g.l = w->c->layers; g.l-- > 0;)
                step_bwd(&g);
        if (g.donce->context != NULL)
                ran_simd->bias_bwd(g.donce->context, w->dlast, D, w->packed->B, D);
        ran_contextualizer_scatter(&g);
}

/* ---- a vector of each document: its last context -------------------------------------------- */

static void documents(struct ran_workspace *w, const struct ran_params *p)
{
        (void)p;
        memcpy(w->head.head, w->x[w->c->layers], w->packed->B * w->D * sizeof(float));
}

static void documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        (void)p, (void)dp;
        memcpy(w->dlast, w->head.dhead, w->packed->B * w->D * sizeof(float));
}

/* ---- cost ---------------------------------------------------------------------------------- */

/* contextualizer.h says why length matters so little. */
static double flops(const struct ran_config *c, size_t length, size_t sources)
{
        double L = (double)length, D = (double)c->dim, N = (double)c->layers,
               u = (double)c->contextualizer.rank;

        (void)sources;
        return L > D ? 2 * D * D * (L + N * u) : 4 * L * D * N * u;
}

const struct ran_part ran_part_contextualizer = {
        .encoder = RAN_ENCODER_CONTEXTUALIZER,
        .encodes = true,
        .per_document = true,
        .fields = (const char *const[]){"rank", NULL},
        .layer_size = sizeof(struct ran_contextualizer_params),
        .once_size = sizeof(struct ran_contextualizer_once),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_contextualizer_steps),
        .release = release,
        .prepare = prepare,
        .lay_out = lay_out,
        .forward = forward,
        .backward = backward,
        .documents = documents,
        .documents_bwd = documents_bwd,
        .probe_shape = probe_shape,
        .flops = flops,
};
