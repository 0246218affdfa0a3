/* names.c - what the tensors of bert.h are called in a folder. See folder.h. */
#include "hf/folder.h"
#include "ran/model.h"

#include <string.h>

/* clang-format off */

/* Without .weight and .bias, and of a layer without what stands in front of it. Theirs: of bert and
 * roberta, distilbert, mpnet and modernbert. parts: ours is a part of theirs, in modernbert. */
static const struct rule {
        const char *ours, *theirs[4];
        size_t part, parts;
        bool pairs;
} rules[] = {
        {"attn_norm", {"attention.output.LayerNorm", "sa_layer_norm", "attention.LayerNorm",
                       "attn_norm"}, 0, 1, false},
        {"attn.q", {"attention.self.query", "attention.q_lin", "attention.attn.q", "attn.Wqkv"},
         0, 3, true},
        {"attn.k", {"attention.self.key", "attention.k_lin", "attention.attn.k", "attn.Wqkv"},
         1, 3, true},
        {"attn.v", {"attention.self.value", "attention.v_lin", "attention.attn.v", "attn.Wqkv"},
         2, 3, false},
        {"attn.out", {"attention.output.dense", "attention.out_lin", "attention.attn.o", "attn.Wo"},
         0, 1, false},
        {"ffn_norm", {"output.LayerNorm", "output_layer_norm", "output.LayerNorm", "mlp_norm"},
         0, 1, false},
        {"ffn.up", {"intermediate.dense", "ffn.lin1", "intermediate.dense", "mlp.Wi"}, 0, 2, false},
        {"ffn.gate", {NULL, NULL, NULL, "mlp.Wi"}, 1, 2, false},
        {"ffn.down", {"output.dense", "ffn.lin2", "output.dense", "mlp.Wo"}, 0, 1, false},
        {"embed_norm", {"embeddings.LayerNorm", "embeddings.LayerNorm", "embeddings.LayerNorm",
                        "embeddings.norm"}, 0, 1, false},
        {"norm", {NULL, NULL, NULL, "final_norm"}, 0, 1, false},
        {"relative", {NULL, NULL, "encoder.relative_attention_bias", NULL}, 0, 1, false},
};

/* The same for heads: in front of the last layer, its norm, the last layer, and the decoder. */
static const struct head {
        const char *dense, *norm, *out;
} classifiers[RAN_HF_FAMILIES] = {
        [RAN_HF_BERT] = {"pooler.dense", NULL, "classifier"},
        [RAN_HF_ROBERTA] = {"classifier.dense", NULL, "classifier.out_proj"},
        [RAN_HF_DISTILBERT] = {"pre_classifier", NULL, "classifier"},
        [RAN_HF_MPNET] = {"classifier.dense", NULL, "classifier.out_proj"},
        [RAN_HF_MODERNBERT] = {"head.dense", "head.norm", "classifier"},
}, taggers[RAN_HF_FAMILIES] = {
        [RAN_HF_BERT] = {NULL, NULL, "classifier"},
        [RAN_HF_ROBERTA] = {NULL, NULL, "classifier"},
        [RAN_HF_DISTILBERT] = {NULL, NULL, "classifier"},
        [RAN_HF_MPNET] = {NULL, NULL, "classifier"},
        [RAN_HF_MODERNBERT] = {"head.dense", "head.norm", "classifier"},
}, decoders[RAN_HF_FAMILIES] = {
        [RAN_HF_BERT] = {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                         "cls.predictions"},
        [RAN_HF_ROBERTA] = {"lm_head.dense", "lm_head.layer_norm", "lm_head"},
        [RAN_HF_DISTILBERT] = {"vocab_transform", "vocab_layer_norm", "vocab_projector"},
        [RAN_HF_MPNET] = {"lm_head.dense", "lm_head.layer_norm", "lm_head"},
        [RAN_HF_MODERNBERT] = {"head.dense", "head.norm", "decoder"},
};

/* What the names of a family's tensors begin with; and its decoder, whose bias is often there a
 * second time, under the same name. */
static const char *const prefixes[RAN_HF_FAMILIES] = {
        [RAN_HF_BERT] = "bert.", [RAN_HF_ROBERTA] = "roberta.", [RAN_HF_DISTILBERT] = "distilbert.",
        [RAN_HF_MPNET] = "mpnet.", [RAN_HF_MODERNBERT] = "model.", [RAN_HF_RANNET] = "rannet/"};
static const char *const decoder_names[RAN_HF_FAMILIES] = {
        [RAN_HF_BERT] = "cls.predictions.decoder", [RAN_HF_ROBERTA] = "lm_head.decoder",
        [RAN_HF_DISTILBERT] = "vocab_projector", [RAN_HF_MPNET] = "lm_head.decoder",
        [RAN_HF_MODERNBERT] = "decoder"};

