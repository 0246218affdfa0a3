/* arena.c - see arena.h. */
#include "nn/arena.h"

#include <math.h>
#include <stddef.h>

float *ran_arena_take(struct ran_arena *k, double floats)
{
        float *at = k->base != NULL ? k->base + (size_t)k->count : NULL;

        k->count += ceil(floats / 16.0) * 16.0;
        return at;
}
