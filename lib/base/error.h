/* error.h - an error for callers that gave none. */
#ifndef RAN_BASE_ERROR_H
#define RAN_BASE_ERROR_H

#include "ran/base.h"

/* err, or, if that is NULL, an error of this thread that nobody reads: for functions that need the
 * sentence of a function they call. */
struct ran_error *ran_error_or_spare(struct ran_error *err);

#endif
