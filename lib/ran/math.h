/* ran/math.h - the processor and elementary functions. Conventions: ran.h. */
#ifndef RAN_RAN_MATH_H
#define RAN_RAN_MATH_H

#include <stddef.h>

/* ---- the processor (math/isa.c) ------------------------------------------------------------- */

/* The name of the instruction set in use: the best that the processor runs, or the one that the
 * environment variable RAN_ISA names ("avx512", "avx2", "base", "portable"). It is chosen before
 * main. At the same time OpenBLAS is set to one thread, for the whole program: it has only one such
 * setting. */
const char *ran_isa(void);
/* The value of RAN_ISA if this processor or build does not support it, else NULL. *known: the
 * supported names, separated by ", ". */
const char *ran_isa_refused(const char **known);

/* ---- elementary functions (math/elementary.c) ------------------------------------------------ */

/* exp and natural logarithm, within 1 ulp, with the same bits on every processor and with every C
 * library. Use these, not those of the C library, for numbers that go into results. */
double ran_exp(double x);
double ran_log(double x);

#endif
