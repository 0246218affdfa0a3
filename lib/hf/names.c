/* names.c - what each family calls its settings, and the tensors of bert.h and ran/paper.h. See
 * folder.h. */
#include "hf/folder.h"
#include "ran/model.h"

#include <string.h>

/* clang-format off */

/* Encoders of bert.h share most members of config.json. */
#define MEMBERS "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"
#define WORDS "embeddings.word_embeddings.weight"

const struct ran_hf_kind ran_hf_kinds[RAN_HF_FAMILIES] = {
        [RAN_HF_BERT] = {MEMBERS, "hidden_act", "layer_norm_eps", 1e-12, "bert.", "encoder.layer.",
                         WORDS, "cls.predictions.decoder"},
        [RAN_HF_ROBERTA] = {MEMBERS, "hidden_act", "layer_norm_eps", 1e-12, "roberta.",
                            "encoder.layer.", WORDS, "lm_head.decoder"},
        [RAN_HF_DISTILBERT] = {"dim", "n_layers", "n_heads", "hidden_dim", "activation", NULL,
                               1e-12, "distilbert.", "transformer.layer.", WORDS,
                               "vocab_projector"},
        [RAN_HF_MPNET] = {MEMBERS, "hidden_act", "layer_norm_eps", 1e-12, "mpnet.",
                          "encoder.layer.", WORDS, "lm_head.decoder"},
        [RAN_HF_MODERNBERT] = {MEMBERS, "hidden_activation", "norm_eps", 1e-5, "model.", "layers.",
                               "embeddings.tok_embeddings.weight", "decoder"},
        [RAN_HF_RANNET] = {.prefix = "rannet/", .layer = "ran-",
                           .embedding = "token-embedding/embeddings"},
};

enum { CLASSIFY = 1 << RAN_TASK_CLASSIFY, TAG = 1 << RAN_TASK_TAG, MLM = 1 << RAN_TASK_MLM,
       EMBED = 1 << RAN_TASK_EMBED };
#define BOTH(name)   name, name /* bert and roberta */
#define ALL(name)    .theirs = {BOTH(name), (name), (name), (name)}
#define MODERN(name) .theirs = {[RAN_HF_MODERNBERT] = (name)}
#define RANNET(name) .theirs = {[RAN_HF_RANNET] = (name)}

/* Without .weight and .bias, with % for the number of a layer; theirs by family, behind what all of
 * a layer have in front. NULL: it has none. parts: ours is a part of theirs, in modernbert. */
static const struct rule {
        const char *ours;
        int tasks; /* 0: all */
        bool pairs;
        const char *theirs[RAN_HF_FAMILIES];
        size_t part, parts;
} rules[] = {
        {"bert.%.attn_norm", .theirs = {BOTH("attention.output.LayerNorm"), "sa_layer_norm",
         "attention.LayerNorm", "attn_norm"}},
        {"bert.%.attn.q", .theirs = {BOTH("attention.self.query"), "attention.q_lin",
         "attention.attn.q", "attn.Wqkv"}, .parts = 3, .pairs = true},
        {"bert.%.attn.k", .theirs = {BOTH("attention.self.key"), "attention.k_lin",
         "attention.attn.k", "attn.Wqkv"}, .part = 1, .parts = 3, .pairs = true},
        {"bert.%.attn.v", .theirs = {BOTH("attention.self.value"), "attention.v_lin",
         "attention.attn.v", "attn.Wqkv"}, .part = 2, .parts = 3},
        {"bert.%.attn.out", .theirs = {BOTH("attention.output.dense"), "attention.out_lin",
         "attention.attn.o", "attn.Wo"}},
        {"bert.%.ffn_norm", .theirs = {BOTH("output.LayerNorm"), "output_layer_norm",
         "output.LayerNorm", "mlp_norm"}},
        {"bert.%.ffn.up", .theirs = {BOTH("intermediate.dense"), "ffn.lin1", "intermediate.dense",
         "mlp.Wi"}, .parts = 2},
        {"bert.%.ffn.gate", MODERN("mlp.Wi"), .part = 1, .parts = 2},
        {"bert.%.ffn.down", .theirs = {BOTH("output.dense"), "ffn.lin2", "output.dense", "mlp.Wo"}},
        {"bert.embed_norm", .theirs = {BOTH("embeddings.LayerNorm"), "embeddings.LayerNorm",
         "embeddings.LayerNorm", "embeddings.norm"}},
        {"bert.norm", MODERN("final_norm")},
        {"bert.relative", .theirs = {[RAN_HF_MPNET] = "encoder.relative_attention_bias"}},

        {"bert.dense", CLASSIFY, .theirs = {"pooler.dense", "classifier.dense", "pre_classifier",
         "classifier.dense", "head.dense"}},
        {"bert.dense", TAG, MODERN("head.dense")},
        {"bert.dense", MLM, .theirs = {"cls.predictions.transform.dense", "lm_head.dense",
         "vocab_transform", "lm_head.dense", "head.dense"}},
        {"bert.dense", EMBED, ALL("linear")},
        {"bert.dense_norm", CLASSIFY | TAG, MODERN("head.norm")},
        {"bert.dense_norm", MLM, .theirs = {"cls.predictions.transform.LayerNorm",
         "lm_head.layer_norm", "vocab_layer_norm", "lm_head.layer_norm", "head.norm"}},
        {"classify.out", .theirs = {"classifier", "classifier.out_proj", "classifier",
         "classifier.out_proj", "classifier"}},
        {"tag.out", ALL("classifier")},
        {"lm", .theirs = {"cls.predictions", "lm_head", "vocab_projector", "lm_head", "decoder",
         "mlm-matching"}},

        {"ran.embed_norm", RANNET("embedding-layernorm")},
        {"ran.%.gpc", RANNET("cell-initializer")},
        {"ran.%.gpc_norm", RANNET("cell-initializer-layernorm")},
        {"ran.%.input_norm", RANNET("concat-layernorm")},
        {"ran.%.attn.q", RANNET("encode-attn/dense-q")},
        {"ran.%.attn.k", RANNET("encode-attn/dense-k")},
        {"ran.%.attn.v", RANNET("encode-attn/dense-v")},
        {"ran.%.attn.out", RANNET("encode-attn/dense-o")},
        {"ran.%.output_glu.value", RANNET("encode-attn/glu/dense-t")},
        {"ran.%.output_glu.gate", RANNET("encode-attn/glu/dense-g")},
        {"ran.%.output_norm", RANNET("encode-attn/layernorm")},
        {"ran.%.update_glu.value", RANNET("cell-glu/dense-t")},
        {"ran.%.update_glu.gate", RANNET("cell-glu/dense-g")},
        {"ran.%.update_norm", RANNET("cell-residual-layernorm")},
        {"ran.%.review.q", RANNET("output-attn/dense-q")},
        {"ran.%.review.k", RANNET("output-attn/dense-k")},
        {"ran.%.review.v", RANNET("output-attn/dense-v")},
        {"ran.%.review.out", RANNET("output-attn/dense-o")},
        {"ran.%.review_glu.value", RANNET("output-attn/glu/dense-t")},
        {"ran.%.review_glu.gate", RANNET("output-attn/glu/dense-g")},
        {"ran.%.review_norm", RANNET("output-attn/layernorm")},
        {"lm.dense", RANNET("mlm-hidden/dense")},
        {"lm.norm", RANNET("mlm-hidden/layernorm")},
};

