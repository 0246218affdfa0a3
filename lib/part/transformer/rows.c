/* rows.c - runs and blocks of rows for the parts of a Transformer. See
 * transformer.h. */
#include "part/transformer/transformer.h"
#include "math/simd.h"
#include "ran/model.h"

#include <string.h>

size_t ran_transformer_document_at(const size_t *first, size_t B, size_t i)
{
        return ran_count_below(first + 1, B - 1, i + 1);
}

struct ran_transformer_span ran_transformer_span_of(const struct ran_packed *packed, size_t t,
                                                    size_t end)
{
        size_t b = ran_transformer_document_at(packed->doc, packed->B, t),
               to = packed->doc[b + 1] < end ? packed->doc[b + 1] : end;

        return (struct ran_transformer_span){b, t, to - t,
                                             ran_packed_earlier(packed, b) + t - packed->doc[b]};
}

bool ran_transformer_next_run(const struct ran_transformer_pass *s, struct ran_transformer_span *k)
{
        const struct ran_packed *packed = s->w->packed;
        const size_t end = s->t0 + s->tokens;

        k->t += k->n;
        if (k->t == end)
                return false;
        size_t b = ran_transformer_document_at(packed->doc, packed->B, k->t);
        k->at = ran_transformer_first_row(packed, b) + ran_packed_earlier(packed, b) + k->t -
                packed->doc[b];
        while (b + 1 < packed->B && packed->doc[b + 1] < end &&
               ran_packed_earlier(packed, b + 1) == 0)
                b++;
        k->n = (packed->doc[b + 1] < end ? packed->doc[b + 1] : end) - k->t;
        return true;
}

struct ran_transformer_pass ran_transformer_pass_of(struct ran_workspace *w,
                                                    const struct ran_params *p,
                                                    struct ran_params *dp, size_t l, size_t t0)
{
        const size_t left = w->packed->L - t0, tokens = left < w->slab_rows ? left : w->slab_rows;
        struct ran_transformer_memory *own = w->own[RAN_PART_TRANSFORMER];
        const struct ran_transformer_params *layer = p->layers;
        struct ran_transformer_params *dlayer = dp != NULL ? dp->layers : NULL;
        struct ran_transformer_acts *act = (struct ran_transformer_acts *)w->act + l;

        return (struct ran_transformer_pass){
                .w = w,
                .own = own,
                .act = act,
                .p = &layer[l],
                .dp = dp != NULL ? &dlayer[l] : NULL,
                .once = p->once,
                .l = l,
                .t0 = t0,
                .tokens = tokens,
                .of = {.pool = w->pool,
                       .n = tokens,
                       .block = RAN_TRANSFORMER_BLOCK,
                       .D = w->D,
                       .eps = RAN_LN_EPS,
                       .part = own->adj.part},
                .up = act->up + (ran_transformer_keeps(w) ? t0 * w->c->ffn_dim : 0),
                .x = w->x[l],
                .out = l + 1 < w->c->layers ? w->x[l + 1] : own->unnormed,
        };
}

void ran_transformer_drop(const struct ran_transformer_pass *s, int site, float *x)
{
        const struct ran_workspace *w = s->w;
        const struct ran_packed *packed = w->packed;
        struct ran_transformer_span k;

        if (!w->training || !(w->noise.dropout > 0))
                return;
        for (size_t t = s->t0; t < s->t0 + s->tokens; t += k.n) {
                k = ran_transformer_span_of(packed, t, s->t0 + s->tokens);
                ran_workspace_dropout(w, k.b, s->l, site, w->noise.dropout, x + (t - s->t0) * w->D,
                                      k.n * w->D, (t - packed->doc[k.b]) * w->D);
        }
}

float *ran_transformer_dropped(struct ran_transformer_pass *s, int site)
{
        struct ran_workspace *w = s->w;

        memcpy(s->own->adj.d_o, w->dx + s->t0 * w->D, s->tokens * w->D * sizeof(float));
        ran_transformer_drop(s, site, s->own->adj.d_o);
        return s->own->adj.d_o;
}
