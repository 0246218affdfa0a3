/* hf-json.c - members of the JSON files of a folder, not trusted. See hf-folder.h. */
#include "hf/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(const char *text, const char *end)
{
        for (; text < end; text++)
                if (strchr(" \t\r\n", *text) == NULL || *text == '\0')
                        return false;
        return true;
}

int ran_hf_parse(cJSON **value, const char *text, size_t n, bool array, struct ran_error *err)
{
        const char *end;
        int rc;

        *value = NULL;
        if (ran_cjson_nul(text, n) != NULL)
                return ran_fail(err, RAN_EFORMAT, "it holds U+0000");
        if (ran_utf8_valid(text, n) != n)
                return ran_fail(err, RAN_EFORMAT, "it is not in UTF-8");
        cJSON *all = ran_cjson_parse(text, n, &end, &rc);
        if (rc == RAN_ENOMEM)
                return ran_fail(err, rc, "out of memory");
        if (rc != RAN_OK || !is_space(end, text + n)) {
                cJSON_Delete(all);
                return ran_fail(err, RAN_EFORMAT, "it is not JSON");
        }
        if (!(array ? cJSON_IsArray(all) : cJSON_IsObject(all))) {
                cJSON_Delete(all);
                return ran_fail(err, RAN_EFORMAT, "it is not a JSON %s",
                                array ? "array" : "object");
        }
        *value = all;
        return RAN_OK;
}

static const cJSON *member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

bool ran_hf_said(const cJSON *object, const char *name)
{
        const cJSON *x = member(object, name);

        return x != NULL && !cJSON_IsNull(x);
}

int ran_hf_size(const cJSON *object, const char *name, size_t low, size_t high, size_t *x,
                struct ran_error *err)
{
        const cJSON *item = member(object, name);
        const double value = cJSON_IsNumber(item) ? item->valuedouble : -1;

        if (!ran_hf_said(object, name))
                return RAN_OK;
        if (!(value >= (double)low && value <= (double)high) || value != floor(value))
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be a whole number from %zu to %zu",
                                name, low, high);
        *x = (size_t)value;
        return RAN_OK;
}

int ran_hf_need_size(const cJSON *object, const char *name, size_t low, size_t high, size_t *x,
                     struct ran_error *err)
{
        if (!ran_hf_said(object, name))
                return ran_fail(err, RAN_EFORMAT, "it has no \"%s\"", name);
        return ran_hf_size(object, name, low, high, x, err);
}

int ran_hf_real(const cJSON *object, const char *name, double low, double high, double *x,
                struct ran_error *err)
{
        const cJSON *item = member(object, name);

        if (!ran_hf_said(object, name))
                return RAN_OK;
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= low) || !(item->valuedouble <= high))
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be a number from %g to %g", name,
                                low, high);
        *x = item->valuedouble;
        return RAN_OK;
}

int ran_hf_flag(const cJSON *object, const char *name, bool *x, struct ran_error *err)
{
        const cJSON *item = member(object, name);

        if (!ran_hf_said(object, name))
                return RAN_OK;
        if (!cJSON_IsBool(item))
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be true or false", name);
        *x = cJSON_IsTrue(item);
        return RAN_OK;
}

int ran_hf_string(const cJSON *object, const char *name, const char **x, struct ran_error *err)
{
        const cJSON *item = member(object, name);

        *x = NULL;
        if (!ran_hf_said(object, name))
                return RAN_OK;
        if (!cJSON_IsString(item))
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be a string", name);
        *x = item->valuestring;
        return RAN_OK;
}

int ran_hf_copy(char **to, const char *text, struct ran_error *err)
{
        char *copy = ran_alloc(strlen(text) + 1, 1, err);

        if (copy == NULL)
                return RAN_ENOMEM;
        memcpy(copy, text, strlen(text) + 1);
        free(*to);
        *to = copy;
        return RAN_OK;
}

int ran_hf_activation(const char *name, int *activation, struct ran_error *err)
{
        static const struct {
                const char *name;
                int activation;
        } known[] = {
                {"gelu", RAN_ACTIVATION_GELU},
                {"gelu_python", RAN_ACTIVATION_GELU},
                {"gelu_new", RAN_ACTIVATION_GELU_TANH},
                {"gelu_pytorch_tanh", RAN_ACTIVATION_GELU_TANH},
                {"gelu_fast", RAN_ACTIVATION_GELU_TANH},
                {"relu", RAN_ACTIVATION_RELU},
                {"silu", RAN_ACTIVATION_SILU},
                {"swish", RAN_ACTIVATION_SILU},
                {"tanh", RAN_ACTIVATION_TANH},
        };

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (strcmp(name, known[i].name) == 0) {
                        *activation = known[i].activation;
                        return RAN_OK;
                }
        return ran_fail(err, RAN_EFORMAT,
                        "the activation \"%s\" is not known: gelu, gelu_new, gelu_pytorch_tanh, "
                        "gelu_fast, relu, silu, swish and tanh are",
                        name);
}
