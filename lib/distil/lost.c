/* lost.c - see lost.h. */
#include "distil/lost.h"
#include "math/elementary.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 2000 };

int ran_lost_init(struct ran_lost *k, size_t n, size_t F, size_t D, struct ran_error *err)
{
        size_t wide, narrow;

        *k = (struct ran_lost){.n = n, .F = F, .D = D};
        if (__builtin_mul_overflow(n, F, &wide) || __builtin_mul_overflow(n, D, &narrow))
                return ran_fail(err, RAN_ENOMEM, "no memory for vectors of %zu texts", n);
        k->teacher = ran_new_floats(wide);
        k->target = ran_new_floats(narrow);
        k->student = ran_new_floats(narrow);
        return RAN_OK;
}

void ran_lost_release(struct ran_lost *k)
{
        free(k->teacher);
        free(k->target);
        free(k->student);
        *k = (struct ran_lost){0};
}

static double cosine_of(const float *x, const float *y, size_t n)
{
        const double xx = ran_dot(x, x, n), yy = ran_dot(y, y, n);

        return xx > 0 && yy > 0 ? ran_dot(x, y, n) / sqrt(xx * yy) : 0;
}

double ran_lost_cosine(const struct ran_lost *k)
{
        double sum = 0;

        for (size_t i = 0; i < k->n; i++) {
                const float *target = k->target + i * k->D;
                const float *teacher = k->teacher + i * k->F;
                const double in = ran_dot(target, target, k->D),
                             all = ran_dot(teacher, teacher, k->F);

                if (all > 0)
                        sum += cosine_of(k->student + i * k->D, target, k->D) *
                               fmin(1, sqrt(in / all));
        }
        return k->n > 0 ? sum / (double)k->n : 0;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

struct ranked {
        double x, rank;
        size_t at;
};

static int by_value(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->x != y->x)
                return x->x < y->x ? -1 : 1;
        return x->at < y->at ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        return x->at < y->at ? -1 : 1;
}

/* Ranks from 0; equal values share the mean of theirs. */
static void rank(struct ranked *x, size_t n)
{
        qsort(x, n, sizeof *x, by_value);
        for (size_t from = 0, end; from < n; from = end) {
                for (end = from; end < n && x[end].x == x[from].x; end++)
                        ;
                for (size_t i = from; i < end; i++)
                        x[i].rank = (double)(from + end - 1) / 2;
        }
        qsort(x, n, sizeof *x, by_place);
}

/* Pearson's correlation of the ranks. */
static double correlation(const struct ranked *x, const struct ranked *y, size_t n)
{
        const double mean = ((double)n - 1) / 2;
        double xy = 0, xx = 0, yy = 0;

        for (size_t i = 0; i < n; i++) {
                xy += (x[i].rank - mean) * (y[i].rank - mean);
                xx += (x[i].rank - mean) * (x[i].rank - mean);
                yy += (y[i].rank - mean) * (y[i].rank - mean);
        }
        return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

double ran_lost_rank(const struct ran_lost *k, uint64_t seed, size_t *pairs)
{
        const size_t n = k->n, all = n < 2 ? 0 : n > PAIRS ? PAIRS : n * (n - 1) / 2;
        const size_t m = all < PAIRS ? all : PAIRS;
        const uint64_t key = ran_random_key(seed, RAN_FOR_SAMPLING, 0, 0);
        struct ranked *student = ran_new(2 * (m + 1), sizeof *student);
        struct ranked *teacher = student + m + 1;

        for (size_t i = 0; i < m; i++) {
                const size_t a = (size_t)(ran_random_draw(key, 2 * i) % n);
                const size_t other = (size_t)(ran_random_draw(key, 2 * i + 1) % (n - 1));
                const size_t b = other + (other >= a);

                student[i].x = cosine_of(k->student + a * k->D, k->student + b * k->D, k->D);
                teacher[i].x = cosine_of(k->teacher + a * k->F, k->teacher + b * k->F, k->F);
                student[i].at = teacher[i].at = i;
        }
        rank(student, m);
        rank(teacher, m);
        *pairs = m;
        const double rho = correlation(student, teacher, m);
        free(student);
        return rho;
}
