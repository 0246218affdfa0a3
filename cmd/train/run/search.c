/* search.c - the state of a search for settings: its time, its current trial, and its best
 * trial. */
#include "cmd/train/run/search.h"

#include <math.h>

double train_search_spent(const struct train_search *t)
{
        return t->before + ran_clock() - t->began;
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
