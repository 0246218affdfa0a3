/* config.c - config.json of an encoder: its type and sizes. See folder.h. */
#include "hf/folder.h"
#include "ran/model.h"

#include <stdlib.h>
#include <string.h>

enum {
        WIDEST = 65536,
        MOST_LAYERS = 1024,
        MOST_HEADS = 4096,
        MOST_FFN = 1 << 20,
        MOST_ROWS = 1 << 20,
        MOST_TOKENS = 1 << 28,
        MOST_TYPES = 1 << 16
};

/* ---- types ----------------------------------------------------------------------------------- */

static const struct ran_hf_word types[] = {{"bert", RAN_HF_BERT},
                                           {"distilbert", RAN_HF_DISTILBERT},
                                           {"roberta", RAN_HF_ROBERTA},
                                           {"camembert", RAN_HF_ROBERTA},
                                           {"xlm-roberta", RAN_HF_ROBERTA},
                                           {"mpnet", RAN_HF_MPNET},
                                           {"modernbert", RAN_HF_MODERNBERT},
                                           {NULL, 0}};
#define TYPES "bert, distilbert, roberta, camembert, xlm-roberta, mpnet and modernbert can be read"

static int read_type(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const char *name;
        int family;

        RAN_TRY(ran_cjson_string(all, "model_type", &name, err));
        if (name == NULL)
                return ran_fail(err, RAN_EFORMAT,
                                "it has no \"model_type\": add that of its library; " TYPES);
        if (ran_hf_look_up(types, name, &family)) {
                f->family = (enum ran_hf_family)family;
                ran_hf_copy(&f->type, name);
                return RAN_OK;
        }
        if (strcmp(name, "model2vec") == 0)
                return ran_fail(err, RAN_EFORMAT,
                                "model_type \"model2vec\": " RAN_HF_VECTORS_ALONE);
        return ran_fail(err, RAN_EFORMAT, "model_type \"%s\" is not known: " TYPES, name);
}

