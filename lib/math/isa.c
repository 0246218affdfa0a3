/* isa.c - the instruction set in use: the best that the processor runs, or what RAN_ISA names. */
#include "math/integer.h"
#include "math/simd.h"
#include "ran/math.h"

#include <cblas.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *refused;
static char names[sizeof "avx512, avx2, base, portable"]; /* those that run here */

/* What base computes, without OpenBLAS: plain multiplications and additions in a fixed order, which
 * IEEE 754 defines to the last bit. So the results are the same on every processor, as long as the
 * compiler rounds each of them to float or double. */
static struct ran_kernels portable;

/* What integers go with is the same everywhere, too, with fused multiplications, which a processor
 * without them makes of others, and with 16 lanes of sums. RAN_ISA=portable has neither, as in
 * earlier versions. */
const struct ran_kernels *ran_simd_in_use[2] = {&ran_simd_base, &ran_simd_alike4};
#if FLT_EVAL_METHOD == 0 && !defined(__FAST_MATH__)
enum { PORTABLE = true };
#else
enum { PORTABLE = false };
#endif

/* What RAN_ISA may name, the best first; nobody gets the last one unasked. */
static const struct ran_kernels *const tables[] = {
#ifdef RAN_HAVE_X86
        &ran_simd_avx512,
        &ran_simd_avx2,
#endif
        &ran_simd_base,
        &portable,
};
enum { TABLES = sizeof tables / sizeof *tables };

static bool runs(const struct ran_kernels *table)
{
#ifdef RAN_HAVE_X86
        if (table == &ran_simd_avx512)
                return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
        if (table == &ran_simd_avx2)
                return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
        return table == &ran_simd_base || PORTABLE;
}

/* The kernels of base in wider vectors, where the processor has them: sums within a vector depend
 * on its width. */
static void choose_widths(void)
{
        const struct ran_kernels *wide = &ran_simd_base;

#ifdef RAN_HAVE_X86
        if (runs(&ran_simd_avx512)) {
                wide = &ran_simd_plain16;
                ran_simd_in_use[1] = &ran_simd_alike16;
        } else if (runs(&ran_simd_avx2)) {
                wide = &ran_simd_plain8;
                ran_simd_in_use[1] = &ran_simd_alike8;
        }
#endif
        portable = *wide;
        portable.name = "portable";
        portable.norm = ran_simd_base.norm;
        portable.norm_bwd = ran_simd_base.norm_bwd;
        portable.raw_norm = ran_simd_base.raw_norm;
        portable.raw_norm_bwd = ran_simd_base.raw_norm_bwd;
        portable.softmax = ran_simd_base.softmax;
        portable.softmax_bwd = ran_simd_base.softmax_bwd;
        portable.dot = ran_simd_base.dot;
}

/* What OpenBLAS does before a fork. No header has it, and one that was built with OpenMP lacks it.
 */
int blas_thread_shutdown_(void) __attribute__((weak));

/* OpenBLAS must not add threads. It starts one for each processor when it is loaded; told to use
 * one, it leaves the others waiting, and of many programs on many processors those would be
 * thousands. */
static void keep_threads_ours(void)
{
        openblas_set_num_threads(1);
        if (blas_thread_shutdown_ != NULL)
                blas_thread_shutdown_();
}

static void add_name(const char *name)
{
        size_t n = strlen(names);

        snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", name);
}

__attribute__((constructor)) static void choose(void)
{
        const char *want = getenv("RAN_ISA");

#ifdef RAN_HAVE_X86
        __builtin_cpu_init();
#endif
        choose_widths();
        if (want != NULL && *want == '\0')
                want = NULL;
        refused = want;
        for (size_t i = 0; i < TABLES; i++)
                if (runs(tables[i]))
                        add_name(tables[i]->name);
        for (size_t i = TABLES; i-- > 0;)
                if (runs(tables[i]) &&
                    (want == NULL ? tables[i] != &portable : strcmp(want, tables[i]->name) == 0)) {
                        ran_simd = tables[i];
                        refused = NULL;
                }
        ran_integer_choose(ran_simd->name);
        keep_threads_ours();
}

const char *ran_isa(void)
{
        return ran_simd->name;
}

const char *ran_isa_refused(const char **known)
{
        *known = names;
        return refused;
}
