/* search.c - where a search for settings is: its clock, its trial at work, and its best trial. */
#include "cmd/train/search.h"

#include <math.h>
#include <time.h>

double train_search_clock(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double train_search_spent(const struct train_search *t)
{
        return t->before + train_search_clock() - t->began;
}

size_t train_search_best(const struct train_search *t)
{
        size_t n = t->journal->n, best;

        if (n > 0 && t->journal->trial[n - 1].end == TRAIN_TRIAL_RUNNING)
                n--;
        if (n == 0)
                return SIZE_MAX;
        best = ran_search_best(t->trial, n);
        return t->trial[best].metric > -INFINITY ? best : SIZE_MAX;
}

struct train_trial *train_search_entry(const struct train_search *t)
{
        return &t->journal->trial[t->at];
}
