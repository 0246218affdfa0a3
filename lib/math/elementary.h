/* elementary.h - elementary functions in double, with the same bits on every processor and with
 * every C library: they use only operations that IEEE 754 defines to the last bit. The functions of
 * a C library differ between versions, and those of glibc also by processor.
 *
 * Call these, never exp, log, pow, sin ... of the C library; sqrt, floor, rint and the like are
 * exact everywhere. ran_exp and ran_log are in ran/math.h.
 *
 * Accuracy: within 1 ulp (units in the last place), ran_expm1 within 2.
 */
#ifndef RAN_MATH_ELEMENTARY_H
#define RAN_MATH_ELEMENTARY_H

#include "ran/math.h"

/* exp(x) - 1 and log(1 + x), accurate near 0 */
double ran_expm1(double x);
double ran_log1p(double x);

/* The log of the sum of exp(x) over n numbers, without overflow. */
double ran_log_sum_exp(const float *x, size_t n);

/* The sum of x[i] y[i] over n, in double. */
double ran_dot(const float *x, const float *y, size_t n);
/* The vector of length s in the direction of x (n): y = s x / |x|, 0 if x is; returns |x|. Its
 * adjoint in place: with v = x / |x|, dy becomes s (dy - v (v . dy)) / |x|, 0 if x is. */
double ran_unit(float *y, const float *x, size_t n, double s);
void ran_unit_bwd(float *dy, const float *x, size_t n, double s);

/* |x| up to 2^31; NaN beyond. */
double ran_sin(double x);
double ran_cos(double x);

#endif
