/* encoder-ran.c - the Recurrent Attention Network, slab by slab. See layer.h for the order of
 * the stages. */
#include "math/gemm.h"
#include "math/simd.h"
#include "nn/part.h"
#include "part/ran/layer.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

/* ---- configuration and tensors -------------------------------------------------------------- */

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (c->mask != RAN_MASK_NONE && c->min_window > 1)
                return ran_fail(err, RAN_EINVAL,
                                "under the mask '%s' a window must not depend on what follows it: "
                                "min_window must be 1, not %zu",
                                ran_mask_names[c->mask], c->min_window);
        if (c->ran.review_source && c->mask != RAN_MASK_PREFIX)
                return ran_fail(err, RAN_EINVAL,
                                "review_source is for a source and a target: the mask must be "
                                "'prefix', not '%s'",
                                ran_mask_names[c->mask]);
        if (c->ran.review_source && c->ran.review != RAN_REVIEW_ALL)
                return ran_fail(err, RAN_EINVAL,
                                "review_source adds the source to a review of all windows: review "
                                "must be 'all'");
        if (c->ran.cell_pooling == RAN_POOL_CLS)
                return ran_fail(err, RAN_EINVAL,
                                "a document has a cell for each window: cell_pooling must be "
                                "'last', 'mean' or 'max', not 'cls'");
        if (c->ran.vector && c->ran.cell == RAN_CELL_PUBLISHED)
                return ran_fail(err, RAN_EINVAL,
                                "published cells make vectors of documents in their own way: "
                                "vector must be false");
        return RAN_OK;
}

static bool uses(const struct ran_config *c, const char *field)
{
        static const char *const fields[] = {"window",  "min_window",   "cell",  "review_source",
                                             "pooling", "cell_pooling", "vector"};

        (void)c;
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
                if (strcmp(fields[i], field) == 0)
                        return true;
        return false;
}

static bool is_gated(const struct ran_config *c)
{
        return c->ran.cell == RAN_CELL_GATED || c->ran.cell == RAN_CELL_PUBLISHED;
}

static void layer_tensors(struct ran_tensor_walk *k, void *layer, const struct ran_config *c,
                          size_t l)
{
        const size_t D = c->dim, E = c->heads * c->head_dim;
        const size_t F = ran_prenorm_feed(c);
        const bool gated = is_gated(c), plain = c->ran.cell == RAN_CELL_PLAIN,
                   prenorm = c->ran.cell == RAN_CELL_PRENORM;
        const char *prefix = "ran";
        struct ran_layer_params *p = layer;

        RAN_LAYER_PARAMS(RAN_TENSOR_FIELD)
}

static void once_tensors(struct ran_tensor_walk *k, void *once, const struct ran_config *c)
{
        const size_t D = c->dim, l = 0;
        const bool plain = c->ran.cell == RAN_CELL_PLAIN, prenorm = c->ran.cell == RAN_CELL_PRENORM,
                   published = c->ran.cell == RAN_CELL_PUBLISHED, tied = ran_task_is_tied(c),
                   vector = ran_layer_makes_vectors(c),
                   classify = ran_task_of(c)->output == RAN_OUTPUT_DOCUMENT && !vector &&
                              ran_config_trains_encoder(c);
        const char *prefix = NULL;
        struct ran_join_params *p = once;

        RAN_JOIN_PARAMS(RAN_TENSOR_FIELD)
}

/* ---- the recurrent state -------------------------------------------------------------------- */

static size_t state_width(const struct ran_config *c)
{
        return c->dim;
}

static size_t state_tokens(const struct ran_config *c)
{
        return c->window;
}

/* The complete windows of a document, which will not change. */
static size_t closed_windows(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        size_t m = packed->doc_window[b + 1] - packed->doc_window[b];

        return ran_window_stays_open(w, packed->doc_window[b + 1] - 1) ? m - 1 : m;
}

/* Whether document b's last window was open before, and still is. */
static bool stays_open_again(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        size_t last = packed->doc_window[b + 1] - 1;

        return packed->open[b] > 0 && last == packed->doc_window[b] &&
               ran_window_stays_open(w, last);
}

/* Saves the rows of a document's open window, which ends in slab s, in its recurrent state: all of
 * them, or those that it does not have yet. ran_workspace_fit has made room. */
