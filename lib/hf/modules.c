/* modules.c - what Sentence Transformers add to an encoder: modules.json and the files that it
 * names, prompts, the length of windows. See folder.h. */
#include "hf/folder.h"
#include "ran/model.h"

#include <string.h>

enum { MOST_ROWS = 1 << 20 };

/* ---- modules.json ---------------------------------------------------------------------------- */

/* The last word of a module's type, "sentence_transformers.models.Pooling". */
static const char *last_word(const char *type)
{
        const char *dot = strrchr(type, '.');

        return dot != NULL ? dot + 1 : type;
}

/* Their order: encoder, pooling, dense layer, normalisation. */
enum { START, ENCODER, POOLING, DENSE, NORMALIZE };

static int take_module(struct ran_hf *f, const char *type, const char *path, int *stage,
                       struct ran_error *err)
{
        static const struct ran_hf_word known[] = {{"Transformer", ENCODER},
                                                   {"Pooling", POOLING},
                                                   {"Dense", DENSE},
                                                   {"Normalize", NORMALIZE},
                                                   {NULL, 0}};
        char **folder[] = {
                [ENCODER] = &f->base, [POOLING] = &f->pooling_folder, [DENSE] = &f->dense_folder};
        int next;

        if (strcmp(type, "Dropout") == 0) /* nothing, outside training */
                return RAN_OK;
        if (strcmp(type, "StaticEmbedding") == 0)
                return ran_fail(err, RAN_EFORMAT, RAN_HF_VECTORS_ALONE);
        if (!ran_hf_look_up(known, type, &next))
                return ran_fail(err, RAN_EFORMAT,
                                "the module \"%s\" is not known: Transformer, Pooling, Dense and "
                                "Normalize are",
                                type);
        if (next <= *stage || (*stage == START) != (next == ENCODER) ||
            (next > POOLING && *stage < POOLING))
                return ran_fail(err, RAN_EFORMAT,
                                "the module \"%s\" stands where it cannot be: the order "
                                "Transformer, Pooling, Dense, Normalize is known",
                                type);
        *stage = next;
        if (next == NORMALIZE)
                f->normalize = true;
        else
                ran_hf_copy(folder[next], path);
        return RAN_OK;
}

int ran_hf_read_modules(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        int stage = START;
        const cJSON *item;

        f->sentence = true;
        cJSON_ArrayForEach(item, all)
        {
                const char *type, *path;

                RAN_TRY(ran_cjson_string(item, "type", &type, err));
                RAN_TRY(ran_cjson_string(item, "path", &path, err));
                if (type == NULL)
                        return ran_fail(err, RAN_EFORMAT, "a module has no \"type\"");
                path = path != NULL ? path : "";
                if (path[0] == '/' || strstr(path, "..") != NULL)
                        return ran_fail(err, RAN_EFORMAT, "the path \"%s\" leads out of the folder",
                                        path);
                if (strchr(type, '.') != NULL && strncmp(type, "sentence_transformers.", 22) != 0)
                        return ran_fail(err, RAN_EFORMAT,
                                        "the module \"%s\" is code of the folder's own, which is "
                                        "not run",
                                        type);
                RAN_TRY(take_module(f, last_word(type), path, &stage, err));
        }
        if (stage < POOLING)
                return ran_fail(err, RAN_EFORMAT, "it has no modules Transformer and Pooling");
        return RAN_OK;
}

/* ---- pooling --------------------------------------------------------------------------------- */

/* The sum divided by the root of the length, which has the direction of the mean. */
enum { BY_ROOT = -1 };

/* By pooling_mode, and by the flags of older versions. */
static int add_mode(size_t *count, int *pooling, const char *name, struct ran_error *err)
{
        static const struct ran_hf_word modes[] = {
                {"cls", RAN_POOL_CLS},
                {"pooling_mode_cls_token", RAN_POOL_CLS},
                {"mean", RAN_POOL_MEAN},
                {"pooling_mode_mean_tokens", RAN_POOL_MEAN},
                {"max", RAN_POOL_MAX},
                {"pooling_mode_max_tokens", RAN_POOL_MAX},
                {"lasttoken", RAN_POOL_LAST},
                {"pooling_mode_lasttoken", RAN_POOL_LAST},
                {"mean_sqrt_len_tokens", BY_ROOT},
                {"pooling_mode_mean_sqrt_len_tokens", BY_ROOT},
                {NULL, 0},
        };

        ++*count;
        return name != NULL && ran_hf_look_up(modes, name, pooling)
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT,
                                  "pooling_mode \"%s\" is not known: cls, mean, max and lasttoken "
                                  "are",
                                  name != NULL ? name : "");
}

