/* compact.c - see compact.h. */
#include "tensors/compact.h"
#include "ran/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const ran_storage_names[] = {"f32", "f16", "i8", NULL};

enum { CODES = 127 };           /* the largest code, of either sign */
enum { SHORT = sizeof(float) }; /* in so short a row, F16 takes no more than I8 and a scale */
static const float largest_half = 65504;

uint16_t ran_half_of_float(float x)
{
        uint32_t bits, sign, magnitude;

        memcpy(&bits, &x, sizeof x);
        sign = bits >> 16 & 0x8000;
        magnitude = bits & 0x7fffffff;
        if (magnitude > 0x7f800000)
                return (uint16_t)(sign | 0x7e00); /* NaN */
        if (magnitude >= 0x477ff000)              /* from 65520 on */
                return (uint16_t)(sign | 0x7c00);
        if (magnitude < 0x38800000) { /* below 2^-14: subnormal, steps of 2^-24 */
                float steps = fabsf(x) * 0x1p24f;

                return (uint16_t)(sign | (uint32_t)lrintf(steps));
        }
        /* The exponent's bias changes by 112; half of the last place kept, less one bit unless that
         * place is odd, carries where it should. */
        magnitude += (uint32_t)-112 * (1u << 23) + 0xfff + (magnitude >> 13 & 1);
        return (uint16_t)(sign | magnitude >> 13);
}

enum ran_dtype ran_compact_dtype_of(int storage, const float *x, size_t rows, size_t cols)
{
        const bool half = storage == RAN_STORAGE_F16 || cols <= SHORT;
        const float most = half ? largest_half : FLT_MAX;

