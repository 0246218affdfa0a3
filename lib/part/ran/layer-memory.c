/* layer-memory.c - the activations of a RAN: slabs of whole windows, and the arrays that cross
 * windows. See layer.h. */
#include "part/ran/layer.h"
#include "ran/model.h"

#include <stdlib.h>

int ran_layer_memory_init(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        own->projected = 3 * w->E + (ran_layer_is_gated(w) ? 2 * w->D : 0);
        own->cells = ran_alloc(w->c->layers, sizeof *own->cells, err);
        own->y = ran_alloc(w->c->layers, sizeof *own->y, err);
        return own->cells != NULL && own->y != NULL ? RAN_OK : RAN_ENOMEM;
}

void ran_layer_memory_release(struct ran_workspace *w)
{
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        free(own->cells);
        free(own->y);
        free(own->slab);
        free(own->first);
        free(own->cell);
        free(own->seen);
        free(own->reviewed);
}

/* Divides the windows into slabs; records tokens and rows of the largest. */
static int make_slabs(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        own->slabs = 0;
        own->tokens = own->rows = own->abreast = 0;
        for (size_t from = 0, to; from < packed->m; from = to) {
                size_t n_tokens, n_rows, documents;

                for (to = from + 1; to < packed->m; to++)
                        if (ran_packed_row(packed, to + 1) - ran_packed_row(packed, from) >
                            w->slab_rows)
                                break;
                n_tokens = packed->window[to] - packed->window[from];
                n_rows = ran_packed_row(packed, to) - ran_packed_row(packed, from);
                documents = packed->window_doc[to - 1] - packed->window_doc[from] + 1;
                own->tokens = n_tokens > own->tokens ? n_tokens : own->tokens;
                own->rows = n_rows > own->rows ? n_rows : own->rows;
                own->abreast = documents > own->abreast ? documents : own->abreast;
                size_t *first =
                        ran_grow(own->first, &own->first_cap, own->slabs + 2, sizeof *first, err);
                if (first == NULL)
                        return RAN_ENOMEM;
                own->first = first;
                own->first[own->slabs++] = from;
                own->first[own->slabs] = to;
        }
        return RAN_OK;
}

/* The sizes that the lists of layer.h have in scope; those of a slab are the largest one's. */
#define SIZES                                                               \
        SIZES_OF(((struct ran_layer_memory *)w->own[RAN_PART_RAN])->tokens, \
                 ((struct ran_layer_memory *)w->own[RAN_PART_RAN])->rows)
#define SIZES_OF(slab_tokens, slab_rows)                                                           \
        const struct ran_layer_memory *z = w->own[RAN_PART_RAN];                                   \
        const double B = (double)w->size.B, m = (double)w->packed->m, D = (double)w->D,            \
                     E = (double)w->E, tokens = (double)(slab_tokens), rows = (double)(slab_rows), \
                     abreast = (double)z->abreast, shared = z->shares, states = (double)z->states, \
                     keys = (double)z->keys, reviewed = (double)z->reviewed[w->packed->B],         \
                     fresh = (double)z->fresh, projected = (double)z->projected,                   \
                     glu = ran_layer_is_gated(w) ? 2 * D : 0,                                      \
                     join_glu = w->c->ran.cell != RAN_CELL_PLAIN ? 2 * D : 0,                      \
                     paper = !ran_layer_is_prenorm(w), prenorm = ran_layer_is_prenorm(w),          \
                     published = ran_layer_is_published(w), carries = prenorm + published,         \
                     feed = prenorm * (double)ran_prenorm_feed(w->c),                              \
                     documents = ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT ? B : 0;         \
        (void)published, (void)carries, (void)abreast, (void)B, (void)m, (void)D, (void)E,         \
                (void)tokens, (void)rows, (void)states, (void)keys, (void)shared, (void)projected, \
                (void)glu, (void)join_glu, (void)paper, (void)prenorm, (void)feed,                 \
                (void)documents, (void)fresh, (void)reviewed

static size_t slabs_in_memory(const struct ran_workspace *w)
{
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        if (own->keeps)
                return w->c->layers * own->slabs;
        return own->slabs > 1 ? 2 : 1;
}