static void keep_window(const struct ran_layer_pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_recurrent_state *recurrent = packed->recurrent[b];
        size_t last = packed->doc_window[b + 1] - 1, r = ran_packed_row(packed, last) - s->r0,
               rows = ran_packed_row(packed, last + 1) - ran_packed_row(packed, last),
               has = stays_open_again(w, b) ? 1 + packed->open[b] : 0,
               shared = has > 0 ? recurrent->shared_rows : 0;

        memcpy(recurrent->qkv[s->l] + (has - shared) * 3 * w->E, s->act->qkv + (r + has) * 3 * w->E,
               (rows - has) * 3 * w->E * sizeof(float));
        memcpy(recurrent->pre + s->l * s->own->projected, s->act->pre + r * s->own->projected,
               s->own->projected * sizeof(float));
}

static void keep_windows(const struct ran_layer_pass *s)
{
        const struct ran_packed *packed = s->w->packed;

        for (size_t b = packed->window_doc[s->from]; b <= packed->window_doc[s->to - 1]; b++) {
                size_t last = packed->doc_window[b + 1] - 1;

                if (last < s->to && ran_window_stays_open(s->w, last))
                        keep_window(s, b);
        }
}

/* Saves a layer's cell, keys and values in the recurrent states once all its slabs are done. */
static void keep_states(const struct ran_layer_pass *s, size_t b)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_recurrent_state *recurrent = packed->recurrent[b];
        size_t D = w->D, closed = closed_windows(w, b);

        const size_t state = (packed->doc_window[b] + b + closed) * D;
        float *cell = ran_recurrent_state_cell(recurrent, s->l);

        memcpy(cell, (ran_layer_is_prenorm(w) ? s->cells->carried : s->cells->G) + state,
               D * sizeof *cell);
        if (ran_layer_is_published(w))
                memcpy(cell + D, s->cells->carried + state, D * sizeof *cell);
        ran_review_keep(s, b, closed);
}

static void advance(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        struct ran_recurrent_state *recurrent = packed->recurrent[b];
        size_t last = packed->doc_window[b + 1] - 1;

        if (!stays_open_again(w, b))
                recurrent->shared_rows = 0;
        if (w->c->ran.review == RAN_REVIEW_WINDOW)
                recurrent->shared = 0; /* see ran_review_keep */
        recurrent->tokens += packed->doc[b + 1] - packed->doc[b];
        recurrent->states =
                ran_review_kept(w->c, ran_packed_earlier(packed, b) + ran_review_sources(w, b) +
                                              closed_windows(w, b));
        recurrent->sources += ran_review_sources(w, b);
        recurrent->open = ran_window_stays_open(w, last) ? ran_packed_row(packed, last + 1) -
                                                                   ran_packed_row(packed, last) - 1
                                                         : 0;
}

/* ---- attention probes ----------------------------------------------------------------------- */

static void probe_shape(const struct ran_config *c, struct ran_probe_shape *s)
{
        size_t m = ran_packed_windows(c, s->L, 0), rows = s->L + m;

        s->windows = m;
        s->window = c->window;
        s->table[RAN_PROBE_HEADS] =
                (struct ran_probe_table){RAN_AXIS_ROWS, RAN_AXIS_ROWS, rows, rows, c->heads};
        if (c->ran.review)
                s->table[RAN_PROBE_REVIEW] =
                        (struct ran_probe_table){RAN_AXIS_TOKENS, RAN_AXIS_STATES, s->L, m + 1, 1};
        if (c->ran.review_source)
                s->table[RAN_PROBE_SOURCE] =
                        (struct ran_probe_table){RAN_AXIS_TOKENS, RAN_AXIS_TOKENS, s->L, s->L, 1};
}

/* The windows of a slab; rows are numbered within the batch's one document. */
static void probe_windows(void *arg, size_t at, float *score)
{
        const struct ran_layer_pass *s = arg;
        struct ran_probe *k = &s->w->probes->probe[at];
        size_t head, heads, from, to;
        float scale = ran_probe_heads(k, s->w->h, &head, &heads);

        if (!ran_probe_matches(k, RAN_PROBE_HEADS, s->l))
                return;
        for (size_t i = s->from; i < s->to; i++) {
                struct ran_window_view v = ran_window_view_of(s, i);
                struct ran_attention_heads x = ran_attention_heads_of(s, &v);

                if (!ran_probe_queries(k, v.at, v.n, &from, &to))
                        continue;
                for (size_t j = head; j < heads; j++) {
                        ran_attention_weights(score, &x, j, from, to);
                        for (size_t r = from; r < to; r++)
                                ran_probe_add(k, v.at + r, v.at, score + (r - from) * v.n, v.n,
                                              scale);
                }
        }
}

