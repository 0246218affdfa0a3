/* integer.c - see integer.h: which kernels are used, and what they compute. */
#include "math/integer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef RAN_HAVE_X86
#include <cpuid.h>
#endif
#ifdef RAN_HAVE_DOT
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* The best first; isa: the instruction set to which they belong (isa.c). */
static const struct {
        const struct ran_integer *kernels;
        const char *isa;
} known[] = {
#ifdef RAN_HAVE_X86
        {&ran_integer_avx512vnni, "avx512"}, {&ran_integer_avx512, "avx512"},
        {&ran_integer_avxvnni, "avx2"},      {&ran_integer_avx2, "avx2"},
#endif
#ifdef RAN_HAVE_DOT
        {&ran_integer_dot, "base"},
#endif
        {&ran_integer_base, "base"},
};
enum { KNOWN = sizeof known / sizeof *known };

const struct ran_integer *ran_integer = &ran_integer_base;
const struct ran_integer *ran_integer_all[KNOWN + 1];

#ifdef RAN_HAVE_X86
/* Compilers do not all know its name. */
static bool has_avxvnni(void)
{
        unsigned a, b, c, d;

        return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
               (a & 1u << 4) != 0;
}
#endif

static bool runs(const struct ran_integer *kernels)
{
#ifdef RAN_HAVE_X86
        const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");

        if (kernels == &ran_integer_avx512vnni)
                return avx512 && __builtin_cpu_supports("avx512vnni");
        if (kernels == &ran_integer_avx512)
                return avx512;
        if (kernels == &ran_integer_avxvnni)
                return has_avxvnni();
        if (kernels == &ran_integer_avx2)
                return __builtin_cpu_supports("avx2");
#endif
#ifdef RAN_HAVE_DOT
        if (kernels == &ran_integer_dot)
                return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#endif
        return kernels == &ran_integer_base;
}

void ran_integer_choose(const char *isa)
{
        size_t n = 0, first = 0;

        while (first < KNOWN && strcmp(known[first].isa, isa) != 0)
                first++;
        for (size_t i = 0; i < KNOWN; i++)
                if (runs(known[i].kernels))
                        ran_integer_all[n++] = known[i].kernels;
        for (size_t i = first < KNOWN ? first : 0; i < KNOWN; i++)
                if (runs(known[i].kernels)) {
                        ran_integer = known[i].kernels;
                        return;
                }
}

/* ---- what they compute ----------------------------------------------------------------------- */

struct row {
        float scale, inverse;
};

static int32_t code_of(float x, float inverse)
{
        return (int32_t)nearbyintf(x * inverse);
}

/* outlier: how many times its root mean square the limit may be; 0: no matter. */
static struct row row_of(const float *x, size_t n, float outlier)
{
        float limit = 0;
        int32_t squares = 0;

        for (size_t i = 0; i < n; i++) {
                if (!isfinite(x[i]))
                        return (struct row){NAN, NAN};
                limit = fmaxf(limit, fabsf(x[i]));
        }
        if (limit < RAN_INTEGER_LEAST)
                return (struct row){0};
        for (size_t i = 0; i < n; i++)
                squares += code_of(x[i], 127 / limit) * code_of(x[i], 127 / limit);
        if (outlier > 0)
                limit = fminf(limit, outlier * sqrtf((float)squares / (float)n) * (limit / 127));
        return (struct row){limit / 127, 127 / limit};
}

void ran_integer_naive(float *y, size_t ldy, const float *a, size_t lda, const float *w,
                       const float *bias, size_t M, size_t N, size_t K)
{
        for (size_t m = 0; m < M; m++)
                for (size_t n = 0; n < N; n++) {
                        const struct row p = row_of(a + m * lda, K, RAN_INTEGER_OUTLIER);
                        const struct row q = row_of(w + n * K, K, 0);
                        int32_t sum = 0, rest = 0;

                        for (size_t k = 0; k < K && !isnan(p.scale); k++) {
                                const int32_t c = code_of(a[m * lda + k], p.inverse);
                                const int32_t held = c > 127 ? 127 : c < -127 ? -127 : c;

                                sum += held * code_of(w[n * K + k], q.inverse);
                                rest += (c - held) * code_of(w[n * K + k], q.inverse);
                        }
                        float *to = y + m * ldy + n;
                        *to = (float)sum * (q.scale * p.scale) + (bias != NULL ? bias[n] : 0);
                        *to += (float)rest * (q.scale * p.scale);
                }
}