/* One that is kept has its own size. */
static void lay_out_slab(struct ran_workspace *w, struct ran_arena *k, struct ran_slab *out,
                         size_t slab)
{
        const struct ran_packed *packed = w->packed;
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const size_t from = own->first[slab], to = own->first[slab + 1];

        SIZES_OF(own->keeps ? packed->window[to] - packed->window[from] : own->tokens,
                 own->keeps ? ran_packed_row(packed, to) - ran_packed_row(packed, from)
                            : own->rows);
        RAN_SLAB(RAN_ARENA_FIELD)
        if (ran_layer_is_prenorm(w))
                out->pre = out->qkv; /* no φ: rotated in place */
}

/* The slabs, and what they share. */
static void lay_out_slabs(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const size_t n = slabs_in_memory(w);
        float *qkv[2] = {NULL, NULL};

        for (size_t i = 0; i < 2 && own->shares; i++) {
                qkv[i] = ran_arena_take(k, (double)own->rows * 3 * (double)w->E);
                own->in_qkv[i] = n; /* of none */
        }
        for (size_t i = 0; i < n; i++) {
                lay_out_slab(w, k, &own->slab[i], own->keeps ? i % own->slabs : 0);
                if (own->shares)
                        own->slab[i].qkv = qkv[i % 2];
        }
}

static void lay_out_cells(struct ran_workspace *w, struct ran_arena *k, struct ran_cells *out)
{
        SIZES;
        RAN_CELLS(RAN_ARENA_FIELD)
}

static void lay_out_adjoints(struct ran_workspace *w, struct ran_arena *k, struct ran_adjoints *out)
{
        SIZES;
        RAN_ADJOINTS(RAN_ARENA_FIELD)
        if (ran_layer_is_prenorm(w))
                out->dpre = out->dqkv;
}

static void lay_out_join(struct ran_workspace *w, struct ran_arena *k, struct ran_join *out)
{
        SIZES;
        RAN_JOIN(RAN_ARENA_FIELD)
        if (w->training) {
                RAN_JOIN_ADJOINTS(RAN_ARENA_FIELD)
        }
}

static void lay_out_fill(struct ran_workspace *w, struct ran_arena *k, struct ran_fill *out)
{
        const double D = (double)w->D, positions = (double)w->size.outputs;

        RAN_FILL(RAN_ARENA_FIELD)
}

/* Decides whether activations are kept for the backward pass, and how many slabs there are then. */
static int plan_slabs(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        struct ran_slab unused;
        struct ran_arena kept = {0};

        own->keeps = w->training;
        own->shares = w->training && !ran_layer_is_prenorm(w) && w->c->layers * own->slabs > 2;
        for (size_t i = 0; i < own->slabs; i++)
                lay_out_slab(w, &kept, &unused, i);
        const double all = kept.count * (double)w->c->layers;
        own->keeps = w->training && (own->slabs == 1 || all <= (double)w->keep_floats);
        own->shares = own->shares && own->keeps;
        struct ran_slab *slab =
                ran_grow(own->slab, &own->slab_cap, slabs_in_memory(w), sizeof *slab, err);
        if (slab == NULL)
                return RAN_ENOMEM;
        own->slab = slab;
        return RAN_OK;
}

/* Makes room in the documents' recurrent states for the results of ran_encode. */
static int reserve_states(const struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;

        for (size_t b = 0; b < packed->B; b++) {
                struct ran_recurrent_state *recurrent = packed->recurrent[b];

                if (recurrent == NULL)
                        continue;
                /* Those of a window pattern will be copied out of the base. */
                size_t copied = w->c->ran.review == RAN_REVIEW_WINDOW ? recurrent->shared : 0;
                size_t states = ran_review_kept(w->c, packed->key[b + 1] - packed->key[b] +
                                                              ran_review_sources(w, b));

                RAN_TRY(ran_recurrent_state_reserve(recurrent, copied + states,
                                                    w->training ? 0 : w->c->window, err));
        }
        return RAN_OK;
}

