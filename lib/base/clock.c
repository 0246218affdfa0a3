/* clock.c - the time: for reports and budgets, never for a result. */
#include "ran/base.h"

#include <time.h>

static double read_clock(clockid_t id)
{
        struct timespec t;

        clock_gettime(id, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double ran_clock(void)
{
        return read_clock(CLOCK_MONOTONIC);
}

double ran_clock_date(void)
{
        return read_clock(CLOCK_REALTIME);
}
