/* head.c - from the encoder to logits.
 *
 * classify, equations (10) and (11):
 *
 *   plain:  h = W_gpc G + Linear_pool(v)             v: pooled tokens, G: the last cell
 *   gated:  h = SiLU(Linear_pool(v)) + GLU_gpc(G)
 *   logits = Linear_cls(h)
 *
 * where h is the last context of a Contextualizer as it is, and v of a Transformer; linear-model.c
 * adds to the logits what n-grams say.
 *
 * tag: a linear layer at the first piece of every word. Language models: lm.c.
 */
#include "math/gemm.h"
#include "math/simd.h"
#include "model/encoder.h"
#include "model/layer.h"
#include "model/linear-model.h"

#include <string.h>

static void pool_max(struct ran_workspace *w, size_t b)
{
        const struct ran_packed *rows = w->rows;
        size_t D = w->D;
        float *restrict v = w->head.pooled + b * D;
        uint32_t *restrict at = w->head.argmax + b * D;
        const float *x = w->x[w->c->layers];

        memcpy(v, x + rows->doc[b] * D, D * sizeof *v);
        for (size_t d = 0; d < D; d++)
                at[d] = (uint32_t)rows->doc[b];
        for (size_t t = rows->doc[b] + 1; t < rows->doc[b + 1]; t++)
                for (size_t d = 0; d < D; d++) { /* so that it goes by vectors */
                        bool more = x[t * D + d] > v[d];

                        v[d] = more ? x[t * D + d] : v[d];
                        at[d] = more ? (uint32_t)t : at[d];
                }
}

static void pool_mean(struct ran_workspace *w, size_t b)
{
        const struct ran_packed *rows = w->rows;
        size_t D = w->D, n = rows->doc[b + 1] - rows->doc[b];
        float *v = w->head.pooled + b * D;

        memset(v, 0, D * sizeof *v);
        ran_simd->bias_bwd(v, w->x[w->c->layers] + rows->doc[b] * D, D, n, D);
        for (size_t d = 0; d < D; d++)
                v[d] /= (float)n;
}

static void drop_head(struct ran_workspace *w, float *h)
{
        for (size_t b = 0; b < w->rows->B; b++)
                ran_workspace_dropout(w, b, 0, RAN_DROP_HEAD, w->noise.dropout, h + b * w->D, w->D,
                                      0);
}

static void pool(struct ran_workspace *w)
{
        for (size_t b = 0; b < w->rows->B; b++)
                (w->c->pooling == RAN_POOL_MAX ? pool_max : pool_mean)(w, b);
}

/* h of the pooled tokens and the last cells of a RAN. */
static void join_cells(struct ran_workspace *w, const struct ran_params *p)
{
        const struct ran_head_params *q = &p->head;
        const struct ran_packed *rows = w->rows;
        struct ran_head *h = &w->head;
        size_t D = w->D, B = rows->B;

        for (size_t b = 0; b < B; b++)
                memcpy(h->last + b * D,
                       w->cells[w->c->layers - 1].G + (rows->docwin[b + 1] + b) * D,
                       D * sizeof(float));
        ran_gemm_linear(w->pool, h->head_pre, D, h->pooled, D, q->pool_w, q->pool_b, B, D, D);
        ran_window_activation(w, h->head, h->head_pre, B * D);
        if (w->U > 0) {
                ran_gemm_linear(w->pool, h->head_glu, 2 * D, h->last, D, q->gpc_value_w,
                                q->gpc_value_b, B, D, 2 * D);
                for (size_t b = 0; b < B; b++)
                        ran_simd->glu_add(h->head + b * D, h->head_glu + b * 2 * D,
                                          h->head_glu + b * 2 * D + D, D);
        } else {
                ran_gemm(h->head, D, h->last, D, 1, q->gpc, 1, D, B, D, D, true);
        }
}

