/* bench.h - what the benchmarks share: clocks and medians, a process for each measurement, and a
 * look at what the threads are at. */
#ifndef RAN_BENCH_H
#define RAN_BENCH_H

#include "ran.h"

/* Takes the option -o FILE (JSON lines) off the arguments, which begin at 0 then; ends the program
 * where they are wrong, and also where it was started by products.c, once that is done. */
FILE *bench_begin(int *argc, char ***argv);
void bench_end(FILE *json); /* does not return */
/* Argument i as a number. */
double bench_argument(int argc, char **argv, int i, double otherwise);

double bench_now(void);
double bench_cpu(void); /* of all threads of the process */
/* What rates are measured by: the time that a thread computes, if it is alone, which nothing else
 * on the machine changes much; else the clock. */
double bench_clock(size_t threads);
void bench_check(int rc, const struct ran_error *err); /* ends the program on failure */
double bench_median(double *x, size_t n);

/* Processor, kernels, OpenBLAS: on a line, and as members of a JSON object. */
void bench_machine(FILE *json, size_t threads);

/* Runs fn(arg) in a process of its own, whose memory is that of this measurement alone, and brings
 * back the `size` bytes at arg. Returns the most bytes that the process had. */
double bench_in_child(void (*fn)(void *arg), void *arg, size_t size);

/* Between _begin and _end, as shares of the threads' time: how long they worked, slept, and waited
 * for a processor that others had. Where that is much, the machine is not quiet, and no figure is
 * worth a lot. What they worked on: perf says it, function by function. */
enum { BENCH_BUSY, BENCH_IDLE, BENCH_OTHERS, BENCH_SHARES };
void bench_look_begin(size_t threads);
void bench_look_end(double share[BENCH_SHARES]);
extern const char *const bench_share_names[BENCH_SHARES];

#endif
