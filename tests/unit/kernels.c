#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "math/gemm.h"
#include "test.h"

#ifdef RAN_HAVE_X86
extern const struct ran_simd ran_simd_avx512, ran_simd_avx2;
#endif
extern const struct ran_simd ran_simd_base;

void kernels_each(void (*fn)(const struct ran_simd *k))
{
        static const struct ran_simd *const tables[] = {
#ifdef RAN_HAVE_X86
                &ran_simd_avx512,
                &ran_simd_avx2,
#endif
                &ran_simd_base,
        };
        const char *known;

        ran_isa_refused(&known);
        for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
                if (strstr(known, tables[i]->name) != NULL)
                        fn(tables[i]);
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

bool vector_near(const struct ran_simd *k, const char *what, const struct vector *got,
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
