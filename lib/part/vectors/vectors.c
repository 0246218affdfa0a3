/* vectors.c - the part "vectors": vectors of documents (document-vector.h) as features for the
 * linear model, made by an encoder that is not trained (`frozen`). */
#include "nn/part.h"
#include "part/vectors/document-vector.h"
#include "ran/model.h"

static bool is_in(const struct ran_config *c)
{
        return c->frozen;
}

static int check(const struct ran_config *c, struct ran_error *err)
{
        if (!c->frozen)
                return RAN_OK;
        if (c->task != RAN_TASK_CLASSIFY)
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder gives vectors of documents, which are for '%s', "
                                "not for '%s'",
                                ran_task_names[RAN_TASK_CLASSIFY], ran_task_names[c->task]);
        if (!ran_config_has_token_outputs(c))
                return ran_fail(err, RAN_EINVAL,
                                "frozen needs an encoder with outputs of tokens: 'ran', "
                                "'transformer', 'static' or a pretrained one, not '%s'",
                                ran_encoder_names[c->encoder]);
        if (!ran_config_has_predictor(c))
                return ran_fail(err, RAN_EINVAL,
                                "a frozen encoder serves the linear model: wide must be above 0");
        return RAN_OK;
}

static size_t tables(struct ran_mapped_table *to, struct ran_params *p, const struct ran_config *c,
                     size_t V, size_t C, size_t rows)
{
        (void)C, (void)rows;
        *to = (struct ran_mapped_table){"token.weight", 0, V,
                                        &ran_document_vector_of(p)->token_weight, false};
        return ran_config_has_vector(c) ? 0 : 1;
}

const struct ran_part ran_part_vectors = {
        .is_in = is_in,
        .check = check,
        .params_size = sizeof(struct ran_document_vector_params),
        .tables = tables,
        .features = ran_document_vector_width,
};
