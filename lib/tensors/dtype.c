/* dtype.c - the element types of tensors: names and sizes. */
#include "tensors/tensors.h"

#include <string.h>

#define ENTRY(name, bits) {#name, bits},
static const struct {
        const char *name;
        unsigned bits;
} dtypes[RAN_DTYPES] = {RAN_DTYPE_LIST(ENTRY)};

const char *ran_dtype_name(enum ran_dtype dtype)
{
        return dtypes[dtype].name;
}

bool ran_dtype_find(const char *name, enum ran_dtype *dtype)
{
        int i = 0;

        while (i < RAN_DTYPES && strcmp(name, dtypes[i].name) != 0)
                i++;
        *dtype = (enum ran_dtype)i;
        return i < RAN_DTYPES;
}

size_t ran_dtype_number(enum ran_dtype dtype)
{
        if (dtype == RAN_DTYPE_C64)
                return 4;
        return dtypes[dtype].bits > 8 ? dtypes[dtype].bits / 8 : 1;
}

/* From left to right, as the format's validator does: [2^40, 2^40, 0] overflows, [0, 2^63] does
 * not. */
int ran_dtype_size(enum ran_dtype dtype, const size_t *shape, size_t rank, size_t *elements,
                   size_t *bytes, struct ran_error *err)
{
        const unsigned bits = dtypes[dtype].bits;
        size_t n = 1;

        for (size_t i = 0; i < rank; i++) {
                if (shape[i] != 0 && n > SIZE_MAX / shape[i])
                        return ran_fail(err, RAN_EFORMAT, "the product of its shape overflows");
                n *= shape[i];
        }
        if (n > SIZE_MAX / bits)
                return ran_fail(err, RAN_EFORMAT, "its size overflows");
        if (n * bits % 8 != 0)
                return ran_fail(err, RAN_EFORMAT, "%zu elements of type %s do not fill whole bytes",
                                n, dtypes[dtype].name);
        *elements = n;
        *bytes = n * bits / 8;
        return RAN_OK;
}
