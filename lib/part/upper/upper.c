/* upper.c - the part "upper": attention over windows, the most certain of them, or an encoder above
 * the encoder. See upper.h. */
#include "part/upper/upper.h"
#include "math/gemm.h"
#include "nn/encoder.h"
#include "nn/part.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- configuration and tensors -------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return ran_encoder_has_windows(c) && c->upper.kind >= RAN_UPPER_CERTAIN;
}

static bool reads_windows(const struct ran_config *c)
{
        return c->upper.kind < RAN_UPPER_RAN || c->upper.rows == RAN_ROWS_WINDOWS;
}

/* A classifier with an encoder of its own, and all other settings at their defaults. */
static bool within(const struct ran_config *c, struct ran_config *inner)
{
        if (c->upper.kind < RAN_UPPER_RAN ||
            ran_fields_init(ran_config_fields, inner, NULL) != RAN_OK)
                return false;
        inner->encoder = c->upper.kind - RAN_UPPER_RAN;
        inner->dim = c->upper.dim;
        inner->layers = c->upper.layers;
        inner->heads = c->upper.heads;
        inner->head_dim = c->upper.head_dim;
        inner->window = c->upper.window;
        inner->ffn_dim = 4 * c->upper.dim;
        inner->contextualizer.rank = 2 * c->upper.dim;
        return true;
}

static int check(const struct ran_config *c, struct ran_error *err)
{
        struct ran_config inner;

        const bool inside = within(c, &inner);

        if (c->task != RAN_TASK_CLASSIFY && c->task != RAN_TASK_TAG)
                return ran_fail(err, RAN_EINVAL, "upper is for '%s' and '%s', not for '%s'",
                                ran_task_names[RAN_TASK_CLASSIFY], ran_task_names[RAN_TASK_TAG],
                                ran_task_names[c->task]);
        return inside ? ran_config_check(&inner, err) : RAN_OK;
}

static void tensors(struct ran_tensor_walk *k, struct ran_params *params,
                    const struct ran_config *c, size_t C)
{
        const bool attends = c->upper.kind == RAN_UPPER_ATTENTION,
                   enters = c->upper.kind >= RAN_UPPER_RAN;
        const size_t D = c->dim, A = c->upper.dim, l = 0;
        const char *prefix = NULL;
        struct ran_upper_params *p = ran_upper_of(params);

        (void)C;
        RAN_UPPER_PARAMS(RAN_TENSOR_FIELD)
}

/* ---- memory --------------------------------------------------------------------------------- */

static int init(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);

        own->inside = within(w->c, &own->c);
        own->windows = reads_windows(w->c);
        return own->inside ? ran_workspace_init(&own->inner, &own->c, w->training, w->pool, err)
                           : RAN_OK;
}

static void release(struct ran_workspace *w)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);

        ran_packed_release(&own->packed);
        free(own->first);
        free(own->chosen);
        if (own->inside)
                ran_workspace_release(&own->inner);
}

/* Rows of document b. */
static size_t rows_of(const struct ran_workspace *w, size_t b)
{
        size_t first;

        return ran_upper_memory_of(w)->windows ? w->parts.encoder->windows(w, b, &first)
                                               : w->packed->doc[b + 1] - w->packed->doc[b];
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        const struct ran_packed *packed = w->packed;
        size_t *first = ran_grow(own->first, &own->first_cap, packed->B + 1, sizeof *first, err);

        if (first == NULL)
                return RAN_ENOMEM;
        own->first = first;
        size_t *chosen = ran_grow(own->chosen, &own->chosen_cap, packed->B, sizeof *chosen, err);
        if (chosen == NULL)
                return RAN_ENOMEM;
        own->chosen = chosen;
        first[0] = 0;
        ran_packed_clear(&own->packed);
        for (size_t b = 0; b < packed->B; b++) {
                first[b + 1] = first[b] + rows_of(w, b);
                if (own->inside) /* there are no more rows than tokens, whose ids do not matter */
                        RAN_TRY(ran_packed_add(&own->packed, &own->c, packed->ids + packed->doc[b],
                                               first[b + 1] - first[b], packed->record[b], err));
        }
        own->inner.slab_rows = w->slab_rows;
        own->inner.keep_floats = w->keep_floats;
        return own->inside ? ran_workspace_prepare(&own->inner, &own->packed, 0, err) : RAN_OK;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        struct ran_upper_rows *out = &own->rows;
        const double R = own->inside ? 0 : (double)own->first[w->packed->B],
                     A = (double)w->c->upper.dim, training = w->training;

        if (w->c->upper.kind == RAN_UPPER_CERTAIN) {
                RAN_UPPER_CERTAIN_ROWS(RAN_ARENA_FIELD)
        } else {
                RAN_UPPER_ATTENTION_ROWS(RAN_ARENA_FIELD)
        }
        if (own->inside)
                ran_workspace_lay_out(&own->inner, k);
}

/* ---- the encoder above ---------------------------------------------------------------------- */

