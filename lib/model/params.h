/* params.h - the parameters of a model, declared once.
 *
 * The lists below serve the fields of the structs, the names and shapes in the model file, the
 * places in one block of floats, and the way each tensor starts. Weights, gradients and the moments
 * of the optimiser are blocks of the same layout.
 */
#ifndef RAN_MODEL_PARAMS_H
#define RAN_MODEL_PARAMS_H

#include "ran/model.h"

enum ran_init {
        RAN_INIT_ZERO,
        RAN_INIT_ONE,
        RAN_INIT_NORMAL,  /* deviation 1 */
        RAN_INIT_GLOROT,  /* normal, by rows and columns */
        RAN_INIT_QUARTER, /* of that */
        RAN_INIT_UNIFORM, /* +-0.05 */
};

/* A tensor of the model file. rows 0: a vector of `cols`. */
struct ran_tensor_spec {
        char name[64];
        size_t rows, cols;
        size_t offset; /* in the block */
        enum ran_init start;
};

/* X(field, name after "ran.{l}.", rows, cols, start, present when)
 * in scope: c, the configuration; D, E = h d_k; gated. ran-model(5) lists them, too.
 * Neighbours that are one matrix product stand together, weights and biases each: q, k, v and the
 * output gate; key and value of the review; value and gate of each GLU. */
#define RAN_LAYER_PARAMS(X)                                                            \
        X(gpc, "gpc.weight", D, D, GLOROT, true)                                       \
        X(gpc_norm_w, "gpc_norm.weight", 0, D, ONE, true)                              \
        X(gpc_norm_b, "gpc_norm.bias", 0, D, NORMAL, true)                             \
        X(input_norm_w, "input_norm.weight", 0, D, ONE, true)                          \
        X(input_norm_b, "input_norm.bias", 0, D, ZERO, true)                           \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)                                    \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)                                    \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)                                    \
        X(output_value_w, "output_glu.value.weight", D, D, QUARTER, gated)             \
        X(output_gate_w, "output_glu.gate.weight", D, D, GLOROT, gated)                \
        X(q_b, "attn.q.bias", 0, E, ZERO, true)                                        \
        X(k_b, "attn.k.bias", 0, E, ZERO, true)                                        \
        X(v_b, "attn.v.bias", 0, E, ZERO, true)                                        \
        X(output_value_b, "output_glu.value.bias", 0, D, ZERO, gated)                  \
        X(output_gate_b, "output_glu.gate.bias", 0, D, ZERO, gated)                    \
        X(out_w, "attn.out.weight", D, E, GLOROT, true)                                \
        X(out_b, "attn.out.bias", 0, D, ZERO, true)                                    \
        X(output_norm_w, "output_norm.weight", 0, D, ONE, gated)                       \
        X(output_norm_b, "output_norm.bias", 0, D, ZERO, gated)                        \
        X(update_value_w, "update_glu.value.weight", D, D, GLOROT, gated)              \
        X(update_gate_w, "update_glu.gate.weight", D, D, GLOROT, gated)                \
        X(update_value_b, "update_glu.value.bias", 0, D, ZERO, gated)                  \
        X(update_gate_b, "update_glu.gate.bias", 0, D, ZERO, gated)                    \
        X(update_norm_w, "update_norm.weight", 0, D, ONE, true)                        \
        X(update_norm_b, "update_norm.bias", 0, D, ZERO, true)                         \
        X(review_q_w, "review.q.weight", D, D, GLOROT, c->review)                      \
        X(review_q_b, "review.q.bias", 0, D, ZERO, c->review)                          \
        X(review_k_w, "review.k.weight", D, D, GLOROT, c->review)                      \
        X(review_v_w, "review.v.weight", D, D, GLOROT, c->review)                      \
        X(review_k_b, "review.k.bias", 0, D, ZERO, c->review)                          \
        X(review_v_b, "review.v.bias", 0, D, ZERO, c->review)                          \
        X(review_out_w, "review.out.weight", D, D, GLOROT, gated && c->review)         \
        X(review_out_b, "review.out.bias", 0, D, ZERO, gated && c->review)             \
        X(review_value_w, "review_glu.value.weight", D, D, GLOROT, gated && c->review) \
        X(review_gate_w, "review_glu.gate.weight", D, D, GLOROT, gated && c->review)   \
        X(review_value_b, "review_glu.value.bias", 0, D, ZERO, gated && c->review)     \
        X(review_gate_b, "review_glu.gate.bias", 0, D, ZERO, gated && c->review)       \
        X(review_norm_w, "review_norm.weight", 0, D, ONE, gated || !c->review)         \
        X(review_norm_b, "review_norm.bias", 0, D, ZERO, gated || !c->review)

