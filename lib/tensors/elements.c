/* elements.c - the elements of a tensor: in place, or converted. */
#include "tensors/compact.h"
#include "tensors/tensors.h"

#include <string.h>

static uint64_t load(const unsigned char *p, size_t bytes)
{
        uint64_t x = 0;

        for (size_t i = 0; i < bytes; i++)
                x |= (uint64_t)p[i] << 8 * i;
        return x;
}

static float float_of_bits(uint32_t bits)
{
        float x;

        memcpy(&x, &bits, sizeof(x));
        return x;
}

const struct ran_tensor *ran_tensor_scales(const struct ran_tensors *t,
                                           const struct ran_tensor *tensor, struct ran_error *err)
{
        struct ran_buf name = {0};

        ran_buf_printf(&name, "%s" RAN_SCALE_SUFFIX, tensor->name); /* and a NUL */
        const struct ran_tensor *scales = ran_tensors_find(t, name.data);
        ran_buf_release(&name);
        if (scales != NULL && tensor->rank == 2 && scales->dtype == RAN_DTYPE_F32 &&
            scales->rank == 1 && scales->elements == tensor->shape[0])
                return scales;
        ran_fail(err, RAN_EFORMAT,
                 "tensor %s is I8 without a scale for each row: %s" RAN_SCALE_SUFFIX
                 " must be a vector of F32",
                 tensor->name, tensor->name);
        return NULL;
}

static int codes_to_floats(const struct ran_tensors *t, const struct ran_tensor *tensor, float *out,
                           struct ran_error *err)
{
        err = ran_error_or_spare(err);
        const struct ran_tensor *scales = ran_tensor_scales(t, tensor, err);
        if (scales == NULL)
                return (int)err->code;
        const unsigned char *p = t->data + tensor->begin, *s = t->data + scales->begin;
        for (size_t r = 0; r < tensor->shape[0]; r++) {
                const float scale = float_of_bits((uint32_t)load(s + 4 * r, 4));

                for (size_t i = 0; i < tensor->shape[1]; i++)
                        *out++ = scale * (float)(int8_t)*p++;
        }
        return RAN_OK;
}

int ran_tensor_floats(const struct ran_tensors *t, const struct ran_tensor *tensor, float *out,
                      struct ran_error *err)
{
        const unsigned char *p = t->data + tensor->begin;
        const size_t n = tensor->elements;

        switch (tensor->dtype) {
        case RAN_DTYPE_F32:
                for (size_t i = 0; i < n; i++)
                        out[i] = float_of_bits((uint32_t)load(p + 4 * i, 4));
                break;
        case RAN_DTYPE_F64:
                for (size_t i = 0; i < n; i++) {
                        const uint64_t bits = load(p + 8 * i, 8);
                        double x;

                        memcpy(&x, &bits, sizeof x);
                        out[i] = (float)x;
                }
                break;
        case RAN_DTYPE_F16:
                for (size_t i = 0; i < n; i++)
                        out[i] = ran_float_of_half((uint16_t)load(p + 2 * i, 2));
                break;
        case RAN_DTYPE_BF16: /* the upper half of a float32 */
                for (size_t i = 0; i < n; i++)
                        out[i] = float_of_bits((uint32_t)load(p + 2 * i, 2) << 16);
                break;
        case RAN_DTYPE_I8:
                return codes_to_floats(t, tensor, out, err);
        default:
                return ran_fail(err, RAN_EFORMAT,
                                "tensor \"%s\" has elements of type %s: F32, F16, BF16, F64 or I8 "
                                "is needed",
                                tensor->name, ran_dtype_name(tensor->dtype));
        }
        return RAN_OK;
}

const void *ran_tensor_elements(const struct ran_tensors *t, const struct ran_tensor *tensor)
{
        const unsigned char *p = t->data + tensor->begin;
        const size_t width = ran_dtype_bytes(tensor->dtype);
        bool same_order = width == 1 || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

        return same_order && (uintptr_t)p % width == 0 ? p : NULL;
}

const float *ran_tensor_in_place(const struct ran_tensors *t, const struct ran_tensor *tensor)
{
        return tensor->dtype == RAN_DTYPE_F32 ? ran_tensor_elements(t, tensor) : NULL;
}

const uint32_t *ran_tensor_integers(const struct ran_tensors *t, const struct ran_tensor *tensor,
                                    uint32_t **copy)
{
        const unsigned char *p = t->data + tensor->begin;
        const uint32_t *there = ran_tensor_elements(t, tensor);

        if (there != NULL)
                return there;
        *copy = ran_new(tensor->elements, sizeof **copy);
        for (size_t i = 0; i < tensor->elements; i++)
                (*copy)[i] = (uint32_t)load(p + 4 * i, 4);
        return *copy;
}
