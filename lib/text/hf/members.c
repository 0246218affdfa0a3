/* members.c - the members of a tokenizer.json: what its reader and its writer have in common. */
#include <string.h>

#include "text/hf/hf.h"

const cJSON *ran_hf_member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *ran_hf_text(const cJSON *object, const char *name)
{
        return cJSON_GetStringValue(ran_hf_member(object, name));
}

const char *ran_hf_type(const cJSON *object)
{
        const char *type = ran_hf_text(object, "type");

        if (type != NULL)
                return type;
        return object == NULL || cJSON_IsNull(object) ? "null" : "(without a type)";
}

bool ran_hf_is_null(const cJSON *item)
{
        return item == NULL || cJSON_IsNull(item);
}

int ran_hf_bool(const cJSON *object, const char *name, bool absent, bool *value,
                struct ran_error *err)
{
        const cJSON *item = ran_hf_member(object, name);

        if (!ran_hf_is_null(item) && !cJSON_IsBool(item))
                return ran_fail(err, RAN_EFORMAT, "'%s' of %s must be true or false", name,
                                ran_hf_type(object));
        *value = ran_hf_is_null(item) ? absent : cJSON_IsTrue(item);
        return RAN_OK;
}

bool ran_hf_number(const cJSON *item, double limit, size_t *value)
{
        double x = cJSON_IsNumber(item) ? cJSON_GetNumberValue(item) : -1;

        if (!(x >= 0 && x < limit) || x != (double)(size_t)x)
                return false;
        *value = (size_t)x;
        return true;
}

/* ---- steps without parameters, and patterns ----------------------------------------------------
 */

const struct ran_hf_plain_step ran_hf_plain_steps[] = {
        {"NFC", NORMAL_NFC},
        {"NFD", NORMAL_NFD},
        {"NFKC", NORMAL_NFKC},
        {"NFKD", NORMAL_NFKD},
        {"StripAccents", NORMAL_STRIP_MARKS},
        {"Lowercase", NORMAL_LOWERCASE},
        {NULL, 0},
};

#define GPT4_PATTERN(digits)                                                 \
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
const struct ran_hf_pattern ran_hf_patterns[] = {
        {GPT4_PATTERN("\\p{N}{1,3}"), SPLIT_GPT4, 3},
        {GPT4_PATTERN("\\p{N}"), SPLIT_GPT4, 1},
        {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
         RAN_SPLIT_GPT2, 0},
        {NULL, 0, 0},
};