int ran_hf_read_pooling(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const cJSON *said = ran_cjson_member(all, "pooling_mode"), *item;
        int mode = BY_ROOT;
        size_t count = 0, width = f->config.dim;

        RAN_TRY(ran_cjson_size(all, "word_embedding_dimension", 1, SIZE_MAX >> 16, &width, err));
        RAN_TRY(ran_cjson_size(all, "embedding_dimension", 1, SIZE_MAX >> 16, &width, err));
        if (width != f->config.dim)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "it pools vectors of %zu numbers, but those of the encoder have %zu", width,
                        f->config.dim);
        RAN_TRY(ran_cjson_bool(all, "include_prompt", f->include_prompt, &f->include_prompt, err));
        if (cJSON_IsString(said))
                RAN_TRY(add_mode(&count, &mode, said->valuestring, err));
        cJSON_ArrayForEach(item, said)
                RAN_TRY(add_mode(&count, &mode, cJSON_GetStringValue(item), err));
        cJSON_ArrayForEach(item, all) if (strncmp(item->string, "pooling_mode_", 13) == 0 &&
                                          cJSON_IsTrue(item))
                RAN_TRY(add_mode(&count, &mode, item->string, err));
        if (count != 1)
                return ran_fail(err, RAN_EFORMAT,
                                "it has %zu pooling modes: one of cls, mean, max and lasttoken can "
                                "be read",
                                count);
        f->config.pooling = mode != BY_ROOT ? mode : RAN_POOL_MEAN;
        if (mode == BY_ROOT && !(f->normalize && f->dense_folder == NULL))
                return ran_fail(err, RAN_EFORMAT,
                                "the pooling mode mean_sqrt_len_tokens is known with Normalize "
                                "after it only: cls, mean, max and lasttoken are");
        return RAN_OK;
}

/* ---- dense layer ----------------------------------------------------------------------------- */

int ran_hf_read_dense(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        struct ran_config *c = &f->config;
        static const struct ran_hf_word activations[] = {
                {"Tanh", RAN_ACTIVATION_TANH}, {"Identity", RAN_ACTIVATION_NONE},
                {"GELU", RAN_ACTIVATION_GELU}, {"ReLU", RAN_ACTIVATION_RELU},
                {"SiLU", RAN_ACTIVATION_SILU}, {NULL, 0}};
        const char *input, *output, *activation;
        bool residual = false;
        size_t width = 0;

        RAN_TRY(ran_cjson_need_size(all, "in_features", 1, SIZE_MAX >> 16, &width, err));
        if (width != c->dim)
                return ran_fail(
                        err, RAN_EFORMAT,
                        "it reads vectors of %zu numbers, but those of the encoder have %zu", width,
                        c->dim);
        RAN_TRY(ran_cjson_need_size(all, "out_features", 1, 65536, &c->bert.dense, err));
        f->dense_bias = true;
        RAN_TRY(ran_cjson_bool(all, "bias", f->dense_bias, &f->dense_bias, err));
        RAN_TRY(ran_cjson_bool(all, "use_residual", residual, &residual, err));
        RAN_TRY(ran_cjson_string(all, "module_input_name", &input, err));
        RAN_TRY(ran_cjson_string(all, "module_output_name", &output, err));
        if (residual || (input != NULL && strcmp(input, "sentence_embedding") != 0) ||
            (output != NULL && strcmp(output, "sentence_embedding") != 0))
                return ran_fail(err, RAN_EFORMAT,
                                "%s is not known: one layer from sentence_embedding to itself is",
                                residual ? "\"use_residual\"" : "a layer on other vectors");
        RAN_TRY(ran_cjson_string(all, "activation_function", &activation, err));
        activation = activation != NULL ? last_word(activation) : "Tanh";
        if (ran_hf_look_up(activations, activation, &c->bert.dense_activation))
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT,
                        "the activation_function %s is not known: Tanh, Identity, GELU, ReLU and "
                        "SiLU are",
                        activation);
}

