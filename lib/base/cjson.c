#include "base/cjson.h"

#include <errno.h>

/* cJSON returns NULL for both; but malloc leaves its mark in errno, and numbers another one. */
cJSON *cjson_parse(const char *text, size_t n, const char **end, int *code)
{
        errno = 0;
        cJSON *value = end != NULL ? cJSON_ParseWithLengthOpts(text, n, end, false)
                                   : cJSON_ParseWithLength(text, n);

        *code = value != NULL ? RAN_OK : errno == ENOMEM ? RAN_ENOMEM : RAN_EFORMAT;
        return value;
}
