/* upper.c - the part "upper": the vector of a long document is that of the window whose label is
 * most certain.
 *
 *   h = x_r   x_r: the vector of a window, as a document of its own would have it (bert.h); r: the
 *             window with the largest probability of a label or, of several labels, the largest
 *             logit; the first of equal ones
 *
 * Nothing is learned. The mean and the maximum of the windows' vectors are part/bert/vector.c's. */
#include "math/elementary.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "nn/part.h"
#include "ran/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct upper {
        size_t *first;  /* (B+1) first window of each document */
        size_t *chosen; /* (B) the most certain one */
        size_t first_cap, chosen_cap;
        float *logits; /* (R, C) R windows of all documents */
};

static struct upper *own_of(const struct ran_workspace *w)
{
        return w->own[RAN_PART_UPPER];
}

static bool is_in(const struct ran_config *c)
{
        return ran_encoder_has_windows(c) && c->upper == RAN_UPPER_CERTAIN;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void release(struct ran_workspace *w)
{
        free(own_of(w)->first);
        free(own_of(w)->chosen);
}

static int prepare(struct ran_workspace *w, struct ran_error *err)
{
        struct upper *own = own_of(w);
        const size_t B = w->packed->B;
        size_t unused, *first = ran_grow(own->first, &own->first_cap, B + 1, sizeof *first, err);

        if (first == NULL)
                return RAN_ENOMEM;
        own->first = first;
        size_t *chosen = ran_grow(own->chosen, &own->chosen_cap, B, sizeof *chosen, err);
        if (chosen == NULL)
                return RAN_ENOMEM;
        own->chosen = chosen;
        first[0] = 0;
        for (size_t b = 0; b < B; b++)
                first[b + 1] = first[b] + w->parts.encoder->windows(w, b, &unused);
        return RAN_OK;
}

static void lay_out(struct ran_workspace *w, struct ran_arena *k)
{
        struct upper *own = own_of(w);

        own->logits = ran_arena_take(k, (double)own->first[w->packed->B] * (double)w->size.C);
}

/* ---- the most certain window ---------------------------------------------------------------- */

/* How certain a window is, by its logits (C). */
static double certainty(const float *logits, size_t C, bool multilabel)
{
        double most = (double)logits[0], sum = 0;

        for (size_t c = 1; c < C; c++)
                most = fmax(most, (double)logits[c]);
        if (multilabel)
                return most;
        for (size_t c = 0; c < C; c++)
                sum += ran_exp((double)logits[c] - most);
        return 1 / sum; /* the probability of that label */
}

/* Document by document, so that products have the rows that they have for one alone. */
static void documents(struct ran_workspace *w, const struct ran_params *p)
{
        const struct upper *own = own_of(w);
        const size_t D = w->D, C = w->size.C;
        const float *x = w->parts.encoder->window_vectors(w, p);

        for (size_t b = 0; b < w->packed->B; b++) {
                const size_t first = own->first[b], n = own->first[b + 1] - first;
                float *logits = own->logits + first * C;
                double best = -INFINITY;

                ran_gemm_linear(w->pool, logits, C, x + first * D, D, p->head.w, p->head.b, n, D,
                                C);
                own->chosen[b] = first;
                for (size_t i = 0; i < n; i++) {
                        const double certain =
                                certainty(logits + i * C, C, w->c->classify.multilabel);

                        own->chosen[b] = certain > best ? first + i : own->chosen[b];
                        best = fmax(certain, best);
                }
                memcpy(w->head.head + b * D, x + own->chosen[b] * D, D * sizeof(float));
        }
}

static void documents_bwd(struct ran_workspace *w, const struct ran_params *p,
                          struct ran_params *dp)
{
        const struct upper *own = own_of(w);
        const size_t D = w->D, B = w->packed->B;
        float *dx = w->parts.encoder->clear_adjoints(w);

        memset(dx, 0, own->first[B] * D * sizeof *dx);
        for (size_t b = 0; b < B; b++)
                ran_simd->add(dx + own->chosen[b] * D, w->head.dhead + b * D, D);
        w->parts.encoder->window_vectors_bwd(w, p, dp);
}

const struct ran_part ran_part_upper = {
        .is_in = is_in,
        .own_size = sizeof(struct upper),
        .release = release,
        .prepare = prepare,
        .lay_out = lay_out,
        .documents = documents,
        .documents_bwd = documents_bwd,
};
