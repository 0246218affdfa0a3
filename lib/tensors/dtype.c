/* dtype.c - the element types of tensors: names and sizes. */
#include "tensors/tensors.h"

#include <string.h>

#define ENTRY(name, bytes) {#name, bytes},
static const struct {
        const char *name;
        size_t bytes;
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

size_t ran_dtype_bytes(enum ran_dtype dtype)
{
        return dtypes[dtype].bytes;
}

/* From left to right, as the format's validator does: [2^40, 2^40, 0] overflows, [0, 2^63] does
 * not. */
int ran_dtype_size(enum ran_dtype dtype, const size_t *shape, size_t rank, size_t *elements,
                   size_t *bytes, struct ran_error *err)
{
        *elements = 1;
        for (size_t i = 0; i < rank; i++)
                if (__builtin_mul_overflow(*elements, shape[i], elements))
                        return ran_fail(err, RAN_EFORMAT, "the product of its shape overflows");
        return __builtin_mul_overflow(*elements, dtypes[dtype].bytes, bytes)
                       ? ran_fail(err, RAN_EFORMAT, "its size overflows")
                       : RAN_OK;
}
