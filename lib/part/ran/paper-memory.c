/* paper-memory.c - the memory of the cells as they are published, and the windows of a step. See
 * paper.h. */
#include "part/ran/paper.h"
#include "base/size.h"
#include "math/simd.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory -----------------------------------------------------------------------------------
 */

void ran_paper_init(struct ran_workspace *w)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);

        own->cells = ran_new(w->c->layers, sizeof *own->cells);
        own->y = ran_new(w->c->layers, sizeof *own->y);
}

void ran_paper_release(struct ran_workspace *w)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);

        free(own->cells);
        free(own->y);
        free(own->group);
        free(own->window);
        ran_review_release(&own->review);
}

/* Divides the documents into groups of some slab_rows rows in their first windows. */
static int make_groups(struct ran_workspace *w, struct ran_error *err)
{
        const struct ran_packed *packed = w->packed;
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        size_t rows = 0;

        RAN_TRY(RAN_GROW(own->group, own->group_cap, packed->B + 1, err));
        own->groups = own->windows = 0;
        for (size_t b = 0; b < packed->B; b++) {
                size_t first = packed->doc_window[b],
                       n = packed->row[first + 1] - packed->row[first];

                if (b == 0 || rows + n > w->slab_rows) {
                        own->group[own->groups++] = b;
                        rows = 0;
                }
                rows += n;
                own->windows = ran_most(own->windows, b + 1 - own->group[own->groups - 1]);
        }
        own->group[own->groups] = packed->B;
        return RAN_GROW(own->window, own->window_cap, own->windows, err);
}

int ran_paper_prepare(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        struct ran_paper_pass s = {.w = w, .own = own};

        RAN_TRY(ran_review_prepare(&own->review, w, err));
        RAN_TRY(make_groups(w, err));
        own->rows = own->tokens = RAN_FEW_ROWS + 1; /* see product, paper-forward.c */
        own->all_rows = 0;
        for (size_t g = 0; g < own->groups; g++)
                for (size_t k = 0; ran_paper_step(&s, g, k); k++) {
                        own->rows = ran_most(own->rows, s.rows);
                        own->all_rows = ran_most(own->all_rows, s.all_rows);
                        own->tokens = ran_most(own->tokens, s.tokens);
                }
        if (w->c->rotary)
                RAN_TRY(ran_rotary_reserve(&w->rotary, w->d_k, RAN_ROTARY_BASE, own->review.longest,
                                           err));
        return ran_layer_reserve(w, err);
}

static struct ran_paper_sizes sizes_of(const struct ran_workspace *w)
{
        const struct ran_paper_memory *own = ran_paper_memory_of(w);
        const bool gated = ran_paper_is_gated(w->c), published = ran_paper_is_published(w->c),
                   documents = ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT;
        const size_t B = w->packed->B, glu = gated ? 2 * w->D : 0;

        return (struct ran_paper_sizes){
                .B = (double)B,
                .D = (double)w->D,
                .E = (double)w->E,
                .windows = (double)own->windows,
                .rows = (double)own->rows,
                .all_rows = (double)own->all_rows,
                .tokens = (double)own->tokens,
                .states = (double)(w->packed->m + B),
                .keys = (double)own->review.keys,
                .seen = (double)own->review.most_seen,
                .sources = (double)own->review.sources[B],
                .projected = (double)(3 * w->E + glu),
                .glu = (double)glu,
                .published = published ? 1 : 0,
                .documents = documents ? (double)B : 0,
                .positions = published && ran_task_is_tied(w->c) ? (double)w->size.outputs : 0,
        };
}

void ran_paper_lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_sizes sizes = sizes_of(w), *n = &sizes;
        const double floats = (double)w->size.L * n->D;
        const size_t rows = own->review.longest + 1;

        for (size_t l = 0; l < w->c->layers; l++) {
                if (l == 0 || w->training)
                        RAN_ARENA_LIST(&own->cells[l], RAN_PAPER_CELLS);
                else
                        own->cells[l] = own->cells[0]; /* the last cells below are read first */
                if (n->published == 0)
                        own->cells[l].c = own->cells[l].G;
                own->y[l] = w->training ? ran_arena_take(k, floats) : w->x[0];
                w->x[l + 1] = w->training ? ran_arena_take(k, floats) : w->x[0];
        }
        if (n->published > 0) {
                own->start = w->training ? ran_arena_take(k, floats) : w->x[0];
                own->start_stat = ran_arena_take(k, (double)w->size.L * 2);
        }
        RAN_ARENA_LIST(&own->step, RAN_PAPER_STEP);
        if (w->training) {
                RAN_ARENA_LIST(&own->adj, RAN_PAPER_ADJOINTS);
                if (n->published == 0)
                        own->adj.dc = own->adj.dG;
                own->dy = ran_arena_take(k, floats);
        }
        ran_pooling_lay_out(&own->pooling, w, k);
        RAN_ARENA_LIST(&own->head, RAN_PAPER_HEAD);
        /* Scratch: two score matrices of a window with its cell (attention.c), or what a window
         * sees (review.c). */
        ran_workers_lay_out(&w->workers, k,
                            ran_most(2 * rows * rows, ran_review_scratch(&own->review, w)), false);
}

