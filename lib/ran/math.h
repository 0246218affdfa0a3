/* ran/math.h - the processor and elementary functions. Conventions: ran.h. */
#ifndef RAN_RAN_MATH_H
#define RAN_RAN_MATH_H

#include <stddef.h>

/* ---- the processor (math/gemm.c) ------------------------------------------------------------- */

/* The kernels in use: the best that this processor runs, or those that the environment variable
 * RAN_ISA names ("avx512", "avx2", "base", "portable"). Chosen before main, when OpenBLAS is told
 * to keep to one thread, too: in the whole program, since it has one setting for all. */
const char *ran_isa(void);
/* NULL when RAN_ISA is unset or was honoured; else its value, which this processor or build does
 * not know, and *known lists what would do. */
const char *ran_isa_refused(const char **known);

/* ---- elementary functions (math/elementary.c) ------------------------------------------------ */

/* The same bits on every processor and with every C library, within 1 ulp: programs whose results
 * hold such numbers call these, not those of the C library. */
double ran_exp(double x);
double ran_log(double x);

#endif
