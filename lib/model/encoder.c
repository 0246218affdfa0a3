/* encoder.c - layers one above the other, chunk by chunk. See layer.h for the order of things. */
#include "model/encoder.h"
#include "model/layer.h"
#include "math/simd.h"

#include <string.h>

static void drop_embedding(struct ran_work *w, float *x)
{
        const struct ran_rows *rows = w->rows;

        for (size_t b = 0; b < rows->B; b++)
                ran_drop(w, b, 0, RAN_DROP_EMBED, w->noise.embed_dropout, x + rows->doc[b] * w->D,
                         (rows->doc[b + 1] - rows->doc[b]) * w->D, 0);
}

static void encode_layer(struct ran_work *w, const struct ran_layer_params *p, size_t l)
{
        struct ran_pass s = ran_pass_of(w, p, NULL, l, 0);

        /* Under a mask the last cell of the layer below has seen what this layer's first must not.
         */
        ran_first_cells(&s, l > 0 && w->c->mask == RAN_MASK_NONE ? &w->cells[l - 1] : NULL);
        for (size_t chunk = 0; chunk < w->chunks; chunk++) {
                s = ran_pass_of(w, p, NULL, l, chunk);
                ran_window_project(&s);
                ran_scan(&s);
                ran_window_finish(&s);
        }
        ran_review_states(&s);
        for (size_t chunk = 0; chunk < w->chunks; chunk++) {
                s = ran_pass_of(w, p, NULL, l, chunk);
                ran_review(&s);
        }
}

void ran_encode(struct ran_work *w, const struct ran_params *p)
{
        for (size_t t = 0; t < w->rows->L; t++)
                memcpy(w->x[0] + t * w->D, p->embed + w->rows->ids[t] * w->D, w->D * sizeof(float));
        drop_embedding(w, w->x[0]);
        for (size_t l = 0; l < w->c->layers; l++)
                encode_layer(w, &p->layer[l], l);
}

static void clear_adjoints(struct ran_work *w)
{
        const struct ran_rows *rows = w->rows;
        size_t D = w->D, states = (rows->m + rows->B) * D * sizeof(float);
        struct ran_adjoints *j = &w->adj;

        memset(j->dG, 0, states);
        memset(j->dkey, 0, states);
        memset(j->dvalue, 0, states);
        memset(j->dupdate_glu, 0, (rows->m + rows->B) * w->U * sizeof(float));
        memset(j->part, 0, rows->m * 6 * D * sizeof(float));
        for (size_t b = 0; b < rows->B; b++)
                memcpy(j->dG + (rows->docwin[b + 1] + b) * D, w->dlast + b * D, D * sizeof(float));
}

static void encode_layer_bwd(struct ran_work *w, const struct ran_layer_params *p,
                             struct ran_layer_params *dp, size_t l)
{
        struct ran_pass s;
        bool kept = w->chunks == 1;

        clear_adjoints(w);
        for (size_t chunk = 0; chunk < w->chunks; chunk++) {
                s = ran_pass_of(w, p, dp, l, chunk);
                if (!kept)
                        ran_review(&s);
                ran_review_bwd(&s);
        }
        ran_review_states_bwd(&s);
        for (size_t chunk = w->chunks; chunk-- > 0;) {
                s = ran_pass_of(w, p, dp, l, chunk);
                if (!kept) {
                        s.known = true;
                        ran_window_project(&s);
                        ran_window_finish(&s);
                }
                ran_window_finish_bwd(&s);
                ran_scan_bwd(&s);
                ran_window_project_bwd(&s);
        }
        ran_scan_weights_bwd(&s);
        ran_first_cells_bwd(&s);
        if (w->c->mask != RAN_MASK_NONE)
                memset(w->dlast, 0, w->rows->B * w->D * sizeof(float)); /* there was no such cell */
}

void ran_encode_bwd(struct ran_work *w, const struct ran_params *p, struct ran_params *dp)
{
        for (size_t l = w->c->layers; l-- > 0;)
                encode_layer_bwd(w, &p->layer[l], &dp->layer[l], l);
        drop_embedding(w, w->dx);
}
