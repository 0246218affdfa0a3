/* eval.h - what scores share: types of entities, intervals of samples, the test behind comparisons.
 */
#ifndef RAN_EVAL_EVAL_H
#define RAN_EVAL_EVAL_H

#include "base/string-table.h"
#include "ran/eval.h"

/* ---- counts for each type of entity (types.c) ------------------------------------------------ */

/* Zero-initialise. Types are numbered from 0 in order of appearance; score[number] has the counts
 * of one. Names and rates are set in the ordered list only. */
struct ran_types {
        struct ran_string_table names;
        struct ran_tag_score *score, *ordered;
        size_t score_cap, ordered_cap;
};
void ran_types_release(struct ran_types *t);
/* The number of a type, which it adds if it is new. */
uint32_t ran_types_number(struct ran_types *t, const char *type, size_t length);
/* The *n types in the data or found, ordered by their bytes, with names and rates. The list is t's,
 * valid until a type is added. */
const struct ran_tag_score *ran_types_order(struct ran_types *t, size_t *n);

/* Precision, recall and F1 out of `whole` (1, or 100 for per cent); 0 where the denominator is 0.
 */
struct ran_prf ran_types_rates(double whole, const struct ran_tag_score *score);
/* A mean of rates is divided at the end, so that that of rates of 1 is 1; by 0: nothing. */
void ran_prf_add(struct ran_prf *sum, const struct ran_prf *rates, double weight);
void ran_prf_divide(struct ran_prf *sum, double by);

/* ---- samples (interval.c) -------------------------------------------------------------------- */

/* Between which 95 of 100 of the n samples are; sorts them. */
struct ran_interval ran_interval_samples(double *x, size_t n);

/* ---- two models (paired.c) ------------------------------------------------------------------- */

/* McNemar's exact test, two-sided: the probability of a split at least as uneven if both models are
 * equally good. */
double ran_mcnemar(size_t first_only, size_t second_only);

#endif
