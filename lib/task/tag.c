/* task-tag.c - tags of words: a linear layer at the first subword of every word, and, with a CRF,
 * scores of tags that follow each other (crf.h). */
#include "math/gemm.h"
#include "nn/head.h"
#include "nn/part.h"
#include "nn/task.h"
#include "ran/model.h"

#include <string.h>

static int check(const struct ran_config *c, struct ran_error *err)
{
        RAN_TRY(ran_task_check_no_mask(c, err));
        if (c->affixes && ran_config_has_predictor(c))
                return ran_fail(err, RAN_EINVAL,
                                "a tagger has prefixes and suffixes of words as spelling: affixes "
                                "must be off");
        return RAN_OK;
}

/* ---- its head ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return c->task == RAN_TASK_TAG && ran_config_has_encoder(c);
}

static void tensors(struct ran_tensor_walk *k, struct ran_head_params *p,
                    const struct ran_config *c, size_t C)
{
        const size_t D = c->dim, l = 0;
        const char *prefix = NULL;

        RAN_TAG_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_tag_head = {
        .is_in = is_in,
        .tensors = tensors,
        .classes = "tag.out.bias",
};

static void head(struct ran_workspace *w, const struct ran_params *p, size_t C)
{
        struct ran_head *h = &w->head;

        if (!ran_config_has_encoder(w->c)) { /* predictors add them all */
                memset(h->logits, 0, w->packed->positions * C * sizeof *h->logits);
                return;
        }
        ran_head_positions(w, p);
        ran_gemm_linear(w->pool, h->logits, C, h->head, w->D, p->head.tag_w, p->head.tag_b,
                        w->packed->positions, w->D, C);
}

static void head_bwd(struct ran_workspace *w, const struct ran_params *p, struct ran_params *dp,
                     size_t C)
{
        struct ran_head *h = &w->head;

        ran_gemm_linear_bwd(w->pool, h->dhead, w->D, false, dp->head.tag_w, dp->head.tag_b,
                            h->dlogits, C, h->head, w->D, p->head.tag_w, w->packed->positions, w->D,
                            C);
        ran_head_positions_bwd(w, p, dp);
}

const struct ran_task ran_task_tag = {
        .what = "a tagger",
        .output = RAN_OUTPUT_WORD,
        .linear = RAN_LINEAR_CRF,
        .words = true,
        .check = check,
        .head = head,
        .head_bwd = head_bwd,
};
