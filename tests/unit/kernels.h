/* kernels.h - the tables of kernels that this processor runs, and vectors with guarded ends. */
#ifndef RAN_TESTS_UNIT_KERNELS_H
#define RAN_TESTS_UNIT_KERNELS_H

#include "dice.h"
#include "math/simd.h"

/* Runs fn with each table of this build that the processor runs. */
void kernels_each(void (*fn)(const struct ran_kernels *k));

/* Runs those of this program's tests whose names hold `tests`, in a process of its own with that
 * RAN_ISA. core NULL: whatever OpenBLAS makes of this processor. */
void kernels_check_with(const char *tests, const char *isa, const char *core);
/* Is it one of those that ran_isa_refused lists? */
bool kernels_know(const char *isa);

/* Sizes to test at: every one up to four of the widest vectors and a bit, then one far from small.
 */
enum { KERNEL_SIZES = 71 };
static inline size_t kernel_size(size_t i)
{
        return i < KERNEL_SIZES - 1 ? i + 1 : 1000;
}

/* n floats between guards. A kernel that writes past either end is caught by vector_free. */
struct vector {
        float *x;
        size_t n;
};
struct vector vector_new(size_t n);
struct vector vector_random(struct dice *d, size_t n, double scale);
struct vector vector_copy(const struct vector *v);
/* Checks the guards, too. */
void vector_free(struct vector *v);

/* |got - want| <= absolute + relative |want| for each element; the first that is not is printed
 * with the name of the table and `what`. */
bool vector_near(const struct ran_kernels *k, const char *what, const struct vector *got,
                 const double *want, double absolute, double relative);

#endif