/* ---- a scan, and what others do meanwhile ---------------------------------------------------- */

/* One thread scans a document's part of a slab. Independent work on another slab runs beside it. */
struct beside {
        struct ran_layer_pass *scanned, *other; /* other NULL: there is none */
        void (*scan)(struct ran_layer_pass *s);
        void (*work)(struct ran_layer_pass *s);
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

/* ---- forward -------------------------------------------------------------------------------- */

static const struct ran_layer_stages paper_stages = {
        .first_cells = ran_scan_first_cells,
        .first_cells_bwd = ran_scan_first_cells_bwd,
        .project = ran_window_project,
        .project_bwd = ran_window_project_bwd,
        .scan = ran_scan,
        .scan_bwd = ran_scan_bwd,
        .scan_weights_bwd = ran_scan_weights_bwd,
        .finish = ran_window_finish,
        .finish_bwd = ran_window_finish_bwd,
        .review = ran_review,
        .review_bwd = ran_review_bwd,
};

static const struct ran_layer_stages published_stages = {
        .start = ran_layer_start,
        .start_bwd = ran_layer_start_bwd,
        .first_cells = ran_published_first_cells,
        .first_cells_bwd = ran_published_first_cells_bwd,
        .project = ran_window_project,
        .project_bwd = ran_window_project_bwd,
        .scan = ran_scan,
        .scan_bwd = ran_scan_bwd,
        .scan_weights_bwd = ran_scan_weights_bwd,
        .finish = ran_window_finish,
        .finish_bwd = ran_window_finish_bwd,
        .review = ran_review,
        .review_bwd = ran_review_bwd,
};

static const struct ran_layer_stages *stages_of(const struct ran_workspace *w)
{
        static const struct ran_layer_stages *const stages[] = {
                [RAN_CELL_GATED] = &paper_stages,
                [RAN_CELL_PLAIN] = &paper_stages,
                [RAN_CELL_PRENORM] = &ran_prenorm_stages,
                [RAN_CELL_PUBLISHED] = &published_stages};

        return stages[w->c->ran.cell];
}

static void encode_layer(struct ran_workspace *w, const struct ran_params *p, size_t l)
{
        const struct ran_layer_stages *stage = stages_of(w);
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        struct ran_layer_pass s = ran_layer_pass_of(w, p, NULL, l, 0);

        /* Under a mask the last cell of the layer below has seen tokens that this layer's first
         * cell must not.
         */
        stage->first_cells(&s, l > 0 && w->c->mask == RAN_MASK_NONE ? &own->cells[l - 1] : NULL);
        stage->project(&s);
        for (size_t slab = 0; slab < own->slabs; slab++) {
                bool last = slab + 1 == own->slabs;
                struct ran_layer_pass next =
                        ran_layer_pass_of(w, p, NULL, l, last ? slab : slab + 1);

                scan_beside((struct beside){&s, last ? NULL : &next, stage->scan, stage->project});
                stage->finish(&s);
                keep_windows(&s);
                if (w->probes != NULL)
                        ran_workers_each(&w->workers, 0, w->probes->n, probe_windows, &s);
                s = next;
        }
        ran_review_states(&s);
        for (size_t slab = 0; slab < own->slabs; slab++) {
                s = ran_layer_pass_of(w, p, NULL, l, slab);
                stage->review(&s);
        }
        for (size_t b = 0; b < w->packed->B; b++)
                if (w->packed->recurrent[b] != NULL)
                        keep_states(&s, b);
}

static void forward(struct ran_workspace *w, const struct ran_params *p)
{
        if (ran_layer_makes_vectors(w->c))
                ran_vectors_take_rows(w);
        if (stages_of(w)->start != NULL)
                stages_of(w)->start(w, p);
        for (size_t l = 0; l < w->c->layers; l++)
                encode_layer(w, p, l);
        if (stages_of(w)->last != NULL)
                stages_of(w)->last(w, p);
        for (size_t b = 0; b < w->packed->B; b++)
                if (w->packed->recurrent[b] != NULL)
                        advance(w, b);
}

/* ---- backward ------------------------------------------------------------------------------- */

static void clear_adjoints(struct ran_workspace *w)
{
        const struct ran_packed *packed = w->packed;
        size_t D = w->D, keys = ran_layer_memory_of(w)->keys * D * sizeof(float);
        const struct ran_adjoints *j = &ran_layer_memory_of(w)->adj;
        float *last = ran_layer_is_published(w) ? j->dcarried : j->dG;

        memset(j->dG, 0, (packed->m + packed->B) * D * sizeof(float));
        memset(j->dkey, 0, keys);
        memset(j->dvalue, 0, keys);
        if (j->dcarried != NULL)
                memset(j->dcarried, 0, (packed->m + packed->B) * D * sizeof(float));
        memset(j->dupdate_glu, 0,
               (packed->m + packed->B) * (ran_layer_is_gated(w) ? 2 * D : 0) * sizeof(float));
        memset(j->part, 0, packed->m * 6 * D * sizeof(float));
        for (size_t b = 0; b < packed->B && last != NULL; b++)
                memcpy(last + (packed->doc_window[b + 1] + b) * D, w->dlast + b * D,
                       D * sizeof(float));
        if (ran_layer_memory_of(w)->dcells)
                ran_published_pooled_bwd(w);
}

/* Computes a slab that was not kept again, up to its review. */
static void restore(struct ran_layer_pass *s)
{
        s->known = true;
        stages_of(s->w)->project(s);
        stages_of(s->w)->finish(s);
}

static void encode_layer_bwd(struct ran_workspace *w, const struct ran_params *p,
                             struct ran_params *dp, size_t l)
{
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const struct ran_layer_stages *stage = stages_of(w);
        struct ran_layer_pass s;