/* What would change the outputs and is not there. */
static int check_variant(const struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const char *positions;
        bool decoder = false, cross = false;

        RAN_TRY(ran_cjson_bool(all, "is_decoder", decoder, &decoder, err));
        RAN_TRY(ran_cjson_bool(all, "add_cross_attention", cross, &cross, err));
        if (decoder || cross)
                return ran_fail(err, RAN_EFORMAT,
                                "\"%s\" is true: this is a decoder; an encoder is needed",
                                decoder ? "is_decoder" : "add_cross_attention");
        RAN_TRY(ran_cjson_string(all, "position_embedding_type", &positions, err));
        if (f->family != RAN_HF_MODERNBERT && positions != NULL &&
            strcmp(positions, "absolute") != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "position_embedding_type \"%s\" is not known: \"absolute\" is",
                                positions);
        if (ran_cjson_said(all, "quantization_config"))
                return ran_fail(err, RAN_EFORMAT,
                                "its weights are quantised: get the model that they were made "
                                "from; ran-train import --weights i8 makes it as small");
        return RAN_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int read_sizes(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const struct ran_hf_kind *k = &ran_hf_kinds[f->family];
        struct ran_config *c = &f->config;

        RAN_TRY(ran_cjson_need_size(all, k->dim, 1, WIDEST, &c->dim, err));
        RAN_TRY(ran_cjson_need_size(all, k->layers, 1, MOST_LAYERS, &c->layers, err));
        RAN_TRY(ran_cjson_need_size(all, k->heads, 1, MOST_HEADS, &c->heads, err));
        RAN_TRY(ran_cjson_need_size(all, k->ffn, 1, MOST_FFN, &c->ffn_dim, err));
        RAN_TRY(ran_cjson_size(all, "vocab_size", 1, MOST_TOKENS, &f->vocabulary, err));
        if (c->dim % c->heads != 0)
                return ran_fail(err, RAN_EFORMAT, "\"%s\" %zu is not a multiple of \"%s\" %zu",
                                k->dim, c->dim, k->heads, c->heads);
        c->head_dim = c->dim / c->heads;
        return RAN_OK;
}

/* The rows of positions, and the one of the first token: in RoBERTa that after the padding's. */
static int read_positions(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        struct ran_config *c = &f->config;

        RAN_TRY(ran_cjson_need_size(all, "max_position_embeddings", 1, MOST_ROWS, &f->rows, err));
        if (f->family == RAN_HF_ROBERTA) {
                f->first = 1;
                RAN_TRY(ran_cjson_size(all, "pad_token_id", 0, MOST_TOKENS, &f->first, err));
                f->first++;
        }
        if (f->family == RAN_HF_MPNET) /* whatever the padding is */
                f->first = 2;
        if (f->rows < f->first + 3)
                return ran_fail(err, RAN_EFORMAT,
                                "\"max_position_embeddings\" %zu leaves no window: the first token "
                                "has position %zu",
                                f->rows, f->first);
        c->bert.positions = f->family != RAN_HF_MODERNBERT;
        if (f->family == RAN_HF_BERT || f->family == RAN_HF_ROBERTA) {
                f->token_types = 2;
                RAN_TRY(ran_cjson_size(all, "type_vocab_size", 0, MOST_TYPES, &f->token_types,
                                       err));
        }
        if (f->family == RAN_HF_MPNET) {
                c->bert.buckets = 32;
                return ran_cjson_size(all, "relative_attention_num_buckets", 4, WIDEST,
                                      &c->bert.buckets, err);
        }
        return RAN_OK;
}

/* modernbert: which layers see the whole window, and the bases of their rotary positions, in the
 * words of old and new configurations. */
static const char global_name[] = "full_attention", local_name[] = "sliding_attention";

/* layer_types must be what every n-th layer, from the first, gives for some n. That of
 * global_attn_every_n_layers is tried first, then the position of the second global layer. */
static int read_types(struct ran_config *c, const cJSON *list, struct ran_error *err)
{
        const cJSON *item;
        size_t l = 0, second = c->layers;
        bool as_said = true, as_second = true;

        if (!cJSON_IsArray(list) || (size_t)cJSON_GetArraySize(list) != c->layers)
                return ran_fail(err, RAN_EFORMAT,
                                "\"layer_types\" is not a list of %zu names, one for each layer",
                                c->layers);
        cJSON_ArrayForEach(item, list)
        {
                const char *name = cJSON_IsString(item) ? item->valuestring : "";
                const bool global = strcmp(name, global_name) == 0;

                if (!global && strcmp(name, local_name) != 0)
                        return ran_fail(err, RAN_EFORMAT,
                                        "\"layer_types\" holds something else than \"%s\" and "
                                        "\"%s\"",
                                        global_name, local_name);
                second = global && l > 0 && second == c->layers ? l : second;
                as_said = as_said && global == (l % c->bert.global_every == 0);
                as_second = as_second && global == (l % second == 0);
                l++;
        }
        if (!as_said && !as_second)
                return ran_fail(err, RAN_EFORMAT,
                                "\"layer_types\" has no pattern that is known: every n-th layer, "
                                "from the first, must be \"%s\"",
                                global_name);
        c->bert.global_every = as_said ? c->bert.global_every : second;
        return RAN_OK;
}

static int read_rope(const cJSON *rope, double *base, struct ran_error *err)
{
        const char *type;

        if (!cJSON_IsObject(rope))
                return ran_fail(err, RAN_EFORMAT,
                                "\"rope_parameters\" is not an object of objects");
        RAN_TRY(ran_cjson_string(rope, "rope_type", &type, err));
        if (type != NULL && strcmp(type, "default") != 0)
                return ran_fail(err, RAN_EFORMAT, "rope_type \"%s\" is not known: \"default\" is",
                                type);
        return ran_cjson_real(rope, "rope_theta", 1, 1e12, base, err);
}

/* One for both kinds of layers, or one each. */
static int read_ropes(struct ran_config *c, const cJSON *ropes, struct ran_error *err)
{
        const cJSON *global = ran_cjson_member(ropes, global_name),
                    *local = ran_cjson_member(ropes, local_name);

        if (global == NULL && local == NULL)
                global = local = ropes;
        if (global != NULL)
                RAN_TRY(read_rope(global, &c->bert.rotary_base, err));
        return local != NULL ? read_rope(local, &c->bert.rotary_base_local, err) : RAN_OK;
}

static int read_layers(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        struct ran_config *c = &f->config;

        c->bert.global_every = 3;
        c->window = 128;
        c->bert.rotary_base = 160000;
        c->bert.rotary_base_local = 10000;
        RAN_TRY(ran_cjson_size(all, "global_attn_every_n_layers", 1, 1024, &c->bert.global_every,
                               err));
        RAN_TRY(ran_cjson_size(all, "local_attention", 1, 1 << 20, &c->window, err));
        RAN_TRY(ran_cjson_real(all, "global_rope_theta", 1, 1e12, &c->bert.rotary_base, err));
        if (cJSON_IsNull(ran_cjson_member(all, "local_rope_theta")))
                c->bert.rotary_base_local = c->bert.rotary_base;
        RAN_TRY(ran_cjson_real(all, "local_rope_theta", 1, 1e12, &c->bert.rotary_base_local, err));
        if (ran_cjson_said(all, "layer_types"))
                RAN_TRY(read_types(c, ran_cjson_member(all, "layer_types"), err));
        if (ran_cjson_said(all, "rope_parameters"))
                RAN_TRY(read_ropes(c, ran_cjson_member(all, "rope_parameters"), err));
        return ran_cjson_said(all, "rope_scaling")
                       ? ran_fail(err, RAN_EFORMAT, "\"rope_scaling\" is not known")
                       : RAN_OK;
}

static int read_block(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const struct ran_hf_kind *k = &ran_hf_kinds[f->family];
        struct ran_config *c = &f->config;
        const char *activation;

        c->bert.norm_eps = k->default_eps;
        if (k->eps != NULL)
                RAN_TRY(ran_cjson_real(all, k->eps, 0, 1, &c->bert.norm_eps, err));
        RAN_TRY(ran_cjson_string(all, k->activation, &activation, err));
        RAN_TRY(ran_hf_activation(activation != NULL ? activation : "gelu", &c->bert.activation,
                                  err));
        c->bert.norm_first = c->bert.gated = c->rotary = f->family == RAN_HF_MODERNBERT;
        f->attention_bias = f->ffn_bias = f->norm_bias = f->dense_bias = f->lm_bias = true;
        if (f->family != RAN_HF_MODERNBERT)
                return RAN_OK;
        f->attention_bias = f->ffn_bias = f->norm_bias = f->dense_bias = false;
        RAN_TRY(ran_cjson_bool(all, "attention_bias", f->attention_bias, &f->attention_bias, err));
        RAN_TRY(ran_cjson_bool(all, "mlp_bias", f->ffn_bias, &f->ffn_bias, err));
        RAN_TRY(ran_cjson_bool(all, "norm_bias", f->norm_bias, &f->norm_bias, err));
        RAN_TRY(ran_cjson_bool(all, "classifier_bias", f->dense_bias, &f->dense_bias, err));
        RAN_TRY(ran_cjson_bool(all, "decoder_bias", f->lm_bias, &f->lm_bias, err));
        c->bert.bias = f->attention_bias || f->ffn_bias || f->norm_bias;
        if (c->head_dim % 2 != 0)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "heads of %zu numbers cannot have rotary positions, which rotate pairs",
                        c->head_dim);
        return read_layers(f, all, err);
}