/* clang-format on */

const char *ran_hf_prefix(const struct ran_hf *f)
{
        return prefixes[f->family];
}

const char *ran_hf_name_of_embedding(const struct ran_hf *f)
{
        return f->family == RAN_HF_RANNET       ? "token-embedding/embeddings"
               : f->family == RAN_HF_MODERNBERT ? "embeddings.tok_embeddings.weight"
                                                : "embeddings.word_embeddings.weight";
}

const char *ran_hf_name_of_decoder(const struct ran_hf *f)
{
        return decoder_names[f->family];
}

/* ---- from one name to another ---------------------------------------------------------------- */

/* What they call a part of ours, and the end of our name; NULL: a tensor that this family has not.
 */
static void put_name(struct ran_hf_origin *from, const char *text, const char *end)
{
        snprintf(from->name, sizeof from->name, "%s%s", text != NULL ? text : "",
                 text != NULL ? end : "");
}

/* layer: its number and a dot, or "". */
static void of_layer(const struct ran_hf *f, const char *stem, size_t n, const char *layer,
                     const char *end, struct ran_hf_origin *from)
{
        const char *stack = layer[0] == '\0'                 ? ""
                            : f->family == RAN_HF_DISTILBERT ? "transformer.layer."
                            : f->family == RAN_HF_MODERNBERT ? "layers."
                                                             : "encoder.layer.";

        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
                const struct rule *r = &rules[i];
                const char *theirs = r->theirs[f->family > RAN_HF_BERT ? f->family - 1 : 0];

                if (strlen(r->ours) != n || strncmp(r->ours, stem, n) != 0)
                        continue;
                if (f->family == RAN_HF_MODERNBERT) {
                        from->part = r->part;
                        from->parts = r->parts;
                        from->pairs = r->pairs;
                }
                const bool has_bias = strstr(r->ours, "norm") != NULL    ? f->norm_bias
                                      : strncmp(r->ours, "attn", 4) == 0 ? f->attention_bias
                                                                         : f->ffn_bias;
                if (theirs != NULL && (strcmp(end, ".bias") != 0 || has_bias)) /* else it is zero */
                        snprintf(from->name, sizeof from->name, "%s%.*s%s%s", stack,
                                 (int)strcspn(layer, ".") + (layer[0] != '\0'), layer, theirs, end);
        }
}

static const struct head *head_of(const struct ran_hf *f)
{
        static const struct head dense_only = {"linear", NULL, NULL};
        const struct head *all = f->config.task == RAN_TASK_CLASSIFY ? classifiers
                                 : f->config.task == RAN_TASK_TAG    ? taggers
                                                                     : decoders;

        return f->config.task == RAN_TASK_EMBED ? &dense_only : &all[f->family];
}

static void of_head(const struct ran_hf *f, const char *name, const char *end,
                    struct ran_hf_origin *from)
{
        const struct head *h = head_of(f);
        const bool bias = strcmp(end, ".bias") == 0;

        if (strncmp(name, "bert.dense_norm", 15) == 0) {
                if (!bias || f->norm_bias)
                        put_name(from, h->norm, end);
        } else if (strncmp(name, "bert.dense", 10) == 0) {
                from->dense = f->config.task == RAN_TASK_EMBED;
                if (!bias || f->dense_bias)
                        put_name(from, h->dense, end);
        } else if (strcmp(name, "lm.bias") != 0 || f->lm_bias) {
                put_name(from, h->out, end);
        }
}

bool ran_hf_origin(const struct ran_hf *f, const struct ran_tensor_spec *spec,
                   struct ran_hf_origin *from)
{
        static const char *const made[] = {"bert.prefix.weight", "bert.suffix.weight",
                                           "bert.position.weight"};
        const char *name = spec->name, *end = strrchr(name, '.');

        *from = (struct ran_hf_origin){.parts = 1};
        if (f->family == RAN_HF_RANNET) {
                ran_hf_rannet_origin(spec, from);
                return true;
        }
        for (size_t i = 0; i < sizeof made / sizeof *made; i++)
                if (strcmp(name, made[i]) == 0)
                        return false;
        if (strncmp(name, "bert.", 5) != 0 || strncmp(name, "bert.dense", 10) == 0) {
                of_head(f, name, end, from);
                return true;
        }
        const char *stem = name + 5;
        const size_t digits = strspn(stem, "0123456789");
        const char *layer = digits > 0 ? stem : "";
        stem += digits > 0 ? digits + 1 : 0;
        of_layer(f, stem, (size_t)(end - stem), layer, end, from);
        return true;
}