        clear_adjoints(w);
        for (size_t slab = 0; slab < own->slabs; slab++) {
                s = ran_layer_pass_of(w, p, dp, l, slab);
                if (!own->keeps)
                        stage->review(&s);
                stage->review_bwd(&s);
        }
        ran_review_states_bwd(&s);
        if (!own->keeps)
                restore(&s);
        for (size_t slab = own->slabs; slab-- > 0;) {
                struct ran_layer_pass next =
                        ran_layer_pass_of(w, p, dp, l, slab > 0 ? slab - 1 : 0);

                ran_window_restore_qkv(&s);
                stage->finish_bwd(&s);
                scan_beside((struct beside){&s, slab > 0 && !own->keeps ? &next : NULL,
                                            stage->scan_bwd, restore});
                stage->project_bwd(&s);
                if (slab > 0)
                        s = next;
        }
        stage->scan_weights_bwd(&s);
        stage->first_cells_bwd(&s);
        if (w->c->mask != RAN_MASK_NONE)
                memset(w->dlast, 0,
                       w->packed->B * w->D * sizeof(float)); /* there was no such cell */
}

static void backward(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        if (stages_of(w)->last_bwd != NULL)
                stages_of(w)->last_bwd(w, p, dp);
        for (size_t l = w->c->layers; l-- > 0;)
                encode_layer_bwd(w, p, dp, l);
        if (stages_of(w)->start_bwd != NULL)
                stages_of(w)->start_bwd(w, p, dp);
        if (ran_layer_makes_vectors(w->c))
                ran_vectors_take_rows_bwd(w);
}

/* ---- a vector of each document --------------------------------------------------------------- */

/* A vector of length 1 is made as long as those that heads read. */
static void enlarge(const struct ran_workspace *w, float *h)
{
        const float factor = sqrtf((float)w->D);

        for (size_t i = 0; i < w->packed->B * w->D; i++)
                h[i] *= factor;
}

static void learned_documents(struct ran_workspace *w, const struct ran_params *p)
{
        for (size_t b = 0; b < w->packed->B; b++)
                ran_vectors_make(w, p, b, w->head.head + b * w->D);
        enlarge(w, w->head.head);
}

static void learned_documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                                  struct ran_params *dp)
{
        enlarge(w, w->head.dhead);
        ran_vectors_make_bwd(w, p, dp, w->head.dhead);
}

/* Equations (10) and (11), v being the pooled tokens and G the last cell:
 *
 *   plain:  h = W_gpc G + Linear_pool(v)
 *   gated:  h = SiLU(Linear_pool(v)) + GLU_gpc(G)
 *   prenorm: the same with LN_pool(v) and LN_cell(G) */

