/* prenorm.c - prenorm cells as a part of a model: tensors, the order of the stages, and the vector
 * that a classifier reads. See prenorm.h. */
#include "part/ran/prenorm.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

static bool is_in(const struct ran_config *c)
{
        return c->encoder == RAN_ENCODER_RAN && c->ran.cell == RAN_CELL_PRENORM;
}

RAN_PART_TENSORS(layer_tensors, struct ran_prenorm_params, RAN_PRENORM_PARAMS,
                 const size_t D = c->dim, E = c->heads * c->head_dim, F = ran_prenorm_feed(c))
RAN_PART_TENSORS(once_tensors, struct ran_prenorm_once, RAN_PRENORM_ONCE, const size_t D = c->dim;
                 const bool joins = ran_task_of(c)->output == RAN_OUTPUT_DOCUMENT &&
                                    !ran_prenorm_makes_vectors(c) && ran_config_trains_encoder(c))

/* ---- a layer at work --------------------------------------------------------------------------
 */

static struct ran_prenorm_pass pass_of(struct ran_workspace *w, const struct ran_params *p,
                                       struct ran_params *dp, size_t l, size_t slab)
{
        const struct ran_packed *packed = w->packed;
        const struct ran_prenorm_params *layer = p->layers;
        struct ran_prenorm_params *dlayer = dp != NULL ? dp->layers : NULL;
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        struct ran_prenorm_cells *cells = (struct ran_prenorm_cells *)w->act + l;
        size_t from = own->first[slab], to = own->first[slab + 1];

        return (struct ran_prenorm_pass){
                .w = w,
                .own = own,
                .p = &layer[l],
                .dp = dlayer != NULL ? &dlayer[l] : NULL,
                .panels = p->panels,
                .l = l,
                .from = from,
                .to = to,
                .t0 = packed->window[from],
                .r0 = packed->row[from],
                .tokens = packed->window[to] - packed->window[from],
                .rows = packed->row[to] - packed->row[from],
                .act = &own->slab[own->keeps ? l * own->slabs + slab : slab % 2],
                .cells = cells,
                .review = {w, &own->review, l, cells->key, cells->value, own->adj.dkey,
                           own->adj.dvalue},
        };
}

/* ---- a scan, and what others do meanwhile -----------------------------------------------------
 */

/* One thread scans a document's part of a slab. Independent work on another slab runs beside it. */
struct beside {
        struct ran_prenorm_pass *scanned, *other; /* other NULL: there is none */
        void (*scan)(struct ran_prenorm_pass *s);
        void (*work)(struct ran_prenorm_pass *s);
};

static void run_beside(void *arg, size_t i)
{
        const struct beside *k = arg;

        if (i == 0)
                k->scan(k->scanned);
        else
                k->work(k->other);
}

static void scan_beside(struct beside k)
{
        ran_parallel(k.scanned->w->pool, k.other != NULL ? 2 : 1, run_beside, &k);
}

/* ---- forward ----------------------------------------------------------------------------------
 */

static void probe_windows(void *arg, size_t at, float *scratch)
{
        const struct ran_prenorm_pass *s = arg;

        for (size_t i = s->from; i < s->to; i++) {
                struct ran_layer_window v = ran_layer_window(s->w->packed, i, s->r0);
                struct ran_attention_heads x = ran_prenorm_heads(s, &v);

                ran_attention_probe(&s->w->probes->probe[at], s->l, v.at, &x, scratch);
        }
}

