/* bench.c - see bench.h. */
#include "bench.h"
#include "products.h"

#include <cblas.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *program = "bench";

/* ---- beginning and end ---------------------------------------------------------------------- */

FILE *bench_begin(int *argc, char ***argv)
{
        struct ran_error err = {0};
        FILE *json = NULL;
        int option;

        program = **argv;
        products_begin(*argc, *argv);
        while ((option = getopt(*argc, *argv, "o:")) == 'o')
                if ((json = fopen(optarg, "w")) == NULL)
                        bench_check(ran_fail(&err, RAN_EIO, "%s: %s", optarg, strerror(errno)),
                                    &err);
        if (option != -1)
                exit(2);
        *argc -= optind;
        *argv += optind;
        return json;
}

void bench_end(FILE *json)
{
        exit(json != NULL && fclose(json) != 0 ? 3 : 0);
}

double bench_argument(int argc, char **argv, int i, double otherwise)
{
        return argc > i ? atof(argv[i]) : otherwise;
}

void bench_check(int rc, const struct ran_error *err)
{
        if (rc == RAN_OK)
                return;
        fprintf(stderr, "%s: %s\n", program, err->text);
        exit(3);
}

/* ---- clocks --------------------------------------------------------------------------------- */

static double seconds_of(clockid_t clock)
{
        struct timespec t;

        clock_gettime(clock, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
        return seconds_of(CLOCK_MONOTONIC);
}

double bench_cpu(void)
{
        return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_clock(size_t threads)
{
        return threads == 1 ? bench_cpu() : bench_now();
}

/* Seconds that the threads of the process waited for a processor, where Linux tells. */
static double queued(void)
{
        DIR *tasks = opendir("/proc/self/task");
        const struct dirent *task;
        double sum = 0;

        while (tasks != NULL && (task = readdir(tasks)) != NULL) {
                unsigned long long ran, waited;
                char path[64];
                FILE *f;

                snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", task->d_name);
                if ((f = fopen(path, "r")) == NULL)
                        continue;
                sum += fscanf(f, "%llu %llu", &ran, &waited) == 2 ? 1e-9 * (double)waited : 0;
                fclose(f);
        }
        if (tasks != NULL)
                closedir(tasks);
        return sum;
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

double bench_median(double *x, size_t n)
{
        qsort(x, n, sizeof *x, by_value);
        return n % 2 > 0 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* ---- the machine ---------------------------------------------------------------------------- */

/* What Linux calls the processor. */
static void name_processor(char *name, size_t n)
{
        FILE *f = fopen("/proc/cpuinfo", "r");
        char *line = NULL;
        size_t cap = 0;

        snprintf(name, n, "unknown processor");
        while (f != NULL && getline(&line, &cap, f) > 0) {
                const char *colon = strchr(line, ':');

                if (colon == NULL || strncmp(line, "model name", 10) != 0)
                        continue;
                snprintf(name, n, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
                break;
        }
        free(line);
        if (f != NULL)
                fclose(f);
}

void bench_machine(FILE *json, size_t threads)
{
        struct ran_buf out = {0};
        char processor[128];

        name_processor(processor, sizeof processor);
        printf("%s, %zu threads, kernels %s, OpenBLAS core %s; sgemm by core %s\n", processor,
               threads, ran_isa(), openblas_get_corename(), products_core());
        ran_buf_str(&out, "{\"processor\":");
        ran_buf_json(&out, processor, strlen(processor));
        ran_buf_printf(&out,
                       ",\"threads\":%zu,\"kernels\":\"%s\",\"openblas_core\":\"%s\","
                       "\"sgemm_core\":\"%s\"}\n",
                       threads, ran_isa(), openblas_get_corename(), products_core());
        if (json != NULL)
                fwrite(out.data, 1, out.len, json);
        ran_buf_release(&out);
}

/* ---- a process for a measurement ------------------------------------------------------------ */

double bench_in_child(void (*fn)(void *arg), void *arg, size_t size)
{
        struct ran_error err = {0};
        struct rusage used;
        int ends[2], status = 0;
        pid_t child = -1;

        fflush(NULL); /* or the child would write it, too */
        if (pipe(ends) != 0 || (child = fork()) < 0)
                bench_check(ran_fail(&err, RAN_EIO, "%s", strerror(errno)), &err);
        if (child == 0) {
                fn(arg);
                _exit(write(ends[1], arg, size) == (ssize_t)size ? 0 : 3);
        }
        close(ends[1]);
        if (read(ends[0], arg, size) != (ssize_t)size || wait4(child, &status, 0, &used) != child ||
            status != 0)
                bench_check(ran_fail(&err, RAN_EIO, "a measurement ended early"), &err);
        close(ends[0]);
        return 1024 * (double)used.ru_maxrss;
}

/* ---- what threads are at -------------------------------------------------------------------- */

const char *const bench_share_names[BENCH_SHARES] = {"busy", "idle", "others"};

static double began, cpu_began, queue_began;
static size_t watched;

void bench_look_begin(size_t threads)
{
        watched = threads;
        began = bench_now();
        cpu_began = bench_cpu();
        queue_began = queued();
}

void bench_look_end(double share[BENCH_SHARES])
{
        const double time = (bench_now() - began) * (double)watched;

        share[BENCH_BUSY] = fmin(1, (bench_cpu() - cpu_began) / time);
        share[BENCH_OTHERS] = fmin(1 - share[BENCH_BUSY], (queued() - queue_began) / time);
        share[BENCH_IDLE] = 1 - share[BENCH_BUSY] - share[BENCH_OTHERS];
}
