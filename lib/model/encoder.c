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

/* ---- what a document leaves for its next piece ----------------------------------------------- */

/* Windows of a document that are complete, and will not change. */
static size_t closed_windows(const struct ran_work *w, size_t b)
{
        const struct ran_rows *rows = w->rows;
        size_t m = rows->docwin[b + 1] - rows->docwin[b];

        return ran_stays_open(w, rows->docwin[b + 1] - 1) ? m - 1 : m;
}

/* A layer's cell, keys and values, once all its chunks are done; s is the last of them. Room was
 * made by ran_work_fit. */
static void keep(const struct ran_pass *s, size_t b)
{
        const struct ran_work *w = s->w;
        const struct ran_rows *rows = w->rows;
        struct ran_carry *carry = rows->carry[b];
        size_t D = w->D, closed = closed_windows(w, b), earlier = ran_earlier(rows, b);
        const float *key = s->cells->key + (rows->key[b] + earlier) * D;
        const float *value = s->cells->value + (rows->key[b] + earlier) * D;
        size_t last = rows->docwin[b + 1] - 1, r = ran_row(rows, last) - s->r0;

        memcpy(carry->G + s->l * D, s->cells->G + (rows->docwin[b] + b + closed) * D,
               D * sizeof(float));
        if (w->c->review) {
                memcpy(carry->key[s->l] + earlier * D, key, closed * D * sizeof(float));
                memcpy(carry->value[s->l] + earlier * D, value, closed * D * sizeof(float));
        } else { /* nobody asks for them, but they may be written to a file */
                memset(carry->key[s->l] + earlier * D, 0, closed * D * sizeof(float));
                memset(carry->value[s->l] + earlier * D, 0, closed * D * sizeof(float));
        }
        if (!ran_stays_open(w, last))
                return;
        memcpy(carry->qkv[s->l], s->act->qkv + r * 3 * w->E,
               (ran_row(rows, last + 1) - ran_row(rows, last)) * 3 * w->E * sizeof(float));
        memcpy(carry->pre + s->l * w->F, s->act->pre + r * w->F, w->F * sizeof(float));
}

static void advance(const struct ran_work *w, size_t b)
{
        const struct ran_rows *rows = w->rows;
        struct ran_carry *carry = rows->carry[b];
        size_t last = rows->docwin[b + 1] - 1;

        carry->tokens += rows->doc[b + 1] - rows->doc[b];
        carry->states += closed_windows(w, b);
        carry->open =
                ran_stays_open(w, last) ? ran_row(rows, last + 1) - ran_row(rows, last) - 1 : 0;
}

/* ---- forward -------------------------------------------------------------------------------- */

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
        for (size_t b = 0; b < w->rows->B; b++)
                if (w->rows->carry[b] != NULL)
                        keep(&s, b);
}

void ran_encode(struct ran_work *w, const struct ran_params *p)
{
        for (size_t t = 0; t < w->rows->L; t++)
                memcpy(w->x[0] + t * w->D, p->embed + w->rows->ids[t] * w->D, w->D * sizeof(float));
        drop_embedding(w, w->x[0]);
        for (size_t l = 0; l < w->c->layers; l++)
                encode_layer(w, &p->layer[l], l);
        for (size_t b = 0; b < w->rows->B; b++)
                if (w->rows->carry[b] != NULL)
                        advance(w, b);
}

static void clear_adjoints(struct ran_work *w)
{
        const struct ran_rows *rows = w->rows;
        size_t D = w->D, keys = rows->key[rows->B] * D * sizeof(float);
        struct ran_adjoints *j = &w->adj;

        memset(j->dG, 0, (rows->m + rows->B) * D * sizeof(float));
        memset(j->dkey, 0, keys);
        memset(j->dvalue, 0, keys);
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
