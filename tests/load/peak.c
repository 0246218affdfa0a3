/* peak FILE COMMAND...: runs the command and writes its largest memory in KB and its seconds to
 * FILE. Ends with its status. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
        double begin = now();
        struct rusage usage;
        int status;

        if (argc < 3)
                return 125;
        pid_t child = fork();
        if (child == 0) {
                execvp(argv[2], argv + 2);
                _exit(127);
        }
        if (child < 0 || wait4(child, &status, 0, &usage) != child)
                return 125;
        FILE *f = fopen(argv[1], "w");
        if (f == NULL || fprintf(f, "%ld %.1f\n", usage.ru_maxrss, now() - begin) < 0 ||
            fclose(f) != 0)
                return 125;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
