/* types.h - what was found of each type of phrase, for the scores of taggers. */
#ifndef RAN_EVAL_TYPES_H
#define RAN_EVAL_TYPES_H

#include "ran/eval.h"
#include "base/string-table.h"

/* Zero-initialise. A type is a number, from 0 in the order in which they came; its counts are
 * score[number], whose name and rates are set in the ordered list only. */
struct ran_types {
        struct ran_string_table names;
        struct ran_tag_score *score, *ordered;
        size_t score_cap, ordered_cap;
};
void ran_types_release(struct ran_types *t);
/* The number of a type, a new one if need be; fails for lack of memory only. */
int ran_types_number(struct ran_types *t, const char *type, size_t length, uint32_t *number,
                     struct ran_error *err);
/* The types that are in the data or were found, by their bytes, with names and rates. The list is
 * t's and good until a type is added. Sets *n. */
const struct ran_tag_score *ran_types_order(struct ran_types *t, size_t *n);

/* Precision, recall and F1 as shares of `whole`: 1, or 100 for per cent. 0 where nothing was found,
 * or there is nothing to find. */
struct ran_prf ran_types_rates(double whole, const struct ran_tag_score *score);

/* Members of a JSON object, commas between: gold, found and correct; precision, recall and f1;
 * per_type, an array of objects that hold type and these. */
void ran_types_counts_json(const struct ran_tag_score *score, struct ran_buf *out);
void ran_types_rates_json(const struct ran_prf *rates, struct ran_buf *out);
void ran_types_json(const struct ran_tag_score *types, size_t n, struct ran_buf *out);

#endif
