/* reach.c - what a set of queries sees, as a set: to follow which tokens can influence a token over
 * several layers.
 *
 * Sets are bits, so a distance is a shift of all of them at once. A run of distances takes only as
 * many shifts as its length has binary digits, since shifts add up.
 */
#include "mask/mask.h"

#include <string.h>

/* out |= set, every token moved by `by` towards 0 or away from it. out may be set: words that are
 * still to be read come after, or before, those that are written. */
static void move(uint64_t *out, const uint64_t *set, size_t words, size_t by, bool right)
{
        size_t skip = by / 64, bit = by % 64;

        if (skip >= words)
                return;
        size_t n = words - skip;

        /* by 1 and then by 63 - bit: a shift by 64 is not defined */
        if (right) {
                for (size_t w = n - 1; w > 0; w--)
                        out[w + skip] |= set[w] << bit | set[w - 1] >> 1 >> (63 - bit);
                out[skip] |= set[0] << bit;
        } else {
                for (size_t w = 0; w + 1 < n; w++)
                        out[w] |= set[w + skip] >> bit | set[w + skip + 1] << 1 << (63 - bit);
                out[n - 1] |= set[words - 1] >> bit;
        }
}

/* out |= set moved by 0, step, 2 step ... times step; uses set up. */
static void smear(uint64_t *out, uint64_t *set, size_t words, size_t step, size_t times, bool right)
{
        for (size_t done = 0, more; done < times; done += more) {
                more = ran_least(done + 1, times - done);
                move(set, set, words, more * step, right);
        }
        for (size_t w = 0; w < words; w++)
                out[w] |= set[w];
}

/* One side, among the tokens below n. */
static void spread(const struct ran_mask *m, uint64_t *seen, const uint64_t *from, uint64_t *spare,
                   size_t n, bool right)
{
        size_t words = RAN_TOKEN_WORDS(n);
        uint64_t below = ~UINT64_C(0) >> (64 * words - n) % 64, above;

        if (n == 0)
                return;
        memcpy(spare, from, words * sizeof *spare);
        above = seen[words - 1] & ~below;
        for (size_t k = 1; m->step == 0 && k <= m->far && ran_mask_far(m, k) < n; k++)
                move(seen, spare, words, ran_mask_far(m, k), right);
        if (m->step > 0)
                smear(seen, spare, words, m->step, m->far, right);
        else
                smear(seen, spare, words, 1, m->near, right);
        seen[words - 1] = (seen[words - 1] & below) | above;
}

void ran_mask_spread(const struct ran_mask *m, uint64_t *seen, const uint64_t *from,
                     uint64_t *spare)
{
        spread(m, seen, from, spare, m->N, false);
        /* On the right only source tokens are seen, and only by source tokens. */
        spread(m, seen, from, spare, m->sources, true);
}
