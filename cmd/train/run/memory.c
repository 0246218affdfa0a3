/* memory.c - the memory that this process takes. */
#include "cmd/train/run/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

double train_peak_bytes(void)
{
        struct rusage usage;

        return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

double train_resident_bytes(void)
{
        FILE *f = fopen("/proc/self/statm", "re");
        char line[128] = ""; /* all pages, those in memory, and more */
        const char *second = NULL;

        if (f != NULL && fgets(line, sizeof line, f) != NULL)
                second = strchr(line, ' ');
        if (f != NULL)
                fclose(f);
        const double pages = second != NULL ? (double)strtoull(second, NULL, 10) : 0;
        return pages > 0 ? pages * (double)sysconf(_SC_PAGESIZE) : train_peak_bytes();
}
