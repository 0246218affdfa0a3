/* portable.h - whether this thread computes floats as every processor does (math/simd.h):
 * ran_parallel passes it to the threads that help. Whoever sets it puts back what it was. */
#ifndef RAN_BASE_PORTABLE_H
#define RAN_BASE_PORTABLE_H

#include <stdbool.h>

extern _Thread_local bool ran_portable;

#endif