/* ---- texts ----------------------------------------------------------------------------------- */

int ran_hf_read_sentence(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        RAN_TRY(ran_cjson_size(all, "max_seq_length", 1, SIZE_MAX >> 16, &f->most, err));
        return ran_cjson_bool(all, "do_lower_case", f->lower_case, &f->lower_case, err);
}

/* Libraries write 1e30 for no limit. */
int ran_hf_read_tokenizer_config(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const cJSON *most = ran_cjson_member(all, "model_max_length");

        (void)err;
        if (cJSON_IsNumber(most) && most->valuedouble >= 3 && most->valuedouble <= MOST_ROWS &&
            (f->most == 0 || most->valuedouble < (double)f->most))
                f->most = (size_t)most->valuedouble;
        return RAN_OK;
}

int ran_hf_read_prompts(struct ran_hf *f, const cJSON *all, struct ran_error *err)
{
        const cJSON *prompts = ran_cjson_member(all, "prompts"), *item;
        const char *name;
        bool some = false, found = false;

        RAN_TRY(ran_cjson_size(all, "truncate_dim", 1, SIZE_MAX >> 16, &f->truncate, err));
        if (!ran_cjson_said(all, "prompts"))
                return RAN_OK;
        RAN_TRY(ran_cjson_string(all, "default_prompt_name", &name, err));
        if (!cJSON_IsObject(prompts))
                return ran_fail(err, RAN_EFORMAT, "\"prompts\" is not an object");
        cJSON_ArrayForEach(item, prompts)
        {
                if (!cJSON_IsString(item))
                        return ran_fail(err, RAN_EFORMAT, "the prompt \"%s\" is no string",
                                        item->string);
                some = some || item->valuestring[0] != '\0';
                found = found || (name != NULL && strcmp(item->string, name) == 0);
        }
        if (name != NULL && !found)
                return ran_fail(err, RAN_EFORMAT,
                                "default_prompt_name \"%s\" is none of the prompts", name);
        if (!some)
                return RAN_OK;
        if (name != NULL)
                ran_hf_copy(&f->default_prompt, name);
        f->prompts = ran_cjson_print(prompts);
        return ran_hf_choose_prompt(f, prompts, err);
}

/* Names the prompts that have a text, as in "passage, query". */
static int unknown_prompt(const cJSON *prompts, const char *asked, struct ran_error *err)
{
        struct ran_buf names = {0};
        const cJSON *item;

        cJSON_ArrayForEach(item, prompts) if (item->valuestring[0] != '\0')
                ran_buf_printf(&names, "%s%s", names.len > 0 ? ", " : "", item->string);
        ran_fail(err, RAN_EINVAL,
                 names.len > 0 ? "no prompt has the name \"%s\": %s; %s"
                               : "the encoder has no prompts, so \"%s\" names none%s; %s",
                 asked, names.len > 0 ? names.data : "",
                 "a prompt's text has a space or a colon, as in \"query: \"");
        ran_buf_release(&names);
        return RAN_EINVAL;
}

int ran_hf_choose_prompt(struct ran_hf *f, const cJSON *prompts, struct ran_error *err)
{
        const char *asked = f->asked != NULL ? f->asked : f->default_prompt;
        const cJSON *found = asked != NULL ? ran_cjson_member(prompts, asked) : NULL;

        if (asked == NULL || asked[0] == '\0')
                return RAN_OK;
        if (found == NULL && strpbrk(asked, " :\n") == NULL)
                return unknown_prompt(prompts, asked, err);
        if (found == NULL) {
                ran_hf_copy(&f->prompt, asked);
        } else if (found->valuestring[0] != '\0') {
                ran_hf_copy(&f->prompt_name, asked);
                ran_hf_copy(&f->prompt, found->valuestring);
        }
        return RAN_OK;
}
