/* cjson.h - cJSON that does not fail for memory, and members that are not trusted. */
#ifndef RAN_BASE_CJSON_H
#define RAN_BASE_CJSON_H

#include <cjson/cJSON.h>

#include "ran/base.h"

/* Parses n bytes into a value, which the caller deletes; NULL: they are no JSON. *end, unless NULL:
 * the end of the value, which anything may follow, or the position of the mistake. */
cJSON *ran_cjson_parse(const char *text, size_t n, const char **end);
/* The value as text without blanks; the caller frees it with cJSON_free. */
char *ran_cjson_print(const cJSON *item) __attribute__((returns_nonnull));
/* The position of the first U+0000 in n bytes of JSON, raw or as an escape; NULL without one. cJSON
 * would end a string there. */
const char *ran_cjson_nul(const char *text, size_t n);

/* ---- files that are not trusted ---------------------------------------------------------------
 */

/* Parses an object or, with `array`, an array, without U+0000 and with nothing behind it. The
 * caller deletes it. RAN_EFORMAT. */
int ran_cjson_read(cJSON **value, const char *text, size_t n, bool array, struct ran_error *err);

/* The member of an object, which may be NULL; NULL: there is none. */
const cJSON *ran_cjson_member(const cJSON *object, const char *name);
const char *ran_cjson_text(const cJSON *object, const char *name); /* NULL: it is no string */
bool ran_cjson_is_null(const cJSON *item);                         /* or absent */
bool ran_cjson_said(const cJSON *object, const char *name);        /* there, and not null */
/* A whole number from low to high. */
bool ran_cjson_whole(const cJSON *item, double low, double high, size_t *x);

/* The member, which must be a number of that kind; unsaid: *x stays as it is. RAN_EFORMAT. */
int ran_cjson_size(const cJSON *object, const char *name, size_t low, size_t high, size_t *x,
                   struct ran_error *err);
int ran_cjson_need_size(const cJSON *object, const char *name, size_t low, size_t high, size_t *x,
                        struct ran_error *err);
int ran_cjson_real(const cJSON *object, const char *name, double low, double high, double *x,
                   struct ran_error *err);
/* Unsaid: `absent`. */
int ran_cjson_bool(const cJSON *object, const char *name, bool absent, bool *x,
                   struct ran_error *err);
/* Unsaid: NULL. */
int ran_cjson_string(const cJSON *object, const char *name, const char **x, struct ran_error *err);

#endif
