/* task-lm.c - language models: the next token (lm), or masked ones (mlm). lm.c computes their
 * output.
 */
#include "nn/part.h"
#include "nn/task.h"
#include "ran/model.h"

static int check_texts(const struct ran_config *c, struct ran_error *err)
{
        if (c->spelling > 0)
                return ran_fail(err, RAN_EINVAL,
                                "a language model predicts words and cannot read their spelling: "
                                "spelling must be 0");
        if (c->wide > 0)
                return ran_fail(err, RAN_EINVAL,
                                "the linear model predicts labels or tags, and language models "
                                "have none: for '%s' wide must be 0",
                                ran_task_names[c->task]);
        return RAN_OK;
}

static int check_lm(const struct ran_config *c, struct ran_error *err)
{
        if (c->mask == RAN_MASK_NONE)
                return ran_fail(err, RAN_EINVAL,
                                "a language model must not see what it predicts: mask must be "
                                "'causal' or 'prefix'");
        return check_texts(c, err);
}

static int check_mlm(const struct ran_config *c, struct ran_error *err)
{
        RAN_TRY(ran_task_check_no_mask(c, err));
        return check_texts(c, err);
}

/* ---- its head ------------------------------------------------------------------------------- */

static bool is_in(const struct ran_config *c)
{
        return ran_task_is_tied(c);
}

static void tensors(struct ran_tensor_walk *k, struct ran_head_params *p,
                    const struct ran_config *c, size_t C)
{
        const size_t D = c->dim, l = 0;
        const char *prefix = NULL;

        RAN_LM_PARAMS(RAN_TENSOR_FIELD)
}

const struct ran_part ran_part_lm_head = {
        .is_in = is_in,
        .tensors = tensors,
        .classes = "lm.bias",
};

/* Logits of one block of outputs at a time, as wide as the first softmax. */
static void measure(const struct ran_config *c, struct ran_dims *x)
{
        x->logit_rows = x->outputs < RAN_LM_ROWS ? x->outputs : RAN_LM_ROWS;
        x->logit_width = ran_lm_first(c, x->C) + ran_lm_tails(c, x->C);
        x->tail_width = ran_lm_widest(c, x->C);
}

const struct ran_task ran_task_lm = {
        .what = "a language model (lm)",
        .output = RAN_OUTPUT_TOKEN,
        .sources = true,
        .check = check_lm,
        .measure = measure,
};

const struct ran_task ran_task_mlm = {
        .what = "a masked language model (mlm)",
        .output = RAN_OUTPUT_TOKEN,
        .words = true,
        .check = check_mlm,
        .measure = measure,
};
