/* elementary.c - see elementary.h.
 *
 * Each function is brought to a short interval around 0, where its Taylor series has few terms that
 * count. What that reduction rounds away is carried along as a second, small number.
 */
#include "math/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double ln2_high = 0x1.62e42feep-1; /* 33 bits: n times it is exact, |n| < 2^20 */
static const double ln2_low = 0x1.a39ef35793c76p-33;

/* The nearest whole number, |x| < 2^51. Quicker than rint where that is a call. */
static double nearest(double x)
{
        const double magic = 0x1.8p52;

        return (x + magic) - magic;
}

/* 2^n, -1022 <= n <= 1023 */
static double power_of_two(int n)
{
        uint64_t bits = (uint64_t)(n + 1023) << 52;
        double x;

        memcpy(&x, &bits, sizeof x);
        return x;
}

/* c[0] + c[1] x + ... of n terms, n even: the even and the odd powers side by side, as neither has
 * to wait for the other. */
static inline double series(const double *c, int n, double x)
{
        double square = x * x, even = c[n - 2], odd = c[n - 1];

        for (int i = n - 4; i >= 0; i -= 2) {
                even = even * square + c[i];
                odd = odd * square + c[i + 1];
        }
        return even + odd * x;
}

/* ---- exp ------------------------------------------------------------------------------------ */

