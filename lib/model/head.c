/* head.c - from the encoder to logits.
 *
 * classify:  logits = Linear_cls(h), h the vector that the encoder has for a document. The linear
 *            model adds its own logits (linear-model.c).
 * tag:       a linear layer at the first subword of every word.
 *
 * Language models: lm.c.
 */
#include "model/head.h"
#include "math/gemm.h"
#include "math/simd.h"
#include "model/encoder.h"
#include "model/linear-model.h"

#include <string.h>

static void drop_head(struct ran_workspace *w, float *h)
{
        for (size_t b = 0; b < w->rows->B; b++)
                ran_workspace_dropout(w, b, 0, RAN_DROP_HEAD, w->noise.dropout, h + b * w->D, w->D,
                                      0);
}

static void classify(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->rows->B;

        ran_encoder_of(w->c)->documents(w, p);
        drop_head(w, h->head);
        ran_linear(w->pool, h->logits, C, h->head, D, p->head.out_w, p->head.out_b, B, D, C);
        if (w->c->wide > 0 && w->linear_weight > 0)
                ran_linear_model_add(w, p, C);
}

static void classify_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                         size_t C)
{
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->rows->B;

        ran_linear_bwd(w->pool, h->dhead, D, false, dp->head.out_w, dp->head.out_b, h->dlogits, C,
                       h->head, D, p->head.out_w, B, D, C);
        drop_head(w, h->dhead);
        ran_encoder_of(w->c)->documents_bwd(w, p, dp);
}

/* ---- outputs at word positions -------------------------------------------------------------- */

static void drop_places(struct ran_workspace *w, float *h)
{
        const struct ran_packed *rows = w->rows;

        for (size_t b = 0; b < rows->B; b++)
                ran_workspace_dropout(w, b, 0, RAN_DROP_HEAD, w->noise.dropout,
                                      h + rows->docplace[b] * w->D,
                                      (rows->docplace[b + 1] - rows->docplace[b]) * w->D, 0);
}

void ran_head_places(struct ran_workspace *w)
{
        const struct ran_packed *rows = w->rows;
        size_t D = w->D;

        for (size_t i = 0; i < rows->places; i++)
                memcpy(w->head.head + i * D, w->x[w->c->layers] + rows->place[i] * D,
                       D * sizeof(float));
        drop_places(w, w->head.head);
}

void ran_head_places_bwd(struct ran_workspace *w)
{
        const struct ran_packed *rows = w->rows;
        size_t D = w->D;

        drop_places(w, w->head.dhead);
        memset(w->dx, 0, rows->L * D * sizeof(float));
        memset(w->dlast, 0, rows->B * D * sizeof(float));
        for (size_t i = 0; i < rows->places; i++)
                memcpy(w->dx + rows->place[i] * D, w->head.dhead + i * D, D * sizeof(float));
}

static void tag(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        const struct ran_packed *rows = w->rows;
        struct ran_head *h = &w->head;
        size_t D = w->D;

        ran_head_places(w);
        ran_linear(w->pool, h->logits, C, h->head, D, p->head.tag_w, p->head.tag_b, rows->places, D,
                   C);
}

static void tag_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                    size_t C)
{
        const struct ran_packed *rows = w->rows;
        struct ran_head *h = &w->head;
        size_t D = w->D;

        ran_linear_bwd(w->pool, h->dhead, D, false, dp->head.tag_w, dp->head.tag_b, h->dlogits, C,
                       h->head, D, p->head.tag_w, rows->places, D, C);
        ran_head_places_bwd(w);
}

/* ---- by task -------------------------------------------------------------------------------- */

void ran_head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        ran_phase = RAN_PHASE_HEAD;
        (w->c->task == RAN_TASK_TAG ? tag : classify)(w, p, C);
}

void ran_head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                  size_t C)
{
        ran_phase = RAN_PHASE_HEAD;
        (w->c->task == RAN_TASK_TAG ? tag_bwd : classify_bwd)(w, p, dp, C);
}

struct ran_crf ran_head_crf(const struct ran_params *p)
{
        return (struct ran_crf){p->head.crf_start, p->head.crf_end, p->head.crf_transition};
}
