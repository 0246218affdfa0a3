/* number.c - numbers to text and back.
 *
 * A finite number is written as digits * 10^exponent with the fewest digits that read back. Up to
 * 15 digits and powers up to 10^22 are exact in a double, and one operation on exact operands is
 * rounded correctly (Clinger, "How to read floating point numbers accurately", PLDI 1990), so most
 * numbers need only a few multiplications. The rest go through strtod and snprintf, as text without
 * a decimal point, because that character depends on the locale. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ran/base.h"

enum { EXACT_POWER = 22 };
static const double power_of_ten[EXACT_POWER + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

struct decimal {
        uint64_t digits;
        int exponent;
};

/* digits * 10^exponent, if one correctly rounded operation gives it. */
static bool exact_value(struct decimal d, double *x)
{
        if (d.digits > UINT64_C(1) << 53 || d.exponent < -EXACT_POWER || d.exponent > EXACT_POWER)
                return false;
        *x = d.exponent < 0 ? (double)d.digits / power_of_ten[-d.exponent]
                            : (double)d.digits * power_of_ten[d.exponent];
        return true;
}

/* Whether a number is x as a double, or as a float. */
static bool reads_back(struct decimal d, double x, bool is_float)
{
        double value;
        char text[40];

        if (exact_value(d, &value)) {
                uint64_t bits;

                if (!is_float)
                        return value == x;
                /* Rounding twice differs from rounding once only where the double is half-way
                 * between two floats: bit 28 set and nothing below it. (Numbers that are
                 * subnormal as floats do not come here: their exponents are too small.) */
                memcpy(&bits, &value, sizeof(bits));
                if ((bits & 0x1fffffff) != 0x10000000)
                        return (float)value == (float)x;
        }
        snprintf(text, sizeof(text), "%" PRIu64 "e%d", d.digits, d.exponent);
        return is_float ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x;
}

/* x * 10^-exponent to the nearest whole number; the power is in the table. */
static uint64_t scale(double x, int exponent)
{
        return (uint64_t)rint(exponent < 0 ? x * power_of_ten[-exponent]
                                           : x / power_of_ten[exponent]);
}

/* The same through printf, for any precision and magnitude. */
static struct decimal print_to(double x, int precision)
{
        struct decimal d = {0, 0};
        char text[40], *s = text;

        snprintf(text, sizeof(text), "%.*e", precision - 1, x);
        for (; *s != 'e'; s++) {
                if (*s >= '0' && *s <= '9')
                        d.digits = d.digits * 10 + (uint64_t)(*s - '0');
        }
        d.exponent = (int)strtol(s + 1, NULL, 10) - (precision - 1);
        return d;
}

/* x > 0 rounded to `precision` digits. */
static struct decimal round_to(double x, int precision)
{
        struct decimal d;
        int e;

        /* The first digit stands at this power of ten, or at the one above it. */
        frexp(x, &e);
        d.exponent = (int)floor((e - 1) * 0.30102999566398120) - (precision - 1);
        if (precision > 15 || d.exponent < -EXACT_POWER || d.exponent >= EXACT_POWER)
                return print_to(x, precision);
        d.digits = scale(x, d.exponent);
        if ((double)d.digits >= power_of_ten[precision])
                d.digits = scale(x, ++d.exponent);
        return d;
}

static struct decimal shortest(double x, bool is_float)
{
        /* A number with up to 6 (15) digits survives a normal float (double), so if fewer digits
         * do, they come out of the first try with zeros at the end. */
        bool normal = x >= (is_float ? 0x1p-126 : 0x1p-1022);
        int first = !normal ? 1 : is_float ? 6 : 15, last = is_float ? 9 : 17;
        struct decimal d = {0, 0};

