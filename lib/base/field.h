/* field.h - settings that were not set by text. */
#ifndef RAN_BASE_FIELD_H
#define RAN_BASE_FIELD_H

#include "ran/base.h"

/* RAN_EINVAL where a number or a choice is not in its range, as in a struct that is all zero. */
int ran_fields_check(const struct ran_field *fields, const void *base, struct ran_error *err);

#endif