/* From the rows at own->x through the encoder above. */
static void read_rows(struct ran_workspace *w, const struct ran_params *p)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        struct ran_workspace *inner = &own->inner;
        const size_t D = w->D, A = own->c.dim;

        inner->noise = w->noise;
        inner->noise.seed = ~w->noise.seed; /* layers of the encoder below have the same numbers */
        inner->scoring_keys = w->scoring_keys;
        ran_gemm_linear(w->pool, inner->x[0], A, own->x, D, ran_upper_of(p)->in_w,
                        ran_upper_of(p)->in_b, own->first[w->packed->B], D, A);
        ran_encode_drop(inner, inner->x[0]);
        ran_encode_rows(inner, p->inner);
}

/* From the adjoints of its outputs to dx, those of the rows. */
static void read_rows_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp, float *dx)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        struct ran_workspace *inner = &own->inner;
        const size_t D = w->D, A = own->c.dim;

        ran_encode_bwd(inner, p->inner, dp->inner);
        ran_gemm_linear_bwd(w->pool, dx, D, false, ran_upper_of(dp)->in_w, ran_upper_of(dp)->in_b,
                            inner->dx, A, own->x, D, ran_upper_of(p)->in_w,
                            own->first[w->packed->B], D, A);
}

/* ---- outputs of word positions -------------------------------------------------------------- */

static void positions(struct ran_workspace *w, const struct ran_params *p)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        const struct ran_packed *packed = w->packed;
        const size_t A = own->c.dim;

        own->x = w->x[w->c->layers];
        read_rows(w, p);
        for (size_t i = 0; i < packed->positions; i++)
                memcpy(w->head.head + i * A, own->inner.x[own->c.layers] + packed->position[i] * A,
                       A * sizeof(float));
}

static void positions_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        struct ran_workspace *inner = &own->inner;
        const struct ran_packed *packed = w->packed;
        const size_t A = own->c.dim;

        memset(inner->dx, 0, packed->L * A * sizeof *inner->dx);
        memset(inner->dlast, 0, packed->B * A * sizeof *inner->dlast);
        for (size_t i = 0; i < packed->positions; i++)
                memcpy(inner->dx + packed->position[i] * A, w->head.dhead + i * A,
                       A * sizeof(float));
        w->parts.encoder->clear_adjoints(w);
        read_rows_bwd(w, p, dp, w->dx);
}

/* ---- vectors of documents ------------------------------------------------------------------- */

static void documents(struct ran_workspace *w, const struct ran_params *p)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        struct ran_workspace *inner = &own->inner;

        own->x = own->windows ? w->parts.encoder->window_vectors(w, p) : w->x[w->c->layers];
        if (w->c->upper.kind == RAN_UPPER_CERTAIN)
                ran_upper_choose(w, p);
        else if (!own->inside)
                ran_upper_attend(w, p);
        if (!own->inside)
                return;
        read_rows(w, p);
        inner->parts.encoder->documents(inner, p->inner);
        memcpy(w->head.head, inner->head.head, w->packed->B * own->c.dim * sizeof(float));
}

static void documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        struct ran_upper_memory *own = ran_upper_memory_of(w);
        struct ran_workspace *inner = &own->inner;
        const size_t D = w->D, A = own->c.dim, B = w->packed->B;
        float *of_windows = w->parts.encoder->clear_adjoints(w);
        float *dx = own->windows ? of_windows : w->dx;

        if (own->inside) {
                memcpy(inner->head.dhead, w->head.dhead, B * A * sizeof(float));
                inner->parts.encoder->documents_bwd(inner, p->inner, dp->inner);
                read_rows_bwd(w, p, dp, dx);
        } else {
                memset(dx, 0, own->first[B] * D * sizeof *dx);
                if (w->c->upper.kind == RAN_UPPER_CERTAIN)
                        ran_upper_choose_bwd(w, dx);
                else
                        ran_upper_attend_bwd(w, p, dp, dx);
        }
        if (own->windows)
                w->parts.encoder->window_vectors_bwd(w, p, dp);
}

/* ---- cost ----------------------------------------------------------------------------------- */

static int flops(const struct ran_config *c, size_t L, size_t sources, double *flops,
                 struct ran_error *err)
{
        const size_t room = c->bert.max_length - c->bert.prefix - c->bert.suffix;
        const size_t rows = reads_windows(c) ? L / room + (L % room > 0) : L;
        struct ran_config inner;
        double above = 0;

        (void)sources;
        if (within(c, &inner))
                RAN_TRY(ran_encoder_of(&inner)->flops(&inner, rows, 0, &above, err));
        *flops = above;
        if (c->upper.kind != RAN_UPPER_CERTAIN)
                *flops += 2 * (double)rows * (double)c->dim * (double)c->upper.dim;
        return RAN_OK;
}

const struct ran_part ran_part_upper = {
        .is_in = is_in,
        .check = check,
        .within = within,
        .params_size = sizeof(struct ran_upper_params),
        .tensors = tensors,
        .own_size = sizeof(struct ran_upper_memory),
        .init = init,
        .release = release,
        .prepare = prepare,
        .lay_out = lay_out,
        .positions = positions,
        .positions_bwd = positions_bwd,
        .documents = documents,
        .documents_bwd = documents_bwd,
        .flops = flops,
};
