/* interval.c - how far a share of few documents may be from that of all. */
#include "eval/eval.h"

#include <math.h>
#include <stdlib.h>

/* The score interval of Wilson (1927): it keeps its coverage for shares near 0 and 1 and for few
 * trials, where the textbook's p +- 1.96 standard errors says that 60 of 60 is certain. */
struct ran_interval ran_interval_share(double hits, double n)
{
        const double z = 1.959963984540054, p = n > 0 ? hits / n : 0;
        const double middle = p + z * z / (2 * n);
        const double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

        if (!(n > 0))
                return (struct ran_interval){0, 1};
        return (struct ran_interval){hits <= 0 ? 0 : (middle - half) / (1 + z * z / n),
                                     hits >= n ? 1 : (middle + half) / (1 + z * z / n)};
}

/* F1 is 2 J / (1 + J), where J = hits / (hits + false ones + missed ones) is a share. */
struct ran_interval ran_interval_f1(double hits, double errors)
{
        const struct ran_interval j = ran_interval_share(hits, hits + errors);

        return (struct ran_interval){2 * j.low / (1 + j.low), 2 * j.high / (1 + j.high)};
}

static int compare(const void *a, const void *b)
{
        const double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

struct ran_interval ran_interval_samples(double *x, size_t n)
{
        qsort(x, n, sizeof *x, compare);
        return (struct ran_interval){x[n / 40], x[n - 1 - n / 40]};
}
