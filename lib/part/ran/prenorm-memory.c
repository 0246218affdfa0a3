/* prenorm-memory.c - the activations of prenorm cells: slabs of whole windows, and the arrays that
 * cross windows; a window in them. See prenorm.h. */
#include "part/ran/prenorm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* Most windows of a group, and most floats of its parts. */
enum { GROUP = 64, GROUP_FLOATS = 1 << 24 };

void ran_prenorm_release(struct ran_workspace *w)
{
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);

        free(own->slab);
        free(own->first);
        ran_review_release(&own->review);
}

/* Divides the windows into slabs; records tokens and rows of the largest. */
static int make_slabs(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);

        own->slabs = own->tokens = own->rows = own->group = 0;
        for (size_t from = 0, to; from < packed->m; from = to) {
                for (to = from + 1; to < packed->m; to++)
                        if (packed->row[to + 1] - packed->row[from] > w->slab_rows)
                                break;
                own->tokens = ran_most(own->tokens, packed->window[to] - packed->window[from]);
                own->rows = ran_most(own->rows, packed->row[to] - packed->row[from]);
                own->group = ran_most(own->group, to - from);
                RAN_TRY(RAN_GROW(own->first, own->first_cap, own->slabs + 2, err));
                own->first[own->slabs++] = from;
                own->first[own->slabs] = to;
        }
        return RAN_OK;
}

/* Of a slab with so many tokens and rows. */
static struct ran_prenorm_sizes sizes_of(const struct ran_workspace *w, size_t tokens, size_t rows)
{
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        size_t B = w->packed->B;
        const bool vectors = ran_prenorm_makes_vectors(w->c),
                   documents = ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT && !vectors;

        return (struct ran_prenorm_sizes){.B = (double)w->size.B,
                                          .m = (double)w->packed->m,
                                          .D = (double)w->D,
                                          .E = (double)w->E,
                                          .F = (double)ran_prenorm_feed(w->c),
                                          .tokens = (double)tokens,
                                          .rows = (double)rows,
                                          .states = (double)(w->packed->m + B),
                                          .keys = (double)own->review.keys,
                                          .sources = (double)own->review.sources[B],
                                          .documents = documents ? (double)B : 0,
                                          .vectors = vectors ? (double)B : 0,
                                          .fresh = (double)own->fresh};
}

static size_t slabs_in_memory(const struct ran_workspace *w)
{
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);

        if (own->keeps)
                return w->c->layers * own->slabs;
        return own->slabs > 1 ? 2 : 1;
}

/* One that is kept has its own size; else that of the largest. */
static void lay_out_slab(struct ran_workspace *w, struct ran_arena *k, struct ran_prenorm_slab *out,
                         size_t slab)
{
        const struct ran_packed *packed = w->packed;
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        const size_t from = own->first[slab], to = own->first[slab + 1];
        const struct ran_prenorm_sizes sizes =
                own->keeps ? sizes_of(w, packed->window[to] - packed->window[from],
                                      packed->row[to] - packed->row[from])
                           : sizes_of(w, own->tokens, own->rows);
        const struct ran_prenorm_sizes *n = &sizes;

        RAN_PRENORM_SLAB(RAN_ARENA_FIELD)
}

/* Decides whether activations are kept for the backward pass, and how many slabs there are then. */
static int plan_slabs(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        struct ran_prenorm_slab unused;
        struct ran_arena kept = {0};

        own->keeps = w->training;
        for (size_t i = 0; i < own->slabs; i++)
                lay_out_slab(w, &kept, &unused, i);
        own->keeps = w->training && (own->slabs == 1 ||
                                     kept.count * (double)w->c->layers <= (double)w->keep_floats);
        return RAN_GROW(own->slab, own->slab_cap, slabs_in_memory(w), err);
}

int ran_prenorm_prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);

        RAN_TRY(ran_review_prepare(&own->review, w, err));
        RAN_TRY(make_slabs(w, err));
        size_t parts = 2 * own->review.most_seen * w->D;
        own->group = ran_least(own->group, GROUP);
        if (parts > 0)
                own->group = ran_least(own->group, ran_most(GROUP_FLOATS / parts, 1));
        own->fresh = 0;
        for (size_t b = 1; b < packed->B; b++)
                own->fresh = packed->open[b] > 0 ? own->tokens + packed->m : own->fresh;
        RAN_TRY(plan_slabs(w, err));
        if (w->c->rotary)
                RAN_TRY(ran_rotary_reserve(&w->rotary, w->d_k, RAN_ROTARY_BASE, own->review.longest,
                                           err));
        return ran_layer_reserve(w, err);
}

