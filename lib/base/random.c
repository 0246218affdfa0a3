/* random.c - random numbers as functions of their purpose and position. See ran/base.h. */
#include "ran/base.h"

/* Each input picks a child of the previous key, so that neighbouring seeds, epochs and records have
 * unrelated sequences. */
uint64_t ran_random_key(uint64_t seed, uint64_t purpose, uint64_t epoch, uint64_t record)
{
        uint64_t key = ran_random_draw(0, seed);

        key = ran_random_draw(key, purpose);
        key = ran_random_draw(key, epoch);
        return ran_random_draw(key, record);
}

double ran_random_uniform(uint64_t key, uint64_t position)
{
        return (double)(ran_random_draw(key, position) >> 11) * 0x1p-53;
}

void ran_random_shuffle(size_t *order, const size_t *item, size_t n, uint64_t seed, uint64_t epoch)
{
        uint64_t key = ran_random_key(seed, RAN_FOR_SHUFFLE, epoch, 0);

        for (size_t i = 0; i < n; i++)
                order[i] = item != NULL ? item[i] : i;
        for (size_t i = n; i > 1; i--) {
                size_t j = (size_t)(ran_random_uniform(key, i) * (double)i), x = order[i - 1];

                order[i - 1] = order[j];
                order[j] = x;
        }
}
