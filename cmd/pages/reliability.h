/* reliability.h - how probabilities and right answers agree: two charts and their numbers. */
#ifndef CMD_PAGES_RELIABILITY_H
#define CMD_PAGES_RELIABILITY_H

#include "ran.h"

#include <stdatomic.h>

enum { PAGE_BINS = 10, PAGE_STEPS = 100 };

/* Counts of answers by their probability. Zero-initialise. Threads may add to it at once: the order
 * makes no difference. */
struct page_reliability {
        struct {
                atomic_size_t n, right;
                atomic_ullong p; /* sum, in millionths */
        } bin[PAGE_BINS];
        atomic_size_t all[PAGE_STEPS + 1], right[PAGE_STEPS + 1];
        atomic_size_t gold; /* what is to be found */
};
void page_reliability_add(struct page_reliability *r, double p, bool right);

/* Appends the charts. answers: what is counted ("documents", "entities"). others: also the share of
 * answers above a threshold, under that name in the legend; NULL: not. note: of the second chart.
 */
void page_reliability_write(const struct page_reliability *r, const char *answers,
                            const char *others, const char *note, struct ran_buf *out);

#endif
