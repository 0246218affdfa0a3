/* dtype.c - the element types of tensors: names and sizes. */
#include "tensors/tensors.h"

#include <string.h>

static const struct {
        const char *name;
        unsigned bits;
} dtypes[RAN_DTYPES] = {
        [RAN_DTYPE_BOOL] = {"BOOL", 8},
        [RAN_DTYPE_F4] = {"F4", 4},
        [RAN_DTYPE_F6_E2M3] = {"F6_E2M3", 6},
        [RAN_DTYPE_F6_E3M2] = {"F6_E3M2", 6},
        [RAN_DTYPE_U8] = {"U8", 8},
        [RAN_DTYPE_I8] = {"I8", 8},
        [RAN_DTYPE_F8_E5M2] = {"F8_E5M2", 8},
        [RAN_DTYPE_F8_E4M3] = {"F8_E4M3", 8},
        [RAN_DTYPE_F8_E8M0] = {"F8_E8M0", 8},
        [RAN_DTYPE_F8_E4M3FNUZ] = {"F8_E4M3FNUZ", 8},
        [RAN_DTYPE_F8_E5M2FNUZ] = {"F8_E5M2FNUZ", 8},
        [RAN_DTYPE_I16] = {"I16", 16},
        [RAN_DTYPE_U16] = {"U16", 16},
        [RAN_DTYPE_F16] = {"F16", 16},
        [RAN_DTYPE_BF16] = {"BF16", 16},
        [RAN_DTYPE_I32] = {"I32", 32},
        [RAN_DTYPE_U32] = {"U32", 32},
        [RAN_DTYPE_F32] = {"F32", 32},
        [RAN_DTYPE_C64] = {"C64", 64},
        [RAN_DTYPE_F64] = {"F64", 64},
        [RAN_DTYPE_I64] = {"I64", 64},
        [RAN_DTYPE_U64] = {"U64", 64},
};

const char *ran_dtype_name(enum ran_dtype dtype)
{
        return dtypes[dtype].name;
}

bool ran_dtype_find(const char *name, enum ran_dtype *dtype)
{
        for (int i = 0; i < RAN_DTYPES; i++) {
                if (strcmp(name, dtypes[i].name) == 0) {
                        *dtype = (enum ran_dtype)i;
                        return true;
                }
        }
        return false;
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