static int count_reviewed(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        size_t B = w->packed->B, *reviewed = ran_grow(own->reviewed, &own->reviewed_cap, B + 1,
                                                      sizeof *reviewed, err);

        if (reviewed == NULL)
                return RAN_ENOMEM;
        own->reviewed = reviewed;
        reviewed[0] = 0;
        for (size_t b = 0; b < B; b++)
                reviewed[b + 1] = reviewed[b] + ran_review_sources(w, b);
        return RAN_OK;
}

int ran_layer_memory_prepare(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];

        RAN_TRY(count_reviewed(w, err));
        own->states = packed->m + packed->B;
        own->keys = !ran_review_copies_earlier(w->c) ? own->states
                    : packed->B > 0 ? packed->key[packed->B] + own->reviewed[packed->B]
                                    : 0;
        own->most_keys = own->longest = 0;
        for (size_t b = 0; b < packed->B; b++) {
                size_t keys = packed->key[b + 1] - packed->key[b] + ran_review_sources(w, b);

                own->most_keys = keys > own->most_keys ? keys : own->most_keys;
        }
        for (size_t i = 0; i < packed->m; i++) {
                size_t tokens = ran_packed_row(packed, i + 1) - ran_packed_row(packed, i) - 1;

                own->longest = tokens > own->longest ? tokens : own->longest;
        }
        RAN_TRY(make_slabs(w, err));
        size_t *cell = ran_grow(own->cell, &own->cell_cap, own->abreast, sizeof *cell, err);
        if (cell == NULL)
                return RAN_ENOMEM;
        own->cell = cell;
        RAN_TRY(ran_review_prepare(w, err));
        own->fresh = 0;
        for (size_t b = 1; b < packed->B; b++)
                own->fresh = packed->open[b] > 0 ? own->tokens + packed->m : own->fresh;
        RAN_TRY(plan_slabs(w, err));
        if (w->c->rotary)
                RAN_TRY(ran_rotary_reserve(&w->rotary, w->d_k, RAN_ROTARY_BASE, own->longest, err));
        return reserve_states(w, err);
}

void ran_layer_memory_lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const double floats = (double)w->size.L * (double)w->D;
        const bool sparse = ran_review_is_sparse(w->c);
        const double score = sparse ? 0 : (double)own->tokens * (double)own->most_keys;
        const size_t n = own->longest + 1,
                     window = 2 * n * n + own->projected + 2 * w->E + 6 * w->D,
                     review = ran_review_scratch(w);

        for (size_t l = 0; l < w->c->layers; l++) {
                if (l == 0 || w->training)
                        lay_out_cells(w, k, &own->cells[l]);
                else
                        own->cells[l] = own->cells[0]; /* the last cells below are read first */
                if (w->training) {
                        own->y[l] = ran_arena_take(k, floats);
                        w->x[l + 1] = ran_arena_take(k, floats);
                } else {
                        own->y[l] = w->x[l + 1] = w->x[0]; /* rows are read once: in place */
                }
        }
        if (ran_layer_is_prenorm(w) || ran_layer_is_published(w)) {
                own->start = w->training ? ran_arena_take(k, floats) : w->x[0];
                own->start_stat = ran_arena_take(k, (double)w->size.L * 2);
        }
        if (ran_layer_is_prenorm(w)) {
                own->last = w->training ? ran_arena_take(k, floats) : w->x[0];
                own->last_stat = ran_arena_take(k, (double)w->size.L * 2);
        }
        lay_out_slabs(w, k);
        own->score = ran_arena_take(k, score);
        if (w->training) {
                lay_out_adjoints(w, k, &own->adj);
                own->dscore = ran_arena_take(k, score);
                own->part = ran_arena_take(k, 2.0 * (double)own->group * (double)own->most_seen *
                                                      (double)w->D);
                own->dy = ran_arena_take(k, floats);
        }
        ran_pooling_lay_out(&own->pooling, w, k);
        lay_out_join(w, k, &own->join);
        if (ran_layer_makes_vectors(w->c))
                ran_vectors_lay_out(w, k);
        if (ran_layer_is_published(w) && ran_task_is_tied(w->c))
                lay_out_fill(w, k, &own->fill);
        /* Scratch: two score matrices of a window with its cell (attention.c), or a cell's rows
         * (scan.c); or the states that a window sees (review-pattern.c). */
        ran_workers_lay_out(&w->workers, k, review > window ? review : window, own->slabs > 1);
}
