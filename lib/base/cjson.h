/* cjson.h - cJSON with a reason when parsing fails. */
#ifndef RAN_BASE_CJSON_H
#define RAN_BASE_CJSON_H

#include <cjson/cJSON.h>

#include "ran/base.h"

/* Parses n bytes into a value, which the caller deletes. On failure returns NULL and sets *code:
 * RAN_EFORMAT for invalid JSON, RAN_ENOMEM; the caller writes the sentence. *end, unless NULL: the
 * end of the value, which anything may follow, or the position of the mistake. */
cJSON *ran_cjson_parse(const char *text, size_t n, const char **end, int *code);
/* The position of the first U+0000 in n bytes of JSON, raw or as an escape; NULL without one. cJSON
 * would end a string there. */
const char *ran_cjson_nul(const char *text, size_t n);

#endif