        if (storage == RAN_STORAGE_F32 || rows == 0)
                return RAN_DTYPE_F32;
        for (size_t i = 0; i < rows * cols; i++)
                if (!(fabsf(x[i]) <= most))
                        return RAN_DTYPE_F32;
        return half ? RAN_DTYPE_F16 : RAN_DTYPE_I8;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* scale > 0; a subnormal one is so coarse that a quotient may be larger than any code. */
static float code_of(float x, float scale)
{
        float code = rintf(x / scale);

        return code > CODES ? CODES : code < -CODES ? -CODES : code;
}

static bool gives(const float *x, size_t cols, float scale)
{
        for (size_t i = 0; i < cols; i++)
                if (x[i] != scale * code_of(x[i], scale))
                        return false;
        return true;
}

/* Of a row that is rounded already, the scale that it has: dividing its largest number by 127 may
 * give a neighbour. */
static float scale_of(const float *x, size_t cols)
{
        float most = 0;

        for (size_t i = 0; i < cols; i++)
                most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
        const float scale = most / CODES;
        const float near[] = {scale, nextafterf(scale, 0), nextafterf(scale, INFINITY)};
        for (size_t i = 0; i < 3 && scale > FLT_MIN; i++)
                if (gives(x, cols, near[i]))
                        return near[i];
        return scale;
}

float ran_compact_row(int8_t *code, const float *x, size_t cols)
{
        const float scale = scale_of(x, cols);

        for (size_t i = 0; i < cols; i++)
                code[i] = scale > 0 ? (int8_t)code_of(x[i], scale) : 0;
        return scale;
}

/* As a file gives them: a code has no -0. */
static void round_row(float *x, size_t cols)
{
        const float scale = scale_of(x, cols);

        for (size_t i = 0; i < cols; i++)
                x[i] = scale > 0 ? scale * (float)(int8_t)code_of(x[i], scale) : 0;
}

void ran_compact_round(int storage, float *x, size_t rows, size_t cols)
{
        switch (ran_compact_dtype_of(storage, x, rows, cols)) {
        case RAN_DTYPE_F16:
                for (size_t i = 0; i < rows * cols; i++)
                        x[i] = ran_float_of_half(ran_half_of_float(x[i]));
                break;
        case RAN_DTYPE_I8:
                for (size_t r = 0; r < rows; r++)
                        round_row(x + r * cols, cols);
                break;
        default:
                break;
        }
}

/* ---- tensors to be written ------------------------------------------------------------------- */

void ran_compact_add(struct ran_compact_tensors *t, const struct ran_tensor_source *source)
{
        RAN_ROOM(t->source, t->cap, t->n + 1);
        t->source[t->n++] = *source;
}

/* Memory that goes with t. */
static void *own(struct ran_compact_tensors *t, size_t n, size_t size)
{
        RAN_ROOM(t->owned, t->owned_cap, t->owned_n + 1);
        return t->owned[t->owned_n++] = ran_new(n, size);
}

static void add(struct ran_compact_tensors *t, const char *name, enum ran_dtype dtype,
                const void *data, size_t rows, size_t cols)
{
        ran_compact_add(t, &(const struct ran_tensor_source){
                                   .name = name,
                                   .dtype = dtype,
                                   .rank = rows > 0 ? 2 : 1,
                                   .shape = {rows > 0 ? rows : cols, rows > 0 ? cols : 0},
                                   .data = data});
}

static void add_half(struct ran_compact_tensors *t, const char *name, const float *x, size_t rows,
                     size_t cols)
{
        const size_t n = (rows > 0 ? rows : 1) * cols;
        uint16_t *half = own(t, n, sizeof *half);

        for (size_t i = 0; i < n; i++)
                half[i] = ran_half_of_float(x[i]);
        add(t, name, RAN_DTYPE_F16, half, rows, cols);
}

static void add_codes(struct ran_compact_tensors *t, const char *name, const float *x, size_t rows,
                      size_t cols)
{
        int8_t *code = own(t, rows * cols, sizeof *code);
        float *scale = own(t, rows, sizeof *scale);
        char *scale_name = own(t, strlen(name) + sizeof RAN_SCALE_SUFFIX, 1);

        for (size_t r = 0; r < rows; r++)
                scale[r] = ran_compact_row(code + r * cols, x + r * cols, cols);
        sprintf(scale_name, "%s" RAN_SCALE_SUFFIX, name);
        add(t, name, RAN_DTYPE_I8, code, rows, cols);
        add(t, scale_name, RAN_DTYPE_F32, scale, 0, rows);
}

void ran_compact_add_weights(struct ran_compact_tensors *t, int storage, const char *name,
                             const float *x, size_t rows, size_t cols)
{
        switch (ran_compact_dtype_of(storage, x, rows, cols)) {
        case RAN_DTYPE_F16:
                add_half(t, name, x, rows, cols);
                break;
        case RAN_DTYPE_I8:
                add_codes(t, name, x, rows, cols);
                break;
        default:
                add(t, name, RAN_DTYPE_F32, x, rows, cols);
        }
}

/* Adds a tensor of a file, with a copy as floats where its elements cannot be used in place. */
static void add_stored(struct ran_compact_tensors *t, const struct ran_tensors *file,
                       const struct ran_tensor *tensor)
{
        const bool matrix = tensor->rank == 2;
        const void *data = ran_tensor_elements(file, tensor);
        float *copy = data == NULL ? own(t, tensor->elements, sizeof *copy) : NULL;

        if (copy != NULL)
                ran_tensor_floats(file, tensor, copy, NULL);
        add(t, tensor->name, data != NULL ? tensor->dtype : RAN_DTYPE_F32,
            data != NULL ? data : copy, matrix ? tensor->shape[0] : 0, tensor->shape[matrix]);
}

bool ran_compact_add_from(struct ran_compact_tensors *t, const struct ran_tensors *file,
                          const char *name, size_t rows, size_t cols)
{
        const struct ran_tensor *of = file != NULL ? ran_tensors_find(file, name) : NULL;

        if (of == NULL || of->rank != 1 + (rows > 0) || of->elements != ran_most(rows, 1) * cols)
                return false;
        add_stored(t, file, of);
        if (of->dtype == RAN_DTYPE_I8)
                add_stored(t, file, ran_tensor_scales(file, of, NULL));
        return true;
}

void ran_compact_add_idf(struct ran_compact_tensors *t, int storage, const char *name,
                         const float *idf, size_t n)
{
        if (storage == RAN_STORAGE_F32)
                ran_compact_add_weights(t, storage, name, idf, 0, n);
        else
                add_half(t, name, idf, 0, n);
}

void ran_compact_release(struct ran_compact_tensors *t)
{
        for (size_t i = 0; i < t->owned_n; i++)
                free(t->owned[i]);
        free(t->owned);
        free(t->source);
        *t = (struct ran_compact_tensors){0};
}
