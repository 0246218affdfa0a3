/* compact.h - weights in fewer bits, as a finished model may store them (--weights).
 *
 *   f16   matrices and wide.idf as F16, rounded to nearest
 *   i8    matrices as I8, one scale a row in a tensor of their own, NAME.scale (F32):
 *             w[r][i] = scale[r] code[r][i],   scale[r] = max |w[r]| / 127
 *         where rows are so short that the scale would take more than it saves, as F16
 *
 * Vectors stay F32, and so does a matrix with a number that is not finite or beyond F16. Rounding
 * what is rounded already changes nothing: the largest of a row is always 127.
 */
#ifndef RAN_MODEL_COMPACT_H
#define RAN_MODEL_COMPACT_H

#include "tensors/tensors.h"

#include <string.h>

/* IEEE 754 binary16: 1 bit of sign, 5 of exponent (bias 15), 10 of fraction. Multiplying by 2^112
 * moves the exponent to a float's bias, and makes ordinary numbers of subnormal ones. */
static inline float ran_float_of_half(uint16_t half)
{
        uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
        float x;

        memcpy(&x, &bits, sizeof x);
        x *= 0x1p112f;
        memcpy(&bits, &x, sizeof x);
        if ((half & 0x7c00) == 0x7c00) /* infinity or NaN */
                bits |= 0x7f800000;
        bits |= (uint32_t)(half & 0x8000) << 16;
        memcpy(&x, &bits, sizeof x);
        return x;
}

/* To nearest, ties to even; beyond 65504 infinity. */
uint16_t ran_half_of_float(float x);

/* How x (rows, cols) is stored: vectors (rows 0) as F32, and numbers that are out of range. */
enum ran_dtype ran_compact_dtype_of(int storage, const float *x, size_t rows, size_t cols);

/* codes (cols) of a row; returns its scale. */
float ran_compact_row(int8_t *code, const float *x, size_t cols);

/* Rounds a matrix to the numbers that a reader of the model will get; wide.idf as a matrix of one
 * column. F32: nothing. */
void ran_compact_round(int storage, float *x, size_t rows, size_t cols);

/* Tensors to be written, and the memory of those that had to be made. */
struct ran_compact_tensors {
        struct ran_tensor_source *source; /* (n) */
        size_t n, cap;
        void **owned; /* (owned_n) */
        size_t owned_n, owned_cap;
};
void ran_compact_add(struct ran_compact_tensors *t, const struct ran_tensor_source *source);
/* x, of the type ran_compact_dtype_of; with its scales, if it has any. rows 0: a vector. The name
 * must outlive t. */
void ran_compact_add_weights(struct ran_compact_tensors *t, int storage, const char *name,
                             const float *x, size_t rows, size_t cols);
/* The tensor of that name as an open model's file has it; false if it has none of that shape, or is
 * NULL. The file must outlive t. */
bool ran_compact_add_from(struct ran_compact_tensors *t, const struct ran_tensors *file,
                          const char *name, size_t rows, size_t cols);
/* wide.idf (n). */
void ran_compact_add_idf(struct ran_compact_tensors *t, int storage, const char *name,
                         const float *idf, size_t n);
void ran_compact_release(struct ran_compact_tensors *t);

#endif
