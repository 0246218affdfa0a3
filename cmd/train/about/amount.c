/* amount.c - times, counts and rates as people read them. */
#include "cmd/train/about/about.h"

#include <math.h>
#include <stdio.h>

const char *train_duration(char text[32], double seconds)
{
        /* Above a century the exact time no longer matters, and the number stays in range. */
        unsigned long s = (unsigned long)fmin(fmax(seconds, 0), 4e9);

        snprintf(text, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
        return text;
}

const char *train_amount(char text[32], double x)
{
        static const char *const suffix[] = {"", "k", "M", "G", "T", "P", "E"};
        size_t i = 0;

        for (; x >= 999.95 && i + 1 < sizeof suffix / sizeof *suffix; i++)
                x /= 1000;
        snprintf(text, 32, i == 0 ? "%.0f%s" : "%.1f%s", x, suffix[i]);
        return text;
}
