#include "base/random.h"
#include "ran/base.h"

/* Each input picks a child of the previous key, so that neighbouring seeds, epochs and records have
 * unrelated sequences. */
uint64_t ran_random_key(uint64_t seed, uint64_t purpose, uint64_t epoch, uint64_t record)
{
        uint64_t key = ran_random_draw_inline(0, seed);

        key = ran_random_draw_inline(key, purpose);
        key = ran_random_draw_inline(key, epoch);
        return ran_random_draw_inline(key, record);
}

uint64_t ran_random_draw(uint64_t key, uint64_t position)
{
        return ran_random_draw_inline(key, position);
}

double ran_random_uniform(uint64_t key, uint64_t position)
{
        return (double)(ran_random_draw_inline(key, position) >> 11) * 0x1p-53;
}
