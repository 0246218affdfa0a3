/* paper.c - the cells as they are published, as a part of a model: tensors and memory. See paper.h.
 */
#include "part/ran/paper.h"
#include "ran/model.h"

#include <stdlib.h>

static bool is_in(const struct ran_config *c)
{
        return c->encoder == RAN_ENCODER_RAN && c->ran.cell != RAN_CELL_PRENORM;
}

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (c->ran.vector)
                return ran_fail(
                        err, RAN_EINVAL,
                        "only prenorm cells learn to make vectors of documents: vector must "
                        "be false");
        return ran_layer_check(c, err);
}

RAN_PART_TENSORS(layer_tensors, struct ran_paper_params, RAN_PAPER_PARAMS, const size_t D = c->dim,
                 E = c->heads * c->head_dim;
                 const bool gated = ran_paper_is_gated(c),
                 review = c->ran.review != RAN_REVIEW_NONE)
RAN_PART_TENSORS(once_tensors, struct ran_paper_once, RAN_PAPER_ONCE, const size_t D = c->dim;
                 const bool gated = ran_paper_is_gated(c), published = ran_paper_is_published(c),
                 joins = ran_task_of(c)->output == RAN_OUTPUT_DOCUMENT &&
                         ran_config_trains_encoder(c),
                 fills = published && ran_task_is_tied(c))

/* ---- memory -----------------------------------------------------------------------------------
 */

static void release(struct ran_workspace *w)
{
        ran_review_release(&ran_paper_memory_of(w)->review);
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);

        RAN_TRY(ran_review_prepare(&own->review, w, err));
        if (w->c->rotary)
                RAN_TRY(ran_rotary_reserve(&w->rotary, w->d_k, RAN_ROTARY_BASE, own->review.longest,
                                           err));
        return ran_layer_reserve(w, err);
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_paper_memory *own = ran_paper_memory_of(w);
        struct ran_paper_cells *cells = w->act;
        const size_t longest = own->review.longest, square = (longest + 1) * (longest + 1);
        const bool is_published = ran_paper_is_published(w->c),
                   has_vectors = ran_task_of(w->c)->output == RAN_OUTPUT_DOCUMENT;
        const double B = (double)w->packed->B, D = (double)w->D, E = (double)w->E,
                     tokens = (double)longest, rows = tokens + 1, states = (double)w->packed->m + B,
                     keys = (double)own->review.keys, seen = (double)own->review.most_seen,
                     sources = (double)own->review.sources[w->packed->B],
                     glu = ran_paper_is_gated(w->c) ? 2 * D : 0, projected = 3 * E + glu,
                     published = is_published ? 1 : 0, documents = has_vectors ? B : 0,
                     positions =
                             is_published && ran_task_is_tied(w->c) ? (double)w->size.outputs : 0,
                     floats = (double)w->size.L * D;

        for (size_t l = 0; l < w->c->layers; l++) {
                if (l == 0 || w->training)
                        RAN_ARENA_LIST(&cells[l], RAN_PAPER_CELLS);
                else
                        cells[l] = cells[0]; /* the last cells below are read first */
                if (!is_published)
                        cells[l].c = cells[l].G;
                cells[l].y = w->training ? ran_arena_take(k, floats) : w->x[0];
                w->x[l + 1] = w->training ? ran_arena_take(k, floats) : w->x[0];
        }
        own->start = is_published && w->training ? ran_arena_take(k, floats) : w->x[0];
        own->start_stat = ran_arena_take(k, published * (double)w->size.L * 2);
        RAN_ARENA_LIST(&own->window, RAN_PAPER_WINDOW);
        if (!ran_paper_is_gated(w->c))
                own->window.pn = own->window.p;
        if (w->training) {
                RAN_ARENA_LIST(&own->adj, RAN_PAPER_ADJOINTS);
                if (!is_published)
                        own->adj.dc = own->adj.dG;
                own->dy = ran_arena_take(k, floats);
        }
        RAN_ARENA_LIST(&own->head, RAN_PAPER_HEAD);
        /* Scratch: two score matrices of a window with its cell (attention.c), or what a window
         * sees (review.c). */
        ran_workers_lay_out(&w->workers, k,
                            ran_most(2 * square, ran_review_scratch(&own->review, w)), false);
}

/* ---- the part ---------------------------------------------------------------------------------
 */

static size_t vector_width(const struct ran_config *c)
{
        return ran_paper_is_published(c) ? c->dim : 0;
}

static double flops(const struct ran_config *c, size_t L, size_t sources)
{
        const double D = (double)c->dim, E = (double)(c->heads * c->head_dim);

        return ran_layer_flops(c, 4 * D * E + (ran_paper_is_gated(c) ? 6 : 1) * D * D, L, sources);
}

const struct ran_part ran_part_ran = {
        .is_in = is_in,
        .encodes = true,
        .check = check,
        .fields = ran_layer_fields,
        .layer_size = sizeof(struct ran_paper_params),
        .once_size = sizeof(struct ran_paper_once),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_paper_memory),
        .act_size = sizeof(struct ran_paper_cells),
        .release = release,
        .prepare = prepare,
        .lay_out = lay_out,
        .forward = ran_paper_forward,
        .backward = ran_paper_backward,
        .documents = ran_paper_documents,
        .documents_bwd = ran_paper_documents_bwd,
        .outputs = ran_paper_outputs,
        .outputs_bwd = ran_paper_outputs_bwd,
        .vector_width = vector_width,
        .vector = ran_paper_vector,
        .vector_bwd = ran_paper_vector_bwd,
        .state_width = ran_layer_state_width,
        .state_windows = true,
        .states_kept = ran_review_kept,
        .probe_shape = ran_layer_probe_shape,
        .path = ran_layer_path,
        .flops = flops,
};
