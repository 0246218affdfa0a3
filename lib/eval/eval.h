/* eval.h - what scores share: words of generated texts, types of entities, intervals of samples,
 * the test behind comparisons. */
#ifndef RAN_EVAL_EVAL_H
#define RAN_EVAL_EVAL_H

#include "base/string-table.h"
#include "ran/eval.h"

/* ---- words of texts in UTF-8 (text-words.c) -------------------------------------------------- */

/* Appends the text with its tokens separated by white space: the tokenisation 13a, of the script
 * mteval-v13a of NIST, as sacreBLEU has it. */
void ran_text_13a(struct ran_buf *out, const char *text, size_t n);
/* Appends the words of ROUGE: runs of ASCII letters, made small, and digits, with spaces between.
 */
void ran_text_rouge(struct ran_buf *out, const char *text, size_t n);
/* Bytes of the white space that the text begins with, of n > 0 bytes; 0: none. As Python's
 * str.split. */
size_t ran_text_space(const char *text, size_t n);
/* The next word from *at on: false if there is none. */
bool ran_text_word(const char *text, size_t n, size_t *at, const char **word, size_t *length);

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
