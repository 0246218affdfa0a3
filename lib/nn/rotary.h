/* rotary.h - the table of cosines and sines by which rotary positions turn queries and keys. */
#ifndef RAN_MODEL_ROTARY_H
#define RAN_MODEL_ROTARY_H

#include "ran/model.h"

/* Zero-initialise. */
struct ran_rotary {
        float *table;   /* (longest + 1, 2 d_k): see ran_simd.rotary */
        size_t longest; /* the last position it serves */
};
void ran_rotary_release(struct ran_rotary *r);
/* Makes the table serve heads of width d_k at positions up to `longest`: pair k turns by base^(-2k
 * / d_k) from one position to the next. Width and base stay the same. */
#define RAN_ROTARY_BASE 10000
int ran_rotary_reserve(struct ran_rotary *r, size_t d_k, double base, size_t longest,
                       struct ran_error *err);

/* The new capacity for `wanted` where `had` was enough before. A document that continues token
 * by token asks for one more each time, so an eighth is added. */
static inline size_t ran_rotary_ahead(size_t had, size_t wanted)
{
        return wanted > had + had / 8 ? wanted : had + had / 8;
}

#endif
