/* error.h - errors that nobody wants to hear of. */
#ifndef RAN_BASE_ERROR_H
#define RAN_BASE_ERROR_H

#include "ran/base.h"

/* err, or where that is NULL one of this thread to be thrown away: for functions that read what
 * others have filled. */
struct ran_error *ran_error_or_spare(struct ran_error *err);

#endif
