/* cjson.c - see cjson.h. */
#include "base/cjson.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* cJSON returns NULL for both; but malloc leaves its mark in errno, and numbers another one. */
cJSON *ran_cjson_parse(const char *text, size_t n, const char **end)
{
        errno = 0;
        cJSON *value = end != NULL ? cJSON_ParseWithLengthOpts(text, n, end, false)
                                   : cJSON_ParseWithLength(text, n);

        if (value == NULL && errno == ENOMEM)
                ran_out_of_memory(n, 1);
        return value;
}

char *ran_cjson_print(const cJSON *item)
{
        char *text = cJSON_PrintUnformatted(item);

        if (text == NULL)
                ran_out_of_memory(1, sizeof *item);
        return text;
}

const char *ran_cjson_nul(const char *text, size_t n)
{
        static const char escape[] = "\\u0000";
        const char *nul = n > 0 ? memchr(text, 0, n) : NULL;

        if (n == 0 || nul != NULL)
                return nul;
        for (const char *s = text; (s = memmem(s, (size_t)(text + n - s), escape, 6)) != NULL;
             s += 6) {
                size_t before = 0; /* an even number of backslashes before it: it is an escape */
                while (s - before > text && s[-(ptrdiff_t)before - 1] == '\\')
                        before++;
                if (before % 2 == 0)
                        return s;
        }
        return NULL;
}

/* ---- files that are not trusted ---------------------------------------------------------------
 */

int ran_cjson_read(cJSON **value, const char *text, size_t n, bool array, struct ran_error *err)
{
        const char *end = NULL;
        int rc = RAN_OK;

        *value = NULL;
        if (ran_cjson_nul(text, n) != NULL)
                return ran_fail(err, RAN_EFORMAT, "it holds U+0000");
        if (ran_utf8_valid(text, n) != n)
                return ran_fail(err, RAN_EFORMAT, "it is not in UTF-8");
        cJSON *all = ran_cjson_parse(text, n, &end);
        while (all != NULL && end < text + n && strchr(" \t\r\n", *end) != NULL)
                end++;
        if (all == NULL || end < text + n)
                rc = ran_fail(err, RAN_EFORMAT, "it is not JSON");
        else if (!(array ? cJSON_IsArray(all) : cJSON_IsObject(all)))
                rc = ran_fail(err, RAN_EFORMAT, "it is not a JSON %s", array ? "array" : "object");
        if (rc == RAN_OK)
                *value = all;
        else
                cJSON_Delete(all);
        return rc;
}

const cJSON *ran_cjson_member(const cJSON *object, const char *name)
{
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *ran_cjson_text(const cJSON *object, const char *name)
{
        return cJSON_GetStringValue(ran_cjson_member(object, name));
}

bool ran_cjson_is_null(const cJSON *item)
{
        return item == NULL || cJSON_IsNull(item);
}

bool ran_cjson_said(const cJSON *object, const char *name)
{
        return !ran_cjson_is_null(ran_cjson_member(object, name));
}

bool ran_cjson_whole(const cJSON *item, double low, double high, size_t *x)
{
        const double value = cJSON_IsNumber(item) ? item->valuedouble : -1;

        if (!(value >= low && value <= high) || value != floor(value))
                return false;
        *x = (size_t)value;
        return true;
}

int ran_cjson_size(const cJSON *object, const char *name, size_t low, size_t high, size_t *x,
                   struct ran_error *err)
{
        const cJSON *item = ran_cjson_member(object, name);

        return ran_cjson_is_null(item) || ran_cjson_whole(item, (double)low, (double)high, x)
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT, "\"%s\" must be a whole number from %zu to %zu",
                                  name, low, high);
}

int ran_cjson_need_size(const cJSON *object, const char *name, size_t low, size_t high, size_t *x,
                        struct ran_error *err)
{
        return ran_cjson_said(object, name) ? ran_cjson_size(object, name, low, high, x, err)
                                            : ran_fail(err, RAN_EFORMAT, "it has no \"%s\"", name);
}

int ran_cjson_real(const cJSON *object, const char *name, double low, double high, double *x,
                   struct ran_error *err)
{
        const cJSON *item = ran_cjson_member(object, name);

        if (ran_cjson_is_null(item))
                return RAN_OK;
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= low) || !(item->valuedouble <= high))
                return ran_fail(err, RAN_EFORMAT, "\"%s\" must be a number from %g to %g", name,
                                low, high);
        *x = item->valuedouble;
        return RAN_OK;
}

/* A part of a tokenizer.json has a type. */
int ran_cjson_bool(const cJSON *object, const char *name, bool absent, bool *x,
                   struct ran_error *err)
{
        const cJSON *item = ran_cjson_member(object, name);
        const char *type = ran_cjson_text(object, "type");

        *x = ran_cjson_is_null(item) ? absent : cJSON_IsTrue(item);
        if (ran_cjson_is_null(item) || cJSON_IsBool(item))
                return RAN_OK;
        return type != NULL
                       ? ran_fail(err, RAN_EFORMAT, "'%s' of %s must be true or false", name, type)
                       : ran_fail(err, RAN_EFORMAT, "\"%s\" must be true or false", name);
}

int ran_cjson_string(const cJSON *object, const char *name, const char **x, struct ran_error *err)
{
        const cJSON *item = ran_cjson_member(object, name);

        *x = cJSON_GetStringValue(item);
        return *x != NULL || ran_cjson_is_null(item)
                       ? RAN_OK
                       : ran_fail(err, RAN_EFORMAT, "\"%s\" must be a string", name);
}
