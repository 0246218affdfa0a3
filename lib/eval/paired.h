/* paired.h - the test behind the comparison of two models (ran_paired_finish). */
#ifndef RAN_EVAL_PAIRED_H
#define RAN_EVAL_PAIRED_H

#include <stddef.h>

/* McNemar's exact test, two-sided: the probability of a split at least as uneven if both models are
 * equally good. */
double ran_mcnemar(size_t first_only, size_t second_only);

#endif
