/* layer.c - what the two families of RAN cells say of themselves, and windows that stay open. See
 * layer.h. */
#include "part/ran/layer.h"
#include "math/simd.h"
#include "ran/model.h"

#include <math.h>
#include <string.h>

/* ---- configuration ----------------------------------------------------------------------------
 */

const char *const ran_layer_fields[] = {"window",  "min_window",   "cell",   "review_source",
                                        "pooling", "cell_pooling", "vector", NULL};

int ran_layer_check(const struct ran_config *c, struct ran_error *err)
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
        return RAN_OK;
}

double ran_layer_flops(const struct ran_config *c, double weights, size_t L, size_t sources)
{
        double per_token =
                2 * weights + 4 * (double)(c->window + 1) * (double)(c->heads * c->head_dim);
        double scores = (double)ran_review_scores(c, L, 0);

        /* All scores of a review of all windows count, those that a mask hides, too. */
        if (c->ran.review == RAN_REVIEW_ALL)
                scores = (double)L * (ceil((double)L / (double)c->window) +
                                      (c->ran.review_source ? (double)sources : 0));
        return (double)c->layers * ((double)L * per_token + 4 * (double)c->dim * scores);
}

/* A RAN reads LN of a token's row, which hardly depends on the row's length. With
 *
 *      scale = u sqrt(eps / (v + eps - u^2 v)),   v: variance of the row
 *
 * its LN grows as u does, from 0 to LN of the row. */
void ran_layer_path(const float *x, size_t D, double u, double *scale, double *speed)
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

void ran_layer_probe_shape(const struct ran_config *c, struct ran_probe_shape *s)
{
        size_t m = ran_packed_windows(c, s->L, 0), rows = s->L + m;

        s->windows = m;
        s->window = c->window;
        s->table[RAN_PROBE_HEADS] =
                (struct ran_probe_table){RAN_AXIS_ROWS, RAN_AXIS_ROWS, rows, rows, c->heads};
        if (c->ran.review)
                s->table[RAN_PROBE_REVIEW] =
                        (struct ran_probe_table){RAN_AXIS_TOKENS, RAN_AXIS_STATES, s->L, m + 1, 1};
}

/* ---- the recurrent state ----------------------------------------------------------------------
 */

size_t ran_layer_state_width(const struct ran_config *c)
{
        return c->dim;
}

/* The complete windows of document b, which will not change. */
static size_t closed_windows(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        size_t m = packed->doc_window[b + 1] - packed->doc_window[b];

        return ran_layer_stays_open(w, packed->doc_window[b + 1] - 1) ? m - 1 : m;
}

int ran_layer_reserve(const struct ran_workspace *w, struct ran_error *err)
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

void ran_layer_keep_window(const struct ran_workspace *w, size_t l, size_t i, const float *qkv)
{
        const struct ran_packed *packed = w->packed;
        struct ran_recurrent_state *recurrent = packed->recurrent[packed->window_doc[i]];
        size_t rows = packed->row[i + 1] - packed->row[i], has = ran_layer_known(packed, i),
               shared = has > 0 ? recurrent->shared_rows : 0;

        memcpy(recurrent->qkv[l] + (has - shared) * 3 * w->E, qkv + has * 3 * w->E,
               (rows - has) * 3 * w->E * sizeof(float));
}

void ran_layer_keep(const struct ran_review_pass *k, const float *cells, const float *others)
{
        const struct ran_packed *packed = k->w->packed;
        const size_t D = k->w->D;

        for (size_t b = 0; b < packed->B; b++) {
                if (packed->recurrent[b] == NULL)
                        continue;
                const size_t closed = closed_windows(k->w, b),
                             state = (packed->doc_window[b] + b + closed) * D;
                float *cell = ran_recurrent_state_cell(packed->recurrent[b], k->l);

                memcpy(cell, cells + state, D * sizeof *cell);
                if (others != NULL)
                        memcpy(cell + D, others + state, D * sizeof *cell);
                ran_review_keep(k, b, closed);
        }
}

static void advance(const struct ran_workspace *w, size_t b)
{
        const struct ran_packed *packed = w->packed;
        struct ran_recurrent_state *recurrent = packed->recurrent[b];
        size_t last = packed->doc_window[b + 1] - 1;
        bool open = ran_layer_stays_open(w, last);

        if (!open || ran_layer_known(packed, last) == 0)
                recurrent->shared_rows = 0;
        if (w->c->ran.review == RAN_REVIEW_WINDOW)
                recurrent->shared = 0; /* see ran_review_keep */
        recurrent->tokens += packed->doc[b + 1] - packed->doc[b];
        recurrent->states =
                ran_review_kept(w->c, ran_packed_earlier(packed, b) + ran_review_sources(w, b) +
                                              closed_windows(w, b));
        recurrent->sources += ran_review_sources(w, b);
        recurrent->open = open ? packed->row[last + 1] - packed->row[last] - 1 : 0;
}

void ran_layer_advance(const struct ran_workspace *w)
{
        for (size_t b = 0; b < w->packed->B; b++)
                if (w->packed->recurrent[b] != NULL)
                        advance(w, b);
}

/* ---- windows and states -----------------------------------------------------------------------
 */

struct ran_layer_window ran_layer_window(const struct ran_packed *packed, size_t i, size_t r0)
{
        const size_t b = packed->window_doc[i], known = ran_layer_known(packed, i);

        return (struct ran_layer_window){
                .i = i,
                .b = b,
                .t = packed->window[i],
                .n = packed->row[i + 1] - packed->row[i],
                .first = known > 0 ? known : 1,
                .r = packed->row[i] - r0,
                .state = ran_packed_state_before(packed, i),
                .at = packed->row[i] - packed->row[packed->doc_window[b]],
        };
}

void ran_layer_last_states(const struct ran_workspace *w, float *out, const float *states)
{
        const size_t D = w->D, row = D * sizeof *out;

        for (size_t b = 0; b < w->packed->B; b++)
                if (states != NULL)
                        memcpy(out + b * D, states + (w->packed->doc_window[b + 1] + b) * D, row);
                else
                        memset(out + b * D, 0, row);
}

void ran_layer_clear_adjoints(const struct ran_review_pass *k, float *states, float *others)
{
        const struct ran_packed *packed = k->w->packed;
        const size_t D = k->w->D, all = (packed->m + packed->B) * D * sizeof *states,
                     keys = k->own->keys * D * sizeof *states;

        memset(others, 0, all);
        memset(states, 0, all);
        memset(k->dkey, 0, keys);
        memset(k->dvalue, 0, keys);
        for (size_t b = 0; b < packed->B; b++)
                memcpy(states + (packed->doc_window[b + 1] + b) * D, k->w->dlast + b * D,
                       D * sizeof *states);
}

void ran_layer_glu(float *y, const float *glu, size_t ld, size_t n, size_t D)
{
        for (size_t i = 0; i < n; i++)
                ran_simd->glu_add(y + i * D, glu + i * ld, glu + i * ld + D, D);
}

void ran_layer_glu_bwd(float *dglu, const float *dy, const float *glu, size_t ld, size_t n,
                       size_t D)
{
        for (size_t i = 0; i < n; i++)
                ran_simd->glu_bwd(dglu + i * ld, dglu + i * ld + D, dy + i * D, glu + i * ld,
                                  glu + i * ld + D, D);
}