static void encode_layer(struct ran_workspace *w, const struct ran_params *p, size_t l)
{
        struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        struct ran_prenorm_pass s = pass_of(w, p, NULL, l, 0);

        /* Under a mask the last cell of the layer below has seen tokens that this layer's first
         * cell must not. */
        ran_prenorm_first_cells(&s, l > 0 && w->c->mask == RAN_MASK_NONE ? s.cells - 1 : NULL);
        ran_prenorm_project(&s);
        for (size_t slab = 0; slab < own->slabs; slab++) {
                bool last = slab + 1 == own->slabs;
                struct ran_prenorm_pass next = pass_of(w, p, NULL, l, last ? slab : slab + 1);

                scan_beside((struct beside){&s, last ? NULL : &next, ran_prenorm_scan,
                                            ran_prenorm_project});
                ran_prenorm_finish(&s);
                for (size_t i = s.from; i < s.to; i++)
                        if (ran_layer_stays_open(w, i))
                                ran_layer_keep_window(w, l, i,
                                                      s.act->qkv + (w->packed->row[i] - s.r0) * 3 *
                                                                           w->E);
                if (w->probes != NULL)
                        ran_workers_each(&w->workers, 0, w->probes->n, probe_windows, &s);
                s = next;
        }
        ran_prenorm_states(&s);
        for (size_t slab = 0; slab < own->slabs; slab++) {
                s = pass_of(w, p, NULL, l, slab);
                ran_prenorm_review(&s);
        }
        ran_layer_keep(&s.review, s.cells->G, NULL);
}

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        if (ran_prenorm_makes_vectors(w->c))
                ran_vectors_take_rows(w);
        ran_prenorm_ends(w, p, false);
        for (size_t l = 0; l < w->c->layers; l++)
                encode_layer(w, p, l);
        ran_prenorm_ends(w, p, true);
        ran_layer_advance(w);
}

/* ---- backward ---------------------------------------------------------------------------------
 */

/* Computes a slab that was not kept again, up to its review. */
static void restore(struct ran_prenorm_pass *s)
{
        s->known = true;
        ran_prenorm_project(s);
        ran_prenorm_finish(s);
}

static void encode_layer_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp, size_t l)
{
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        struct ran_prenorm_pass s = pass_of(w, p, dp, l, 0);

        ran_layer_clear_adjoints(&s.review, own->adj.dN, own->adj.dG);
        memset(own->adj.part, 0, w->packed->m * 4 * w->D * sizeof(float));
        for (size_t slab = 0; slab < own->slabs; slab++) {
                s = pass_of(w, p, dp, l, slab);
                if (!own->keeps)
                        ran_prenorm_review(&s);
                ran_prenorm_review_bwd(&s);
        }
        ran_prenorm_states_bwd(&s);
        if (!own->keeps)
                restore(&s);
        for (size_t slab = own->slabs; slab-- > 0;) {
                struct ran_prenorm_pass next = pass_of(w, p, dp, l, slab > 0 ? slab - 1 : 0);

                ran_prenorm_finish_bwd(&s);
                scan_beside((struct beside){&s, slab > 0 && !own->keeps ? &next : NULL,
                                            ran_prenorm_scan_bwd, restore});
                ran_prenorm_project_bwd(&s);
                if (slab > 0)
                        s = next;
        }
        ran_prenorm_scan_weights_bwd(&s);
        ran_prenorm_first_cells_bwd(&s);
        if (w->c->mask != RAN_MASK_NONE) /* there was no such cell */
                memset(w->dlast, 0, w->packed->B * w->D * sizeof(float));
}

static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        ran_prenorm_ends_bwd(w, p, dp, true);
        for (size_t l = w->c->layers; l-- > 0;)
                encode_layer_bwd(w, p, dp, l);
        ran_prenorm_ends_bwd(w, p, dp, false);
        if (ran_prenorm_makes_vectors(w->c))
                ran_vectors_take_rows_bwd(w);
}

/* ---- a vector of each document ----------------------------------------------------------------
 */

/* A vector of length 1 is made as long as those that heads read. */
static void enlarge(const struct ran_workspace *w, float *h)
{
        const float factor = sqrtf((float)w->D);

        for (size_t i = 0; i < w->packed->B * w->D; i++)
                h[i] *= factor;
}

/* h = SiLU(Linear_pool(LN_pool(v))) + GLU_gpc(N), v the pooled tokens and N that of the last cell.
 */
