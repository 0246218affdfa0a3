/* cpus.c - the number of processors available to this process. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ran/base.h"

/* Processors in the affinity mask; the kernel may know more of them than a cpu_set_t holds. */
static size_t affinity(void)
{
        for (size_t most = CPU_SETSIZE; most <= (size_t)1 << 20; most *= 2) {
                cpu_set_t *set = CPU_ALLOC(most);

                if (set == NULL)
                        break;
                size_t size = CPU_ALLOC_SIZE(most);
                int n = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
                CPU_FREE(set);
                if (n > 0)
                        return (size_t)n;
        }
        return 1;
}

/* The processors, rounded up, that the group of a folder may use: its file holds "max 100000" or
 * "150000 100000". SIZE_MAX when there is no limit. */
static size_t quota_of(const char *folder)
{
        char path[4200], line[128], *end;

        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", folder);
        FILE *f = fopen(path, "re");
        if (f == NULL)
                return SIZE_MAX;
        const bool read = fgets(line, sizeof(line), f) != NULL;
        fclose(f);
        const long long quota = read ? strtoll(line, &end, 10) : 0; /* 0 of "max" */
        const long long period = quota > 0 ? strtoll(end, NULL, 10) : 0;
        return period > 0 ? (size_t)((quota + period - 1) / period) : SIZE_MAX;
}

/* The tightest limit of our group and those around it; a line of /proc/self/cgroup is "0::/path".
 * In a container the path may be that of the host, which is not there: the root of what is mounted
 * is always asked. */
static size_t cgroup_quota(void)
{
        char line[4200];
        size_t least = quota_of("");
        FILE *f = fopen("/proc/self/cgroup", "re");

        while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
                line[strcspn(line, "\n")] = '\0';
                char *folder = strncmp(line, "0::", 3) == 0 ? line + 3 : line + strlen(line);

                while (folder[0] == '/' && folder[1] != '\0') {
                        const size_t n = quota_of(folder);

                        least = n < least ? n : least;
                        *strrchr(folder, '/') = '\0';
                }
        }
        if (f != NULL)
                fclose(f);
        return least;
}

/* As --jobs has it: a thread for each would keep the machine busy with nothing else. */
enum { MOST_THREADS = 4096 };

size_t ran_threads_default(void)
{
        const char *asked = getenv("RAN_THREADS");
        size_t n;

        if (asked != NULL && ran_parse_size(asked, strlen(asked), &n) && n > 0 && n <= MOST_THREADS)
                return n;
        size_t processors = affinity(), quota = cgroup_quota();
        return quota < processors ? quota : processors;
}
