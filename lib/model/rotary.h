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
/* Makes the table serve positions up to `longest`, if the configuration has rotary positions. */
int ran_rotary_reserve(struct ran_rotary *r, const struct ran_config *c, size_t longest,
                       struct ran_error *err);

/* Room for `wanted` where there was room for `had`. A document that goes on token by token asks for
 * one more each time: an eighth is made ahead. */
static inline size_t ran_rotary_ahead(size_t had, size_t wanted)
{
        return wanted > had + had / 8 ? wanted : had + had / 8;
}

#endif
