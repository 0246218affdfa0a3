/* interval.c - how exactly a share is known from n trials. */
#include "ran/eval.h"

#include <math.h>

void ran_eval_interval(double share, size_t n, double *low, double *high)
{
        const double z = 1.959963984540054; /* of the normal distribution, for 95 % */
        double trials = (double)n;

        if (n == 0) {
                *low = 0;
                *high = 1;
                return;
        }
        double middle = (share + z * z / (2 * trials)) / (1 + z * z / trials);
        double half = z / (1 + z * z / trials) *
                      sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials));
        *low = middle > half ? middle - half : 0;
        *high = middle + half < 1 ? middle + half : 1;
}
