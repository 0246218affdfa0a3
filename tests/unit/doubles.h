/* doubles.h - zeroed memory for what tests compute in double. */
#ifndef RAN_TESTS_UNIT_DOUBLES_H
#define RAN_TESTS_UNIT_DOUBLES_H

#include <stdlib.h>

/* Never NULL; free it. */
static inline double *doubles(size_t n)
{
        double *x = calloc(n > 0 ? n : 1, sizeof(*x));

        if (x == NULL)
                abort();
        return x;
}

#endif