        for (int precision = first; precision <= last; precision++) {
                d = round_to(x, precision);
                if (reads_back(d, x, is_float))
                        break;
                /* Above a power of two the numbers lie twice as far apart as below it: the
                 * nearest decimal may be too low, and a farther one above still read back. */
                struct decimal above = {d.digits + 1, d.exponent};
                if (reads_back(above, x, is_float)) {
                        d = above;
                        break;
                }
        }
        while (d.digits % 10 == 0) {
                d.digits /= 10;
                d.exponent++;
        }
        return d;
}

/* Writes digits * 10^exponent: 1234.5, 0.0001, 1e-5, 1.5e+300 becomes 1.5e300. */
static void add_decimal(struct ran_buf *b, struct decimal d)
{
        char digits[24];
        int n = snprintf(digits, sizeof(digits), "%" PRIu64, d.digits);
        int point = n + d.exponent; /* digits before the decimal point */

        if (point > 17 || point < -3) {
                ran_buf_add(b, digits, 1);
                if (n > 1) {
                        ran_buf_char(b, '.');
                        ran_buf_add(b, digits + 1, (size_t)n - 1);
                }
                ran_buf_printf(b, "e%d", point - 1);
        } else if (point <= 0) {
                ran_buf_add(b, "0.000", (size_t)(2 - point));
                ran_buf_add(b, digits, (size_t)n);
        } else if (point < n) {
                ran_buf_add(b, digits, (size_t)point);
                ran_buf_char(b, '.');
                ran_buf_add(b, digits + point, (size_t)(n - point));
        } else {
                ran_buf_add(b, digits, (size_t)n);
                ran_buf_add(b, "00000000000000000", (size_t)(point - n));
        }
}

static void add_number(struct ran_buf *b, double x, bool is_float)
{
        if (!isfinite(x)) {
                ran_buf_str(b, "null");
                return;
        }
        if (signbit(x))
                ran_buf_char(b, '-');
        if (x == 0)
                ran_buf_char(b, '0');
        else
                add_decimal(b, shortest(fabs(x), is_float));
}

void ran_buf_float(struct ran_buf *b, float x)
{
        add_number(b, (double)x, true);
}

void ran_buf_double(struct ran_buf *b, double x)
{
        add_number(b, x, false);
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Moves *s behind digits; false: there are none. */
static bool skip_digits(const char **s, const char *end)
{
        const char *begin = *s;

        while (*s < end && is_digit(**s))
                ++*s;
        return *s > begin;
}

/* number = [ minus ] int [ frac ] [ exp ] of RFC 8259, or [ minus ] frac [ exp ]: people type .5.
 */
static bool is_number(const char *s, const char *end)
{
        s += s < end && *s == '-';
        const char *begin = s;
        bool good = skip_digits(&s, end) && (*begin != '0' || s == begin + 1);
        if (s < end && *s == '.' && (good || s == begin)) {
                s++;
                good = skip_digits(&s, end);
        }
        if (good && s < end && (*s == 'e' || *s == 'E')) {
                s++;
                s += s < end && (*s == '-' || *s == '+');
                good = skip_digits(&s, end);
        }
        return good && s == end;
}

static locale_t c_locale;

__attribute__((constructor)) static void make_locale(void)
{
        c_locale = newlocale(LC_ALL_MASK, "C", NULL);
}

bool ran_parse_double(const char *s, size_t n, double *x)
{
        char few[64], *all = few;

        if (!is_number(s, s + n))
                return false;
        if (n < sizeof few)
                *(char *)mempcpy(few, s, n) = '\0';
        else
                all = ran_copy(s, n);
        const double value = strtod_l(all, NULL, c_locale);
        if (all != few)
                free(all);
        if (!isfinite(value))
                return false;
        *x = value;
        return true;
}

bool ran_parse_size(const char *s, size_t n, size_t *x)
{
        size_t value = 0;

        for (size_t i = 0; i < n; i++) {
                size_t digit = (size_t)(s[i] - '0');

                if (!is_digit(s[i]) || value > (SIZE_MAX - digit) / 10)
                        return false;
                value = value * 10 + digit;
        }
        if (n > 0)
                *x = value;
        return n > 0;
}
