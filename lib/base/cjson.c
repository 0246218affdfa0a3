#include "base/cjson.h"

#include <errno.h>
#include <string.h>

/* cJSON returns NULL for both; but malloc leaves its mark in errno, and numbers another one. */
cJSON *ran_cjson_parse(const char *text, size_t n, const char **end, int *code)
{
        errno = 0;
        cJSON *value = end != NULL ? cJSON_ParseWithLengthOpts(text, n, end, false)
                                   : cJSON_ParseWithLength(text, n);

        *code = value != NULL ? RAN_OK : errno == ENOMEM ? RAN_ENOMEM : RAN_EFORMAT;
        return value;
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
