/* paper.c - the cells as they are published, as a part of a model. See paper.h. */
#include "part/ran/paper.h"
#include "math/simd.h"
#include "ran/model.h"

static bool is_in(const struct ran_config *c)
{
        return c->encoder == RAN_ENCODER_RAN && c->ran.cell != RAN_CELL_PRENORM;
}

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (c->ran.vector)
                return ran_fail(
                        err, RAN_EINVAL,
                        "only prenorm cells learn to make vectors of documents: vector must "
                        "be false");
        return ran_layer_check(c, err);
}

static void layer_tensors(struct ran_tensor_walk *k, void *layer, const struct ran_config *c,
                          size_t l)
{
        const size_t D = c->dim, E = c->heads * c->head_dim;
        const bool gated = ran_paper_is_gated(c), review = c->ran.review != RAN_REVIEW_NONE;
        const char *prefix = "ran";
        struct ran_paper_params *p = layer;

        RAN_PAPER_PARAMS(RAN_TENSOR_FIELD)
}

static void once_tensors(struct ran_tensor_walk *k, void *once, const struct ran_config *c)
{
        const size_t D = c->dim, l = 0;
        const bool gated = ran_paper_is_gated(c), published = ran_paper_is_published(c),
                   joins = ran_task_of(c)->output == RAN_OUTPUT_DOCUMENT &&
                           ran_config_trains_encoder(c),
                   fills = published && ran_task_is_tied(c);
        const char *prefix = NULL;
        struct ran_paper_once *p = once;

        RAN_PAPER_ONCE(RAN_TENSOR_FIELD)
}

/* ---- the part ---------------------------------------------------------------------------------
 */

static size_t vector_width(const struct ran_config *c)
{
        return ran_paper_is_published(c) ? c->dim : 0;
}

static int flops(const struct ran_config *c, size_t L, size_t sources, double *flops,
                 struct ran_error *err)
{
        double D = (double)c->dim, E = (double)(c->heads * c->head_dim), W = (double)c->window;
        double products = 4 * D * E + (ran_paper_is_gated(c) ? 6 : 1) * D * D;

        (void)err;
        *flops = ran_layer_flops(c, 2 * products + 4 * (W + 1) * E, L, sources);
        return RAN_OK;
}

const struct ran_part ran_part_ran = {
        .is_in = is_in,
        .encodes = true,
        .per_token = true,
        .rows_stand_alone = RAN_FEW_ROWS + 1, /* fewer rows are multiplied in another way */
        .abreast = 256,
        .check = check,
        .uses = ran_layer_uses,
        .layer_size = sizeof(struct ran_paper_params),
        .once_size = sizeof(struct ran_paper_once),
        .layer_tensors = layer_tensors,
        .once_tensors = once_tensors,
        .own_size = sizeof(struct ran_paper_memory),
        .init = ran_paper_init,
        .release = ran_paper_release,
        .prepare = ran_paper_prepare,
        .lay_out = ran_paper_lay_out,
        .forward = ran_paper_forward,
        .backward = ran_paper_backward,
        .documents = ran_paper_documents,
        .documents_bwd = ran_paper_documents_bwd,
        .outputs = ran_paper_outputs,
        .outputs_bwd = ran_paper_outputs_bwd,
        .vector_width = vector_width,
        .vector = ran_paper_vector,
        .vector_bwd = ran_paper_vector_bwd,
        .state_width = ran_layer_state_width,
        .state_tokens = ran_layer_state_tokens,
        .states_kept = ran_review_kept,
        .probe_shape = ran_layer_probe_shape,
        .path = ran_layer_path,
        .flops = flops,
};