/* The same after "contextualizer.{k}.", of a step; u = rank in scope. */
#define RAN_CONTEXTUALIZER_PARAMS(X)              \
        X(u_w, "u.weight", u, D, GLOROT, true)    \
        X(v_w, "v.weight", u, D, GLOROT, true)    \
        X(w_w, "w.weight", D, u, GLOROT, true)    \
        X(w_b, "w.bias", 0, D, ZERO, true)        \
        X(norm_w, "norm.weight", 0, D, ONE, true) \
        X(norm_b, "norm.bias", 0, D, ZERO, true)

/* The same after "transformer.{l}.", of a layer; f = ffn_dim in scope. */
#define RAN_TRANSFORMER_PARAMS(X)                           \
        X(attn_norm_w, "attn_norm.weight", 0, D, ONE, true) \
        X(attn_norm_b, "attn_norm.bias", 0, D, ZERO, true)  \
        X(q_w, "attn.q.weight", E, D, GLOROT, true)         \
        X(k_w, "attn.k.weight", E, D, GLOROT, true)         \
        X(v_w, "attn.v.weight", E, D, GLOROT, true)         \
        X(q_b, "attn.q.bias", 0, E, ZERO, true)             \
        X(k_b, "attn.k.bias", 0, E, ZERO, true)             \
        X(v_b, "attn.v.bias", 0, E, ZERO, true)             \
        X(out_w, "attn.out.weight", D, E, GLOROT, true)     \
        X(out_b, "attn.out.bias", 0, D, ZERO, true)         \
        X(ffn_norm_w, "ffn_norm.weight", 0, D, ONE, true)   \
        X(ffn_norm_b, "ffn_norm.bias", 0, D, ZERO, true)    \
        X(up_w, "ffn.up.weight", f, D, GLOROT, true)        \
        X(up_b, "ffn.up.bias", 0, f, ZERO, true)            \
        X(down_w, "ffn.down.weight", D, f, GLOROT, true)    \
        X(down_b, "ffn.down.bias", 0, D, ZERO, true)

/* What an encoder has once, with ran, contextualizer and transformer in scope: which it is. */
#define RAN_ENCODER_PARAMS(X)                                              \
        X(position, "contextualizer.position", 0, D, ZERO, contextualizer) \
        X(context, "contextualizer.context", 0, D, NORMAL,                 \
          contextualizer && c->context == RAN_CONTEXT_LEARNED)             \
        X(norm_w, "transformer.norm.weight", 0, D, ONE, transformer)       \
        X(norm_b, "transformer.norm.bias", 0, D, ZERO, transformer)

/* X(field, name, rows, cols, start, present when), with C in scope too, and classify, tag, lm (mlm
 * too): the task. The classes of a language model are its vocabulary: there C = V. */
#define RAN_HEAD_PARAMS(X)                                                                    \
        X(pool_w, "classify.pool.weight", D, D, GLOROT, ran &&classify)                       \
        X(pool_b, "classify.pool.bias", 0, D, ZERO, ran &&classify)                           \
        X(gpc, "classify.gpc.weight", D, D, GLOROT, ran &&classify && !gated)                 \
        X(gpc_value_w, "classify.gpc_glu.value.weight", D, D, GLOROT, ran &&classify &&gated) \
        X(gpc_gate_w, "classify.gpc_glu.gate.weight", D, D, GLOROT, ran &&classify &&gated)   \
        X(gpc_value_b, "classify.gpc_glu.value.bias", 0, D, ZERO, ran &&classify &&gated)     \
        X(gpc_gate_b, "classify.gpc_glu.gate.bias", 0, D, ZERO, ran &&classify &&gated)       \
        X(out_w, "classify.out.weight", C, D, GLOROT, classify)                               \
        X(out_b, "classify.out.bias", 0, C, ZERO, classify)                                   \
        X(wide_b, "wide.bias", 0, C, ZERO, (classify || tag) && c->wide > 0)                  \
        X(tag_w, "tag.out.weight", C, D, GLOROT, tag)                                         \
        X(tag_b, "tag.out.bias", 0, C, ZERO, tag)                                             \
        X(crf_start, "crf.start", 0, C, ZERO, tag && c->crf)                                  \
        X(crf_end, "crf.end", 0, C, ZERO, tag && c->crf)                                      \
        X(crf_transition, "crf.transition", C, C, ZERO, tag && c->crf)                        \
        X(lm_b, "lm.bias", 0, C, ZERO, lm)                                                    \
        X(lm_tail_w, "lm.tail.weight", ran_lm_tails(c, C), D, GLOROT, lm && c->shortlist > 0) \
        X(lm_tail_b, "lm.tail.bias", 0, ran_lm_tails(c, C), ZERO, lm && c->shortlist > 0)