static void classify(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->rows->B;

        switch (w->c->encoder) {
        case RAN_ENCODER_CONTEXTUALIZER:
                memcpy(h->head, w->x[w->c->layers], B * D * sizeof(float));
                break;
        case RAN_ENCODER_TRANSFORMER:
                pool(w);
                memcpy(h->head, h->pooled, B * D * sizeof(float));
                break;
        default:
                pool(w);
                join_cells(w, p);
        }
        drop_head(w, h->head);
        ran_gemm_linear(w->pool, h->logits, C, h->head, D, p->head.out_w, p->head.out_b, B, D, C);
        if (w->c->wide > 0 && w->linear_weight > 0)
                ran_linear_model_add(w, p, C);
}

/* From dpooled to the rows of a document. */
static void pool_bwd(struct ran_workspace *w, size_t b)
{
        const struct ran_packed *rows = w->rows;
        size_t D = w->D, n = rows->doc[b + 1] - rows->doc[b];
        float *dx = w->dx + rows->doc[b] * D;
        const float *dv = w->head.dpooled + b * D;

        memset(dx, 0, n * D * sizeof *dx);
        if (w->c->pooling == RAN_POOL_MAX)
                for (size_t d = 0; d < D; d++)
                        w->dx[w->head.argmax[b * D + d] * D + d] = dv[d];
        else
                for (size_t t = 0; t < n; t++)
                        ran_simd->axpy(dx + t * D, 1.0f / (float)n, dv, D);
}

static void join_cells_bwd(struct ran_workspace *w, const struct ran_params *p,
                           struct ran_params *dp)
{
        const struct ran_head_params *q = &p->head;
        struct ran_head_params *dq = &dp->head;
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->rows->B;

        if (w->U > 0) {
                for (size_t b = 0; b < B; b++) {
                        const float *glu = h->head_glu + b * 2 * D;
                        float *dglu = h->dhead_glu + b * 2 * D;

                        ran_simd->glu_bwd(dglu, dglu + D, h->dhead + b * D, glu, glu + D, D);
                }
                ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc_value_w, dq->gpc_value_b,
                                    h->dhead_glu, 2 * D, h->last, D, q->gpc_value_w, B, D, 2 * D);
        } else {
                ran_gemm_linear_bwd(w->pool, w->dlast, D, false, dq->gpc, NULL, h->dhead, D,
                                    h->last, D, q->gpc, B, D, D);
        }
        ran_window_activation_bwd(w, h->dhead, h->head_pre, h->dhead, B * D);
        ran_gemm_linear_bwd(w->pool, h->dpooled, D, false, dq->pool_w, dq->pool_b, h->dhead, D,
                            h->pooled, D, q->pool_w, B, D, D);
}

static void classify_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                         size_t C)
{
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->rows->B;

        ran_gemm_linear_bwd(w->pool, h->dhead, D, false, dp->head.out_w, dp->head.out_b, h->dlogits,
                            C, h->head, D, p->head.out_w, B, D, C);
        drop_head(w, h->dhead);
        switch (w->c->encoder) {
        case RAN_ENCODER_CONTEXTUALIZER:
                memcpy(w->dlast, h->dhead, B * D * sizeof(float));
                return;
        case RAN_ENCODER_TRANSFORMER:
                memcpy(h->dpooled, h->dhead, B * D * sizeof(float));
                break;
        default:
                join_cells_bwd(w, p, dp);
        }
        for (size_t b = 0; b < B; b++)
                pool_bwd(w, b);
}

/* ---- outputs at places
 * ------------------------------------------------------------------------------------ */

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
        ran_gemm_linear(w->pool, h->logits, C, h->head, D, p->head.tag_w, p->head.tag_b,
                        rows->places, D, C);
}

static void tag_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                    size_t C)
{
        const struct ran_packed *rows = w->rows;
        struct ran_head *h = &w->head;
        size_t D = w->D;

        ran_gemm_linear_bwd(w->pool, h->dhead, D, false, dp->head.tag_w, dp->head.tag_b, h->dlogits,
                            C, h->head, D, p->head.tag_w, rows->places, D, C);
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
