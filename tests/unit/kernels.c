#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"
#include "math/gemm.h"
#include "test.h"

bool kernels_know(const char *isa)
{
        const char *known;
        size_t n = strlen(isa);

        ran_isa_refused(&known);
        for (const char *s = strstr(known, isa); s != NULL; s = strstr(s + 1, isa))
                if ((s == known || s[-1] == ' ') && (s[n] == ',' || s[n] == '\0'))
                        return true;
        return false;
}

void kernels_each(void (*fn)(const struct ran_kernels *k))
{
        static const struct ran_kernels *const tables[] = {
#ifdef RAN_HAVE_X86
                &ran_simd_avx512,
                &ran_simd_avx2,
#endif
                &ran_simd_base,
        };
        for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
                if (kernels_know(tables[i]->name))
                        fn(tables[i]);
}

void kernels_check_with(const char *tests, const char *isa, const char *core)
{
        /* A program for another processor runs in an emulator, see tests/ports. */
        char *self = realpath("/proc/self/exe", NULL);
        char *const plain[] = {self, (char *)tests, NULL};
        char *const emulated[] = {"/bin/sh", "-c",          "exec $EMULATOR \"$0\" \"$1\"",
                                  self,      (char *)tests, NULL};
        char *const *argv = getenv("EMULATOR") != NULL ? emulated : plain;
        posix_spawn_file_actions_t quietly;
        int status = 1;
        pid_t child;

        setenv("RAN_ISA", isa, 1);
        if (core != NULL)
                setenv("OPENBLAS_CORETYPE", core, 1);
        posix_spawn_file_actions_init(&quietly);
        posix_spawn_file_actions_addopen(&quietly, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (self != NULL && posix_spawn(&child, argv[0], &quietly, NULL, argv, environ) == 0)
                waitpid(child, &status, 0);
        posix_spawn_file_actions_destroy(&quietly);
        free(self);
        if (!CHECK(status == 0))
                printf("  to see it: RAN_ISA=%s OPENBLAS_CORETYPE=%s %s %s\n", isa,
                       core != NULL ? core : "", program_invocation_short_name, tests);
        unsetenv("RAN_ISA");
        unsetenv("OPENBLAS_CORETYPE");
}

enum { GUARD = 24 }; /* more than a vector */
static const float guard = -12345.5f;

struct vector vector_new(size_t n)
{
        float *p = malloc((n + 2 * GUARD) * sizeof(*p));

        if (p == NULL)
                abort();
        for (size_t i = 0; i < n + 2 * GUARD; i++)
                p[i] = guard;
        return (struct vector){p + GUARD, n};
}

struct vector vector_random(struct dice *d, size_t n, double scale)
{
        struct vector v = vector_new(n);

        dice_floats(d, v.x, n, scale);
        return v;
}

struct vector vector_copy(const struct vector *v)
{
        struct vector copy = vector_new(v->n);

        memcpy(copy.x, v->x, v->n * sizeof(*v->x));
        return copy;
}

void vector_free(struct vector *v)
{
        float *p = v->x - GUARD;
        size_t touched = 0;

        for (size_t i = 0; i < GUARD; i++)
                touched += p[i] != guard || v->x[v->n + i] != guard;
        CHECK_SIZE(touched, 0);
        free(p);
}

bool vector_near(const struct ran_kernels *k, const char *what, const struct vector *got,
                 const double *want, double absolute, double relative)
{
        char text[128];

        for (size_t i = 0; i < got->n; i++) {
                double tolerance = absolute + relative * fabs(want[i]);

                if (fabs((double)got->x[i] - want[i]) <= tolerance)
                        continue;
                snprintf(text, sizeof(text), "%s: %s, element %zu of %zu", k->name, what, i,
                         got->n);
                return test_check_near((double)got->x[i], want[i], tolerance, text, __FILE__,
                                       __LINE__);
        }
        return true;
}
