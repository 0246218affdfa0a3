/* types.h - counts for each type of entity, for the scores of taggers. */
#ifndef RAN_EVAL_TYPES_H
#define RAN_EVAL_TYPES_H

#include "ran/eval.h"
#include "base/string-table.h"

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

#endif
