/* eigen.c - see eigen.h.
 *
 * Jacobi's method in Hestenes' form. Rotations of pairs of rows make the rows of R A
 * orthogonal; then each row is an eigenvector, times its eigenvalue. In double, in a fixed order.
 */
#include "math/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 30 };
/* Two rows count as orthogonal below this cosine. */
static const double orthogonal = 1e-10;

static double dot(const double *x, const double *y, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += x[i] * y[i];
        return sum;
}

/* Turns rows x and y so that they become orthogonal; returns whether they were not. */
static bool rotate(double *x, double *y, size_t n)
{
        const double a = dot(x, x, n), b = dot(y, y, n), c = dot(x, y, n);

        if (fabs(c) <= orthogonal * sqrt(a * b))
                return false;
        const double zeta = (b - a) / (2 * c);
        const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
        const double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
        for (size_t i = 0; i < n; i++) {
                const double was = x[i];

                x[i] = cosine * was - sine * y[i];
                y[i] = sine * was + cosine * y[i];
        }
        return true;
}

static void make_orthogonal(double *a, size_t n)
{
        bool again = true;

        for (size_t sweep = 0; sweep < SWEEPS && again; sweep++) {
                again = false;
                for (size_t i = 0; i < n; i++)
                        for (size_t j = i + 1; j < n; j++)
                                again |= rotate(a + i * n, a + j * n, n);
        }
}

struct direction {
        double length;
        size_t at;
};

static int compare(const void *x, const void *y)
{
        const struct direction *a = x, *b = y;

        if (a->length != b->length)
                return a->length < b->length ? 1 : -1;
        return a->at < b->at ? -1 : 1;
}

/* The rows by their lengths, as unit vectors; copy (n, n). */
static void order_rows(double *a, double *value, struct direction *d, double *copy, size_t n)
{
        for (size_t i = 0; i < n; i++)
                d[i] = (struct direction){sqrt(dot(a + i * n, a + i * n, n)), i};
        qsort(d, n, sizeof *d, compare);
        memcpy(copy, a, n * n * sizeof *a);
        for (size_t i = 0; i < n; i++) {
                const double *row = copy + d[i].at * n;

                value[i] = d[i].length;
                for (size_t j = 0; j < n; j++)
                        a[i * n + j] = value[i] > 0 ? row[j] / value[i] : 0;
        }
}

int ran_eigen(double *a, double *value, size_t n, struct ran_error *err)
{
        struct direction *d = ran_alloc(n, sizeof *d, err);
        double *copy = ran_alloc(n * n, sizeof *copy, err);

        if (d != NULL && copy != NULL) {
                make_orthogonal(a, n);
                order_rows(a, value, d, copy, n);
        }
        const bool done = d != NULL && copy != NULL;
        free(d);
        free(copy);
        return done ? RAN_OK : RAN_ENOMEM;
}