struct ran_layer_params {
#define X(field, name, rows, cols, start, when) float *field;
        RAN_LAYER_PARAMS(X)
#undef X
};
struct ran_contextualizer_params {
#define X(field, name, rows, cols, start, when) float *field;
        RAN_CONTEXTUALIZER_PARAMS(X)
#undef X
};
struct ran_transformer_params {
#define X(field, name, rows, cols, start, when) float *field;
        RAN_TRANSFORMER_PARAMS(X)
#undef X
};
struct ran_encoder_params {
#define X(field, name, rows, cols, start, when) float *field;
        RAN_ENCODER_PARAMS(X)
#undef X
};
struct ran_head_params {
#define X(field, name, rows, cols, start, when) float *field;
        RAN_HEAD_PARAMS(X)
#undef X
};

/* One block of floats (weights, gradients or moments) seen by name; absent tensors are NULL. The
 * embedding (V, D) lies apart: weights may be mapped from a file, gradients are sparse. */
struct ran_params {
        float *block;
        /* (N) of the encoder at hand; the others are NULL */
        struct ran_layer_params *layer;
        struct ran_contextualizer_params *step;
        struct ran_transformer_params *blocks;
        struct ran_encoder_params encoder;
        struct ran_head_params head;
        const float *embed;
        uint64_t seed;         /* of the training: what a random first context is keyed by */
        const float *spelling; /* (c->spelling, D), apart like the embedding; NULL: none */
        const float *wide;     /* (c->wide, C) and */
        const float *idf; /* (c->wide) of the wide path of a classifier, see linear-model.h; NULL:
                             none */
        const uint32_t *pieces; /* (V, RAN_PIECE), made from the vocabulary where c wants them */
        float *dembed; /* of a gradient where the output is tied to the embedding: (V, D); else NULL
                        */
};

/* Whether the output is tied to the embedding, whose gradient is dense then. */
static inline bool ran_is_tied(const struct ran_config *c)
{
        return c->task == RAN_TASK_LM || c->task == RAN_TASK_MLM;
}

/* Whether there is a wide path of documents (linear-model.h), or one of words (linear-words.h). */
static inline bool ran_has_linear_model(const struct ran_config *c)
{
        return c->wide > 0 && c->task == RAN_TASK_CLASSIFY;
}
static inline bool ran_has_linear_words(const struct ran_config *c)
{
        return c->wide > 0 && c->task == RAN_TASK_TAG;
}

/* The attention pattern of a head: its own, or the one that all have. */
static inline int ran_pattern_of(const struct ran_config *c, size_t head)
{
        return c->attention.item[c->attention.n > 1 ? head : 0];
}

/* Groups of ids behind the shortlist of an adaptive softmax, see lm.h. */
size_t ran_lm_tails(const struct ran_config *c, size_t V);

/* Tensors that lie apart: of which a document uses few rows, as they are mapped from a file. */
enum { RAN_MAPPED_TABLES = 4 };
struct ran_mapped_table {
        const char *name;
        size_t rows, cols; /* rows 0: a vector */
        const float **at;  /* where it is, in the params */
};
/* Those of a configuration, the embedding first. Returns how many there are. */
size_t ran_params_mapped_tables(struct ran_mapped_table apart[RAN_MAPPED_TABLES],
                                struct ran_params *p, const struct ran_config *c, size_t V,
                                size_t C);

/* What learns row by row, where a document has a gradient: the embedding, and that of spelling
 * behind it. */
struct ran_table {
        float *x; /* (rows, width) */
        size_t rows, width;
};
/* Its shape. False when it cannot be addressed. */
bool ran_table_shape(struct ran_table *table, const struct ran_config *c, size_t V);

/* The tensors of a configuration: all but those that lie apart. */
struct ran_layout {
        struct ran_tensor_spec *spec;
        size_t n, cap;
        size_t size; /* floats in a block */
};
int ran_layout_init(struct ran_layout *l, const struct ran_config *c, size_t C,
                    struct ran_error *err);
void ran_layout_release(struct ran_layout *l);

/* Allocates a zeroed block and points into it. params->embed stays NULL. */
int ran_params_init(struct ran_params *p, const struct ran_config *c, size_t C,
                    struct ran_error *err);
void ran_params_release(struct ran_params *p);
/* Without any tensor: as a gradient, none is wanted, and the backward pass leaves their products
 * out. */
int ran_params_none(struct ran_params *p, const struct ran_config *c, struct ran_error *err);

/* Starting values of a tensor: Glorot normal for matrices, uniform +-0.05 for embeddings, 0 for
 * biases, 1 for scales. One bias is not 0: gpc_norm's, which is the whole first cell where there is
 * none below. At 0 the cell's LN_in would divide by the deviation of nothing and its gradient, some
 * hundred times that of all other tensors together, would rule the clipping. Element i depends on
 * (seed, name, i) alone. */
void ran_tensor_init(float *x, const struct ran_tensor_spec *spec, uint64_t seed);

#endif