static void documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_prenorm_once *q = p->once;
        const struct ran_prenorm_join *h = &ran_prenorm_memory_of(w)->join;
        const struct ran_prenorm_cells *cells = w->act;
        float *head = w->head.head;
        size_t D = w->D, B = w->packed->B;

        if (ran_prenorm_makes_vectors(w->c)) {
                for (size_t b = 0; b < B; b++)
                        ran_vectors_make(w, p, b, head + b * D);
                enlarge(w, head);
                return;
        }
        ran_pooling(w, h->pooled, (uint32_t *)h->from);
        ran_layer_last_states(w, h->last, cells[w->c->layers - 1].N);
        ran_simd->norm(h->pool_z, D, h->pool_stat, h->pooled, D, q->pool_norm_w, q->pool_norm_b,
                       RAN_LN_EPS, B, D);
        ran_workspace_linear(w, p->panels, h->head_pre, h->pool_z, q->pool_w, q->pool_b, D, D);
        ran_simd->silu(head, h->head_pre, B * D);
        ran_workspace_linear(w, p->panels, h->head_glu, h->last, q->gpc_value_w, q->gpc_value_b, D,
                             2 * D);
        ran_layer_glu(head, h->head_glu, 2 * D, B, D);
}

static void documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        const struct ran_prenorm_once *q = p->once;
        struct ran_prenorm_once *dq = dp->once;
        const struct ran_prenorm_memory *own = ran_prenorm_memory_of(w);
        const struct ran_prenorm_join *h = &own->join;
        float *dhead = w->head.dhead, *dv = h->dhead_glu; /* when that has been read */
        size_t D = w->D, B = w->packed->B;

        if (ran_prenorm_makes_vectors(w->c)) {
                enlarge(w, dhead);
                ran_vectors_make_bwd(w, p, dp, dhead);
                return;
        }
        ran_layer_glu_bwd(h->dhead_glu, dhead, h->head_glu, 2 * D, B, D);
        ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc_value_w, dq->gpc_value_b,
                            h->dhead_glu, 2 * D, h->last, D, q->gpc_value_w, B, D, 2 * D);
        ran_simd->silu_bwd(dhead, h->head_pre, dhead, B * D);
        ran_gemm_linear_bwd(w->pool, dv, D, false, dq->pool_w, dq->pool_b, dhead, D, h->pool_z, D,
                            q->pool_w, B, D, D);
        ran_simd->norm_bwd(dv, D, dq->pool_norm_w, dq->pool_norm_b, dv, D, h->pooled, D,
                           h->pool_stat, q->pool_norm_w, B, D);
        ran_pooling_bwd(w, dv, (const uint32_t *)h->from);
}

static size_t vector_width(const struct ran_config *c)
{
        return ran_prenorm_makes_vectors(c) ? c->dim : 0;
}

/* ---- cost -------------------------------------------------------------------------------------
 */

static double flops(const struct ran_config *c, size_t L, size_t sources)
{
        const double D = (double)c->dim, E = (double)(c->heads * c->head_dim);

        return ran_layer_flops(c, 4 * D * E + 2 * D * D + 3 * D * (double)ran_prenorm_feed(c), L,
                               sources);
}

const struct ran_part ran_part_prenorm = {
        .is_in = is_in,
        .encodes = true,
        .paneled = true,
        .rows_stand_alone = RAN_FEW_ROWS + 1, /* fewer rows are multiplied in another way */
        .abreast = 256,
        .check = ran_layer_check,
        .fields = ran_layer_fields,
        .layer_size = sizeof(struct ran_prenorm_params),
        .once_size = sizeof(struct ran_prenorm_once),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_prenorm_memory),
        .act_size = sizeof(struct ran_prenorm_cells),
        .release = ran_prenorm_release,
        .prepare = ran_prenorm_prepare,
        .lay_out = ran_prenorm_lay_out,
        .forward = forward,
        .backward = backward,
        .documents = documents,
        .documents_bwd = documents_bwd,
        .vector_width = vector_width,
        .vector = ran_vectors_make,
        .vector_bwd = ran_vectors_make_bwd,
        .vector_parts = ran_vectors_parts,
        .components = true,
        .state_width = ran_layer_state_width,
        .state_windows = true,
        .states_kept = ran_review_kept,
        .probe_shape = ran_layer_probe_shape,
        .path = ran_layer_path,
        .flops = flops,
};
