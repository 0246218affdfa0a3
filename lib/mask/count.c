/* count.c - how many scores a mask holds, in closed form.
 *
 * Let D be the distances of a pattern above 0, P(x) how many of them are at most x, and Q(x) their
 * sum. Both have closed forms. Query i sees itself and P(i) keys on its left. Over
 * the first a queries and the first b keys that is
 *
 *      sum over 0 and D of  max(0, min(b, a - distance))
 *
 * scores; to the right, by the same token, the sum over D of max(0, min(a, b - distance)). A mask
 * only limits b in the latter to the source tokens. Any part of the mask is the difference of four
 * such corners.
 *
 * No sum overflows 64 bits: each is at most N^2, and N is at most 10^9.
 */
#include "mask/mask.h"

/* P(x) and Q(x) */
struct sums {
        uint64_t count, total;
};

static struct sums within(const struct ran_mask *m, uint64_t x)
{
        uint64_t n = ran_least(x, m->near), k = ran_mask_far_within(m, x);
        uint64_t far =
                m->step > 0 ? k * (k + 1) / 2 * m->step : k * m->near + k * (k + 1) * (k + 5) / 6;

        return (struct sums){n + k, n * (n + 1) / 2 + far};
}

/* Scores at or left of the diagonal, in the first a rows and b columns. */
static uint64_t lower(const struct ran_mask *m, uint64_t a, uint64_t b)
{
        if (a == 0 || b == 0)
                return 0;
        /* Up to distance a - b there are b of each, from there on a - distance. */
        struct sums all = within(m, a - 1), whole = within(m, a > b ? a - b : 0);

        return ran_least(a, b) + whole.count * b + a * (all.count - whole.count) -
               (all.total - whole.total);
}

static uint64_t corner(const struct ran_mask *m, uint64_t a, uint64_t b)
{
        uint64_t seen = ran_least(b, m->sources);

        return lower(m, a, b) + lower(m, seen, a) - ran_least(a, seen);
}

uint64_t ran_mask_count(const struct ran_mask *m, size_t i0, size_t i1, size_t j0, size_t j1)
{
        return corner(m, i1, j1) - corner(m, i0, j1) - corner(m, i1, j0) + corner(m, i0, j0);
}

/* ---- the paper ------------------------------------------------------------------------------ */

/* Of the terms 1, 1, 1, 2, 2, 2, 2, 3 ... (each x of them x + 2 times) the first n: equations (4)
 * and (8), with x the last one that is there in full. */
static uint64_t sum_of_terms(uint64_t n)
{
        uint64_t x = 0, sum = 0;

        while (n >= x + 3) {
                x++;
                n -= x + 2;
                sum += x * (x + 2);
        }
        return sum + (x + 1) * n;
}

bool ran_mask_paper(int pattern, size_t window, size_t N, uint64_t *scores)
{
        uint64_t n = N, w = window;
        bool dispersed = pattern == RAN_ATTENTION_DISPERSED;

        if ((!dispersed && pattern != RAN_ATTENTION_WINDOW) || w % 2 != 0 || w > n ||
            n > RAN_MASK_LENGTH)
                return false;
        /* Equation (3): N + (N - w) w + 2 sum of (w - i) over i = 1 ... w / 2. */
        *scores = n + (n - w) * w + w * w - w / 2 * (w / 2 + 1);
        if (dispersed)
                *scores += 2 * sum_of_terms(n - w);
        return true;
}