static void documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_join_params *q = p->once;
        const struct ran_packed *packed = w->packed;
        struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const struct ran_join *h = &own->join;
        float *head = w->head.head, *v = own->pooling.pooled;
        size_t D = w->D, B = packed->B;

        if (ran_layer_is_published(w)) {
                ran_published_documents(w, p);
                return;
        }
        if (ran_layer_makes_vectors(w->c)) {
                learned_documents(w, p);
                return;
        }
        ran_pooling(&own->pooling, w);
        for (size_t b = 0; b < B; b++)
                memcpy(h->last + b * D,
                       own->cells[w->c->layers - 1].G + (packed->doc_window[b + 1] + b) * D,
                       D * sizeof(float));
        if (ran_layer_is_prenorm(w)) {
                ran_simd->norm(h->pool_z, D, h->pool_stat, v, D, q->pool_norm_w, q->pool_norm_b,
                               RAN_LN_EPS, B, D);
                v = h->pool_z;
        }
        ran_workspace_linear(w, h->head_pre, v, q->pool_w, q->pool_b, D, D);
        if (w->c->ran.cell != RAN_CELL_PLAIN) {
                ran_simd->silu(head, h->head_pre, B * D);
                ran_workspace_linear(w, h->head_glu, h->last, q->gpc_value_w, q->gpc_value_b, D,
                                     2 * D);
                for (size_t b = 0; b < B; b++)
                        ran_simd->glu_add(head + b * D, h->head_glu + b * 2 * D,
                                          h->head_glu + b * 2 * D + D, D);
        } else {
                const size_t rows = ran_workspace_stands_alone(w) ? 1 : B;

                memcpy(head, h->head_pre, B * D * sizeof *head);
                for (size_t b = 0; b < B; b += rows)
                        ran_gemm(head + b * D, D, h->last + b * D, D, 1, q->gpc, 1, D, rows, D, D,
                                 true);
        }
}

static void documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        const struct ran_join_params *q = p->once;
        struct ran_join_params *dq = dp->once;
        const struct ran_layer_memory *own = w->own[RAN_PART_RAN];
        const struct ran_join *h = &own->join;
        float *dhead = w->head.dhead, *dv = own->pooling.dpooled;
        size_t D = w->D, B = w->packed->B;
        bool norm = ran_layer_is_prenorm(w);

        if (ran_layer_is_published(w)) {
                ran_published_documents_bwd(w, p, dp);
                return;
        }
        if (ran_layer_makes_vectors(w->c)) {
                learned_documents_bwd(w, p, dp);
                return;
        }
        if (w->c->ran.cell != RAN_CELL_PLAIN) {
                for (size_t b = 0; b < B; b++) {
                        const float *glu = h->head_glu + b * 2 * D;
                        float *dglu = h->dhead_glu + b * 2 * D;

                        ran_simd->glu_bwd(dglu, dglu + D, dhead + b * D, glu, glu + D, D);
                }
                ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc_value_w, dq->gpc_value_b,
                                    h->dhead_glu, 2 * D, h->last, D, q->gpc_value_w, B, D, 2 * D);
                ran_simd->silu_bwd(dhead, h->head_pre, dhead, B * D);
        } else {
                ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc, NULL, dhead, D, h->last,
                                    D, q->gpc, B, D, D);
        }
        ran_gemm_linear_bwd(w->pool, dv, D, false, dq->pool_w, dq->pool_b, dhead, D,
                            norm ? h->pool_z : own->pooling.pooled, D, q->pool_w, B, D, D);
        if (norm)
                ran_simd->norm_bwd(dv, D, dq->pool_norm_w, dq->pool_norm_b, dv, D,
                                   own->pooling.pooled, D, h->pool_stat, q->pool_norm_w, B, D);
        ran_pooling_bwd(&own->pooling, w);
}

/* ---- a vector to compare documents by: of published cells, or learned ------------------------ */

static size_t vector_width(const struct ran_config *c)
{
        return c->ran.cell == RAN_CELL_PUBLISHED || ran_layer_makes_vectors(c) ? c->dim : 0;
}

static void vector(struct ran_workspace *w, const struct ran_params *p, size_t b, float *v)
{
        if (ran_layer_is_published(w))
                ran_published_pool(w, b, v);
        else
                ran_vectors_make(w, p, b, v);
}

