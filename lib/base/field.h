/* field.h - what reading settings from text, checking them and reading them from JSON share. */
#ifndef RAN_BASE_FIELD_H
#define RAN_BASE_FIELD_H

#include "ran/base.h"

/* Whole numbers up to here survive JSON, where a number may become a double: no other one becomes
 * the same double. A size_t of 32 bits ends before. */
#define RAN_FIELD_LARGEST (SIZE_MAX >> (sizeof(size_t) > 4 ? 11 : 0))

/* The value of a field in a struct that its table describes. */
static inline void *ran_field_at(const struct ran_field *field, void *base)
{
        return (char *)base + field->offset;
}

/* Adds the name of n bytes to the choices; RAN_EINVAL, with the names that there are, if it is
 * none. */
int ran_field_add_choice(const struct ran_field *field, struct ran_choices *choices,
                         const char *text, size_t n, struct ran_error *err);

/* RAN_EINVAL where a number or a choice is not in its range, as in a struct that is all zero. */
int ran_fields_check(const struct ran_field *fields, const void *base, struct ran_error *err);

#endif
