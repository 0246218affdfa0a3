/* integer.c - see integer.h: which kernels are used. */
#include "math/integer.h"

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
