/* rotary.c - the table of rotary positions: see workspace.h. Angles are in double: in float32 a
 * cosine is off by 1e-2 at position 10^6. */
#include "nn/workspace.h"
#include "math/elementary.h"

#include <stdlib.h>
#include <string.h>

void ran_rotary_release(struct ran_rotary *r)
{
        free(r->table);
        *r = (struct ran_rotary){0};
}

int ran_rotary_reserve(struct ran_rotary *r, size_t d_k, double base, size_t longest,
                       struct ran_error *err)
{
        size_t had = r->table != NULL ? r->longest + 1 : 0;

        if (longest < had)
                return RAN_OK;
        longest = ran_rotary_ahead(had, longest);
        float *table = ran_alloc_floats((longest + 1) * 2 * d_k, err);
        if (table == NULL)
                return RAN_ENOMEM;
        if (had > 0)
                memcpy(table, r->table, had * 2 * d_k * sizeof *table);
        for (size_t i = 0; i < d_k; i += 2) {
                double frequency = ran_exp((double)i / (double)d_k * -ran_log(base));

                for (size_t t = had; t <= longest; t++) {
                        double angle = (double)t * frequency;
                        float *cosine = table + t * 2 * d_k + i, *sine = cosine + d_k;

                        cosine[0] = cosine[1] = (float)ran_cos(angle);
                        sine[1] = (float)ran_sin(angle);
                        sine[0] = -sine[1];
                }
        }
        free(r->table);
        r->table = table;
        r->longest = longest;
        return RAN_OK;
}
