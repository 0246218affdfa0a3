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

/* The processors, rounded up, that "QUOTA PERIOD" allows; SIZE_MAX when there is no limit. */
static size_t quota_of(long long quota, long long period)
{
        return quota > 0 && period > 0 ? (size_t)((quota + period - 1) / period) : SIZE_MAX;
}

static bool read_line(const char *path, char *line, size_t size)
{
        FILE *f = fopen(path, "re");

        if (f == NULL)
                return false;
        bool ok = fgets(line, (int)size, f) != NULL;
        fclose(f);
        return ok;
}

/* cgroup version 2: the file holds "max 100000" or "150000 100000". */
static size_t quota_v2(const char *folder)
{
        char path[4200], line[128];
        long long quota, period;

        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", folder);
        if (!read_line(path, line, sizeof(line)) || sscanf(line, "%lld %lld", &quota, &period) != 2)
                return SIZE_MAX;
        return quota_of(quota, period);
}

/* Version 1: two files; a quota of -1 is no limit. */
static size_t quota_v1(const char *folder)
{
        char path[4200], quota[128], period[128];

        snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", folder);
        if (!read_line(path, quota, sizeof(quota)))
                return SIZE_MAX;
        snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", folder);
        if (!read_line(path, period, sizeof(period)))
                return SIZE_MAX;
        return quota_of(atoll(quota), atoll(period));
}

/* The tightest limit of a group and those around it. In a container the path may be that of the
 * host, which is not there: the root of what is mounted is always asked. */
static size_t tightest(char *folder, size_t (*quota)(const char *))
{
        size_t least = quota("");

        while (folder[0] == '/' && folder[1] != '\0') {
                size_t n = quota(folder);

                least = n < least ? n : least;
                *strrchr(folder, '/') = '\0';
        }
        return least;
}

/* Lines of /proc/self/cgroup are "0::/path" (version 2) or "4:cpu,cpuacct:/path" (version 1). */
static size_t cgroup_quota(void)
{
        char line[4200];
        size_t least = SIZE_MAX;
        FILE *f = fopen("/proc/self/cgroup", "re");

        if (f == NULL)
                return SIZE_MAX;
        while (fgets(line, sizeof(line), f) != NULL) {
                line[strcspn(line, "\n")] = '\0';
                char *controllers = strchr(line, ':');
                char *folder = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
                size_t n = SIZE_MAX;

                if (folder == NULL)
                        continue;
                *folder++ = '\0';
                if (controllers[1] == '\0')
                        n = tightest(folder, quota_v2);
                else if (strncmp(controllers, ":cpu,", 5) == 0 || strcmp(controllers, ":cpu") == 0)
                        n = tightest(folder, quota_v1);
                least = n < least ? n : least;
        }
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
