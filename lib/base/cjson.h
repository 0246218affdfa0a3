/* cjson.h - cJSON that says why not. */
#ifndef RAN_BASE_CJSON_H
#define RAN_BASE_CJSON_H

#include <cjson/cJSON.h>

#include "ran/base.h"

/* n bytes as a value, which the caller deletes. NULL: they hold no JSON, and *code is RAN_EFORMAT,
 * or memory ran out, and it is RAN_ENOMEM; err is left to the caller. *end, where it is not NULL:
 * behind the value, where anything may follow, or where it is wrong. */
cJSON *ran_cjson_parse(const char *text, size_t n, const char **end, int *code);
/* Where U+0000 stands in n bytes of JSON, as itself or as an escape; NULL: nowhere. cJSON ends
 * strings there, so that one would lose its end. */
const char *ran_cjson_nul(const char *text, size_t n);

#endif
