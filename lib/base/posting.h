/* posting.h - postings: positions sorted by the id that occurs there. */
#ifndef RAN_BASE_POSTING_H
#define RAN_BASE_POSTING_H

#include <stddef.h>
#include <stdint.h>

/* An id and a position where it occurs. */
struct ran_posting {
        uint32_t id, at;
};

/* Sorts n postings, fewer than 2^32, by id, stably. spare: room for n more. Returns the result,
 * which is in p or in spare. */
struct ran_posting *ran_posting_sort(struct ran_posting *p, struct ran_posting *spare, size_t n);

/* Sorts n ids, fewer than 2^32, in place. spare: room for n more. */
void ran_posting_sort_ids(uint32_t *ids, uint32_t *spare, size_t n);

#endif
