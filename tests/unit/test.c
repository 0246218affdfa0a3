#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static struct test *first, **last = &first;
static size_t checks, failures;
static char folder[4096];

void test_register(struct test *test)
{
        *last = test;
        last = &test->next;
}

bool test_check(bool ok, const char *what, const char *file, int line)
{
        checks++;
        if (!ok) {
                failures++;
                printf("%s:%d: not true: %s\n", file, line, what);
        }
        return ok;
}

bool test_check_str(const char *got, const char *want, const char *what, const char *file, int line)
{
        bool ok = got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;

        checks++;
        if (!ok) {
                failures++;
                printf("%s:%d: %s\n  is     %s\n  should %s\n", file, line, what,
                       got != NULL ? got : "(null)", want != NULL ? want : "(null)");
        }
        return ok;
}

bool test_check_size(size_t got, size_t want, const char *what, const char *file, int line)
{
        checks++;
        if (got != want) {
                failures++;
                printf("%s:%d: %s is %zu, should be %zu\n", file, line, what, got, want);
        }
        return got == want;
}

bool test_check_near(double got, double want, double tolerance, const char *what, const char *file,
                     int line)
{
        bool ok = fabs(got - want) <= tolerance; /* false for NaN */

        checks++;
        if (!ok) {
                failures++;
                printf("%s:%d: %s is %.9g, should be %.9g, give or take %g\n", file, line, what,
                       got, want, tolerance);
        }
        return ok;
}

bool test_all(void)
{
        const char *tests = getenv("RAN_TESTS");

        return tests != NULL && strcmp(tests, "all") == 0;
}

/* There where lines are counted. */
void __gcov_dump(void) __attribute__((weak));

void test_leave(int status)
{
        if (__gcov_dump != NULL)
                __gcov_dump();
        _exit(status);
}

char *test_path(const char *name)
{
        const char *temp = getenv("TMPDIR");
        char *path = NULL;

        if (folder[0] == '\0') {
                snprintf(folder, sizeof(folder), "%s/ran-test.XXXXXX",
                         temp != NULL ? temp : "/tmp");
                if (mkdtemp(folder) == NULL) {
                        perror(folder);
                        exit(1);
                }
        }
        if (asprintf(&path, "%s/%s", folder, name) < 0)
                exit(1);
        return path;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

int main(int argc, char **argv)
{
        const char *name = strrchr(argv[0], '/');
        size_t tests = 0;

        setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a crash is seen */
        for (struct test *test = first; test != NULL; test = test->next) {
                size_t before = failures;

                if (argc > 1 && strstr(test->name, argv[1]) == NULL)
                        continue;
                tests++;
                test->run();
                if (failures > before)
                        printf("FAILED %s\n", test->name);
        }
        if (folder[0] != '\0')
                nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        printf("%s: %zu tests, %zu checks, ", name != NULL ? name + 1 : argv[0], tests, checks);
        if (failures > 0)
                printf("%zu FAILED\n", failures);
        else
                printf("all passed\n");
        return failures > 0 || tests == 0;
}
