/* task-classify.c - labels of documents.
 *
 *   logits = Linear_cls(h),   h the encoder's vector for a document
 *
 * Predictors add their own logits.
 */
#include "math/gemm.h"
#include "nn/encoder.h"
#include "nn/task.h"
#include "ran/model.h"

#include <string.h>

/* ---- its head ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return c->task == RAN_TASK_CLASSIFY && ran_config_trains_encoder(c);
}

static void tensors(struct ran_tensor_walk *k, struct ran_head_params *p,
                    const struct ran_config *c, size_t C)
{
        const size_t D = c->dim, l = 0;
        const char *prefix = NULL;

        RAN_CLASSIFY_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_classify_head = {
        .is_in = is_in,
        .tensors = tensors,
        .classes = "classify.out.bias",
};

static void drop_out(struct ran_workspace *w, float *h)
{
        for (size_t b = 0; b < w->packed->B; b++)
                ran_workspace_dropout(w, b, 0, RAN_DROP_HEAD, w->noise.dropout, h + b * w->D, w->D,
                                      0);
}

static void head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        const struct ran_part_list parts = ran_parts_of(w->c);
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->packed->B;

        if (ran_config_trains_encoder(w->c)) {
                ran_encoder_of(w->c)->documents(w, p);
                drop_out(w, h->head);
                /* documents that are scored abreast have the same logits as alone */
                const bool alone = !w->training && ran_encoder_of(w->c)->rows_stand_alone;
                const size_t rows = alone ? 1 : B;
                for (size_t b = 0; b < B; b += rows)
                        ran_gemm_linear(w->pool, h->logits + b * C, C, h->head + b * D, D,
                                        p->head.out_w, p->head.out_b, rows, D, C);
        } else {
                memset(h->logits, 0, B * C * sizeof *h->logits);
        }
        for (size_t i = 0; i < parts.n && w->linear_weight > 0; i++)
                if (parts.part[i]->add != NULL)
                        parts.part[i]->add(w, p, C);
}

static void head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                     size_t C)
{
        const struct ran_part_list parts = ran_parts_of(w->c);
        struct ran_head *h = &w->head;
        size_t D = w->D, B = w->packed->B;

        for (size_t i = 0; i < parts.n && !ran_config_trains_encoder(w->c); i++)
                if (parts.part[i]->add_bwd != NULL)
                        parts.part[i]->add_bwd(w, p, dp, C);
        if (!ran_config_trains_encoder(w->c))
                return;
        ran_gemm_linear_bwd(w->pool, h->dhead, D, false, dp->head.out_w, dp->head.out_b, h->dlogits,
                            C, h->head, D, p->head.out_w, B, D, C);
        drop_out(w, h->dhead);
        ran_encoder_of(w->c)->documents_bwd(w, p, dp);
}

const struct ran_task ran_task_classify = {
        .what = "a classifier",
        .output = RAN_OUTPUT_DOCUMENT,
        .linear = RAN_LINEAR_SVM,
        .check = ran_task_check_no_mask,
        .head = head,
        .head_bwd = head_bwd,
};
