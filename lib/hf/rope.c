/* rope.c - modernbert: which layers see the whole window, and the bases of their rotary
 * positions, in the words of old and new configurations. See folder.h. */
#include "hf/folder.h"
#include "ran/model.h"

#include <string.h>

static const char global_name[] = "full_attention", local_name[] = "sliding_attention";

/* Whether the names are what every n-th layer, from the first, gives. */
static bool is_every(const cJSON *list, size_t n)
{
        const cJSON *item;
        size_t l = 0;

        cJSON_ArrayForEach(item, list) if ((strcmp(item->valuestring, global_name) == 0) !=
                                           (l++ % n == 0)) return false;
        return true;
}

/* layer_types must be what every n-th layer, from the first, gives for some n. That of
 * global_attn_every_n_layers is tried first, then the position of the second global layer. */
static int read_types(struct ran_config *c, const cJSON *list, struct ran_error *err)
{
        const cJSON *item;
        size_t l = 0, second = 0;

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
                second = global && l > 0 && second == 0 ? l : second;
                l++;
        }
        if (is_every(list, c->bert.global_every))
                return RAN_OK;
        c->bert.global_every = second > 0 ? second : c->layers;
        if (is_every(list, c->bert.global_every))
                return RAN_OK;
        return ran_fail(err, RAN_EFORMAT,
                        "\"layer_types\" has no pattern that is known: every n-th layer, from the "
                        "first, must be \"%s\"",
                        global_name);
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

        if (global == NULL && local == NULL) {
                RAN_TRY(read_rope(ropes, &c->bert.rotary_base, err));
                return read_rope(ropes, &c->bert.rotary_base_local, err);
        }
        if (global != NULL)
                RAN_TRY(read_rope(global, &c->bert.rotary_base, err));
        return local != NULL ? read_rope(local, &c->bert.rotary_base_local, err) : RAN_OK;
}

int ran_hf_read_layers(struct ran_hf *f, const cJSON *all, struct ran_error *err)
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