static void vector_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                       float *dv)
{
        if (!ran_layer_is_published(w)) {
                ran_vectors_make_bwd(w, p, dp, dv);
                return;
        }
        memset(w->dx, 0, w->packed->L * w->D * sizeof *w->dx);
        ran_published_pool_bwd(w, dv);
}

static void outputs(struct ran_workspace *w, const struct ran_params *p)
{
        if (ran_layer_is_published(w) && ran_task_is_tied(w->c))
                ran_published_outputs(w, p);
}

static void outputs_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp)
{
        if (ran_layer_is_published(w) && ran_task_is_tied(w->c))
                ran_published_outputs_bwd(w, p, dp);
}

/* ---- attribution and cost ------------------------------------------------------------------- */

/* A RAN reads LN of a token's row, which hardly depends on the row's length. With
 *
 *      scale = u sqrt(eps / (v + eps - u^2 v)),   v: variance of the row
 *
 * its LN grows as u does, from 0 to LN of the row. */
static void path(const float *x, size_t D, double u, double *scale, double *speed)
{
        const double eps = RAN_LN_EPS;
        double mean = 0, v = 0, q;

        for (size_t d = 0; d < D; d++)
                mean += (double)x[d];
        mean /= (double)D;
        for (size_t d = 0; d < D; d++)
                v += ((double)x[d] - mean) * ((double)x[d] - mean);
        v /= (double)D;
        q = 1 / (v + eps - u * u * v);
        *scale = u * sqrt(eps * q);
        *speed = sqrt(eps * q) * (v + eps) * q;
}

/* The cost of one token in one layer, without the work done once a window and the review. */
static double flops_per_token(const struct ran_config *c)
{
        double D = (double)c->dim, E = (double)(c->heads * c->head_dim), W = (double)c->window;
        double F = (double)ran_prenorm_feed(c);
        double products = 4 * D * E + (is_gated(c)                     ? 6 * D * D
                                       : c->ran.cell == RAN_CELL_PLAIN ? D * D
                                                                       : 2 * D * D + 3 * D * F);

        return 2 * products + 4 * (W + 1) * E;
}

/* Scores of the review in one layer. All of them are computed, those that a mask hides, too. */
static double review_scores(const struct ran_config *c, size_t L, size_t sources)
{
        if (ran_review_is_sparse(c))
                return (double)ran_review_scores(c, L, 0);
        double states =
                ceil((double)L / (double)c->window) + (c->ran.review_source ? (double)sources : 0);

        return c->ran.review == RAN_REVIEW_ALL ? (double)L * states : 0;
}

static int flops(const struct ran_config *c, size_t L, size_t sources, double *flops,
                 struct ran_error *err)
{
        (void)err;
        *flops = (double)c->layers * ((double)L * flops_per_token(c) +
                                      4 * (double)c->dim * review_scores(c, L, sources));
        return RAN_OK;
}

static bool is_in(const struct ran_config *c)
{
        return c->encoder == RAN_ENCODER_RAN;
}

/* It began as static vectors. */
static bool components(const struct ran_config *c)
{
        return c->ran.vector;
}

const struct ran_part ran_part_ran = {
        .is_in = is_in,
        .encodes = true,
        .per_token = true,
        .rows_stand_alone = RAN_FEW_ROWS + 1, /* fewer rows are multiplied in another way */
        .abreast = 256,
        .check = check,
        .uses = uses,
        .layer_size = sizeof(struct ran_layer_params),
        .once_size = sizeof(struct ran_join_params),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_layer_memory),
        .init = ran_layer_memory_init,
        .release = ran_layer_memory_release,
        .prepare = ran_layer_memory_prepare,
        .lay_out = ran_layer_memory_lay_out,
        .forward = forward,
        .backward = backward,
        .documents = documents,
        .documents_bwd = documents_bwd,
        .outputs = outputs,
        .outputs_bwd = outputs_bwd,
        .vector_width = vector_width,
        .vector = vector,
        .vector_bwd = vector_bwd,
        .vector_adds_up = ran_layer_makes_vectors,
        .vector_parts = ran_vectors_parts,
        .components = components,
        .state_width = state_width,
        .state_tokens = state_tokens,
        .states_kept = ran_review_kept,
        .probe_shape = probe_shape,
        .path = path,
        .flops = flops,
};