/* clang-format on */

/* Whether the family's configuration gives such tensors a bias. */
static bool has_bias(const struct ran_hf *f, const char *ours)
{
        return strstr(ours, "norm") != NULL    ? f->norm_bias
               : strstr(ours, "attn") != NULL  ? f->attention_bias
               : strstr(ours, "ffn") != NULL   ? f->ffn_bias
               : strstr(ours, "dense") != NULL ? f->dense_bias
                                               : strcmp(ours, "lm") != 0 || f->lm_bias;
}

void ran_hf_origin(const struct ran_hf *f, const struct ran_tensor_spec *spec,
                   struct ran_hf_origin *from)
{
        const char *name = spec->name, *end = strrchr(name, '.'), *layer = strchr(name, '.') + 1;
        const bool rannet = f->family == RAN_HF_RANNET, weight = strcmp(end, ".weight") == 0;
        const int digits = (int)strspn(layer, "0123456789");
        const char *rest = digits > 0 ? layer + digits : name, *theirs = NULL;
        char ours[96];

        *from = (struct ran_hf_origin){.parts = 1};
        snprintf(ours, sizeof ours, "%.*s%s%.*s", (int)(digits > 0 ? layer - name : 0), name,
                 digits > 0 ? "%" : "", (int)(end - rest), rest);
        for (size_t i = 0; i < sizeof rules / sizeof *rules && theirs == NULL; i++) {
                const struct rule *r = &rules[i];

                if (strcmp(r->ours, ours) != 0 ||
                    (r->tasks != 0 && (r->tasks >> f->config.task & 1) == 0))
                        continue;
                theirs = r->theirs[f->family];
                if (f->family == RAN_HF_MODERNBERT && r->parts > 0) {
                        from->part = r->part;
                        from->parts = r->parts;
                        from->pairs = r->pairs;
                }
        }
        if (theirs == NULL || (!rannet && !weight && !has_bias(f, ours)))
                return;
        from->dense = f->config.task == RAN_TASK_EMBED && strcmp(ours, "bert.dense") == 0;
        from->transposed = rannet && spec->rows > 0;
        if (rannet)
                end = spec->rows > 0                 ? "/kernel"
                      : weight                       ? "/gamma"
                      : strstr(ours, "norm") != NULL ? "/beta"
                                                     : "/bias";
        snprintf(from->name, sizeof from->name, "%s%.*s%s%s%s",
                 digits > 0 ? ran_hf_kinds[f->family].layer : "", digits, layer,
                 digits == 0 ? ""
                 : rannet    ? "/"
                             : ".",
                 theirs, end);
}