int ran_hf_read_config(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const cJSON *code = ran_cjson_member(all, "auto_map");
        const char *license;

        RAN_TRY(ran_fields_init(ran_config_fields, &f->config, err));
        f->config.encoder = RAN_ENCODER_BERT;
        f->config.rotary = false;
        f->config.ran.cell = RAN_CELL_GATED; /* as in the names that such encoders have had */
        f->config.pooling = RAN_POOL_MEAN;
        f->include_prompt = true;
        if (ran_hf_is_rannet(all))
                return ran_hf_read_rannet(f, all, err);
        RAN_TRY(read_type(f, all, err));
        RAN_TRY(check_variant(f, all, err));
        RAN_TRY(read_sizes(f, all, err));
        RAN_TRY(read_positions(f, all, err));
        RAN_TRY(read_block(f, all, err));
        RAN_TRY(ran_cjson_string(all, "license", &license, err));
        if (license != NULL)
                ran_hf_copy(&f->license, license);
        const char *class = cJSON_GetStringValue(code != NULL ? code->child : NULL);
        if (class != NULL)
                ran_hf_copy(&f->code, class);
        return ran_hf_read_head(f, all, err);
}

void ran_hf_release(struct ran_hf *f)
{
        for (size_t c = 0; f->label != NULL && c < f->labels; c++)
                free(f->label[c]);
        free(f->label);
        free(f->type);
        free(f->architecture);
        free(f->license);
        free(f->name);
        free(f->base);
        free(f->pooling_folder);
        free(f->dense_folder);
        cJSON_free(f->prompts);
        free(f->default_prompt);
        free(f->prompt);
        free(f->prompt_name);
        free(f->code);
        ran_hf_weights_release(&f->weights);
        ran_hf_weights_release(&f->dense);
        ran_encoding_release(&f->prompt_tokens);
        ran_tokenizer_free(f->tokenizer);
        ran_fields_release(ran_config_fields, &f->config);
        *f = (struct ran_hf){0};
}
