/* dropout.c - see dropout.h. */
#include "nn/dropout.h"
#include "math/simd.h"

void ran_dropout(const struct ran_noise *noise, uint64_t record, size_t layer, int site, double p,
                 float *x, size_t n, size_t at)
{
        uint64_t purpose = RAN_FOR_DROPOUT + 16 * (layer * RAN_DROP_SITES + (uint64_t)site);

        if (p > 0)
                ran_simd->dropout(x, n, ran_random_key(noise->seed, purpose, noise->epoch, record),
                                  at, p);
}
