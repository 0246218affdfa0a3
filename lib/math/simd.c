/* simd.c - the table of the kernels of one instruction set. See simd.h. */
#include "math/simd-vector.h"

#define TEXT_(a)      #a
#define TEXT(a)       TEXT_(a)
#define TABLE_(isa)   ran_simd_##isa
#define TABLE(isa)    TABLE_(isa)
#define ENTRY(kernel) .kernel = RAN_KERNEL(kernel),

const struct ran_kernels TABLE(RAN_SIMD) = {
        .name = TEXT(RAN_SIMD),
        RAN_KERNELS(ENTRY) // each ends in a comma
};