/* ---- a step -----------------------------------------------------------------------------------
 */

struct ran_paper_pass ran_paper_pass_of(struct ran_workspace *w, const struct ran_params *p,
                                        struct ran_params *dp, size_t l)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        const struct ran_paper_params *layer = p->layers;
        struct ran_paper_params *dlayer = dp != NULL ? dp->layers : NULL;
        const struct ran_paper_cells *cells = &own->cells[l];
        const bool gated = ran_paper_is_gated(w->c);

        return (struct ran_paper_pass){
                .w = w,
                .own = own,
                .p = &layer[l],
                .dp = dlayer != NULL ? &dlayer[l] : NULL,
                .panels = p->panels,
                .l = l,
                .cells = cells,
                .act = &own->step,
                .review = {w, &own->review, l, cells->key, cells->value, own->adj.dkey,
                           own->adj.dvalue},
                .gated = gated,
                .published = ran_paper_is_published(w->c),
                .projected = 3 * w->E + (gated ? 2 * w->D : 0),
        };
}

bool ran_paper_step(struct ran_paper_pass *s, size_t group, size_t k)
{
        const struct ran_packed *packed = s->w->packed;

        s->n = s->rows = s->all_rows = s->tokens = 0;
        for (size_t b = s->own->group[group]; b < s->own->group[group + 1]; b++) {
                size_t i = packed->doc_window[b] + k;

                if (i >= packed->doc_window[b + 1])
                        continue;
                size_t known = ran_layer_known(packed, i);
                struct ran_paper_window v = {
                        .i = i,
                        .b = b,
                        .t = packed->window[i],
                        .tokens = packed->window[i + 1] - packed->window[i],
                        .known = known,
                        .cell = known == 0 || !ran_layer_stays_open(s->w, i) ? 1 : 0,
                        .r = s->rows,
                        .row = s->all_rows,
                        .token = s->tokens,
                        .state = ran_packed_state_before(packed, i),
                        .at = packed->row[i] - packed->row[packed->doc_window[b]],
                };

                s->own->window[s->n++] = v;
                s->rows += v.cell + v.tokens;
                s->all_rows += packed->row[i + 1] - packed->row[i];
                s->tokens += v.tokens;
        }
        return s->n > 0;
}

void ran_paper_norm(const struct ran_workspace *w, float *y, float *stat, const float *x,
                    const float *weight, const float *bias, size_t n)
{
        const size_t D = w->D;

        if (ran_paper_is_published(w->c))
                ran_simd->raw_norm(y, D, stat, x, D, weight, bias, RAN_SN_EPS, n, D);
        else
                ran_simd->norm(y, D, stat, x, D, weight, bias,
                               weight != NULL ? RAN_LN_EPS : RAN_SN_EPS, n, D);
}

void ran_paper_norm_bwd(const struct ran_workspace *w, float *dx, float *dw, float *db,
                        const float *dy, const float *x, const float *stat, const float *weight,
                        size_t n)
{
        const size_t D = w->D;

        (ran_paper_is_published(w->c) ? ran_simd->raw_norm_bwd : ran_simd->norm_bwd)(
                dx, D, dw, db, dy, D, x, D, stat, weight, n, D);
}

void ran_paper_dropout(const struct ran_paper_pass *s, const struct ran_paper_window *v, int site,
                       float *x, size_t n, size_t at)
{
        const struct ran_workspace *w = s->w;

        ran_workspace_dropout(w, v->b, s->l, site, w->noise.dropout, x, n * w->D, at * w->D);
}

void ran_paper_phi(const struct ran_paper_pass *s, float *y, const float *x, size_t n)
{
        if (s->gated)
                ran_simd->silu(y, x, n);
        else
                memmove(y, x, n * sizeof *y);
}

bool ran_paper_begins(const struct ran_paper_pass *s, const struct ran_paper_window *v)
{
        const struct ran_packed *packed = s->w->packed;

        return s->published && v->i == packed->doc_window[v->b] &&
               ran_packed_earlier(packed, v->b) == 0;
}