void ran_prenorm_lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        struct ran_prenorm_cells *cells = w->act;
        const struct ran_prenorm_sizes sizes = sizes_of(w, own->tokens, own->rows), *n = &sizes;
        const double floats = (double)w->size.L * n->D;
        const size_t rows = own->review.longest + 1, window = 2 * rows * rows + 5 * w->E + 6 * w->D,
                     review = ran_review_scratch(&own->review, w);

        for (size_t l = 0; l < w->c->layers; l++) {
                if (l == 0 || w->training)
                        RAN_ARENA_LIST(&cells[l], RAN_PRENORM_CELLS);
                else
                        cells[l] = cells[0]; /* the last cells below are read first */
                if (w->training) {
                        cells[l].y = ran_arena_take(k, floats);
                        w->x[l + 1] = ran_arena_take(k, floats);
                } else {
                        cells[l].y = w->x[l + 1] = w->x[0]; /* rows are read once: in place */
                }
        }
        own->start = w->training ? ran_arena_take(k, floats) : w->x[0];
        own->start_stat = ran_arena_take(k, (double)w->size.L * 2);
        own->last = w->training ? ran_arena_take(k, floats) : w->x[0];
        own->last_stat = ran_arena_take(k, (double)w->size.L * 2);
        for (size_t i = 0; i < slabs_in_memory(w); i++)
                lay_out_slab(w, k, &own->slab[i], own->keeps ? i % own->slabs : 0);
        if (w->training) {
                RAN_ARENA_LIST(&own->adj, RAN_PRENORM_ADJOINTS);
                own->group_part = ran_arena_take(k, 2.0 * (double)own->group *
                                                            (double)own->review.most_seen * n->D);
                own->dy = ran_arena_take(k, floats);
        }
        RAN_ARENA_LIST(&own->join, RAN_PRENORM_JOIN);
        /* Scratch: two score matrices of a window with its cell (attention.c), or a cell's rows; or
         * the states that a window sees (review.c). */
        ran_workers_lay_out(&w->workers, k, ran_most(review, window), own->slabs > 1);
}

/* ---- a window ---------------------------------------------------------------------------------
 */

struct ran_attention_heads ran_prenorm_heads(const struct ran_prenorm_pass *s,
                                             const struct ran_layer_window *v)
{
        return ran_attention_heads_of(s->w, v->i, s->act->qkv + v->r * 3 * s->w->E);
}

void ran_prenorm_dropout(const struct ran_prenorm_pass *s, const struct ran_layer_window *v,
                         int site, size_t from, size_t end, float *x)
{
        const struct ran_workspace *w = s->w;

        ran_workspace_dropout(w, v->b, s->l, site, w->noise.dropout, x + from * w->D,
                              (end - from) * w->D, (v->at + from) * w->D);
}

void ran_prenorm_sum_parts(const struct ran_prenorm_pass *s, int part, float *dw, float *db)
{
        size_t D = s->w->D;

        for (size_t i = s->from; i < s->to; i++) {
                float *sums = s->own->adj.part + (i * 4 + (size_t)part) * D;

                if (dw != NULL) {
                        ran_simd->add(dw, sums, D);
                        ran_simd->add(db, sums + D, D);
                }
                memset(sums, 0, 2 * D * sizeof *sums);
        }
}

void ran_prenorm_norm_bwd(const struct ran_prenorm_pass *s, size_t i, float *dx, float *dz,
                          const float *x, const float *stat, const float *weight)
{
        const struct ran_packed *packed = s->w->packed;
        size_t D = s->w->D, n = packed->window[i + 1] - packed->window[i];
        float *part = s->own->adj.part + i * 4 * D;

        ran_simd->norm_bwd(dz, D, part, part + D, dz, D, x, D, stat, weight, n, D);
        ran_simd->add(dx, dz, n * D);
}