/* exp(x) = 2^*n (1 + the result), |x| < 1000, |result| < 0.42 */
static double reduce_exp(double x, int *n)
{
        static const double c[] = {1.0 / 2,        1.0 / 6,         1.0 / 24,
                                   1.0 / 120,      1.0 / 720,       1.0 / 5040,
                                   1.0 / 40320,    1.0 / 362880,    1.0 / 3628800,
                                   1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
        double whole = nearest(x * 0x1.71547652b82fep+0); /* x / ln 2 */
        double high = x - whole * ln2_high, low = whole * ln2_low, r = high - low;

        *n = (int)whole;
        return high - (low - r * r * series(c, sizeof c / sizeof *c, r));
}

double ran_exp(double x)
{
        int n, half;
        double y;

        if (isnan(x))
                return x;
        if (x > 709.79)
                return INFINITY;
        if (x < -745.14)
                return 0;
        y = 1 + reduce_exp(x, &n);
        half = n / 2; /* 2^n itself may be too large or too small */
        return y * power_of_two(half) * power_of_two(n - half);
}

double ran_expm1(double x)
{
        int n;
        double y;

        if (isnan(x) || x == 0)
                return x;
        if (x > 40)
                return ran_exp(x);
        if (x < -40)
                return -1;
        y = reduce_exp(x, &n);
        return n == 0 ? y : power_of_two(n) * (y + (1 - power_of_two(-n)));
}

/* ---- log ------------------------------------------------------------------------------------ */

/* log(x + rest), x > 0, rest less than half a unit in the last place of x. With x = 2^n (1 + f) and
 * s = f / (2 + f), log(1 + f) = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172. As 2 s = f - s f, nearly
 * all of it is f, which is exact. */
static double log_of_sum(double x, double rest)
{
        static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                   2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
        double tail = rest / x, n = 0, f, s, half;
        uint64_t bits;

        if (x < 0x1p-1022) { /* subnormal */
                x *= 0x1p54;
                n = -54;
        }
        memcpy(&bits, &x, sizeof bits);
        n += (double)((int)(bits >> 52) - 1023);
        bits = (bits & 0xfffffffffffff) | (uint64_t)1023 << 52;
        memcpy(&x, &bits, sizeof x);
        if (x > 0x1.6a09e667f3bcdp+0) { /* the root of 2 */
                x *= 0.5;
                n += 1;
        }
        f = x - 1;
        s = f / (2 + f);
        half = 0.5 * f * f;
        s = s * (half + s * s * series(c, sizeof c / sizeof *c, s * s));
        return n * ln2_high - ((half - (s + (n * ln2_low + tail))) - f);
}

double ran_log(double x)
{
        if (isnan(x) || x == INFINITY)
                return x;
        if (x <= 0)
                return x < 0 ? NAN : -INFINITY;
        return log_of_sum(x, 0);
}

double ran_log1p(double x)
{
        double sum = 1 + x, added = sum - 1;

        if (isnan(x) || x == INFINITY || x == 0)
                return x;
        if (x <= -1)
                return x < -1 ? NAN : -INFINITY;
        return log_of_sum(sum, (1 - (sum - added)) + (x - added)); /* what rounding took away */
}

double ran_dot(const float *x, const float *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += (double)x[i] * (double)y[i];
        return sum;
}

double ran_unit(float *y, const float *x, size_t n, double s)
{
        const double length = sqrt(ran_dot(x, x, n));
        const bool none = length <= 0; /* and not of NaN, which stays */

        for (size_t i = 0; i < n; i++)
                y[i] = none ? 0 : (float)(s * ((double)x[i] / length));
        return length;
}

void ran_unit_bwd(float *dy, const float *x, size_t n, double s)
{
        const double length = sqrt(ran_dot(x, x, n));
        const bool none = length <= 0;
        double along = 0;

        for (size_t i = 0; i < n && !none; i++)
                along += (double)x[i] / length * (double)dy[i];
        for (size_t i = 0; i < n; i++)
                dy[i] = none ? 0
                             : (float)(s *
                                       (((double)dy[i] - (double)x[i] / length * along) / length));
}

double ran_log_sum_exp(const float *x, size_t n)
{
        double most = -INFINITY, sum = 0;

        for (size_t i = 0; i < n; i++)
                most = (double)x[i] > most ? (double)x[i] : most;
        for (size_t i = 0; i < n; i++)
                sum += ran_exp((double)x[i] - most);
        return most + ran_log(sum);
}

/* ---- sin and cos ---------------------------------------------------------------------------- */

/* x = *quarters pi/2 + *r + *rest, |*r| <= pi/4. pi/2 comes in parts of 22 bits, of which
 * |*quarters| < 2^31 times one is exact, and a last one. */
static unsigned reduce_angle(double x, double *r, double *rest)
{
        static const double part[] = {0x1.5110b00000000p-22, 0x1.1846980000000p-44,
                                      0x1.3198800000000p-69};
        double n = nearest(x * 0x1.45f306dc9c883p-1); /* x / (pi/2) */
        double high = x - n * 0x1.921fb00000000p+0, low = 0;

        for (int i = 0; i < 3; i++) {
                double y = n * part[i], next = high - y, gone = high - next;

                low += (high - (next + gone)) + (gone - y); /* what rounding took away */
                high = next;
        }
        low -= n * 0x1.1701b839a2520p-88;
        *r = high + low;
        *rest = (high - *r) + low;
        return (unsigned)((int64_t)n & 3);
}

static double sin_near_0(double r, double rest)
{
        static const double c[] = {
                -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
                -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
        double square = r * r;

        return r +
               (r * square * series(c, sizeof c / sizeof *c, square) + rest * (1 - 0.5 * square));
}

static double cos_near_0(double r, double rest)
{
        static const double c[] = {
                1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
                1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
        double square = r * r, half = 0.5 * square, near = 1 - half;

        return near + (((1 - near) - half) +
                       (square * square * series(c, sizeof c / sizeof *c, square) - r * rest));
}

/* sin(x + quarters pi/2) */
static double turned(double x, unsigned quarters)
{
        double r, rest, y;

        if (!(fabs(x) <= 0x1p31))
                return NAN;
        quarters += reduce_angle(x, &r, &rest);
        y = quarters % 2 == 0 ? sin_near_0(r, rest) : cos_near_0(r, rest);
        return quarters % 4 < 2 ? y : -y;
}

double ran_sin(double x)
{
        return turned(x, 0);
}

double ran_cos(double x)
{
        return turned(x, 1);
}
